/* SPDX-License-Identifier: MIT */
/*
 * Maps the blocks of a drive to tracks and angles.
 *
 * The blocks of a drive, in LBN order, pass through its tracks.  A host only sees their sequence,
 * and only the sequence is kept here.  Regions follow one another.  In a region, the lengths of the
 * tracks and the skews between them repeat with a pattern (one entry for plain zones of one
 * surface; one per head where heads or the step to the next cylinder differ; one per track of a
 * serpentine).  Cylinder and head, where known, belong to the layout (drive.h).
 *
 * Angles are fractions of a revolution in units of 2^-64, so that sums wrap by themselves.  They
 * are computed from exact rationals every time and never accumulated, so they do not drift.
 *
 * A slipped block is a sector of a track without an LBN: every later block moves by one sector.
 * Sectors are numbered along the tracks from 0 (slips included): sector = LBN + number of slips
 * before it.
 *
 * Thread rule: immutable once built.
 */
#pragma once

#include <spindle/error.h>

typedef uint64_t sp__angle; /* 2^64 is one revolution */

struct sp__trackkind {
	uint32_t blocks; /* sectors on the track */
	uint32_t skew;	 /* from this track's start to the next one's, in 1/skew_den rev */
};

struct sp__region {
	uint64_t first_track;  /* filled in by sp__trackmap_new */
	uint64_t first_sector; /* filled in by sp__trackmap_new */
	uint64_t tracks;
	sp__angle start; /* start of the first track's first sector */
	uint32_t skew_den;
	uint32_t npattern;
	struct sp__trackkind *pattern; /* kind of track i: pattern[i % npattern] */
	uint64_t pattern_blocks;       /* sums over one pattern; filled in */
	uint64_t pattern_skew;
	uint64_t *blocks_before; /* sums over the entries before each one; filled in */
	uint64_t *skew_before;
};

struct sp__trackmap {
	size_t nregions;
	struct sp__region *regions;
	size_t nslips;
	uint64_t *slips;  /* sectors, ascending */
	uint64_t tracks;  /* total */
	uint64_t sectors; /* total of sectors */
	uint64_t blocks;  /* total: sectors less slips */
};

/* One track. */
struct sp__track {
	uint64_t number; /* in LBN order, from 0 */
	size_t region;
	uint64_t first_sector; /* its first sector */
	uint32_t sectors;      /* sectors on it, slips included */
	uint64_t first_lbn;    /* its first block */
	uint32_t blocks;       /* LBNs on it (fewer than sectors if slipped) */
	sp__angle start;       /* angle of its first sector */
};

/*
 * Copies regions, patterns and slips.  Returns 0; SP_EFORMAT with the reason in err if they
 * contradict each other: a region without tracks or pattern, a track without sectors, a skew of a
 * revolution or more, slips that do not ascend or are outside, no block left; or -ENOMEM.
 */
SP_MUST_CHECK int sp__trackmap_new(struct sp__trackmap **map, const struct sp__region *regions,
				   size_t nregions, const uint64_t *slips, size_t nslips,
				   struct sp_errinfo *err);
void sp__trackmap_free(struct sp__trackmap *map); /* accepts NULL */

uint64_t sp__trackmap_sector(const struct sp__trackmap *map, uint64_t lbn);
/*
 * Returns the LBN of a sector; if it is slipped, the LBN of the next sector that is not
 * (map->blocks if none follows).
 */
uint64_t sp__trackmap_lbn(const struct sp__trackmap *map, uint64_t sector);

/* Find a track: number < map->tracks; lbn < map->blocks. */
void sp__trackmap_track(const struct sp__trackmap *map, uint64_t number, struct sp__track *t);
void sp__trackmap_find(const struct sp__trackmap *map, uint64_t lbn, struct sp__track *t);
/* Finds the track of a sector, slipped or not; sector < map->sectors. */
void sp__trackmap_at(const struct sp__trackmap *map, uint64_t sector, struct sp__track *t);

/* Returns the angle at which a sector of the track begins, or its last one ends. */
sp__angle sp__track_angle(const struct sp__track *t, uint64_t sector);

/* Orders sectors for qsort(). */
int sp__by_sector(const void *a, const void *b);

/* n/d of a revolution, n < d. */
static inline sp__angle sp__angle_of(uint64_t n, uint64_t d)
{
	uint64_t upper, rest;

	if (d > UINT32_MAX)
		return (sp__angle)(((unsigned __int128)n << 64) / d);
	/* Two digits to the base 2^32, each by the processor's own division. */
	upper = (n << 32) / d;
	rest = (n << 32) % d;
	return upper << 32 | (rest << 32) / d;
}
