/* SPDX-License-Identifier: MIT */
/*
 * The grid of basic cubes, and its declustering: on which volume each of them lies.
 *
 * The cubes of a volume have local numbers, which decide their positions on it.  A local number
 * may be one that no cube has, near the ends of the grid.
 *
 *	round robin	cube c of the grid, dimension 0 fastest: volume c mod M, number c / M
 *	disk modulo	volume: the sum of the cube's coordinates mod M.  Cubes are counted in
 *			rows that are rounded up to M cubes, and the count divided by M is the
 *			number: of M neighbours in a row each volume has one
 *
 * Source: Du and Sobolewski 1982 (disk modulo); the numbers are our own.
 */
#pragma once

#include "cube/mapping/grid.h"

struct sp__basicgrid {
	unsigned n;
	uint64_t k[SP_CUBE_DIMS_MAX];	  /* sizes of a basic cube in cells */
	uint64_t cubes[SP_CUBE_DIMS_MAX]; /* along each dimension */
	uint64_t ncubes;
	unsigned volumes; /* M; 0: 1 */
	enum sp_cube_decluster method;
	uint64_t volume_blocks; /* several volumes: blocks v * this and on are those of volume v */
	unsigned row;		/* the dimension that local numbers follow first */
	uint64_t row_local;	/* local numbers of a row; 0: not disk modulo, or one volume */
	uint64_t local;		/* local numbers of a volume */
};

/*
 * Completes a grid whose k, volumes and method are set, for so many cells.  SP_EUNSUP: a basic
 * cube that is empty, or larger than the grid.
 */
SP_MUST_CHECK int sp__basicgrid_init(struct sp__basicgrid *b, const struct sp__grid *grid);
/*
 * Chooses k for a linear mapping: everything, or a part for each of several volumes, none cut
 * along dimension 0 if there are enough without.
 */
void sp__basicgrid_split(struct sp__basicgrid *b, const struct sp__grid *grid);

/* The local number of a cube, and its volume. */
uint64_t sp__basicgrid_local(const struct sp__basicgrid *b, const uint64_t *at, unsigned *volume);
/* The reverse; false if no cube has the number. */
bool sp__basicgrid_cube(const struct sp__basicgrid *b, unsigned volume, uint64_t local,
			uint64_t *at);
/* The volume of a block, which becomes one of the first volume. */
static inline unsigned sp__basicgrid_volume(const struct sp__basicgrid *b, uint64_t *block)
{
	uint64_t volume = b->volumes > 1 ? *block / b->volume_blocks : 0;

	*block -= volume * b->volume_blocks;
	return (unsigned)volume;
}

/*
 * The cells of a box in cube at, and so many cubes before it along dimension 0; false if there
 * are none.
 */
bool sp__basicgrid_clip(const struct sp__basicgrid *b, const uint64_t *at, uint64_t before,
			const struct sp_cube_box *box, struct sp_cube_box *part);
