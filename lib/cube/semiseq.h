/* SPDX-License-Identifier: MIT */
/*
 * Places pages of lanes along the tracks of one or several drives: MultiMap in two dimensions.
 *
 * A page has one cell in each lane.  Cells of consecutive pages in one lane lie along a track,
 * cells of one page in consecutive lanes on adjacent blocks: the head reaches the next one without
 * rotational delay (semi-sequential access).  A column is the pages whose cells of a lane fill one
 * track.  `depth` lanes of a column are a basic cube; cube (i, q) is on volume (i + q) mod volumes.
 * All lanes of as many columns as there are volumes are on consecutive tracks, as many on each
 * volume: a part can be of any length.
 *
 * Cells are numbered over all volumes, each with volume_cells numbers: cell n begins at byte n *
 * cell bytes of a file that has the volumes one after the other.
 *
 * A part is consecutive pages on consecutive tracks of one zone.  Parts are added while the table
 * grows; other data of its file lie between them, on volume 0.
 *
 * Source: Shao 2008, section 4.4 (Atropos), figure 4.4; disk modulo: cube/mapping/decluster.h.
 *
 * Thread rule: one thread changes it; while it is unchanged, any number of threads use it.
 */
#pragma once

#include <spindle/run.h>
#include "datafile/coder.h"

struct sp__mapping;

struct sp__semipart {
	uint64_t first_page, pages; /* whole columns */
	uint64_t first_cell, cells; /* that it has on each volume, those in between included */
	struct sp__mapping *mapping;
};

struct sp__semiseq {
	unsigned volumes;
	uint32_t depth;	      /* lanes of a basic cube */
	uint32_t lanes;	      /* of a page */
	uint32_t cell_blocks; /* a block is that of the drive */
	uint32_t block_bytes;
	uint64_t volume_cells;	  /* of the numbers; at least those of a drive */
	uint64_t skip_cells;	  /* of each volume, before the first part; not in the file */
	struct sp__mapping *like; /* the zones of a whole drive */
	struct sp__semipart *parts;
	size_t n, capacity;
};

struct sp__semiseq_opts {
	const struct sp_run_opts *run; /* the simulated volume, or a geometry */
	const char *path;	       /* for messages */
	unsigned volumes;	       /* 0: 1 */
	uint32_t depth;		       /* 0: that with which a page is read fastest */
	uint32_t lanes, cell_bytes;
	uint64_t skip_bytes; /* of each volume, before the first page */
	double extra_deg;    /* conservatism */
};

#define SP__SEMISEQ_VOLUMES_MAX 64

/*
 * Plans a placement without parts.  Zeroes s first; after an error, too, it must be freed.  Returns
 * 0; SP_EUNSUP: the volume has no known tracks or hops, or these do not fit the options;
 * SP_ESYNTAX; -ENOMEM; or an error of the model.
 */
SP_MUST_CHECK int sp__semiseq_plan(struct sp__semiseq *s, const struct sp__semiseq_opts *o,
				   struct sp_errinfo *err);
void sp__semiseq_free(struct sp__semiseq *s);

/* Codes all that does not change: the file has room for it when it is created. */
void sp__semiseq_code(struct sp__coder *c, struct sp__semiseq *s);
/* Codes the parts, after that; those that are read may contradict everything but the zones. */
void sp__semiseq_code_parts(struct sp__coder *c, struct sp__semiseq *s);
#define SP__SEMIPART_BYTES 16 /* of a part */

/* Returns the specification of all drives, for that of one; allocated.  NULL: no memory. */
char *sp__semiseq_array(const struct sp__semiseq *s, const char *volume);
/* Returns the number of pages that have a place. */
uint64_t sp__semiseq_pages(const struct sp__semiseq *s);
/* Returns the pages whose cells of a lane fill one track of each volume, in the first zone. */
uint64_t sp__semiseq_stripe(const struct sp__semiseq *s);
/*
 * Adds a part for at least so many pages, or as many as its zone has; its first cell is this one or
 * a later one.  Returns 0; -ENOSPC: no zone has space for a column; or -ENOMEM.
 */
SP_MUST_CHECK int sp__semiseq_extend(struct sp__semiseq *s, uint64_t pages, uint64_t first_cell);
/* Removes the last columns that hold no page below `pages` from the last part. */
SP_MUST_CHECK int sp__semiseq_shorten(struct sp__semiseq *s, uint64_t pages);

/*
 * Finds the cell of a page, which has a place, in a lane.  Returns how many cells of the next pages
 * in this lane are consecutive, at most `pages`.
 */
uint64_t sp__semiseq_run(const struct sp__semiseq *s, uint64_t page, uint32_t lane, uint64_t pages,
			 uint64_t *cell);
/* Finds the page and the lane of a cell; false: it is of none. */
bool sp__semiseq_find(const struct sp__semiseq *s, uint64_t cell, uint64_t *page, uint32_t *lane);
/* Returns the share of the cells in parts that are of no page. */
double sp__semiseq_waste(const struct sp__semiseq *s);
/* Returns the blocks of a hop and of a track in the first zone. */
uint32_t sp__semiseq_hop(const struct sp__semiseq *s, uint32_t *track_blocks);
