/* SPDX-License-Identifier: MIT */
/*
 * Declares internals of placement: allocated tracks (place.c), and the order of reading (path.c).
 */
#pragma once

#include "spill/place.h"

/* Bits for the position on a track in the number of a unit. */
#define PLACE_BITS 12
#define PLACES_MAX (1u << PLACE_BITS)

/* A track in use. */
struct sp__row {
	uint64_t lbn;	 /* first block */
	uint64_t number; /* on the device */
	double angle;	 /* angle of its first block, in revolutions */
	uint32_t blocks;
	uint32_t start; /* its first page, in blocks from the track's first */
	uint16_t places;
	uint16_t turn; /* number of pages, the last ones, before start */
	uint32_t band;
};

struct sp__band {
	uint32_t first_row, rows;
	uint32_t group; /* counted from 1 */
	uint32_t next;	/* in the same group, or in the list of free ones */
	uint32_t prev;	/* in the same group */
	uint32_t live;	/* pages in use */
	bool again;	/* its tracks are allocated again */
};

struct sp__waypoint;

struct sp__place {
	struct sp__place_opts opts;
	uint32_t page_blocks;
	uint32_t block_bytes;
	uint32_t band_rows; /* K; 1 without a path */
	uint64_t next_track;
	struct sp__row *rows;
	struct sp__band *bands;
	uint32_t nrows, nbands;
	size_t rows_cap, bands_cap;
	uint32_t group;	      /* the last one begun */
	uint32_t group_first; /* its first band, or none if that has been freed */
	uint32_t seats;	      /* its rows taken by runs */
	uint32_t free_band;   /* list of empty bands */
	uint64_t used, recycled;
	struct sp__waypoint *path; /* scratch of path.c */
	struct sp__stop *stops;
	size_t path_cap;
};

/*
 * Returns the first block of the page at a position of the row, relative to the row's first block.
 */
static inline uint32_t sp__row_at(const struct sp__place *p, const struct sp__row *row,
				  uint32_t place)
{
	uint32_t before_end = (uint32_t)row->places - row->turn;

	return place < before_end ? row->start + place * p->page_blocks
				  : (place - before_end) * p->page_blocks;
}
