/* SPDX-License-Identifier: MIT */
/*
 * Merges points into the extents of a cube, on several threads.
 *
 * Threads own different extents: a bucket is a range of extents, and has a change of its own.
 */
#pragma once

#include "cube/elements/change.h"
#include "cube/file/transfer.h"

#define SP__POINTMERGE_BUCKETS 64u

struct sp__pointmerge_bucket {
	struct sp__change change;
	struct sp_cube_box box; /* to be filled from x on */
	uint64_t x[SP_CUBE_DIMS_MAX];
	bool more; /* extents of the box are left */
};

struct sp__pointmerge {
	struct sp__cubefile *file;
	struct sp_errinfo *err;
	bool sum, repeatable, again; /* see struct sp__change */
	struct sp__transfers transfers;
	unsigned n; /* buckets */
	struct sp__pointmerge_bucket *buckets;
	/* Set for one call: */
	bool filling; /* extents that were never written, instead of points */
	struct sp__point *points, *sorted;
	size_t npoints;
	const uint8_t *values;
	unsigned used;				    /* buckets */
	uint64_t splitters[SP__POINTMERGE_BUCKETS]; /* first blocks of buckets 1, 2, ... */
	size_t (*starts)
		[SP__POINTMERGE_BUCKETS]; /* first point of each bucket in `sorted`, per chunk */
};

/* Returns the bytes of memory per point, with the point itself. */
#define SP__POINTMERGE_POINT_BYTES (2 * sizeof(struct sp__point) + sizeof(struct sp__point) / 2)

/*
 * Opens a merge of at most `points` points at a time.  Members before transfers are set, the rest
 * is 0.
 * bytes: memory for extents.
 */
SP_MUST_CHECK int sp__pointmerge_open(struct sp__pointmerge *m, size_t points, uint64_t bytes,
				      struct sp_cube_stats *stats);
void sp__pointmerge_close(struct sp__pointmerge *m);
/* Merges points; their order is changed.  As sp__change_begin(). */
SP_MUST_CHECK int sp__pointmerge_points(struct sp__pointmerge *m, struct sp__point *points,
					size_t n, const uint8_t *values);
/* Writes the extents that were never written.  Errors as sp__change_absent(). */
SP_MUST_CHECK int sp__pointmerge_absent(struct sp__pointmerge *m);
