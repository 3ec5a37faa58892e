/* SPDX-License-Identifier: MIT */
/*
 * Places the pages of runs on a device with tracks.
 *
 * Without placement (sp__space) runs take the lowest free space of a file.  With placement a spill
 * volume is used track by track, each with as many whole pages as fit:
 *
 *   track    A run takes whole tracks, one after the other.
 *   semiseq  K tracks are a band; run r of a group of K takes track r of each band.  On track r the
 *            pages are rotated against the pages of track r - 1 so that page i of run r passes the
 *            head just when the hop from page i of run r - 1 is over: the pages of equal offset of
 *            all K runs lie along the semi-sequential path.
 *
 * A unit is a page.  Its number consists of the number of its track, in the order of allocation,
 * and its position in the run's order on that track.
 *
 * Source: Shao 2008, sections 2.2 and 6.1.2, 6.2.2.
 *
 * Thread rule: as for the spill store.
 */
#pragma once

#include <spindle/geometry.h>
#include <spindle/spill.h>
#include "spill/run.h"

struct sp__place_opts {
	enum sp_placement policy;	    /* not SP_PLACE_CONTIGUOUS */
	const struct sp_geometry *geometry; /* with tracks; must outlive the placement */
	enum sp_geometry_op hops;	    /* the path is for reading, or for writing */
	uint32_t page_bytes;
	uint64_t base_lbn; /* block of the volume's first byte */
	uint64_t runs;	   /* expected in one group of runs; 0: unknown */
};

struct sp__place;

/* Creates a placement; SP_EUNSUP: no tracks, or a page does not fit on them. */
SP_MUST_CHECK int sp__place_new(struct sp__place **place, const struct sp__place_opts *opts,
				struct sp_errinfo *err);
void sp__place_free(struct sp__place *place); /* accepts NULL */

/*
 * Allocates up to want units for the run, after its present ones, physically contiguous; *unit is
 * the first.  Returns their number, -ENOSPC or -ENOMEM.
 */
SP_MUST_CHECK int sp__place_take(struct sp__place *place, const struct sp__run *run, uint32_t want,
				 uint64_t *unit);
/* Frees a unit; a band is reused when all its units are free and no run will join its group. */
void sp__place_give(struct sp__place *place, uint64_t unit);

/* Returns the offset of the unit in the volume, in bytes. */
uint64_t sp__place_offset(const struct sp__place *place, uint64_t unit);

/* A unit to be read, with the caller's reference. */
struct sp__stop {
	uint64_t unit;
	void *what;
};

/*
 * Orders units for reading.  Under SEMISEQ (path.c) the first one stays first on its drive, except
 * for pages of its run directly before it on its track; the drives of an array come one after the
 * other.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__place_order(struct sp__place *place, struct sp__stop *stops, size_t n);
/* Returns the memory of sp__place_order() per unit, for the budget. */
size_t sp__place_order_memory(void);

/* Return the number of units in use, and of units allocated a second time. */
uint64_t sp__place_used(const struct sp__place *place);
uint64_t sp__place_recycled(const struct sp__place *place);

/* The following is used by place.c and path.c alone. */
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
