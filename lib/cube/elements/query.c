/* SPDX-License-Identifier: MIT */
/*
 * Reads the elements of a box.
 *
 * Cells arrive in the best order of the mapping; elements leave in rows along dimension 0, from a
 * buffer.  A box that does not fit in the memory is read in slabs, in the order of the result:
 * ranges along the slowest dimension, or, if one coordinate of it is too much, along the next one.
 * Slabs end at the ends of tiles, so each cell is read once.
 *
 * Without a sink, requests are made and their data is dropped.  If checksums are compared, the box
 * is still read in slabs, of whole tiles.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/elements/elements.h"
#include "cube/file/extents.h"
#include "cube/mapping/tiles.h"
#include "cube/file/transfer.h"
#include "run/charge.h"

/*
 * Maximum slab of several layers, if the order of requests does not matter: memory is slow when it
 * is touched for the first time.
 */
#define SLAB_BYTES (UINT64_C(16) << 20)

struct query {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__transfers transfers;
	sp_cube_sink sink;
	void *arg;
	struct sp__tiles tiles;
	struct sp__extents extents;
	bool verify, sparse;	     /* sparse: some cells can be unwritten */
	struct sp_cube_check *check; /* not NULL: damage is counted, and is not an error */
	uint64_t slab_bytes;
	uint8_t *blank; /* a cell of the fill value */
};

static void look(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct query *q = arg;

	if (q->sparse && sp__extents_absent(&q->extents, x))
		cell = q->blank;
	else if (q->verify)
		sp__extents_add(&q->extents, x, cell);
	if (q->sink)
		sp__tiles_from_cell(&q->tiles, x, cell);
}

static void count_damage(const struct query *q, uint64_t damaged, const uint64_t *x)
{
	const struct sp_cube_shape *s = &q->file->superblock.shape;

	for (unsigned i = 0; damaged && !q->check->damaged && i < s->ndims; i++)
		q->check->first_damaged[i] = x[i] * s->tile[i];
	q->check->damaged += damaged;
	q->check->absent += sp__extents_absent_count(&q->extents);
}

static int check_slab(struct query *q)
{
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 }, damaged;

	if (!q->verify)
		return 0;
	damaged = sp__extents_damaged(&q->extents, x);
	if (q->check)
		count_damage(q, damaged, x);
	if (!damaged || q->check)
		return 0;
	return sp__cube_damaged(q->file, sp__fragments_block(&q->file->superblock.fragments, x),
				q->err);
}

/* Reads a slab, and passes it to the sink, if there is one. */
static int read_slab(struct query *q, const struct sp_cube_box *slab)
{
	struct sp_cube_box cells = sp__cube_cells(&q->file->superblock.shape, slab);
	bool table = q->verify || q->sparse;
	uint64_t bytes = 0;
	int rc = 0;

	if (q->sink) {
		bytes = sp__tiles_init(&q->tiles, &q->file->superblock.shape, slab, NULL);
		q->tiles.buffer = malloc(bytes);
		if (!q->tiles.buffer)
			return sp__err(q->err, -ENOMEM, "malloc", NULL, -1);
		sp__budget_charge(&q->file->env.budget, bytes);
	}
	if (table) {
		sp__extents_whole(q->file, &cells);
		rc = sp__extents_open(&q->extents, q->file, &cells, q->err);
		if (!rc)
			rc = sp__extents_read(&q->extents, q->err);
	}
	if (!rc)
		rc = sp__transfers_box(&q->transfers, SP__OP_READ, &cells,
				       q->sink || table ? look : NULL, q, q->err);
	if (!rc)
		rc = check_slab(q);
	sp__charge_work(&q->file->env, 0, 0, bytes);
	if (!rc && q->sink)
		rc = q->sink(q->arg, q->tiles.buffer, bytes);
	if (table)
		sp__extents_close(&q->extents);
	if (q->sink) {
		free(q->tiles.buffer);
		sp__budget_credit(&q->file->env.budget, bytes);
	}
	return rc;
}

/* Returns the memory of a slab: elements for a sink, and checksums, if they are compared. */
static uint64_t slab_memory(const struct query *q, const struct sp_cube_box *b)
{
	const struct sp_cube_shape *s = &q->file->superblock.shape;
	struct sp_cube_box cells = sp__cube_cells(s, b);
	uint64_t bytes = q->sink ? s->element_bytes * sp__box_cells(b, s->ndims) : 0;

	if (q->verify || q->sparse) {
		sp__extents_whole(q->file, &cells);
		bytes += sp__extents_memory(q->file, &cells);
	}
	return bytes;
}

/*
 * Returns the coordinates of dimension i in one slab: as many as fit, up to the end of a tile if
 * possible.  A table of checksums needs whole extents along dimension 0.  Without a sink slabs are
 * whole tiles, so no cell is read twice.
 */
static uint64_t slab_end(const struct query *q, const struct sp_cube_box *b, unsigned i,
			 uint64_t lo, uint64_t fit)
{
	uint64_t unit = q->file->superblock.shape.tile[i] *
			(i ? 1 : (uint64_t)q->file->superblock.extent_cells);
	uint64_t last = lo + (fit - 1) * b->stride[i], end = (last + 1) / unit * unit;

	if (!q->sink)
		return sp__min(last / unit * unit + unit - 1, b->hi[i]);
	if (last >= b->hi[i])
		return b->hi[i];
	return end > lo ? end - 1 : last;
}

/* Makes the slab that begins at lo along dimension i: halves the rest until it fits. */
static void cut(const struct query *q, const struct sp_cube_box *b, unsigned i, uint64_t lo,
		struct sp_cube_box *slab)
{
	uint64_t fit = (b->hi[i] - lo) / b->stride[i] + 1, one;

	*slab = *b;
	slab->lo[i] = slab->hi[i] = lo;
	one = slab_memory(q, slab);
	fit = sp__max(sp__min(fit, q->sink ? q->slab_bytes / one : fit), 1);
	for (;; fit /= 2) {
		slab->hi[i] = slab_end(q, b, i, lo, fit);
		if (fit == 1 || slab_memory(q, slab) <= q->slab_bytes)
			return;
	}
}

/* Reads a box with one coordinate, or one tile, in each dimension above i. */
static int read_box(struct query *q, const struct sp_cube_box *b, unsigned i)
{
	struct sp_cube_box slab;
	int rc = 0;

	while (i && sp__box_count(b, i) == 1)
		i--;
	if (slab_memory(q, b) <= q->slab_bytes)
		return read_slab(q, b);
	for (uint64_t lo = b->lo[i]; !rc && lo <= b->hi[i];) {
		cut(q, b, i, lo, &slab);
		rc = i ? read_box(q, &slab, i - 1) : read_slab(q, &slab);
		lo += (slab.hi[i] - lo) / b->stride[i] * b->stride[i] + b->stride[i];
	}
	return rc;
}

/* Returns the memory of a layer of tiles of a box. */
static uint64_t layer_bytes(const struct query *q, const struct sp_cube_box *box)
{
	const struct sp_cube_shape *s = &q->file->superblock.shape;
	struct sp_cube_box layer = *box;
	unsigned i = s->ndims - 1;

	while (i && sp__box_count(box, i) == 1)
		i--;
	layer.hi[i] = sp__min(layer.lo[i] + (i ? s->tile[i] - 1 : SLAB_BYTES / s->element_bytes),
			      layer.hi[i]);
	return slab_memory(q, &layer);
}

static int open_query(struct query *q, const struct sp_cube_box *box)
{
	struct sp__cubefile *c = q->file;

	if (c->superblock.no_data && q->verify)
		return sp__errf(q->err, SP_EUNSUP, "read", c->path, -1,
				"the cube was made without data: there are no checksums");
	q->slab_bytes = sp__cube_slab_bytes(c);
	if (q->sink && !c->env.device && !c->superblock.mapping.multimap.nzones)
		q->slab_bytes = sp__min(q->slab_bytes, sp__max(layer_bytes(q, box), SLAB_BYTES));
	sp__cube_hollow(c, c->env.device && !q->sink && !q->verify);
	if (!q->sparse)
		return 0;
	q->blank = malloc(c->cell_bytes);
	if (!q->blank)
		return sp__err(q->err, -ENOMEM, "malloc", NULL, -1);
	sp__tile_fill(&c->superblock.shape, q->blank, c->superblock.fill);
	return 0;
}

/* Shortens strides that lead out of the box. */
static struct sp_cube_box tightened(const struct sp_cube_box *b, unsigned n)
{
	struct sp_cube_box tight = *b;

	for (unsigned i = 0; i < n; i++) {
		tight.hi[i] = b->lo[i] + (sp__box_count(b, i) - 1) * b->stride[i];
		if (tight.hi[i] == tight.lo[i])
			tight.stride[i] = 1;
	}
	return tight;
}

static int run_query(struct query *q, const struct sp_cube_box *box)
{
	struct sp__cubefile *c = q->file;
	struct sp_cube_box tight = tightened(box, c->superblock.shape.ndims);
	struct sp_cube_box cells = sp__cube_cells(&c->superblock.shape, &tight);
	int rc = open_query(q, &tight);

	if (!rc) {
		sp__cube_begin_phase(c, SP_CUBE_PHASE_CELLS, SP__OP_READ,
				     sp__box_cells(&cells, c->superblock.shape.ndims) *
					     c->cell_bytes);
		rc = sp__transfers_open(&q->transfers, c, q->stats, q->err);
		if (!rc)
			rc = read_box(q, &tight, c->superblock.shape.ndims - 1);
		sp__transfers_close(&q->transfers);
	}
	free(q->blank);
	sp__env_note(&c->env, &q->stats->run, false);
	return rc;
}

int sp__elements_read(struct sp__cubefile *file, const struct sp_cube_box *box, sp_cube_sink sink,
		      void *arg, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct query q = { .file = file,
			   .stats = stats,
			   .err = err,
			   .sink = sink,
			   .arg = arg,
			   .verify = file->opts.verify,
			   .sparse = sink && !file->superblock.complete };

	*stats = (struct sp_cube_stats){
		.elements = sp__box_cells(box, file->superblock.shape.ndims),
	};
	return run_query(&q, box);
}

int sp__elements_verify(struct sp__cubefile *file, struct sp_cube_check *check,
			struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	const struct sp_cube_shape *s = &file->superblock.shape;
	struct query q = {
		.file = file, .stats = stats, .err = err, .verify = true, .check = check
	};
	struct sp_cube_box all = { 0 };

	*stats = (struct sp_cube_stats){ 0 };
	check->cells = 1;
	for (unsigned i = 0; i < s->ndims; i++) {
		all.hi[i] = s->dims[i] - 1;
		all.stride[i] = 1;
		check->cells *= all.hi[i] / s->tile[i] + 1;
	}
	return run_query(&q, &all);
}
