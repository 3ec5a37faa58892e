/* SPDX-License-Identifier: MIT */
/*
 * An open table as a user of a pool: reads cells of its file into frames, and removes A-pages that
 * its changes write in place.
 *
 * Thread rule: one thread, as the pool.
 */
#pragma once

#include "table/clotho/pool.h"
#include "table/file/file.h"

struct sp__clotho_file {
	struct sp__clotho_user user;
	struct sp__tablefile *file;
	struct sp__requests requests;
	struct sp_errinfo err; /* error of the queue */
	uint64_t records;      /* records of the table at its last commit */
	uint64_t cells_read;   /* since the last note */
	struct sp__io_counters noted;
};

/*
 * Attaches an open table to a pool, and sets file->pool.  Returns 0, SP_EUNSUP if an A-page exceeds
 * a frame, -ENOMEM, or an error of the queue; recorded in err.  After an error, too, it must be
 * detached.
 */
SP_MUST_CHECK int sp__clotho_attach_file(struct sp__clotho_file *c, struct sp__tablefile *file,
					 struct sp_pool *pool, struct sp_errinfo *err);
/* Waits for requests, and detaches the table; all zero is accepted. */
void sp__clotho_detach_file(struct sp__clotho_file *c);
/* True if a change of a table concerns all cells of the A-pages with changed records. */
static inline bool sp__clotho_whole_pages(const struct sp__tablefile *f)
{
	return f->pool && f->pool->user.pool->opts.update_unit == SP_POOL_PAGE;
}
/* Takes over the state of the table after a commit. */
void sp__clotho_commit(struct sp__clotho_file *c);
/* Adds the requests and cells since the last note, and sets the counters of the pool, of a call. */
void sp__clotho_note(struct sp__clotho_file *c, struct sp_table_stats *stats);
