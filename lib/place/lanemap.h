/* SPDX-License-Identifier: MIT */
/*
 * Places the pages of a table on a device by its mechanics: where the cells of each lane are.
 *
 * A page has one cell in each lane.  Cells of consecutive pages in one lane are read fast, and so
 * are the cells of one page.  Two kinds of devices have such places:
 *	SP_PLACE_SEMISEQ: along the tracks of one or several drives (place/semiseq.c)
 *	SP_PLACE_MEMS: at the locations of the sled of MEMS storage (place/sledlanes.c)
 *
 * Cells are numbered over all volumes, each with volume_cells numbers: cell n begins at byte n *
 * cell bytes of a file that has the volumes one after the other.
 *
 * A part is consecutive pages on consecutive tracks or cylinders.  Parts are added while the table
 * grows; other data of its file lie between them, on volume 0.
 *
 * Source: Shao 2008, section 4.4.
 *
 * Thread rule: one thread changes it; while it is unchanged, any number of threads use it.
 */
#pragma once

#include <spindle/run.h>
#include "base/coder.h"
#include "dev/mems.h"

struct sp__mapping;
struct sp__lanemap_kind;

struct sp__lanepart {
	uint64_t first_page, pages; /* whole units: */
	uint64_t unit_pages;	    /* as many columns of tracks as volumes, or a cylinder */
	uint64_t first_cell,
		cells; /* cells of the part on each volume, those in between included */
	struct sp__mapping *mapping; /* along tracks */
};

struct sp__lanemap {
	const struct sp__lanemap_kind *kind;
	unsigned volumes;
	uint32_t lanes;	      /* lanes of a page */
	uint32_t cell_blocks; /* a block is that of the drive */
	uint32_t block_bytes;
	uint64_t volume_cells; /* range of the cell numbers of a volume */
	uint64_t skip_cells;   /* skipped on each volume; not in the file */
	struct sp__lanepart *parts;
	size_t n, capacity;
	/* Along tracks: */
	uint32_t depth;		  /* lanes of a basic cube */
	struct sp__mapping *like; /* the zones of a whole drive */
	/* On a sled: active, rows, sweeps and cylinders; a block is a cell. */
	struct sp__mems sled;
};

struct sp__lanemap_opts {
	const struct sp_run_opts *run; /* the simulated volume, or a geometry */
	const char *path;	       /* for messages */
	enum sp_placement placement;   /* SP_PLACE_SEMISEQ or SP_PLACE_MEMS */
	unsigned volumes;	       /* 0: 1 */
	uint32_t depth;		       /* along tracks; 0: with which a page is read fastest */
	bool aim_writes;	       /* along tracks: hops are as long as those of writes */
	uint32_t lanes, cell_bytes;
	uint64_t skip_bytes; /* bytes skipped on each volume before the first page */
};

struct sp__lanemap_info {
	enum sp_placement placement;
	uint64_t stripe_pages; /* windows of scans end where stripes do, and */
	bool one_stripe;       /* have at most one */
	uint32_t align_bytes;  /* alignment of requests on a simulated device; 0: as for its file */
	uint32_t hop_blocks,
		track_blocks; /* blocks of a hop and of a track in the first zone; 0: no tracks */
	uint32_t location_pages; /* A-pages of a location of the sled; 0: no sled */
};

#define SP__LANEMAP_VOLUMES_MAX 64

/*
 * Plans a placement without parts.  Zeroes m first; after an error, too, it must be freed.  Returns
 * 0; SP_EUNSUP: the volume is not of the kind, or its sizes do not fit the options; SP_ESYNTAX;
 * -ENOMEM; or an error of the model.
 */
SP_MUST_CHECK int sp__lanemap_plan(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
				   struct sp_errinfo *err);
void sp__lanemap_free(struct sp__lanemap *m);

/*
 * Codes all that does not change: the file has room for it when it is created.  placement: of the
 * map that is read or written.
 */
void sp__lanemap_code(struct sp__coder *c, struct sp__lanemap *m, enum sp_placement placement);
/* Codes the parts, after that; those that are read may contradict everything but the device. */
void sp__lanemap_code_parts(struct sp__coder *c, struct sp__lanemap *m);

struct sp__lanemap_info sp__lanemap_info(const struct sp__lanemap *m);
/* Returns the number of pages that have a place. */
uint64_t sp__lanemap_pages(const struct sp__lanemap *m);
/*
 * Adds a part for at least so many pages, or as many as its zone has; its first cell is this one or
 * a later one.  Returns 0; -ENOSPC: the device has no space for a column or cylinder; or -ENOMEM.
 */
SP_MUST_CHECK int sp__lanemap_extend(struct sp__lanemap *m, uint64_t pages, uint64_t first_cell);
/* Removes the last columns or cylinders that hold no page below `pages` from the last part. */
SP_MUST_CHECK int sp__lanemap_shorten(struct sp__lanemap *m, uint64_t pages);

/*
 * Finds the cell of a page, which has a place, in a lane.  Returns how many cells of the next pages
 * in this lane are consecutive, at most `pages`.
 */
uint64_t sp__lanemap_run(const struct sp__lanemap *m, uint64_t page, uint32_t lane, uint64_t pages,
			 uint64_t *cell);
/* Finds the page and the lane of a cell; false: it is of none. */
bool sp__lanemap_find(const struct sp__lanemap *m, uint64_t cell, uint64_t *page, uint32_t *lane);
/* Returns the share of the cells in parts that are of no page. */
double sp__lanemap_waste(const struct sp__lanemap *m);
