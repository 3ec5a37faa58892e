/* SPDX-License-Identifier: MIT */
/*
 * The fragments of a cube: boxes of cells, each with its own mapping.  The first one holds the
 * cells that the cube was created with; each other one was appended along a dimension.
 *
 * A fragment has all cells along its other dimensions.  It begins at the first cell of a tile,
 * along dimension 0 of an extent.  If a fragment begins before the end of older ones, it replaces
 * their last
 * cells: the newest fragment with a cell is the valid one.
 *
 * Coordinates are those of cells in the dataset.
 *
 * Thread rule: immutable after sp__fragments_settle().
 */
#pragma once

#include "place/walk.h"

#define SP__FRAGMENTS_MAX 1000

struct sp__fragment {
	unsigned dim;			   /* dimension along which it was appended */
	uint64_t first;			   /* its first cell along dim; along others 0 */
	uint64_t placed[SP_CUBE_DIMS_MAX]; /* cells along each dimension */
	uint64_t size[SP_CUBE_DIMS_MAX];   /* without cells that newer fragments replace */
	uint64_t table_block;		   /* first block of its table of checksums */
	/* The file has first_block, which is behind the table, and the sizes k. */
	struct sp__mapping mapping;
};

struct sp__fragments {
	struct sp__fragment **list; /* oldest first */
	size_t n;
};

/* Adds a fragment of zeros and returns it.  NULL: no memory. */
struct sp__fragment *sp__fragments_add(struct sp__fragments *p);
void sp__fragment_free(struct sp__fragment *fragment);
void sp__fragments_free(struct sp__fragments *p);

/*
 * Sets the cells that each fragment has of a dataset of n dimensions and these sizes in cells.
 * Returns false if the fragments do not form the dataset.
 */
bool sp__fragments_settle(struct sp__fragments *p, unsigned n, const uint64_t *cells);

/* Returns the block after the last one of a fragment, on each volume. */
uint64_t sp__fragment_end(const struct sp__fragment *fragment);
/* Returns a fragment with a block in [begin, end), or NULL. */
const struct sp__fragment *sp__fragments_within(const struct sp__fragments *p, uint64_t begin,
						uint64_t end);
/* Returns the fragment of a block of any volume, or NULL. */
const struct sp__fragment *sp__fragments_of(const struct sp__fragments *p, uint64_t block);
/* Sets shared to the cells of a box that are in a fragment.  Returns false if there are none. */
bool sp__fragment_clip(const struct sp__fragment *fragment, const struct sp_cube_box *box,
		       struct sp_cube_box *shared);
/* Sets x to the cell that occupies a block.  Returns false if none does. */
bool sp__fragment_cell(const struct sp__fragment *fragment, uint64_t block, uint64_t *x);

/* Like the functions of place/mapping.h, for all fragments. */
uint64_t sp__fragments_block(const struct sp__fragments *p, const uint64_t *x);
bool sp__fragments_cell(const struct sp__fragments *p, uint64_t block, uint64_t *x);

/* A walk of one volume through all fragments, like place/walk.h. */
struct sp__fragwalk {
	const struct sp__fragments *fragments;
	size_t next; /* index of the next fragment */
	struct sp_cube_box box;
	unsigned volume;
	bool inside; /* a fragment is begun and not finished */
	struct sp__cubewalk walk;
};
void sp__fragwalk_begin(struct sp__fragwalk *w, const struct sp__fragments *p,
			const struct sp_cube_box *box, unsigned volume);
int sp__fragwalk_runs(struct sp__fragwalk *w, sp__cells_fn fn, void *arg);
uint64_t sp__fragments_begin(const struct sp__fragments *p);
uint64_t sp__fragments_end(const struct sp__fragments *p);
