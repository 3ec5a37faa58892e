/* SPDX-License-Identifier: MIT */
/*
 * Space-filling curves: Z order, Gray codes, and Hilbert's curve, in any number of dimensions.
 *
 * The rank of a cell is the number of cells of the grid that the curve visits before it, so ranks
 * are dense for all sizes.  If sizes are powers of two, a rank costs one step per bit of a
 * coordinate. Otherwise the grid has at most four dimensions, and each step counts the cells of up
 * to 2^n - 1 siblings.
 *
 * Source: Shao 2008, section 5.2; Hamilton and Rau-Chaplin 2008 (states of Hilbert's curve in n
 * dimensions, ranks of grids whose sides are different powers of two).
 */
#pragma once

#include "place/grid.h"

struct sp__curve {
	enum sp_cube_mapping kind; /* ZORDER, GRAY or HILBERT */
	const struct sp__grid *grid;
	unsigned bits;	   /* bits of a coordinate of the longest side */
	bool binary;	   /* all sizes are powers of two */
	uint32_t free[64]; /* binary: the dimensions that have a bit at this level */
};

/* Returns 0, or SP_EUNSUP: over four dimensions, and a size that is not a power of two. */
SP_MUST_CHECK int sp__curve_init(struct sp__curve *c, enum sp_cube_mapping kind,
				 const struct sp__grid *grid);
/* Returns the rank of a cell. */
uint64_t sp__curve_rank(const struct sp__curve *c, const uint64_t *x);
/* Sets x to the cell of a rank below grid->cells. */
void sp__curve_cell(const struct sp__curve *c, uint64_t rank, uint64_t *x);
/*
 * Passes the cells of the box from rank *from on to fn in the order of their ranks, as ranges of
 * ranks with gaps between them.  If fn stops the walk, *from becomes the rank at which the next
 * call continues.
 */
int sp__curve_walk(const struct sp__curve *c, const struct sp_cube_box *box, uint64_t *from,
		   sp__cells_fn fn, void *arg);
