/* SPDX-License-Identifier: MIT */
/*
 * The fragments of a cube: boxes of cells, each with a mapping of its own.  The first one holds the
 * cells that the cube was created with, the others what was appended along a dimension.
 *
 * A fragment begins at a cell of its dimension that is the first of a tile, along dimension 0 of an
 * extent, and has all cells of the other dimensions.  Where it begins before the end of older
 * fragments it takes their last cells over: of fragments that have a cell the newest one counts.
 *
 * Coordinates are those of cells in the dataset.
 *
 * Thread rule: immutable after sp__fragments_settle().
 */
#pragma once

#include "cube/mapping/walk.h"

#define SP__FRAGMENTS_MAX 1000

struct sp__fragment {
	unsigned dim;			   /* along which it was appended */
	uint64_t first;			   /* its first cell along dim; 0 along all others */
	uint64_t placed[SP_CUBE_DIMS_MAX]; /* cells along each dimension */
	uint64_t size
		[SP_CUBE_DIMS_MAX]; /* of them, those that newer fragments have not taken over */
	uint64_t table_block;	    /* first block of its table of checksums */
	/* Given are first_block, where the table has ended, and the sizes k of MultiMap. */
	struct sp__mapping mapping;
};

struct sp__fragments {
	struct sp__fragment **list; /* the oldest first */
	size_t n;
};

/* Adds a fragment of zeroes; NULL: no memory. */
struct sp__fragment *sp__fragments_add(struct sp__fragments *p);
void sp__fragment_free(struct sp__fragment *fragment);
void sp__fragments_free(struct sp__fragments *p);

/*
 * Places the cells of a fragment in the way of another mapping, which lends it its zones: errors of
 * sp__mapping_init(), -ENOMEM.
 */
SP_MUST_CHECK int sp__fragment_place(struct sp__fragment *fragment, const struct sp__mapping *like,
				     unsigned n);
/*
 * Sets what each fragment has of the dataset, of these sizes in cells; false: the fragments do not
 * make it up.
 */
bool sp__fragments_settle(struct sp__fragments *p, unsigned n, const uint64_t *cells);

/* One beyond the last block of a fragment, on each volume. */
uint64_t sp__fragment_end(const struct sp__fragment *fragment);
/* A fragment that has one of these blocks; NULL: none has. */
const struct sp__fragment *sp__fragments_within(const struct sp__fragments *p, uint64_t begin,
						uint64_t end);
/* The fragment of a block of any volume; NULL: none has it. */
const struct sp__fragment *sp__fragments_of(const struct sp__fragments *p, uint64_t block);
/* The cells that a box and a fragment have in common; false if there are none. */
bool sp__fragment_clip(const struct sp__fragment *fragment, const struct sp_cube_box *box,
		       struct sp_cube_box *shared);
/* The cell that occupies a block; false if none does. */
bool sp__fragment_cell(const struct sp__fragment *fragment, uint64_t block, uint64_t *x);

/* As the functions of cube/mapping/mapping.h, over all fragments. */
uint64_t sp__fragments_block(const struct sp__fragments *p, const uint64_t *x);
bool sp__fragments_cell(const struct sp__fragments *p, uint64_t block, uint64_t *x);
int sp__fragments_walk(const struct sp__fragments *p, const struct sp_cube_box *box,
		       sp__cells_fn fn, void *arg);

/* A walk of one volume over all fragments, as those of cube/mapping/walk.h. */
struct sp__fragwalk {
	const struct sp__fragments *fragments;
	size_t next; /* fragment */
	struct sp_cube_box box;
	unsigned volume;
	bool inside; /* a fragment was begun and not finished */
	struct sp__cubewalk walk;
};
void sp__fragwalk_begin(struct sp__fragwalk *w, const struct sp__fragments *p,
			const struct sp_cube_box *box, unsigned volume);
int sp__fragwalk_runs(struct sp__fragwalk *w, sp__cells_fn fn, void *arg);
/* Volumes of all fragments; without any fragment, 1. */
unsigned sp__fragments_volumes(const struct sp__fragments *p);
uint64_t sp__fragments_begin(const struct sp__fragments *p);
uint64_t sp__fragments_end(const struct sp__fragments *p);
