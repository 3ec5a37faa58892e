/* SPDX-License-Identifier: MIT */
/*
 * A mapping: which blocks of the volume a cell occupies, and in which order the cells of a box
 * are best read.  It is pure: computed from the grid and a few numbers, the same for ever.
 *
 * order[i] is the dimension of the dataset that is dimension i of the mapping: order[0] is the
 * one whose neighbours lie in sequence.  All coordinates here are the dataset's.
 *
 * With several volumes a block is a number of an address space in which they follow each other
 * (cube/mapping/decluster.h); cells take the same blocks of each of them.
 *
 * A linear mapping fills one basic cube after the other in its order.  On one volume, unless
 * other sizes are given, all cells are one basic cube.
 *
 * Thread rule: immutable after sp__mapping_init().
 */
#pragma once

#include "cube/mapping/curve.h"
#include "cube/mapping/multimap.h"

struct sp__mapping {
	enum sp_cube_mapping kind; /* not AUTO */
	struct sp__grid grid;	   /* of cells, in the order of the mapping */
	unsigned order[SP_CUBE_DIMS_MAX];
	bool identity; /* order is 0, 1, 2, ... */
	uint32_t cell_blocks;
	struct sp__basicgrid basic;
	uint64_t first_block;  /* linear mappings: of cell 0, and of each further volume */
	struct sp__grid inner; /* linear mappings: a basic cube */
	struct sp__curve curve;
	struct sp__multimap multimap;
};

/*
 * Completes a mapping whose kind, order, cell_blocks, first_block, basic (k[0] 0: chosen) and, for
 * MultiMap, zones and reach are set, for a dataset of these sizes in cells.  SP_EUNSUP and
 * -ENOSPC as sp__curve_init() and sp__multimap_place(); -ERANGE: 2^62 blocks or more.
 */
SP_MUST_CHECK int sp__mapping_init(struct sp__mapping *m, unsigned n, const uint64_t *cells);

/* The first block of a cell. */
uint64_t sp__mapping_block(const struct sp__mapping *m, const uint64_t *x);
/* The cell that occupies a block; false if none does. */
bool sp__mapping_cell(const struct sp__mapping *m, uint64_t block, uint64_t *x);
/*
 * Gives the cells of a box, volume by volume in the best order: (first block, number of cells
 * that follow each other).
 */
int sp__mapping_walk(const struct sp__mapping *m, const struct sp_cube_box *box, sp__cells_fn fn,
		     void *arg);
/* The first block of the space that cells take; of MultiMap that of the first zone. */
uint64_t sp__mapping_begin(const struct sp__mapping *m);
/* One beyond the last block, of the first volume; on no other do cells go further. */
uint64_t sp__mapping_end(const struct sp__mapping *m);
/* The share of these blocks that are in no cell. */
double sp__mapping_waste(const struct sp__mapping *m);
