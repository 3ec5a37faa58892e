/* SPDX-License-Identifier: MIT */
/*
 * Writes a box of elements from memory, as a load from CSV changes a cube in place: rows of tiles
 * are located, a batch at a time, and merged into their extents.
 *
 * States: while extents change, the superblock says that points are being loaded, so an
 * interrupted write can be repeated.  A repeated write ends as a load from CSV, which checks that
 * every extent that was changing has been written.  Otherwise the state before is restored.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/elements/elements.h"
#include "cube/elements/loading.h"
#include "cube/elements/merge.h"
#include "run/charge.h"

struct writing {
	struct sp__cubefile *file;
	struct sp_errinfo *err;
	const struct sp_cube_box *box;
	const uint8_t *elements;
	uint64_t x[SP_CUBE_DIMS_MAX]; /* coordinates of the next element */
	uint64_t next, total;	      /* elements */
	struct sp__point *points;
	size_t capacity;
	uint64_t charged;
	struct sp__pointmerge merge;
};

/* The state of the cube before the write. */
struct before {
	bool complete;
	uint64_t loaded;
	unsigned order[SP_CUBE_DIMS_MAX];
};

static int open_writing(struct writing *w, struct sp_cube_stats *stats)
{
	uint64_t bytes = sp__cube_slab_bytes(w->file) / 2;

	w->capacity = (size_t)sp__min(sp__max(bytes / SP__POINTMERGE_POINT_BYTES, 1), w->total);
	w->points = malloc(w->capacity * sizeof(*w->points));
	if (!w->points)
		return sp__err(w->err, -ENOMEM, "malloc", NULL, -1);
	w->charged = w->capacity * SP__POINTMERGE_POINT_BYTES;
	sp__budget_charge(&w->file->env.budget, w->charged);
	return sp__pointmerge_open(&w->merge, w->capacity, bytes, stats);
}

static void close_writing(struct writing *w)
{
	sp__pointmerge_close(&w->merge);
	free(w->points);
	sp__budget_credit(&w->file->env.budget, w->charged);
}

/* Locates the next elements, as many as fit.  Those of one row of a tile are one point. */
static size_t locate_batch(struct writing *w)
{
	const struct sp_cube_shape *s = &w->file->superblock.shape;
	size_t n = 0;

	for (; n < w->capacity && w->next < w->total; n++) {
		struct sp__point *p = &w->points[n];
		uint64_t row =
			sp__min(s->tile[0] - w->x[0] % s->tile[0], w->box->hi[0] - w->x[0] + 1);

		sp__point_locate(w->file, w->x, p);
		p->index = w->next;
		p->count = row = sp__min(row, SP__POINT_COUNT_MAX);
		w->next += row;
		w->x[0] += row - 1;
		(void)sp__box_next(w->box, 0, s->ndims, w->x);
	}
	return n;
}

static int write_batches(struct writing *w, struct sp_cube_stats *stats)
{
	int rc = 0;

	while (!rc && w->next < w->total) {
		uint64_t before = w->next;
		size_t n = locate_batch(w);

		sp__charge_sorting(&w->file->env, n);
		rc = sp__pointmerge_points(&w->merge, w->points, n, w->elements);
		stats->elements += w->next - before;
	}
	return rc;
}

/* Writes the state before, when all cells are on the device. */
static int restore(struct writing *w, const struct before *before)
{
	int rc = sp__cube_sync(w->file, w->err);

	if (rc)
		return rc;
	sp__cube_set_progress(w->file, before->complete, SP__LOADING_NONE, before->order,
			      before->loaded);
	return sp__cube_end_change(w->file, w->err);
}

static int run_write(struct writing *w, struct sp_cube_stats *stats)
{
	const struct sp__cube_superblock *h = &w->file->superblock;
	const unsigned last = h->shape.ndims - 1;
	struct before before = { .complete = h->complete, .loaded = h->loaded };
	int rc;

	memcpy(before.order, h->load_order, sizeof(before.order));
	rc = sp__load_begin(w->file, SP__LOADING_POINTS, before.order, 0, w->err);
	if (!rc)
		rc = write_batches(w, stats);
	if (!rc && w->merge.again) {
		rc = sp__pointmerge_absent(&w->merge);
		before.complete = true;
		before.loaded = h->shape.dims[before.order[last]];
	}
	return rc ? rc : restore(w, &before);
}

int sp__elements_write(struct sp__cubefile *file, const struct sp_cube_box *box,
		       const void *elements, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &file->superblock;
	const bool again = h->loading == SP__LOADING_POINTS;
	struct writing w = {
		.file = file,
		.err = err,
		.box = box,
		.elements = elements,
		.total = sp__box_cells(box, h->shape.ndims),
		.merge = { .file = file, .err = err, .repeatable = true, .again = again },
	};
	int rc = 0;

	if (h->no_data)
		return sp__errf(err, SP_EUNSUP, "write", file->path, -1,
				"the cube was made without data");
	memcpy(w.x, box->lo, sizeof(w.x));
	if (!again)
		rc = sp__cube_check_finished(file, "write", err);
	if (!rc)
		rc = sp__put_settle(file, err);
	if (!rc) {
		rc = open_writing(&w, stats);
		if (!rc)
			rc = run_write(&w, stats);
		close_writing(&w);
	}
	return rc;
}
