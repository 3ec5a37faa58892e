/* SPDX-License-Identifier: MIT */
/*
 * The chunks of a file in any order: those that are in memory before those that must be read.
 *
 * For who does not care about the order of what he reads (Iyengar et al. 2008, section 6: the
 * sequential scan out of order).  Chunks that the page cache has are given while others are being
 * read, and these as they arrive.  All have the same size but the last.
 */
#ifndef SP__IO_CHUNKS_H
#define SP__IO_CHUNKS_H

#include "io/rstream.h"

struct sp__file_chunk {
	uint64_t number; /* from 0; its offset is that many times the chunk size */
	const char *data;
	size_t bytes;
};

struct sp__chunks;

/*
 * Borrows fd, which stands at its beginning.  Options as of a read stream; with direct _ALWAYS the
 * page cache is not asked.  SP_EUNSUP, not recorded: there is no other order, or no gain in one (a
 * pipe, a small file, one that is in the page cache as a whole, unless an engine is named).
 * Other errors are recorded.
 */
SP_MUST_CHECK int sp__chunks_open(struct sp__chunks **c, int fd, const char *name,
				  const struct sp__rstream_opts *opts, struct sp_errinfo *err);
void sp__chunks_close(struct sp__chunks *c); /* accepts NULL */

/* Their number; they are of the bytes that the file had at opening. */
uint64_t sp__chunks_count(const struct sp__chunks *c);
/* No chunk is given before all those that are so far behind it. */
unsigned sp__chunks_window(const struct sp__chunks *c);
/* A window has as many chunks as tables of so many bytes for each have room in a chunk. */
#define SP__CHUNKS_TABLE_BYTES 32

/*
 * One more chunk: SP_READY, valid until the next call; SP_LATER: nothing has arrived yet; SP_END;
 * or an error, recorded.  in_order: the first that has not been given, but what has been requested
 * already may come before it; if all calls say so the order is that of the file.
 */
SP_MUST_CHECK int sp__chunks_next(struct sp__chunks *c, bool in_order,
				  struct sp__file_chunk *chunk);
/* As sp__rstream_wait() and sp__rstream_fd(). */
SP_MUST_CHECK int sp__chunks_wait(struct sp__chunks *c, int64_t timeout_ns);
int sp__chunks_fd(const struct sp__chunks *c);
void sp__chunks_counters(const struct sp__chunks *c, struct sp__io_counters *counters);
const char *sp__chunks_engine(const struct sp__chunks *c);

#endif
