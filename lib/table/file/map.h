/* SPDX-License-Identifier: MIT */
/*
 * The map of a table's file: which cells belong to which area.
 *
 * An area is a list of extents, runs of consecutive cells.  The extents of an area, in their order,
 * make up its cells, which are numbered from 0: cell n of the data area is what the layout counts.
 * Extents of texts and free ones are kept in the order of the file and joined.
 *
 * Space that is released stays out of use until the next superblock counts: the state before refers
 * to it.  Released space is free in the bytes of the map, and sp__map_settle() frees it in memory.
 *
 * Thread rule: one thread changes a map; while it is unchanged, any number of threads read it.
 */
#pragma once

#include "base/coder.h"
#include "place/lanemap.h"

enum sp__table_area {
	SP__AREA_DATA,
	SP__AREA_DIRECTORY,
	SP__AREA_TEXT,
	SP__AREA_TOMBSTONES,
	SP__AREA_FREE,
	SP__AREAS,
	SP__AREA_RELEASED = SP__AREAS, /* not in the file */
	SP__AREA_LISTS,
};

#define SP__TABLE_CELLS_MAX (UINT64_C(1) << 50)

struct sp__table_extent {
	uint64_t first, cells; /* of the file */
	uint64_t before;       /* cells of the area in the extents before this one */
};

struct sp__table_area_list {
	struct sp__table_extent *extents;
	size_t n, capacity;
	uint64_t cells;
};

struct sp__table_map {
	uint64_t end; /* cells of the file */
	bool changed; /* since it was read or written */
	struct sp__table_area_list lists[SP__AREA_LISTS];
	/*
	 * Where cells of the data area are; borrowed.  Its extents are then the space of the parts
	 * on volume 0.  NULL: the extents are their cells.
	 */
	struct sp__lanemap *lanemap;
};

void sp__map_free(struct sp__table_map *m);

/* Returns the number of cells of an area; of the data area with lanemap, those of its space. */
static inline uint64_t sp__map_cells(const struct sp__table_map *m, enum sp__table_area area)
{
	return m->lists[area].cells;
}

/* Returns the cells of all volumes; a file of several volumes is sparse. */
static inline uint64_t sp__map_space(const struct sp__table_map *m)
{
	return m->end +
	       (m->lanemap ? (m->lanemap->volumes - 1) * sp__map_cells(m, SP__AREA_DATA) : 0);
}

/* Adds cells to the end of an area.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__map_add(struct sp__table_map *m, enum sp__table_area area, uint64_t first,
			      uint64_t cells);
/*
 * Takes consecutive free cells, at the end of the file if no free extent has so many.  The caller
 * adds them to an area.  Returns 0, -ENOMEM, or -EFBIG.
 */
SP_MUST_CHECK int sp__map_take(struct sp__table_map *m, uint64_t cells, uint64_t *first);
/*
 * Gives pages from sp__lanemap_pages() on a place at the end of the file, with space for at least
 * so many.  Returns 0, -ENOMEM, or -ENOSPC.
 */
SP_MUST_CHECK int sp__map_add_pages(struct sp__table_map *m, uint64_t pages);
/* Releases the space after the place of the first `pages` pages.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__map_shorten_pages(struct sp__table_map *m, uint64_t pages);
/*
 * Releases cells that are in no area, or removes them from the text area first.  Returns 0;
 * -ENOMEM; or SP_ECORRUPT if the text area does not have all of them.
 */
SP_MUST_CHECK int sp__map_release(struct sp__table_map *m, uint64_t first, uint64_t cells);
SP_MUST_CHECK int sp__map_release_text(struct sp__table_map *m, uint64_t first, uint64_t cells);
/* Releases the last cells of an area until it has so many.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__map_shorten(struct sp__table_map *m, enum sp__table_area area,
				  uint64_t cells);
/* Frees what was released, after the next superblock counts.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__map_settle(struct sp__table_map *m);
/*
 * Takes free cells at the end of the file out of it, and released ones from old_end on: the state
 * before has the cells below it.
 */
void sp__map_trim(struct sp__table_map *m, uint64_t old_end);

/*
 * Finds cell n of an area, n below sp__map_cells(): its number in the file.  Returns how many cells
 * from there on are consecutive in the file, at most `cells`.
 */
uint64_t sp__map_run(const struct sp__table_map *m, enum sp__table_area area, uint64_t n,
		     uint64_t cells, uint64_t *first);
static inline uint64_t sp__map_cell(const struct sp__table_map *m, enum sp__table_area area,
				    uint64_t n)
{
	uint64_t first;

	(void)sp__map_run(m, area, n, 1, &first);
	return first;
}
/* Finds the area of a cell of the file, and its number there; false: in none. */
bool sp__map_find(const struct sp__table_map *m, uint64_t cell, enum sp__table_area *area,
		  uint64_t *n);

/* True if consecutive cells of the file are all cells of texts. */
bool sp__map_has_text(const struct sp__table_map *m, uint64_t first, uint64_t cells);

/* Returns the maximum of bytes that sp__map_code() writes after `more` further extents. */
uint64_t sp__map_bytes(const struct sp__table_map *m, size_t more);
/* Codes all members but end and the list of released extents, which are written as free. */
void sp__map_code(struct sp__coder *c, struct sp__table_map *m);
/*
 * True if the extents of a map that was read, and the n others, do not overlap and are all of the
 * cells from `front` to m->end.  Returns 1, 0, or -ENOMEM.
 */
SP_MUST_CHECK int sp__map_possible(const struct sp__table_map *m, uint64_t front,
				   const struct sp__table_extent *others, size_t n);
