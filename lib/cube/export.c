/* SPDX-License-Identifier: MIT */
/*
 * Writes the elements of a box to a file.
 *
 * Threads print items, which are a few thousand elements each, into buffers.  When the lengths of
 * all items of a round are known, threads write them at their offsets, if the output is a regular
 * file; else they are written one after the other.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/task.h"
#include "base/err.h"
#include "base/enum.h"
#include "base/minmax.h"
#include "base/put.h"
#include "base/whole.h"
#include "cube/state.h"
#include "cube/input/npy.h"

#define RAW_BYTES ((size_t)1 << 20) /* bytes that a thread writes */
#define ITEM_ELEMENTS ((size_t)16384)
#define ITEMS_EACH 2	  /* per thread */
#define COORDINATE_MAX 21 /* bytes of a coordinate as text, and a comma */

SP__ENUM_TABLE(sp_cube_format, { "raw", SP_CUBE_RAW }, { "npy", SP_CUBE_NPY },
	       { "csv", SP_CUBE_CSV })

/* Where elements go. */
struct target {
	FILE *out;
	bool file;   /* a regular file, which is written at offsets */
	uint64_t at; /* the offset of the next byte */
	unsigned threads;
	const uint8_t *raw; /* being written */
	size_t raw_bytes;
};

struct csv {
	struct target *target;
	struct sp__cubefile *cube;
	const struct sp_cube_box *box;
	bool points;
	uint64_t begun; /* elements of the box before those in data */
	const uint8_t *data;
	size_t each, n; /* bytes of an element, with the coordinates of a point; elements */
	unsigned items; /* items of a round */
	size_t item_elements, line_max;
	char *text;   /* items * item_elements * line_max */
	size_t *ends; /* the bytes of each item, and then their ends in the round */
	uint64_t charged;
};

static int write_error(void)
{
	return -(errno ? errno : EIO);
}

static int put_bytes(struct target *t, const void *data, size_t bytes)
{
	t->at += bytes;
	return fwrite(data, 1, bytes, t->out) == bytes ? 0 : write_error();
}

/* Finds out whether the output can be written at offsets. */
static int begin_target(struct target *t, const struct sp__cubefile *c)
{
	struct stat st;
	int fd = fileno(t->out), flags = fcntl(fd, F_GETFL);
	off_t at;

	t->threads = sp__cube_threads(c);
	if (fflush(t->out))
		return write_error();
	at = ftello(t->out);
	t->file = at >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && !(flags & O_APPEND);
	t->at = t->file ? (uint64_t)at : 0;
	return 0;
}

static int end_target(const struct target *t)
{
	return t->file && fseeko(t->out, (off_t)t->at, SEEK_SET) ? write_error() : 0;
}

static int write_raw(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	const struct target *t = arg;
	size_t at = item * RAW_BYTES;

	(void)worker;
	(void)err;
	return sp__write_whole(fileno(t->out), t->raw + at, sp__min(RAW_BYTES, t->raw_bytes - at),
			       t->at + at);
}

static int put_raw(void *arg, const void *data, size_t bytes)
{
	struct target *t = arg;
	int rc;

	if (!t->file)
		return put_bytes(t, data, bytes);
	t->raw = data;
	t->raw_bytes = bytes;
	rc = sp__deal(t->threads, sp__div_up(bytes, RAW_BYTES), write_raw, t, NULL);
	t->at += bytes;
	return rc;
}

/* Prints a line.  Returns its end; up to 8 bytes after it are overwritten, too. */
static char *put_line(const struct sp_cube_shape *s, const uint64_t *x, const uint8_t *value,
		      char *to)
{
	for (unsigned i = 0; i < s->ndims; i++) {
		to = sp__put_u64(to, x[i]);
		*to++ = ',';
	}
	sp_cube_value_print(s, value, to);
	to += strlen(to);
	*to++ = '\n';
	return to;
}

/* Sets x to the coordinates of an element of a box, by its number. */
static void coordinates_of(const struct sp_cube_box *b, unsigned ndims, uint64_t number,
			   uint64_t *x)
{
	for (unsigned i = 0; i < ndims; i++) {
		uint64_t count = sp__box_count(b, i);

		x[i] = b->lo[i] + number % count * b->stride[i];
		number /= count;
	}
}

/* The items of a round begin at c->data. */
static int print_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	struct csv *c = arg;
	const struct sp_cube_shape *s = &c->cube->superblock.shape;
	size_t first = item * c->item_elements, n = sp__min(c->item_elements, c->n - first);
	const uint8_t *at = c->data + first * c->each;
	size_t head = c->points ? s->ndims * sizeof(uint64_t) : 0;
	char *text = c->text + first * c->line_max, *to = text;
	uint64_t x[SP_CUBE_DIMS_MAX];

	(void)worker;
	(void)err;
	coordinates_of(c->box, s->ndims, c->begun + first, x);
	for (size_t i = 0; i < n; i++, at += c->each) {
		memcpy(x, at, head);
		to = put_line(s, x, at + head, to);
		if (!c->points)
			sp__box_next(c->box, 0, s->ndims, x);
	}
	c->ends[item] = (size_t)(to - text);
	return 0;
}

static int write_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	struct csv *c = arg;
	size_t begin = item ? c->ends[item - 1] : 0;

	(void)worker;
	(void)err;
	return sp__write_whole(fileno(c->target->out),
			       c->text + item * c->item_elements * c->line_max,
			       c->ends[item] - begin, c->target->at + begin);
}

/* Writes the items of a round. */
static int write_items(struct csv *c, uint64_t items)
{
	int rc = 0;

	for (uint64_t i = 0; !rc && !c->target->file && i < items; i++)
		rc = put_bytes(c->target, c->text + i * c->item_elements * c->line_max, c->ends[i]);
	if (!c->target->file)
		return rc;
	for (uint64_t i = 1; i < items; i++)
		c->ends[i] += c->ends[i - 1];
	rc = sp__deal(c->target->threads, items, write_item, c, NULL);
	c->target->at += c->ends[items - 1];
	return rc;
}

static int put_lines(void *arg, const void *data, size_t bytes)
{
	struct csv *c = arg;
	size_t left = bytes / c->each;
	int rc = 0;

	c->data = data;
	for (; !rc && left; left -= c->n) {
		uint64_t items;

		c->n = sp__min(left, c->items * c->item_elements);
		items = sp__div_up(c->n, c->item_elements);
		rc = sp__deal(c->target->threads, items, print_item, c, NULL);
		if (!rc)
			rc = write_items(c, items);
		c->data += c->n * c->each;
		c->begun += c->n;
	}
	return rc;
}

/* Allocates text for as many items as a sixteenth of the memory holds. */
static int open_csv(struct csv *c)
{
	const struct sp__cubefile *f = c->cube;
	const struct sp_cube_shape *s = &f->superblock.shape;
	uint64_t memory = f->env.budget.limit_bytes / 16;

	c->points = f->superblock.points;
	c->each = s->element_bytes + (c->points ? s->ndims * sizeof(uint64_t) : 0);
	c->items = c->target->threads > 1 ? c->target->threads * ITEMS_EACH : 1;
	c->line_max = s->ndims * COORDINATE_MAX + SP_CUBE_VALUE_MAX + 2 * (size_t)s->element_bytes;
	c->item_elements = sp__min(memory / c->items / c->line_max, ITEM_ELEMENTS);
	c->item_elements = sp__max(c->item_elements, (size_t)1);
	c->charged = c->items * c->item_elements * c->line_max;
	c->text = malloc(c->charged);
	c->ends = malloc(c->items * sizeof(*c->ends));
	sp__budget_charge(&c->cube->env.budget, c->charged);
	return c->text && c->ends ? 0 : -ENOMEM;
}

static void close_csv(struct csv *c)
{
	free(c->text);
	free(c->ends);
	sp__budget_credit(&c->cube->env.budget, c->charged);
}

static int export_csv(struct sp_cube *cube, const struct sp_cube_box *box, struct target *t,
		      struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct csv csv = { .target = t, .cube = &cube->file, .box = box };
	int rc = open_csv(&csv);

	if (!rc)
		rc = sp__cube_read(cube, box, put_lines, &csv, stats, err);
	close_csv(&csv);
	return rc;
}

static int export_box(struct sp_cube *cube, const struct sp_cube_box *box,
		      enum sp_cube_format format, FILE *out, struct sp_cube_stats *stats,
		      struct sp_errinfo *err)
{
	const struct sp_cube_shape *shape = &cube->file.superblock.shape;
	struct target target = { .out = out };
	uint8_t header[SP__NPY_HEADER_MAX];
	int rc = sp__cube_check_box(&cube->file, box, err);

	if (!rc) /* before the header of a .npy file */
		rc = sp__cube_check_elements(&cube->file, "read", err);
	if (rc)
		return rc;
	if (format == SP_CUBE_NPY && cube->file.superblock.points)
		return sp__errf(err, SP_EUNSUP, "read", cube->file.path, -1,
				"points must be CSV or raw data: a .npy file has a grid");
	if (format == SP_CUBE_NPY)
		rc = put_bytes(&target, header, sp__npy_write(header, shape, box));
	if (!rc)
		rc = begin_target(&target, &cube->file);
	if (!rc)
		rc = format == SP_CUBE_CSV ? export_csv(cube, box, &target, stats, err)
					   : sp__cube_read(cube, box, put_raw, &target, stats, err);
	if (!rc)
		rc = end_target(&target);
	return rc < 0 ? sp__err(err, rc, "write", NULL, -1) : rc;
}

int sp_cube_export(struct sp_cube *cube, const struct sp_cube_box *box, enum sp_cube_format format,
		   FILE *out, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc = sp__begin_reading(cube, err);

	if (rc)
		return rc;
	rc = export_box(cube, box, format, out, stats, err);
	sp__end_reading(cube);
	return rc;
}
