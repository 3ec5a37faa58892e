/* SPDX-License-Identifier: MIT */
/*
 * The superblock of a table: its layout, its sizes, and where schema, map and journal are
 * (spindle-table(5)).  The file begins with two slots for it (cells/superblocks.h).
 */
#pragma once

#include "base/rng.h"
#include "cells/superblocks.h"
#include "flow/source.h"
#include "place/lanemap.h"
#include "table/file/map.h"
#include "table/layout/layout.h"

#define SP__TABLE_MAGIC SP__SOURCE_MAGIC
#define SP__TABLE_VERSION 1
#define SP__TABLE_APPENDS_MAX 448 /* whose states are kept; fewer if their slot is small, */
#define SP__TABLE_APPENDS_MIN 64  /* but so many in a new table */

/* Bytes over the payloads of consecutive cells. */
struct sp__table_stream {
	uint64_t first, cells; /* of the file */
	uint64_t bytes;
};

/* Changed cells that are to be written in place (table/file/redo.h). */
struct sp__table_journal {
	uint64_t first; /* cell of the file; */
	uint64_t bytes; /* of all records; 0: there is no journal */
};

struct sp__table_superblock {
	struct sp__superblocks slots;
	uint64_t id; /* of the table, in the checksums of its cells */
	/*
	 * Follows from all cells, and from the schema, as they were first written: tables that were
	 * loaded with the same seed have the same id, but not the same contents.
	 */
	uint64_t contents;
	uint64_t records;
	uint64_t deleted;	  /* of them */
	uint64_t end;		  /* cells of the file */
	uint64_t tombstone_cells; /* that have been written */
	struct sp__table_stream schema, map;
	struct sp__table_journal journal;
	char *volume;		     /* the simulated one; NULL: the file itself */
	struct sp__lanemap *lanemap; /* NULL: cells are contiguous */
	/*
	 * If each drive of it is a file or device of its own: the names of all except the first
	 * one.  The headers of these volumes have the state, too.  marking: they can have the state
	 * before, since the last change was interrupted (cells/volumes.h).
	 */
	char *volumes[SP__LANEMAP_VOLUMES_MAX];
	bool arrow; /* the schema has formats of Arrow */
	uint64_t marking;
	/*
	 * A random number that the last change drew: copies of a table that are changed apart
	 * differ in it.  0: it was not changed.  !has_states: a count of changes, of old versions.
	 */
	uint64_t state;
	bool has_states;	/* there was a change: */
	uint64_t first_records; /* before the first append that drew a number; now, if none did */
	uint64_t *appends;	/* the numbers of the last appends, the oldest one first */
	size_t nappends;
	bool no_data; /* cells of all areas are never written; there is a volume */
	uint32_t ncolumns;
	/*
	 * Of each column: the random number of its last change in place; 0: none.  Old versions set
	 * the number of the superblock.
	 */
	uint64_t *changed;
	struct sp__table_layout layout; /* when read: without what sp__layout_compute() computes */
};

/* Returns a number that volumes have of their table. */
static inline uint64_t sp__table_identity(const struct sp__table_superblock *s)
{
	return s->id ^ sp__mix64(s->contents);
}

/* Returns a number that an index has of the records of its table: which ones were appended. */
static inline uint64_t sp__table_records_identity(const struct sp__table_superblock *s)
{
	return sp__table_identity(s) ^ (s->nappends ? sp__mix64(s->appends[s->nappends - 1]) : 0);
}

/* Returns the cells of the file that volume 0 has; all, unless the table has several. */
static inline uint64_t sp__table_volume_cells(const struct sp__table_superblock *s)
{
	return s->lanemap ? s->lanemap->volume_cells : SP__TABLE_CELLS_MAX;
}

/* Returns the number of parts of that many cells. */
static inline unsigned sp__table_drives(const struct sp__table_superblock *s)
{
	return s->lanemap ? s->lanemap->volumes : 1;
}

/* Returns the number of its files or devices. */
static inline unsigned sp__table_own_volumes(const struct sp__table_superblock *s)
{
	return s->volumes[1] ? sp__table_drives(s) : 1;
}

/* True if a change counts, but is not complete on all volumes: it must be finished first. */
static inline bool sp__table_unfinished(const struct sp__table_superblock *s)
{
	return s->journal.bytes || s->marking;
}

/* Frees all members, the layout too. */
void sp__table_superblock_free(struct sp__table_superblock *s);

/* Returns the first cell after the superblocks. */
uint64_t sp__table_superblock_front(const struct sp__table_superblock *s);
/*
 * True if the records of the table begin with those of an index: so many, which it identifies by
 * this number.  False, too, if so many appends followed that the number is not kept.
 */
bool sp__table_has_records(const struct sp__table_superblock *s, uint64_t identity,
			   uint64_t records);

/*
 * Draws the number of the next state, the layout is set.  appended: records were.  Returns 0;
 * -ENOMEM; -ENOSPC: the slot, made by an old version, has no space for the number; or -errno.
 */
SP_MUST_CHECK int sp__table_superblock_draw(struct sp__table_superblock *s, bool appended);

/*
 * Sets the size of a slot, for a new table whose members are set.  Returns 0, -ENOMEM, or -EFBIG.
 */
SP_MUST_CHECK int sp__table_superblock_size(struct sp__table_superblock *s);

/* Returns the bytes of a slot; the caller frees.  NULL: no memory. */
uint8_t *sp__table_superblock_encode(const struct sp__table_superblock *s, size_t *bytes);
/*
 * Decodes and validates a slot; zeroes s first.  Returns 0; SP_EFORMAT or SP_ECORRUPT with *reason;
 * or -ENOMEM.
 */
SP_MUST_CHECK int sp__table_superblock_decode(struct sp__table_superblock *s, const uint8_t *data,
					      size_t bytes, const char **reason);

/* Writes the next state.  Returns 0 when it is on the device, -ENOMEM or -errno. */
SP_MUST_CHECK int sp__table_superblock_write(struct sp__table_superblock *s, int fd,
					     const char *path, struct sp_errinfo *err);
/*
 * Writes the same state once more, to the slot that has an older one, so that either slot is
 * enough.  Does not wait for the device at the end; if this fails, the state stays in one slot.
 */
void sp__table_superblock_repeat(struct sp__table_superblock *s, int fd);
/* Reads the newer valid superblock.  Returns 0, SP_EFORMAT, SP_ECORRUPT, -ENOMEM or -errno. */
SP_MUST_CHECK int sp__table_superblock_read(struct sp__table_superblock *s, int fd,
					    const char *path, struct sp_errinfo *err);
