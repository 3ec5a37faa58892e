/* SPDX-License-Identifier: MIT */
/*
 * MultiMap: cells along dimension 0 lie on one track, the next cell along any other dimension
 * is an adjacent block, which costs a hop of constant time and no rotational delay.
 *
 * A basic cube of k[0] x ... x k[n-1] cells takes k[1] * ... * k[n-1] consecutive tracks.
 * Cubes that fit beside each other on the tracks form a group; a zone is filled group by
 * group, and no group crosses its end.  The cubes of the grid are numbered with dimension 0
 * fastest, and go into the zones in this order; with several volumes, those of each volume go
 * into the zones of its own drive, which are the same.
 *
 * All positions are computed: no tables grow with the grid.
 *
 * Source: Shao 2008, section 5.3.
 */
#pragma once

#include <stddef.h>
#include "cube/mapping/decluster.h"

struct sp_geometry;

/* Of the tracks of a pattern before this one. */
struct sp__cubetrack {
	uint64_t blocks, skew;
};

/* Consecutive tracks without slipped blocks, whose lengths and skews repeat with a pattern. */
struct sp__cubezone {
	uint64_t first_block; /* of its first track */
	uint64_t tracks;
	uint64_t skip;	       /* of these, the first that are not for this mapping */
	uint32_t track_blocks; /* of the longest track: angles are in this part of a revolution */
	uint32_t min_blocks;   /* of the shortest */
	uint32_t need_blocks;  /* that pass while the head goes to an adjacent block: W */
	uint32_t aim_blocks;   /* from the end of a block to its adjacent one: W and conservatism */
	uint32_t skew_den;     /* skews are in 1/skew_den of a revolution */
	uint32_t npattern;
	uint64_t pattern_blocks, pattern_skew; /* of a whole pattern */
	struct sp__cubetrack *pattern;
	uint64_t round;	       /* tracks of a round of a serpentine; 0: none */
	uint64_t round_offset; /* tracks of its round before the zone's first */
	uint32_t shift_blocks; /* that a hop gets more for each round that it goes on */
	/* Filled in by sp__multimap_place(): */
	uint32_t slots;	     /* cells on a track */
	uint32_t hop_blocks; /* from the start of a row to that of the next */
	uint32_t pack;	     /* basic cubes side by side */
	uint64_t groups;
	uint64_t first_cube;
};

/*
 * Moves of any length, for the order of rows: the table has four entries for each doubling, with
 * what moves of at most 4, 5, 6, 7, 8, 10, 12, ... tracks need, in millionths of a revolution.
 * The host's part is included.
 */
#define SP__CUBE_HOPS 56
#define SP__CUBE_REVOLUTION 1000000 /* units of a revolution */

static inline uint64_t sp__cubehop_tracks(unsigned i)
{
	return (UINT64_C(4) + i % 4) << i / 4;
}

struct sp__multimap {
	const struct sp__grid *grid;
	struct sp__basicgrid *basic;
	uint32_t cell_blocks;
	uint64_t step[SP_CUBE_DIMS_MAX]; /* tracks from a cell to its neighbour; [0]: none */
	uint64_t cube_tracks;		 /* tracks of a basic cube */
	uint64_t reach;			 /* D: most tracks of one hop */
	/* What a move of at most sp__cubehop_tracks() tracks needs; see there.  0: not known. */
	uint32_t hops[SP__CUBE_HOPS];
	uint32_t within[SP__CUBE_HOPS]; /* the same inside a round */
	double host_ns; /* the host's own time between two requests, beyond what hops include */
	struct sp__cubezone *zones;
	size_t nzones;
};

/*
 * Finds the zones of a geometry from first_block on, with the aim of reads and extra_deg of
 * conservatism.  -ENOMEM; SP_EUNSUP: it has no tracks, or does not tell what hops need.
 */
SP_MUST_CHECK int sp__multimap_zones(struct sp__multimap *m, const struct sp_geometry *g,
				     uint64_t first_block, double extra_deg);
void sp__multimap_free(struct sp__multimap *m);
/* Whether a zone has rounds. */
bool sp__multimap_rounds(const struct sp__multimap *m);
/* Returns the number of tracks of a zone, skipped ones included, that begin up to a block. */
uint64_t sp__cubezone_tracks(const struct sp__cubezone *z, uint64_t block);
/*
 * The zones of another mapping, whose patterns they share, without the tracks that begin before
 * first_block; only zones is to be freed.  -ENOMEM; -ENOSPC: no track is left.
 */
SP_MUST_CHECK int sp__multimap_zones_from(struct sp__multimap *m, const struct sp__multimap *of,
					  uint64_t first_block);

/*
 * Calls fn with each balanced choice of k that fits the zones, placed; not 0: ends it, and is
 * returned.
 */
int sp__multimap_each(struct sp__multimap *m, int (*fn)(void *arg, struct sp__multimap *m),
		      void *arg);
/* Chooses k for the grid: -ENOSPC if no basic cube fits the zones. */
SP_MUST_CHECK int sp__multimap_choose(struct sp__multimap *m);
/*
 * Places cubes of the sizes k.  -ENOSPC: the zones do not hold them; SP_EUNSUP: k breaks a
 * rule of basic cubes (5.1 to 5.3).
 */
SP_MUST_CHECK int sp__multimap_place(struct sp__multimap *m);
/* Forgets the zones that no cube is in, of those that come last. */
void sp__multimap_shrink(struct sp__multimap *m);

/* The first block of a cell. */
uint64_t sp__multimap_block(const struct sp__multimap *m, const uint64_t *x);
/* The cell that has this block; false if none has. */
bool sp__multimap_cell(const struct sp__multimap *m, uint64_t block, uint64_t *x);
/* The first block of the zones. */
uint64_t sp__multimap_begin(const struct sp__multimap *m);
/* One beyond the last block that the cubes of the first volume take; no volume has more. */
uint64_t sp__multimap_end(const struct sp__multimap *m);

/* Cells of a row that lie on one track, without passing its end. */
struct sp__rowsegment {
	uint64_t track, round, slot, cells;
	uint32_t begin, end; /* angles, in blocks of the longest track */
};

#define SP__ROWSEGMENTS 64

/* Cubes that are neighbours along dimension 0 in one group, and the part of a box in them. */
struct sp__cuberow {
	const struct sp__multimap *m;
	const struct sp__cubezone *zone;
	uint64_t volume_block; /* the first of their volume */
	uint64_t track;	       /* the group's first */
	uint64_t slot;	       /* of the first cell of the first cube, in a row's slots */
	uint64_t origin[SP_CUBE_DIMS_MAX];
	struct sp_cube_box box;
	/* Rows from x on, if there are more, are in no segment yet. */
	uint64_t x[SP_CUBE_DIMS_MAX];
	bool more;
	unsigned nrows;
	struct sp__rowsegment rows[SP__ROWSEGMENTS + 1]; /* that wait, in the order of rows */
	struct sp__rowsegment at; /* what is left of the one that is being given */
	bool begun, ended;
};

/*
 * The part of a box in cube at, and in those after it along dimension 0 that are in its group;
 * at is the last of them then.  false: there is no cell of the box, or another volume has it.
 */
bool sp__cuberow_open(struct sp__cuberow *s, const struct sp__multimap *m,
		      const struct sp_cube_box *box, unsigned volume, uint64_t *at);
/*
 * Gives the cells, a row or a part of it at a time; first is a block.  After a stop it can go
 * on.
 */
int sp__cuberow_walk(struct sp__cuberow *s, sp__cells_fn fn, void *arg);
