/* SPDX-License-Identifier: MIT */
/*
 * A walk of the cells of a box that lie on one volume, in the best order: basic cube by basic
 * cube, and within each as the mapping says.  It can stop after any run and go on later, so
 * that walks of several volumes can take turns.
 */
#pragma once

#include "cube/mapping/mapping.h"

struct sp__cubewalk {
	const struct sp__mapping *m;
	unsigned volume;
	struct sp_cube_box box;	       /* in the order of the mapping, as all that follows */
	uint64_t at[SP_CUBE_DIMS_MAX]; /* the next basic cube that may have cells of it */
	bool more;		       /* there is one */
	bool inside;		       /* a cube was begun and not finished */
	struct sp__cuberow cuberow;    /* MultiMap */
	/* Linear mappings: */
	uint64_t block;		      /* the first of the cube */
	struct sp_cube_box part;      /* cells of the box, counted from the cube's first one */
	uint64_t x[SP_CUBE_DIMS_MAX]; /* Naive: the next run */
	uint64_t rank;		      /* curves: where to go on */
};

/* The mapping outlives the walk. */
void sp__cubewalk_begin(struct sp__cubewalk *w, const struct sp__mapping *m,
			const struct sp_cube_box *box, unsigned volume);
/*
 * Gives runs of cells, (first block, cells), until there are no more: 0; or until fn returns
 * something else, which is returned: a further call goes on after that run.
 */
int sp__cubewalk_runs(struct sp__cubewalk *w, sp__cells_fn fn, void *arg);

/* All cells of a box that lie on a volume. */
uint64_t sp__cubewalk_cells(const struct sp__mapping *m, const struct sp_cube_box *box,
			    unsigned volume);
