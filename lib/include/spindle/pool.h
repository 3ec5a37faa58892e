/* SPDX-License-Identifier: MIT */
/*
 * Buffer pools of tables: frames of memory that several open tables, queries and operators of one
 * program share.
 *
 * A frame holds the cells of some column groups of consecutive A-pages.  Which column groups these
 * are depends on the queries that run (enum sp_pool_manager).
 *
 * A scan or a change that finds no frame has one read.  A get that finds none reads its cells
 * itself, which are fewer than those of a frame.  The frame is read when gets have read as many
 * bytes from its A-pages as it has, while the frame that it replaces was not used.
 *
 * The frame that was used least recently is reused.  A scan that needs more frames than there are,
 * and is the only scan of its table, reuses its own.
 *
 * Source: Shao 2008, section 4.6.
 *
 * Thread rule: one thread at a time uses a pool and all tables that share it.
 */
#ifndef SPINDLE_POOL_H
#define SPINDLE_POOL_H

#include <spindle/enum.h>
#include <spindle/error.h>

/* Decides which column groups a frame gets. */
enum sp_pool_manager {
	SP_POOL_FULL,  /* all */
	SP_POOL_QUERY, /* column groups of the query; a change needs all */
	/*
	 * Column groups of the query, and of all running scans and changes that share one with it,
	 * directly or through other ones.
	 */
	SP_POOL_DYNAMIC,
};
SP_ENUM(sp_pool_manager)

/* What a change reads and writes, and removes from the pool. */
enum sp_pool_update_unit {
	SP_POOL_CELLS, /* the column groups that change */
	SP_POOL_PAGE,  /* all of the A-pages that change; frames that have all of them keep them */
};
SP_ENUM(sp_pool_update_unit)

struct sp_pool_opts {
	uint64_t bytes;	      /* memory of frames and their entries */
	uint64_t frame_bytes; /* bytes of a frame: at least an A-page of each table */
	enum sp_pool_manager manager;
	enum sp_pool_update_unit update_unit;
	/*
	 * A frame that has no space for two A-pages gets the column groups of the manager.
	 * Otherwise such a frame gets all column groups.
	 */
	bool partial_alone;
};

#define SP_POOL_OPTS_INIT                                                                          \
	{                                                                                          \
		.bytes = UINT64_C(64) << 20, .frame_bytes = UINT64_C(4) << 20                      \
	}

/* Counters since the pool was opened, except the last two. */
struct sp_pool_counters {
	uint64_t frames;	 /* frames of the pool */
	uint64_t frame_bytes;	 /* bytes of a frame */
	uint64_t lookups;	 /* lookups of an A-page and the column groups of a query */
	uint64_t hits, misses;	 /* lookups: hits + misses */
	uint64_t full_fetches;	 /* misses that read all column groups */
	uint64_t refused;	 /* misses after which no frame was read: gets, or none was free */
	uint64_t invalidated;	 /* A-pages that changes removed from frames */
	uint64_t schema_changes; /* changes of the lists of page schemas, by queries */
	/* Cells in frames that a lookup can find: */
	uint64_t held_bytes;
	uint64_t useful_bytes; /* bytes of column groups that were looked up, without copies */
};

struct sp_pool;

/*
 * Opens a pool.  Close it with sp_pool_close(), after all tables that use it.
 * Returns 0; SP_EBUDGET if the memory has no space for a frame; or -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_pool_open(struct sp_pool **pool, const struct sp_pool_opts *opts,
				      struct sp_errinfo *err);
/* Closes a pool; NULL is accepted. */
SP_API void sp_pool_close(struct sp_pool *pool);
/* Reads the counters. */
SP_API void sp_pool_counters(const struct sp_pool *pool, struct sp_pool_counters *counters);

#endif
