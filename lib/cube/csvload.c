/* SPDX-License-Identifier: MIT */
/*
 * Loading from CSV: points are collected until the memory for them is full, and merged into the
 * cube.  The result does not depend on how many that are.  A load ends with writing the extents
 * that no line has named, so that the cube is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/csvload.h"
#include "cube/points.h"
#include "run/charge.h"

struct lines {
	struct sp_cube *cube;
	const struct sp_cube_load_opts *opts;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	const char *name;
	FILE *in;
	char *text;
	size_t room; /* bytes of a line and its end */
	uint64_t number;
	struct sp__point *points;
	uint8_t *values;
	size_t n, most;
	uint64_t charged;
	struct sp__change change;
};

static int line_error(const struct lines *l, int code, const char *reason)
{
	return sp__errf(l->err, code, "read", l->name, -1, "line %" PRIu64 ": %s", l->number,
			reason);
}

/* The next line, without its end; 1: there is none. */
static int next_line(struct lines *l)
{
	size_t n = 0;
	int c;

	l->number++;
	while ((c = getc_unlocked(l->in)) != EOF && c != '\n') {
		if (!c || n + 1 == l->room)
			return line_error(l, SP_EFORMAT, c ? "it is too long" : "it is no text");
		l->text[n++] = (char)c;
	}
	if (ferror(l->in))
		return sp__err(l->err, errno ? -errno : -EIO, "read", l->name, -1);
	if (c == EOF && !n)
		return 1;
	while (n && strchr("\r \t", l->text[n - 1]))
		n--;
	l->text[n] = '\0';
	return 0;
}

/* A coordinate and its comma. */
static int parse_coordinate(struct lines *l, unsigned dim, const char **at, uint64_t *x)
{
	uint64_t size = l->cube->head.shape.dims[dim], by = l->opts->rollup[dim], n = 0;
	const char *text = *at + strspn(*at, " \t"), *end = text;
	bool over = false;

	for (; *end >= '0' && *end <= '9'; end++)
		over |= __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*end - '0'), &n);
	*at = end + strspn(end, " \t");
	if (end == text || (**at && **at != ','))
		return sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				"line %" PRIu64 ": coordinate %u is no number", l->number, dim);
	if (**at != ',')
		return line_error(l, SP_EFORMAT, "it has too few fields");
	++*at;
	*x = by ? n / by : n;
	if (over || *x >= size)
		return sp__errf(l->err, -ERANGE, "read", l->name, -1,
				"line %" PRIu64 ": coordinate %.*s of dimension %u is not below "
				"%" PRIu64 "%s%.0" PRIu64,
				l->number, (int)(end - text), text, dim, size, by ? " x " : "", by);
	return 0;
}

static int parse_point(struct lines *l)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 };
	const char *at = l->text;
	int rc = 0;

	for (unsigned i = 0; !rc && i < s->ndims; i++)
		rc = parse_coordinate(l, i, &at, &x[i]);
	if (rc)
		return rc;
	at += strspn(at, " \t");
	if (sp_cube_value_parse(s, at, l->values + l->n * s->element_bytes))
		return sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				"line %" PRIu64 ": its value is no %s", l->number,
				sp_cube_type_name(s->type));
	sp__point_locate(l->cube, x, &l->points[l->n]);
	l->points[l->n].index = l->n;
	l->n++;
	return 0;
}

static int merge_batch(struct lines *l)
{
	size_t n = l->n;

	sp__charge_sorting(&l->cube->env, n);
	sp__charge_work(&l->cube->env, n, 0, n * l->cube->head.shape.element_bytes);
	l->stats->elements += l->n;
	l->n = 0;
	return sp__change_points(&l->change, l->points, n, l->values);
}

/* Whether the first line says what the fields are. */
static bool is_header(const char *text)
{
	return !strchr("0123456789+-.", text[strspn(text, " \t")]);
}

static int load_lines(struct lines *l)
{
	bool first = true;
	int rc;

	while (!(rc = next_line(l))) {
		if (l->number == 1 && !strncmp(l->text, "\xEF\xBB\xBF", 3)) /* byte order mark */
			memmove(l->text, l->text + 3, strlen(l->text + 3) + 1);
		if (!l->text[0])
			continue;
		if (!first || !is_header(l->text))
			rc = parse_point(l);
		first = false;
		if (!rc && l->n == l->most)
			rc = merge_batch(l);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : l->n ? merge_batch(l) : 0;
}

static int note_state(struct lines *l, bool complete)
{
	struct sp_cube *c = l->cube;
	unsigned last = c->head.shape.ndims - 1;

	c->head.complete = complete;
	c->head.loading = !complete;
	c->head.loaded = complete ? c->head.shape.dims[last] : 0;
	for (unsigned i = 0; i <= last; i++)
		c->head.load_order[i] = i;
	if (complete && fdatasync(c->volume->fd))
		return sp__err(l->err, -errno, "write", c->path, -1);
	return sp__cube_head_write(&c->head, c->fd, c->path, l->err);
}

static int check_opts(struct lines *l)
{
	const struct sp_cube_load_opts *o = l->opts;
	const struct sp__cube_head *h = &l->cube->head;

	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++) {
		l->change.sum |= o->rollup[i] != 0;
		if (o->rollup[i] && i >= h->shape.ndims)
			return sp__errf(l->err, SP_ESYNTAX, "load", l->cube->path, -1,
					"there is no dimension %u to roll up", i);
	}
	if (o->ordered || o->offset || o->big_endian || o->resume)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->name, -1,
				"order, offset, byte order and resuming do not apply to CSV");
	if (l->change.sum && h->shape.type == SP_CUBE_BYTES)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->cube->path, -1,
				"opaque elements cannot be summed");
	for (uint32_t i = 0; l->change.sum && i < h->shape.element_bytes; i++)
		if (h->fill[i])
			return sp__errf(l->err, SP_ESYNTAX, "load", l->cube->path, -1,
					"a roll-up needs a cube whose fill is 0");
	return h->no_data ? sp__errf(l->err, SP_EUNSUP, "load", l->cube->path, -1,
				     "the cube was made without data")
			  : 0;
}

/*
 * Half of the memory of a part is for points: what qsort() may take included.  The other half
 * is for extents.
 */
static int open_lines(struct lines *l)
{
	uint64_t bytes = sp__cube_part_bytes(l->cube) / 2;
	uint32_t element = l->cube->head.shape.element_bytes;
	int fd = strcmp(l->name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					   : open(l->name, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return sp__err(l->err, -errno, "open", l->name, -1);
	rc = sp__cube_check_input(l->cube, fd, l->name, l->err);
	l->in = rc ? NULL : fdopen(fd, "r");
	if (!l->in) {
		close(fd);
		return rc ? rc : sp__err(l->err, -ENOMEM, "open", l->name, -1);
	}
	l->most = sp__max(bytes / (2 * sizeof(*l->points) + element), 1);
	/* Spaces and zeroes before numbers are not worth more. */
	l->room = l->cube->head.shape.ndims * 64 + 1024 + 2 * (size_t)element;
	l->points = malloc(l->most * sizeof(*l->points));
	l->values = malloc(l->most * element);
	l->text = malloc(l->room);
	if (!l->points || !l->values || !l->text)
		return sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	l->charged = l->most * (2 * sizeof(*l->points) + element) + l->room;
	sp__budget_charge(&l->cube->env.budget, l->charged);
	return sp__change_open(&l->change, bytes, l->stats);
}

static int run_lines(struct lines *l)
{
	int rc = check_opts(l);

	if (!rc)
		rc = open_lines(l);
	if (!rc)
		rc = note_state(l, false);
	if (!rc)
		rc = load_lines(l);
	if (!rc)
		rc = sp__change_absent(&l->change);
	return rc ? rc : note_state(l, true);
}

int sp__csv_load(struct sp_cube *cube, const char *input, const struct sp_cube_load_opts *opts,
		 struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct lines l = { .cube = cube,
			   .opts = opts,
			   .stats = stats,
			   .err = err,
			   .name = input,
			   .change = { .cube = cube, .err = err } };
	int rc = run_lines(&l);

	sp__change_close(&l.change);
	if (l.in)
		fclose(l.in);
	free(l.points);
	free(l.values);
	free(l.text);
	sp__budget_credit(&cube->env.budget, l.charged);
	return rc;
}
