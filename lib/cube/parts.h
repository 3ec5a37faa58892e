/* SPDX-License-Identifier: MIT */
/*
 * The parts of a cube: boxes of cells, each with a mapping of its own.  The first one holds the
 * cells that the cube was created with, the others what was appended along a dimension.
 *
 * A part begins at a cell of its dimension that is the first of a tile, along dimension 0 of an
 * extent, and has all cells of the other dimensions.  Where it begins before the end of older
 * parts it takes their last cells over: of parts that have a cell the newest one counts.
 *
 * Coordinates are those of cells in the dataset.
 *
 * Thread rule: immutable after sp__parts_settle().
 */
#ifndef SP__CUBE_PARTS_H
#define SP__CUBE_PARTS_H

#include "cube/cubewalk.h"

#define SP__PARTS_MAX 1000

struct sp__cubepart {
	unsigned dim;			   /* along which it was appended */
	uint64_t first;			   /* its first cell along dim; 0 along all others */
	uint64_t placed[SP_CUBE_DIMS_MAX]; /* cells along each dimension */
	uint64_t size[SP_CUBE_DIMS_MAX];   /* of them, those that newer parts have not taken over */
	uint64_t table_block;		   /* first block of its table of checksums */
	/* Given are first_block, where the table has ended, and the sizes k of MultiMap. */
	struct sp__mapping mapping;
};

struct sp__parts {
	struct sp__cubepart **list; /* the oldest first */
	size_t n;
};

/* Adds a part of zeroes; NULL: no memory. */
struct sp__cubepart *sp__parts_add(struct sp__parts *p);
void sp__cubepart_free(struct sp__cubepart *part);
void sp__parts_free(struct sp__parts *p);

/*
 * Places the cells of a part in the way of another mapping, which lends it its zones: errors of
 * sp__mapping_init(), -ENOMEM.
 */
SP_MUST_CHECK int sp__cubepart_place(struct sp__cubepart *part, const struct sp__mapping *like,
				     unsigned n);
/*
 * Sets what each part has of the dataset, of these sizes in cells; false: the parts do not make
 * it up.
 */
bool sp__parts_settle(struct sp__parts *p, unsigned n, const uint64_t *cells);

/* One beyond the last block of a part, on each volume. */
uint64_t sp__cubepart_end(const struct sp__cubepart *part);
/* A part that has one of these blocks; NULL: none has. */
const struct sp__cubepart *sp__parts_within(const struct sp__parts *p, uint64_t begin,
					    uint64_t end);
/* The part of a block of any volume; NULL: none has it. */
const struct sp__cubepart *sp__parts_of(const struct sp__parts *p, uint64_t block);
/* The cells that a box and a part have in common; false if there are none. */
bool sp__cubepart_clip(const struct sp__cubepart *part, const struct sp_cube_box *box,
		       struct sp_cube_box *shared);
/* The cell that occupies a block; false if none does. */
bool sp__cubepart_cell(const struct sp__cubepart *part, uint64_t block, uint64_t *x);

/* As the functions of cube/mapping.h, over all parts. */
uint64_t sp__parts_block(const struct sp__parts *p, const uint64_t *x);
bool sp__parts_cell(const struct sp__parts *p, uint64_t block, uint64_t *x);
int sp__parts_walk(const struct sp__parts *p, const struct sp_cube_box *box, sp__cells_fn fn,
		   void *arg);

/* A walk of one volume over all parts, as those of cube/cubewalk.h. */
struct sp__partswalk {
	const struct sp__parts *parts;
	size_t next; /* part */
	struct sp_cube_box box;
	unsigned volume;
	bool inside; /* a part was begun and not finished */
	struct sp__cubewalk walk;
};
void sp__partswalk_begin(struct sp__partswalk *w, const struct sp__parts *p,
			 const struct sp_cube_box *box, unsigned volume);
int sp__partswalk_runs(struct sp__partswalk *w, sp__cells_fn fn, void *arg);
/* Volumes of all parts; without any part, 1. */
unsigned sp__parts_volumes(const struct sp__parts *p);
uint64_t sp__parts_begin(const struct sp__parts *p);
uint64_t sp__parts_end(const struct sp__parts *p);

#endif
