/* SPDX-License-Identifier: MIT */
/*
 * The grid of basic cubes, and its declustering, which decides the volume of each basic cube.
 *
 * The cubes of a volume have local numbers, which decide their location on it.  Near the ends of
 * the grid, a local number can belong to no cube.
 *
 *	round robin	cube c of the grid, dimension 0 fastest: volume c mod M, number c / M
 *	disk modulo	volume: the sum of the cube's coordinates mod M.  Cubes are counted in
 *			rows that are rounded up to M cubes, and the count divided by M is the
 *			number, so M neighbours in a row are on M volumes
 *
 * Source: Du and Sobolewski 1982 (disk modulo); the local numbers are our own.
 */
#pragma once

#include "place/grid.h"

struct sp__basicgrid {
	unsigned n;
	uint64_t k[SP_CUBE_DIMS_MAX];	  /* size of a basic cube in cells */
	uint64_t cubes[SP_CUBE_DIMS_MAX]; /* along each dimension */
	uint64_t ncubes;
	unsigned volumes; /* M; 0: 1 */
	enum sp_cube_decluster method;
	uint64_t volume_blocks; /* several volumes: volume v has blocks from v * this on */
	bool together;		/* disk modulo: M neighbours of each row, then the next M of each */
	unsigned row;		/* the dimension that local numbers follow first */
	uint64_t row_local;	/* local numbers per row; 0: not in rows */
	uint64_t local;		/* local numbers per volume */
};

/*
 * Completes a grid of basic cubes whose k, volumes and method are set, for a grid of cells.
 * Returns 0, or SP_EUNSUP: a basic cube is empty or larger than the grid.
 */
SP_MUST_CHECK int sp__basicgrid_init(struct sp__basicgrid *b, const struct sp__grid *grid);
/*
 * Chooses k for a linear mapping: the whole grid, or parts for several volumes.  Dimension 0 is cut
 * only if the other dimensions give fewer parts than there are volumes.
 */
void sp__basicgrid_split(struct sp__basicgrid *b, const struct sp__grid *grid);

/* Returns the local number of the cube at these coordinates; sets its volume. */
uint64_t sp__basicgrid_local(const struct sp__basicgrid *b, const uint64_t *at, unsigned *volume);
/* Sets at to the coordinates of a cube.  Returns false if no cube has the local number. */
bool sp__basicgrid_cube(const struct sp__basicgrid *b, unsigned volume, uint64_t local,
			uint64_t *at);
/* Returns the volume of a block; *block becomes the same block of volume 0. */
static inline unsigned sp__basicgrid_volume(const struct sp__basicgrid *b, uint64_t *block)
{
	uint64_t volume = b->volumes > 1 ? *block / b->volume_blocks : 0;

	*block -= volume * b->volume_blocks;
	return (unsigned)volume;
}

/*
 * Sets part to the cells of a box in cube `at` and in the `before` cubes before it along
 * dimension 0.  Returns false if there are none.
 */
bool sp__basicgrid_clip(const struct sp__basicgrid *b, const uint64_t *at, uint64_t before,
			const struct sp_cube_box *box, struct sp_cube_box *part);
