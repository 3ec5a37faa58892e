/* SPDX-License-Identifier: MIT */
/*
 * Loading data that are in sequence; points.c loads single elements.
 *
 * The input is read in parts, boxes of elements whose cells are whole.  A part that has all
 * coordinates of the faster dimensions of the input is one contiguous piece of it.  If one
 * layer of tiles does not fit the memory, parts are shorter along the slower dimensions first;
 * they are then several pieces, so the input must allow seeking: a pipe is copied to a
 * temporary file.
 *
 * Cells are written in the order of the mapping, and the checksums of a part after them.  The
 * head counts the layers that are complete, so that an interrupted load can go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/csvload.h"
#include "cube/extents.h"
#include "cube/npy.h"
#include "cube/tiles.h"
#include "cube/transfer.h"
#include "run/charge.h"

#define COPY_BYTES (1 << 20)
#define OFFSET_MAX (UINT64_C(1) << 62)
/* A part of several layers is not larger: memory that is touched for the first time is slow. */
#define PART_BYTES (UINT64_C(128) << 20)

struct load {
	struct sp_cube *cube;
	struct sp_cube_load_opts opts;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	const char *name;
	int fd;
	bool seekable;
	uint64_t at; /* offset in an input that is not */
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t pitch[SP_CUBE_DIMS_MAX];  /* bytes of the input from an element to the next */
	uint64_t length[SP_CUBE_DIMS_MAX]; /* elements of a part along each dimension */
	uint64_t room;			   /* bytes of a part */
	uint64_t noted;			   /* bytes since the last note of progress */
	struct sp__transfer transfer;
	struct sp__tiles tiles;
	struct sp__extents extents;
};

static int read_error(const struct load *l, int code, uint64_t offset, const char *text)
{
	return sp__errf(l->err, code, "read", l->name, (long long)offset, "%s", text);
}

/* Reads bytes at an offset, to which a pipe has come already. */
static int read_piece(struct load *l, void *data, uint64_t bytes, uint64_t offset)
{
	uint8_t *to = data;

	while (bytes) {
		size_t n = (size_t)sp__min(bytes, UINT64_C(1) << 30);
		ssize_t got = l->seekable ? pread(l->fd, to, n, (off_t)offset) : read(l->fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return read_error(l, got ? -errno : SP_EFORMAT, offset,
					  got ? "" : "the input ends before the last element");
		to += got;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	l->at = offset;
	return 0;
}

/* Skips bytes of a pipe. */
static int skip(struct load *l, uint64_t bytes)
{
	static uint8_t nowhere[65536];
	int rc = 0;

	for (uint64_t n; !rc && bytes; bytes -= n) {
		n = sp__min(bytes, sizeof(nowhere));
		rc = read_piece(l, nowhere, n, l->at);
	}
	return rc;
}

static void swap_numbers(uint8_t *data, uint64_t bytes, uint32_t size)
{
	for (; bytes >= size; data += size, bytes -= size)
		for (uint32_t i = 0; i < size / 2; i++) {
			uint8_t byte = data[i];

			data[i] = data[size - 1 - i];
			data[size - 1 - i] = byte;
		}
}

/* The elements of a part, in rows along the input's fastest dimension. */
static int read_elements(struct load *l, const struct sp_cube_box *part, uint64_t bytes)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	uint64_t piece = s->element_bytes, x[SP_CUBE_DIMS_MAX];
	unsigned whole = 0; /* dimensions that a piece covers, as many as follow each other */
	uint8_t *to = l->tiles.buffer;
	struct sp_cube_box turned;
	int rc;

	for (unsigned i = 0; i < s->ndims; i++) {
		turned.lo[i] = x[i] = part->lo[l->order[i]];
		turned.hi[i] = part->hi[l->order[i]];
		turned.stride[i] = 1;
	}
	for (bool all = true; all && whole < s->ndims; whole++) {
		piece *= sp__box_count(&turned, whole);
		all = sp__box_count(&turned, whole) == s->dims[l->order[whole]];
	}
	do {
		uint64_t offset = l->opts.offset;

		for (unsigned i = 0; i < s->ndims; i++)
			offset += x[i] * l->pitch[l->order[i]];
		rc = read_piece(l, to, piece, offset);
		to += piece;
	} while (!rc && sp__box_next(&turned, whole, s->ndims, x));
	if (!rc && l->opts.big_endian && s->type != SP_CUBE_BYTES)
		swap_numbers(l->tiles.buffer, bytes, s->element_bytes);
	return rc;
}

static void fill_cell(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct load *l = arg;
	const struct sp__cube_head *h = &l->cube->head;
	bool edge = false;

	for (unsigned i = 0; i < h->shape.ndims; i++)
		edge |= (x[i] + 1) * h->shape.tile[i] > h->shape.dims[i];
	if (edge)
		sp__tile_fill(&h->shape, cell, h->fill);
	sp__tiles_to_cell(&l->tiles, x, cell);
	sp__extents_add(&l->extents, x, cell);
}

static int load_part(struct load *l, const struct sp_cube_box *part)
{
	struct sp_cube_box cells = sp__cube_cells(&l->cube->head.shape, part);
	uint64_t bytes = sp__tiles_init(&l->tiles, &l->cube->head.shape, part, l->order);
	int rc = sp__extents_open(&l->extents, l->cube, &cells, l->err);

	if (!rc)
		rc = read_elements(l, part, bytes);
	sp__charge_work(&l->cube->env, 0, 0, bytes);
	if (!rc)
		rc = sp__transfer_box(&l->transfer, &cells, fill_cell, l);
	if (!rc)
		rc = sp__extents_write(&l->extents, l->err);
	sp__extents_close(&l->extents);
	l->stats->elements += bytes / l->cube->head.shape.element_bytes;
	l->noted += bytes;
	return rc;
}

/* Parts begin at whole tiles, along dimension 0 at whole extents. */
static uint64_t unit_of(const struct load *l, unsigned dim)
{
	const struct sp__cube_head *h = &l->cube->head;

	return h->shape.tile[dim] * (dim ? 1 : (uint64_t)h->extent_cells);
}

/*
 * Lengths of parts: all of a dimension, from the fastest of the input on, as long as a layer of
 * tiles of the slower ones fits as well.
 */
static int set_lengths(struct load *l)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	uint64_t most = sp__cube_part_bytes(l->cube), least = s->element_bytes, layer = least,
		 unit[SP_CUBE_DIMS_MAX];

	l->pitch[l->order[0]] = s->element_bytes;
	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];

		if (i)
			l->pitch[dim] = l->pitch[l->order[i - 1]] * s->dims[l->order[i - 1]];
		unit[dim] = sp__min(unit_of(l, dim), s->dims[dim]);
		least *= unit[dim];
		layer *= i + 1 < s->ndims ? s->dims[dim] : unit[dim];
	}
	/* The checksums of a part, too: tiles at edges can have fewer elements than they take. */
	most = most / (least + SP__EXTENT_MEMORY) * least;
	most = sp__min(most, sp__max(layer, PART_BYTES));
	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];
		uint64_t units = sp__max(most / least, 1);

		l->length[dim] = sp__min(units * unit[dim], s->dims[dim]);
		least = least / unit[dim] * l->length[dim];
	}
	l->room = least;
	l->tiles.buffer = malloc(l->room);
	if (!l->tiles.buffer)
		return sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	sp__budget_charge(&l->cube->env.budget, l->room);
	return 0;
}

/* Whether parts are contiguous pieces of the input, one after the other. */
static bool in_sequence(const struct load *l)
{
	unsigned n = l->cube->head.shape.ndims, i = n - 1;

	for (unsigned k = 0; k < i; k++)
		if (l->length[l->order[k]] < l->cube->head.shape.dims[l->order[k]])
			return false;
	return true;
}

/* The offset after the last element. */
static uint64_t input_end(const struct load *l)
{
	unsigned n = l->cube->head.shape.ndims, slowest = l->order[n - 1];

	return l->opts.offset + l->pitch[slowest] * l->cube->head.shape.dims[slowest];
}

/* Copies a pipe to a temporary file, which allows seeking. */
static int spool(struct load *l)
{
	const struct sp_run_opts *o = &l->cube->opts.run;
	struct sp__volume *v;
	uint8_t *data = malloc(COPY_BYTES);
	off_t at = 0;
	int rc = data ? 0 : sp__err(l->err, -ENOMEM, "malloc", NULL, -1);

	if (!rc)
		rc = sp__volume_temp(&v, o->ntmpdirs ? o->tmpdirs[0] : "/tmp", SP__DIRECT_NEVER,
				     l->err);
	if (rc) {
		free(data);
		return rc;
	}
	/* One byte more than it should have is enough to know. */
	for (ssize_t n = 1; !rc && n && (uint64_t)at + l->at <= input_end(l);) {
		n = read(l->fd, data, COPY_BYTES);
		if (n < 0 && errno != EINTR)
			rc = read_error(l, -errno, (uint64_t)at, "");
		for (ssize_t put = 0, m; !rc && put < n; put += m, at += m) {
			m = pwrite(v->fd, data + put, (size_t)(n - put), at);
			if (m <= 0)
				rc = sp__err(l->err, m ? -errno : -EIO, "write", v->name, at);
		}
	}
	free(data);
	if (!rc && dup2(v->fd, l->fd) < 0)
		rc = sp__err(l->err, -errno, "dup", l->name, -1);
	sp__volume_close(v);
	l->seekable = true;
	l->opts.offset -= l->at; /* the copy begins where the pipe was */
	return rc;
}

static int open_input(struct load *l)
{
	l->fd = strcmp(l->name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					  : open(l->name, O_RDONLY | O_CLOEXEC);
	int rc;

	if (l->fd < 0)
		return sp__err(l->err, -errno, "open", l->name, -1);
	rc = sp__cube_check_input(l->cube, l->fd, l->name, l->err);
	if (rc)
		return rc;
	l->seekable = lseek(l->fd, 0, SEEK_CUR) == 0;
	return 0;
}

/* The head of a .npy file says offset, order and byte order. */
static int read_npy_head(struct load *l)
{
	uint8_t head[SP__NPY_HEAD_MAX];
	uint64_t bytes;
	const char *why;
	int rc = read_piece(l, head, SP__NPY_PREFIX, 0);

	if (rc)
		return rc;
	bytes = sp__npy_head_bytes(head);
	if (!bytes)
		return read_error(l, SP_EFORMAT, 0, "is no .npy file");
	rc = read_piece(l, head + SP__NPY_PREFIX, bytes - SP__NPY_PREFIX, SP__NPY_PREFIX);
	if (rc)
		return rc;
	why = sp__npy_parse(head, bytes, &l->cube->head.shape, &l->opts);
	return why ? read_error(l, SP_EFORMAT, 0, why) : 0;
}

/* Brings the input to its first element; parts that are not in its sequence need a file. */
static int begin_input(struct load *l)
{
	if (!in_sequence(l) && !l->seekable)
		return spool(l);
	return l->seekable ? 0 : skip(l, l->opts.offset - l->at);
}

/* Nothing may follow the last element. */
static int check_end(struct load *l)
{
	uint64_t end = input_end(l);
	uint8_t byte;
	ssize_t n;

	do {
		n = l->seekable ? pread(l->fd, &byte, 1, (off_t)end) : read(l->fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return read_error(l, -errno, end, "");
	return n ? read_error(l, SP_EFORMAT, end, "the input goes on after the last element") : 0;
}

/* Writes down how many layers of the input's slowest dimension are complete. */
static int note_progress(struct load *l, uint64_t layers, bool end)
{
	struct sp__cube_head *h = &l->cube->head;

	if (!end && l->noted < l->cube->progress_bytes)
		return 0;
	l->noted = 0;
	h->loaded = layers;
	h->complete = end;
	h->loading = !end;
	memcpy(h->load_order, l->order, sizeof(h->load_order));
	if (fdatasync(l->cube->volume->fd))
		return sp__err(l->err, -errno, "write", l->cube->path, -1);
	return sp__cube_head_write(h, l->cube->fd, l->cube->path, l->err);
}

/* All parts, those along the input's fastest dimension first. */
static int load_parts(struct load *l, uint64_t first)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	unsigned slowest = l->order[s->ndims - 1];
	uint64_t at[SP_CUBE_DIMS_MAX] = { 0 };
	struct sp_cube_box parts, part;
	int rc = 0;

	for (unsigned i = 0; i < s->ndims; i++) { /* in the order of the input */
		parts.lo[i] = l->order[i] == slowest ? first : 0;
		parts.hi[i] = s->dims[l->order[i]] - 1;
		parts.stride[i] = l->length[l->order[i]];
		at[i] = parts.lo[i];
	}
	if (first > parts.hi[s->ndims - 1])
		return 0;
	do {
		uint64_t layer = at[s->ndims - 1];

		for (unsigned i = 0; i < s->ndims; i++) {
			unsigned dim = l->order[i];

			part.lo[dim] = at[i];
			part.hi[dim] = sp__min(at[i] + l->length[dim], s->dims[dim]) - 1;
			part.stride[dim] = 1;
		}
		if (layer != first)
			rc = note_progress(l, layer, false);
		if (!rc)
			rc = load_part(l, &part);
	} while (!rc && sp__box_next(&parts, 0, s->ndims, at));
	return rc;
}

static int set_order(struct load *l)
{
	unsigned n = l->cube->head.shape.ndims, seen = 0;

	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		if (l->opts.rollup[i])
			return sp__errf(l->err, SP_ESYNTAX, "load", l->name, -1,
					"only the coordinates of CSV are rolled up");
	for (unsigned i = 0; i < n; i++) {
		l->order[i] = l->opts.ordered ? l->opts.order[i] : i;
		seen |= l->order[i] < n ? 1u << l->order[i] : 0;
	}
	if (seen != (1u << n) - 1)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->cube->path, -1,
				"the order of dimensions does not name each of them once");
	if (l->opts.offset > OFFSET_MAX)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->name, -1,
				"no input has an offset beyond 2^62");
	return 0;
}

/*
 * The layer at which to go on, or 0; what was there is incomplete from now on, and was never
 * written if all is loaded again.
 */
static int begin(struct load *l, uint64_t *first)
{
	struct sp__cube_head *h = &l->cube->head;
	unsigned slowest = l->order[h->shape.ndims - 1];
	uint64_t table = h->table_block * h->block_bytes;
	int rc;

	*first = l->opts.resume ? h->loaded : 0;
	if (*first < h->shape.dims[slowest])
		*first -= *first % unit_of(l, slowest);
	if (h->no_data)
		return sp__errf(l->err, SP_EUNSUP, "load", l->cube->path, -1,
				"the cube was made without data");
	if (*first && memcmp(h->load_order, l->order, h->shape.ndims * sizeof(*l->order)))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->cube->path, -1,
				"the order differs from that of the load to go on with");
	rc = l->seekable ? 0 : skip(l, *first * l->pitch[slowest]);
	if (rc)
		return rc;
	h->complete = false;
	h->loading = true;
	h->loaded = *first;
	memcpy(h->load_order, l->order, sizeof(h->load_order));
	rc = sp__cube_head_write(h, l->cube->fd, l->cube->path, l->err);
	if (rc || *first)
		return rc;
	return sp__extents_clear(l->cube->fd, table, table + sp__extents_table_bytes(h),
				 l->cube->path, l->err);
}

static int run_load(struct load *l)
{
	uint64_t first;
	int rc = open_input(l);

	if (!rc && l->opts.format == SP_CUBE_NPY)
		rc = read_npy_head(l);
	if (!rc)
		rc = set_order(l);
	if (!rc)
		rc = set_lengths(l);
	if (!rc)
		rc = begin_input(l);
	if (!rc) {
		rc = sp__transfer_open(&l->transfer, l->cube, SP__OP_WRITE, l->stats, l->err);
		if (!rc)
			rc = begin(l, &first);
		if (!rc)
			rc = load_parts(l, first);
		sp__transfer_close(&l->transfer);
	}
	if (!rc)
		rc = check_end(l);
	if (!rc)
		rc = note_progress(
			l, l->cube->head.shape.dims[l->order[l->cube->head.shape.ndims - 1]], true);
	return rc;
}

int sp_cube_load(struct sp_cube *cube, const char *input, const struct sp_cube_load_opts *opts,
		 struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct load l = {
		.cube = cube, .opts = *opts, .stats = stats, .err = err, .name = input, .fd = -1
	};
	int rc;

	*stats = (struct sp_cube_stats){ 0 };
	cube->volume->hollow = false;
	rc = opts->format == SP_CUBE_CSV ? sp__csv_load(cube, input, opts, stats, err)
					 : run_load(&l);
	if (l.fd >= 0)
		close(l.fd);
	free(l.tiles.buffer);
	sp__budget_credit(&cube->env.budget, l.room);
	sp__env_note(&cube->env, &stats->run, false);
	return rc;
}
