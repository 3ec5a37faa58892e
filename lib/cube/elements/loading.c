/* SPDX-License-Identifier: MIT */
/*
 * Loads elements that are in sequence.
 *
 * Algorithm.  The input is read in slabs, boxes of elements with whole cells.  A slab with all
 * coordinates of the faster dimensions of the input is contiguous in it.  If a layer of tiles does
 * not fit in the memory, slabs are shorter along the slower dimensions first.  Then they are not
 * contiguous, so the input must allow seeking: a pipe is copied to a temporary file.
 *
 * Cells are written in the order of the mapping.  While the cells of a slab are written, a task
 * reads the next slab into a second buffer.  A pipe is not read ahead: reporting an error would
 * wait for a read that may never return.  The checksums of a slab are written after its last cell.
 */
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "cube/elements/loading.h"
#include "run/charge.h"

/* Maximum slab of several layers: memory is slow when it is touched for the first time. */
#define PART_BYTES (UINT64_C(16) << 20)

static void fill_cell(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct sp__loading *l = arg;
	const struct sp__cube_superblock *h = &l->file->superblock;
	bool edge = false;

	for (unsigned i = 0; i < h->shape.ndims; i++)
		edge |= (x[i] + 1) * h->shape.tile[i] > h->shape.dims[i];
	if (edge)
		sp__tile_fill(&h->shape, cell, h->fill);
	if (l->kept.buffer && !l->change)
		sp__tiles_to_cell(&l->kept, x, cell);
	sp__tiles_to_cell(&l->slab->tiles, x, cell);
	sp__extents_add(&l->extents, x, cell);
}

/* The task reads the elements of a slab: from the input, or fill; a copy needs none. */
static void read_elements(void *arg)
{
	struct sp__loading *l = arg;
	const struct sp__cube_superblock *h = &l->file->superblock;
	struct sp_cube_box box = l->read->tiles.box;
	uint8_t *to = l->read->tiles.buffer;
	uint64_t filled = l->input.name || l->change ? 0 : l->read->bytes;

	for (uint64_t at = 0; at < filled; at += h->shape.element_bytes)
		memcpy(to + at, h->fill, h->shape.element_bytes);
	box.lo[l->dim] -= l->first;
	box.hi[l->dim] -= l->first;
	l->read_rc = l->input.name ? sp__loadinput_read(&l->input, &box, to) : 0;
}

static void begin_reading(struct sp__loading *l, const struct sp__loadslab *slab)
{
	l->read = slab;
	sp__task_start(&l->reading, read_elements, l);
}

static int end_reading(struct sp__loading *l)
{
	sp__task_join(&l->reading);
	if (l->read_rc < 0)
		*l->err = l->read_err;
	return l->read_rc;
}

/* Reads old elements that share cells with the slab, or that are copied to it. */
static int read_kept(struct sp__loading *l)
{
	const struct sp__loadslab *p = l->slab;
	struct sp_cube_box old = p->box;

	if (l->change) {
		l->kept.buffer = p->tiles.buffer;
		return l->keep(l, &old);
	}
	old.hi[l->dim] = p->tiles.box.lo[l->dim] - 1;
	l->kept.buffer = NULL;
	if (p->box.lo[l->dim] >= l->first)
		return 0;
	l->kept.buffer = p->tiles.buffer + p->bytes;
	return l->keep(l, &old);
}

/* Writes a slab that was read, and starts reading the next one, if there is one. */
static int load_slab(struct sp__loading *l, const struct sp__loadslab *slab,
		     const struct sp__loadslab *next)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	struct sp_cube_box cells = sp__cube_cells(s, &slab->box);
	int rc;

	l->slab = slab;
	rc = read_kept(l);
	if (!rc)
		rc = sp__extents_open(&l->extents, l->file, &cells, l->err);
	if (!rc && l->begin)
		rc = l->begin(l);
	l->begin = NULL;
	if (!rc && next && slab->tiles.buffer != next->tiles.buffer)
		begin_reading(l, next);
	sp__charge_work(&l->file->env, 0, 0, slab->bytes);
	if (!rc)
		rc = sp__transfers_box(&l->transfers, SP__OP_WRITE, &cells, fill_cell, l, l->err);
	if (!rc)
		rc = sp__extents_write(&l->extents, l->err);
	sp__extents_close(&l->extents);
	l->stats->elements += l->change ? 0 : slab->bytes / s->element_bytes;
	l->noted += slab->bytes;
	if (!rc && next && slab->tiles.buffer == next->tiles.buffer)
		begin_reading(l, next);
	return rc;
}

/* Returns the element at which slabs begin along a dimension. */
static uint64_t begin_of(const struct sp__loading *l, unsigned dim)
{
	return dim == l->dim
		       ? l->first - l->first % sp__cube_superblock_unit(&l->file->superblock, dim)
		       : 0;
}

static uint64_t span_of(const struct sp__loading *l, unsigned dim)
{
	return l->file->superblock.shape.dims[dim] - begin_of(l, dim);
}

/*
 * Sets the lengths of slabs: whole dimensions, from the fastest of the input on, while a layer of
 * tiles of the slower ones fits, too.  Returns the number of slabs that fit in the memory: 1 or 2.
 */
static unsigned set_lengths(struct sp__loading *l)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	uint64_t max = sp__cube_slab_bytes(l->file), min = s->element_bytes, layer = min, all = min,
		 unit[SP_CUBE_DIMS_MAX];
	unsigned buffers = 2;

	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];

		unit[dim] = sp__min(sp__cube_superblock_unit(&l->file->superblock, dim),
				    span_of(l, dim));
		min *= unit[dim];
		layer *= i + 1 < s->ndims ? span_of(l, dim) : unit[dim];
		all *= span_of(l, dim);
	}
	if (l->input.name && l->input.seekable && all > sp__min(max, sp__max(layer, PART_BYTES)) &&
	    max / 2 >= min + SP__EXTENT_MEMORY)
		max /= 2;
	else
		buffers = 1;
	/* The checksums of a slab, too: tiles at edges can have fewer elements than they take. */
	max = max / (min + SP__EXTENT_MEMORY) * min;
	max = sp__min(max, sp__max(layer, PART_BYTES));
	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];
		uint64_t units = sp__max(max / min, 1);

		l->length[dim] = sp__min(units * unit[dim], span_of(l, dim));
		min = min / unit[dim] * l->length[dim];
	}
	l->slab_bytes = min;
	return buffers;
}

static int open_buffers(struct sp__loading *l, unsigned n)
{
	uint64_t bytes = n * l->slab_bytes;

	l->buffer[0] = sp__pages_alloc(bytes, true);
	if (!l->buffer[0])
		return sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	l->buffer_bytes = bytes;
	l->buffer[1] = l->buffer[0] + (n - 1) * l->slab_bytes;
	sp__budget_charge(&l->file->env.budget, bytes);
	return 0;
}

/* True if slabs are contiguous in the input, one after the other. */
static bool in_sequence(const struct sp__loading *l)
{
	unsigned n = l->file->superblock.shape.ndims, i = n - 1;

	for (unsigned k = 0; k < i; k++)
		if (l->length[l->order[k]] < span_of(l, l->order[k]))
			return false;
	return true;
}

int sp__loading_open(struct sp__loading *l)
{
	int rc = open_buffers(l, set_lengths(l));

	if (!rc && l->input.name)
		rc = sp__loadinput_begin(&l->input, in_sequence(l) && !l->whole);
	l->read_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	l->input.err = &l->read_err;
	return rc ? rc : sp__transfers_open(&l->transfers, l->file, l->stats, l->err);
}

/* Makes the slab that begins at `at`, in the order of the input, with its buffer. */
static void set_slab(const struct sp__loading *l, const uint64_t *at, uint8_t *buffer,
		     struct sp__loadslab *p)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	struct sp_cube_box box = { 0 };

	for (unsigned i = 0; i < s->ndims; i++) {
		unsigned dim = l->order[i];

		box.lo[dim] = at[i];
		box.hi[dim] = sp__min(at[i] + l->length[dim], s->dims[dim]) - 1;
		box.stride[dim] = 1;
	}
	p->box = box;
	p->layer = at[s->ndims - 1];
	box.lo[l->dim] = sp__max(box.lo[l->dim], l->first);
	p->bytes = sp__tiles_init(&p->tiles, s, &box, l->order);
	p->tiles.buffer = buffer;
}

/* Advances to the next slab in the order of the input.  Returns false after the last one. */
static bool all_slabs(const struct sp__loading *l, uint64_t first, struct sp_cube_box *slabs)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	unsigned last = s->ndims - 1;

	for (unsigned i = 0; i <= last; i++) {
		slabs->lo[i] = sp__max(begin_of(l, l->order[i]), i == last ? first : 0);
		slabs->hi[i] = s->dims[l->order[i]] - 1;
		slabs->stride[i] = l->length[l->order[i]];
	}
	return first <= slabs->hi[last];
}

/* Begins the phase that writes the cells of slabs. */
static void begin_phase(const struct sp__loading *l, const struct sp_cube_box *slabs)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	struct sp_cube_box box = { 0 }, cells;

	for (unsigned i = 0; i < s->ndims; i++) {
		box.lo[l->order[i]] = slabs->lo[i];
		box.hi[l->order[i]] = slabs->hi[i];
		box.stride[i] = 1;
	}
	cells = sp__cube_cells(s, &box);
	sp__cube_begin_phase(l->file, SP_CUBE_PHASE_CELLS, SP__OP_WRITE,
			     sp__box_cells(&cells, s->ndims) * l->file->cell_bytes);
}

/* Loads all slabs, along the fastest dimension of the input first. */
int sp__loading_slabs(struct sp__loading *l, uint64_t first)
{
	const unsigned n = l->file->superblock.shape.ndims;
	struct sp__loadslab slab[2];
	uint64_t at[SP_CUBE_DIMS_MAX];
	struct sp_cube_box slabs;
	bool more = all_slabs(l, first, &slabs);
	int rc = 0;

	l->layer = first;
	if (!more)
		return 0;
	begin_phase(l, &slabs);
	memcpy(at, slabs.lo, sizeof(at));
	set_slab(l, at, l->buffer[0], &slab[0]);
	begin_reading(l, &slab[0]);
	for (unsigned i = 0; !rc && more; i = 1 - i) {
		if (l->progress && slab[i].layer != slabs.lo[n - 1])
			rc = l->progress(l, slab[i].layer);
		if (!rc)
			rc = end_reading(l);
		more = sp__box_next(&slabs, 0, n, at);
		if (more)
			set_slab(l, at, l->buffer[1 - i], &slab[1 - i]);
		if (!rc)
			rc = load_slab(l, &slab[i], more ? &slab[1 - i] : NULL);
	}
	sp__task_join(&l->reading);
	return rc;
}

void sp__loading_close(struct sp__loading *l)
{
	sp__transfers_close(&l->transfers);
	l->input.err = l->err;
	sp__pages_free(l->buffer[0], l->buffer_bytes);
	sp__budget_credit(&l->file->env.budget, l->buffer_bytes);
}
