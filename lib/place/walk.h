/* SPDX-License-Identifier: MIT */
/*
 * Walks the cells of a box on one volume in the best order: basic cube by basic cube, and in each
 * as the mapping says.  A walk can stop after any run and continue later, so walks of several
 * volumes can alternate.
 */
#pragma once

#include "place/mapping.h"

struct sp__cubewalk {
	const struct sp__mapping *m;
	unsigned volume;
	struct sp_cube_box box;	       /* dimensions in the mapping's order, here and below */
	uint64_t at[SP_CUBE_DIMS_MAX]; /* the next basic cube that can have cells of it */
	bool more;		       /* there is one */
	bool inside;		       /* a cube is begun and not finished */
	struct sp__cuberow cuberow;    /* MultiMap */
	/* Linear mappings: */
	uint64_t block;		      /* first block of the cube */
	struct sp_cube_box part;      /* cells of the box, relative to the cube */
	uint64_t x[SP_CUBE_DIMS_MAX]; /* Naive: the next run */
	uint64_t rank;		      /* curves: where to continue */
};

/* Begins a walk; the mapping must outlive it. */
void sp__cubewalk_begin(struct sp__cubewalk *w, const struct sp__mapping *m,
			const struct sp_cube_box *box, unsigned volume);
/*
 * Passes runs of cells to fn: first block, number of cells.  Returns 0 at the end, or the result of
 * fn that is not 0; then the next call continues after that run.
 */
int sp__cubewalk_runs(struct sp__cubewalk *w, sp__cells_fn fn, void *arg);

/* Returns the number of cells of a box on a volume. */
uint64_t sp__cubewalk_cells(const struct sp__mapping *m, const struct sp_cube_box *box,
			    unsigned volume);
