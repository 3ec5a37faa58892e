/* SPDX-License-Identifier: MIT */
/*
 * A mapping decides which blocks of a volume a cell occupies, and in which order the cells of a box
 * are read.  It is a pure function of the grid and a few numbers.
 *
 * order[i] is the dimension of the dataset that is dimension i of the mapping; neighbours along
 * order[0] are stored in sequence.  Coordinates in this header are those of the dataset.
 *
 * Several volumes follow each other in one address space of blocks (place/decluster.h);
 * cells occupy the same blocks of each volume.
 *
 * A linear mapping fills one basic cube after the other in its order.  On one volume all cells are
 * one basic cube, unless other sizes are given.
 *
 * Thread rule: immutable after sp__mapping_init().
 */
#pragma once

#include "place/curve.h"
#include "place/multimap.h"

struct sp__mapping {
	enum sp_cube_mapping kind; /* not AUTO */
	struct sp__grid grid;	   /* cells, in the order of the mapping */
	unsigned order[SP_CUBE_DIMS_MAX];
	bool identity; /* order is 0, 1, 2, ... */
	uint32_t cell_blocks;
	struct sp__basicgrid basic;
	uint64_t first_block;  /* linear mappings: block of cell 0, and of each further volume */
	struct sp__grid inner; /* linear mappings: the cells of a basic cube */
	struct sp__curve curve;
	struct sp__multimap multimap;
};

/*
 * Completes a mapping for a dataset of `cells` cells along its n dimensions.  The caller has set
 * kind, order, cell_blocks, first_block, basic (if k[0] is 0, sizes are chosen) and, for MultiMap,
 * zones and reach.  Returns 0; an error of sp__curve_init() or sp__multimap_place(); -ERANGE: the
 * cells need 2^62 blocks or more.
 */
SP_MUST_CHECK int sp__mapping_init(struct sp__mapping *m, unsigned n, const uint64_t *cells);
/*
 * Does the same for a mapping whose first_block and sizes of basic cubes are set, and which is else
 * like another one, whose zones it shares.  Errors as sp__mapping_init(), or -ENOMEM.
 */
SP_MUST_CHECK int sp__mapping_place(struct sp__mapping *m, const struct sp__mapping *like,
				    unsigned n, const uint64_t *cells);

/* Returns the first block of a cell. */
uint64_t sp__mapping_block(const struct sp__mapping *m, const uint64_t *x);
/* Sets x to the cell that occupies a block.  Returns false if none does. */
bool sp__mapping_cell(const struct sp__mapping *m, uint64_t block, uint64_t *x);
/* Returns the first block of the space for cells; with MultiMap, of the first zone. */
uint64_t sp__mapping_begin(const struct sp__mapping *m);
/* Returns the block after the last one on volume 0; cells of other volumes do not end later. */
uint64_t sp__mapping_end(const struct sp__mapping *m);
/* Returns the share of these blocks that no cell occupies. */
double sp__mapping_waste(const struct sp__mapping *m);
