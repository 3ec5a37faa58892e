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
 * Cells are written in the order of the mapping, while the next part is read; the checksums of a
 * part follow as soon as its last cell has been filled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "cube/loading.h"
#include "run/charge.h"

/* A part of several layers is not larger: memory that is touched for the first time is slow. */
#define PART_BYTES (UINT64_C(16) << 20)

static void fill_cell(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct sp__loading *l = arg;
	const struct sp__cube_head *h = &l->cube->head;
	bool edge = false;

	for (unsigned i = 0; i < h->shape.ndims; i++)
		edge |= (x[i] + 1) * h->shape.tile[i] > h->shape.dims[i];
	if (edge)
		sp__tile_fill(&h->shape, cell, h->fill);
	if (l->kept.buffer)
		sp__tiles_to_cell(&l->kept, x, cell);
	sp__tiles_to_cell(&l->tiles, x, cell);
	sp__extents_add(&l->extents, x, cell);
}

/* The elements of the input in a box; fill if there is none. */
static int read_elements(struct sp__loading *l, struct sp_cube_box box, uint64_t bytes)
{
	const struct sp__cube_head *h = &l->cube->head;

	for (uint64_t at = 0; !l->input.name && at < bytes; at += h->shape.element_bytes)
		memcpy(l->tiles.buffer + at, h->fill, h->shape.element_bytes);
	box.lo[l->dim] -= l->first;
	box.hi[l->dim] -= l->first;
	return l->input.name ? sp__loadinput_read(&l->input, &box, l->tiles.buffer) : 0;
}

static int begin(struct sp__loading *l)
{
	int (*fn)(struct sp__loading * l) = l->begin;

	l->begin = NULL;
	return fn ? fn(l) : 0;
}

static int write_cells(struct sp__loading *l, const struct sp_cube_box *cells)
{
	int rc;

	sp__transfer_begin(&l->transfer, SP__OP_WRITE, fill_cell, l);
	rc = sp__transfer_cells(&l->transfer, cells);
	return rc ? rc : sp__transfer_flush(&l->transfer);
}

static int load_part(struct sp__loading *l, const struct sp_cube_box *part)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	struct sp_cube_box cells = sp__cube_cells(s, part), box = *part, old = *part;
	uint64_t bytes;
	int rc = 0;

	box.lo[l->dim] = sp__max(box.lo[l->dim], l->first);
	old.hi[l->dim] = box.lo[l->dim] - 1;
	bytes = sp__tiles_init(&l->tiles, s, &box, l->order);
	l->kept.buffer = NULL;
	if (part->lo[l->dim] < l->first) {
		l->kept.buffer = l->tiles.buffer + bytes;
		rc = l->keep(l, &old);
	}
	if (!rc)
		rc = sp__extents_open(&l->extents, l->cube, &cells, l->err);
	if (!rc)
		rc = read_elements(l, box, bytes);
	if (!rc)
		rc = begin(l);
	sp__charge_work(&l->cube->env, 0, 0, bytes);
	if (!rc)
		rc = write_cells(l, &cells);
	if (!rc)
		rc = sp__extents_write(&l->extents, l->err);
	sp__extents_close(&l->extents);
	l->stats->elements += bytes / s->element_bytes;
	l->noted += bytes;
	return rc;
}

/* Where parts begin along a dimension. */
static uint64_t begin_of(const struct sp__loading *l, unsigned dim)
{
	return dim == l->dim ? l->first - l->first % sp__cube_head_unit(&l->cube->head, dim) : 0;
}

static uint64_t span_of(const struct sp__loading *l, unsigned dim)
{
	return l->cube->head.shape.dims[dim] - begin_of(l, dim);
}

/*
 * Lengths of parts: all of a dimension, from the fastest of the input on, as long as a layer of
 * tiles of the slower ones fits as well.
 */
static int set_lengths(struct sp__loading *l)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	uint64_t most = sp__cube_part_bytes(l->cube), least = s->element_bytes, layer = least,
		 unit[SP_CUBE_DIMS_MAX];

	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];

		unit[dim] = sp__min(sp__cube_head_unit(&l->cube->head, dim), span_of(l, dim));
		least *= unit[dim];
		layer *= i + 1 < s->ndims ? span_of(l, dim) : unit[dim];
	}
	/* The checksums of a part, too: tiles at edges can have fewer elements than they take. */
	most = most / (least + SP__EXTENT_MEMORY) * least;
	most = sp__min(most, sp__max(layer, PART_BYTES));
	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];
		uint64_t units = sp__max(most / least, 1);

		l->length[dim] = sp__min(units * unit[dim], span_of(l, dim));
		least = least / unit[dim] * l->length[dim];
	}
	l->room = least;
	l->tiles.buffer = sp__pages_alloc(l->room, true);
	if (!l->tiles.buffer)
		return sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	sp__budget_charge(&l->cube->env.budget, l->room);
	return 0;
}

/* Whether parts are contiguous pieces of the input, one after the other. */
static bool in_sequence(const struct sp__loading *l)
{
	unsigned n = l->cube->head.shape.ndims, i = n - 1;

	for (unsigned k = 0; k < i; k++)
		if (l->length[l->order[k]] < span_of(l, l->order[k]))
			return false;
	return true;
}

int sp__loading_open(struct sp__loading *l)
{
	int rc = set_lengths(l);

	if (!rc && l->input.name)
		rc = sp__loadinput_begin(&l->input, in_sequence(l));
	return rc ? rc : sp__transfer_open(&l->transfer, l->cube, SP__OP_WRITE, l->stats, l->err);
}

/* All parts, those along the input's fastest dimension first. */
int sp__loading_parts(struct sp__loading *l, uint64_t first)
{
	const struct sp_cube_shape *s = &l->cube->head.shape;
	unsigned last = s->ndims - 1;
	uint64_t at[SP_CUBE_DIMS_MAX] = { 0 };
	struct sp_cube_box parts, part;
	int rc = 0;

	for (unsigned i = 0; i <= last; i++) { /* in the order of the input */
		parts.lo[i] = at[i] = sp__max(begin_of(l, l->order[i]), i == last ? first : 0);
		parts.hi[i] = s->dims[l->order[i]] - 1;
		parts.stride[i] = l->length[l->order[i]];
	}
	l->layer = first;
	if (first > parts.hi[last])
		return 0;
	do {
		for (unsigned i = 0; i <= last; i++) {
			unsigned dim = l->order[i];

			part.lo[dim] = at[i];
			part.hi[dim] = sp__min(at[i] + l->length[dim], s->dims[dim]) - 1;
			part.stride[dim] = 1;
		}
		if (l->progress && at[last] != parts.lo[last])
			rc = l->progress(l, at[last]);
		if (!rc)
			rc = load_part(l, &part);
	} while (!rc && sp__box_next(&parts, 0, s->ndims, at));
	return rc ? rc : sp__transfer_end(&l->transfer);
}

void sp__loading_close(struct sp__loading *l)
{
	if (l->transfer.cube)
		sp__transfer_close(&l->transfer);
	sp__pages_free(l->tiles.buffer, l->room);
	sp__budget_credit(&l->cube->env.budget, l->room);
}
