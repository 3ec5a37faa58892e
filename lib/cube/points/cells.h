/* SPDX-License-Identifier: MIT */
/*
 * Declares the walk over the cells that a box of points meets, which queries and predictions share.
 */
#pragma once

#include "cube/file/pointset.h"

/* Receives the cells of a walk.  A result other than 0 ends the walk and is its result. */
struct sp__pointcells {
	/* A box of cells of a region, all volumes. */
	int (*mapped)(void *arg, const struct sp__mapping *m, const struct sp_cube_box *cells);
	int (*cell)(void *arg, uint64_t block);
	void *arg;
};

/* Passes the cells that a box meets in the order in which a query reads them, or -ENOMEM. */
SP_MUST_CHECK int sp__pointcells_walk(const struct sp__pointset *s,
				      const struct sp__cube_superblock *h,
				      const struct sp_cube_box *box,
				      const struct sp__pointcells *to);
/*
 * Passes as many overflow cells as cells that a box meets probably have.  Which cells have overflow
 * cells is unknown without reading them.
 */
SP_MUST_CHECK int sp__pointcells_overflow(const struct sp__pointset *s,
					  const struct sp__cube_superblock *h,
					  const struct sp_cube_box *box,
					  const struct sp__pointcells *to);
/* Returns the bytes of memory of a walk. */
size_t sp__pointcells_bytes(const struct sp__pointset *s);
