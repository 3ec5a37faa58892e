/* SPDX-License-Identifier: MIT */
/*
 * MultiMap: a row of cells along dimension 0 is stored on one track.  The next cell along any other
 * dimension is an adjacent block, which costs a hop of constant time without rotational delay.
 *
 * A basic cube of k[0] x ... x k[n-1] cells takes k[1] * ... * k[n-1] consecutive tracks.  Cubes
 * that fit side by side on these tracks form a group.  A zone is filled group by group, and no
 * group crosses its end.  The cubes of the grid are numbered with dimension 0 fastest, and fill the
 * zones in this order.  With several volumes, the cubes of each volume fill the zones of its drive;
 * all drives have the same zones.
 *
 * Locations are computed; no table grows with the grid.
 *
 * Source: Shao 2008, section 5.3.
 */
#pragma once

#include "place/decluster.h"

struct sp_geometry;

/* Sums over the tracks of a pattern before this one. */
struct sp__cubetrack {
	uint64_t blocks, skew;
};

/* Consecutive tracks without slipped blocks; their lengths and skews repeat with a pattern. */
struct sp__cubezone {
	uint64_t first_block; /* first block of its first track */
	uint64_t tracks;
	uint64_t skip; /* first tracks that this mapping does not use */
	uint32_t
		track_blocks; /* blocks of the longest track; unit of angles: a revolution / this */
	uint32_t min_blocks;  /* blocks of the shortest track */
	uint32_t need_blocks; /* blocks that pass while the head moves to an adjacent block: W */
	uint32_t aim_blocks;  /* from the end of a block to its adjacent one: W plus conservatism */
	uint32_t skew_den;    /* skews are in 1/skew_den of a revolution */
	uint32_t npattern;
	uint64_t pattern_blocks, pattern_skew; /* sums over the whole pattern */
	struct sp__cubetrack *pattern;
	uint64_t round;	       /* tracks of a round of a serpentine; 0: none */
	uint64_t round_offset; /* tracks of its first round before the zone */
	uint32_t shift_blocks; /* added to a hop per round that it moves on */
	/* Set by sp__multimap_place(): */
	uint32_t slots;	     /* cells per track */
	uint32_t hop_blocks; /* from the start of a row to the start of the next one */
	uint32_t pack;	     /* basic cubes side by side */
	uint64_t groups;
	uint64_t first_cube;
};

/*
 * Times of moves of any length, which decide the order of rows.  Tables have four entries per
 * doubling: the time of moves of at most 4, 5, 6, 7, 8, 10, 12, ... tracks, in millionths of a
 * revolution, including the host's time.
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
	bool aligned;			 /* cells begin at multiples of their blocks */
	uint64_t step[SP_CUBE_DIMS_MAX]; /* tracks from a cell to its neighbour; [0]: unused */
	uint64_t cube_tracks;		 /* tracks of a basic cube */
	uint64_t reach;			 /* D: maximum tracks of one hop */
	/* Entry i: a move of at most sp__cubehop_tracks(i) tracks.  0: unknown. */
	uint32_t hops[SP__CUBE_HOPS];
	uint32_t within[SP__CUBE_HOPS]; /* the same for moves inside a round */
	double host_ns; /* host time between two requests that hops do not include */
	struct sp__cubezone *zones;
	size_t nzones;
};

/* Moves for which the aim of hops suffices. */
enum sp__hopaim {
	SP__AIM_PLATEAU, /* all that cost little more than settling: sp_geometry_aim() */
	SP__AIM_TRACK,	 /* 1 track: sp_geometry_hop() */
};

/*
 * Finds the zones of a geometry from first_block on, and the reach D of a hop.
 * m: host_ns is set.
 * aim: hops get this aim of reads.  SP__AIM_TRACK suits two dimensions, whose hops move by 1 track:
 *      the aim can be shorter, then D is smaller.
 * extra_deg: conservatism, added to the aim.  With SP__AIM_TRACK at least the host's time between
 *      two requests is added, so that a request that is issued by itself arrives in time.
 * Returns 0; -ENOMEM; SP_EUNSUP: the geometry has no tracks or no hop curve.
 */
SP_MUST_CHECK int sp__multimap_zones(struct sp__multimap *m, const struct sp_geometry *g,
				     uint64_t first_block, enum sp__hopaim aim, double extra_deg);
/* Returns the degrees by which SP__AIM_TRACK is less than SP__AIM_PLATEAU in all zones. */
double sp__multimap_closer_deg(const struct sp_geometry *g);
void sp__multimap_free(struct sp__multimap *m);
/* True if a zone has rounds of a serpentine. */
bool sp__multimap_rounds(const struct sp__multimap *m);
/* Returns the number of tracks of a zone, skipped ones included, that begin up to a block. */
uint64_t sp__cubezone_tracks(const struct sp__cubezone *z, uint64_t block);
/*
 * Takes the zones of another mapping, without tracks that begin before first_block.  The patterns
 * are shared; the caller frees only m->zones.  Returns 0; -ENOMEM; -ENOSPC: no track is left.
 */
SP_MUST_CHECK int sp__multimap_zones_from(struct sp__multimap *m, const struct sp__multimap *of,
					  uint64_t first_block);

/*
 * Calls fn with m placed for each balanced choice of k that fits the zones.  A result of fn other
 * than 0 ends the search and is returned.
 */
int sp__multimap_each(struct sp__multimap *m, int (*fn)(void *arg, struct sp__multimap *m),
		      void *arg);
/* Chooses k for the grid.  Returns 0, or -ENOSPC: no basic cube fits the zones. */
SP_MUST_CHECK int sp__multimap_choose(struct sp__multimap *m);
/*
 * Places basic cubes of sizes k in the zones.  Returns 0; -ENOSPC: the zones do not hold them;
 * SP_EUNSUP: k breaks a rule of basic cubes (basiccube.c).
 */
SP_MUST_CHECK int sp__multimap_place(struct sp__multimap *m);
/* Sets slots and hop of all zones, which place and choose do, too. */
void sp__multimap_set_slots(struct sp__multimap *m);
/* Drops the last zones without a cube. */
void sp__multimap_shrink(struct sp__multimap *m);

/* Returns the first block of a cell. */
uint64_t sp__multimap_block(const struct sp__multimap *m, const uint64_t *x);
/*
 * Sets *block to the first block of a cell.  Returns how many cells from there on along dimension 0
 * are consecutive on its track; those after the end of the grid are counted, too.
 */
uint64_t sp__multimap_run(const struct sp__multimap *m, const uint64_t *x, uint64_t *block);
/* Sets x to the cell that has a block.  Returns false if none has. */
bool sp__multimap_cell(const struct sp__multimap *m, uint64_t block, uint64_t *x);
/* Returns the first block of the zones. */
uint64_t sp__multimap_begin(const struct sp__multimap *m);
/* Returns the block after the last cube of volume 0; cubes of other volumes do not end later. */
uint64_t sp__multimap_end(const struct sp__multimap *m);

/* Consecutive cells of a row on one track that do not pass the end of the track. */
struct sp__rowsegment {
	uint64_t track, round, slot, cells;
	uint32_t begin, end; /* angles, in blocks of the longest track */
};

#define SP__ROWSEGMENTS 64

/* Neighbouring cubes of a group along dimension 0, and the part of a box in them. */
struct sp__cuberow {
	const struct sp__multimap *m;
	const struct sp__cubezone *zone;
	uint64_t volume_block; /* first block of their volume */
	uint64_t track;	       /* first track of the group */
	uint64_t slot;	       /* slot of the first cell of the first cube in a row */
	uint64_t origin[SP_CUBE_DIMS_MAX];
	struct sp_cube_box box;
	/* Rows from x on are not in rows[] yet; more: there are such. */
	uint64_t x[SP_CUBE_DIMS_MAX];
	bool more;
	unsigned nrows;
	struct sp__rowsegment rows[SP__ROWSEGMENTS + 1]; /* pending, in the order of rows */
	struct sp__rowsegment at;			 /* rest of the current one */
	bool begun, ended;
};

/*
 * Opens the part of a box in cube `at` and in the cubes after it along dimension 0 in its group;
 * `at` becomes the last of them.  Returns false if it has no cell of the box or is on another
 * volume.
 */
bool sp__cuberow_open(struct sp__cuberow *s, const struct sp__multimap *m,
		      const struct sp_cube_box *box, unsigned volume, uint64_t *at);
/*
 * Passes the cells to fn, a row segment at a time; `first` is a block.  Returns 0 at the end, or
 * the result of fn that is not 0; then the next call continues.
 */
int sp__cuberow_walk(struct sp__cuberow *s, sp__cells_fn fn, void *arg);
