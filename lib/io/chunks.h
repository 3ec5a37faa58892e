/* SPDX-License-Identifier: MIT */
/*
 * Reads the chunks of a file in any order: chunks in memory before those that must be read.
 *
 * It serves callers that do not depend on the order of the chunks (Iyengar et al. 2008, section 6:
 * the sequential scan out of order).  Chunks in the page cache are returned while others are read,
 * and those as they arrive.  All chunks have the same size, except the last.
 */
#pragma once

#include "io/rstream.h"

struct sp__file_chunk {
	uint64_t number; /* from 0; its offset is that many times the chunk size */
	const char *data;
	size_t bytes;
};

struct sp__chunks;

/*
 * Opens the chunks of a file.  Borrows fd, whose offset must be 0.  Options as in a read stream;
 * with direct _ALWAYS the page cache is not checked.  Returns SP_EUNSUP, not recorded, if another
 * order is impossible or gains nothing: a pipe, a small file, or a file entirely in the page cache,
 * unless an engine is named.  Other errors are recorded.
 */
SP_MUST_CHECK int sp__chunks_open(struct sp__chunks **c, int fd, const char *name,
				  const struct sp__rstream_opts *opts, struct sp_errinfo *err);
void sp__chunks_close(struct sp__chunks *c); /* accepts NULL */

/* Returns the number of chunks of the file as it was at opening. */
uint64_t sp__chunks_count(const struct sp__chunks *c);
/* Returns the size of the window: chunk i is returned after all chunks before i - window + 1. */
unsigned sp__chunks_window(const struct sp__chunks *c);
/* Tables of this many bytes per chunk of the window fit into one chunk. */
#define SP__CHUNKS_TABLE_BYTES 32

/*
 * Returns one more chunk: SP_READY, valid until the next call; SP_LATER: nothing has arrived yet;
 * SP_END; or an error, recorded.  in_order: the first chunk that has not been returned; chunks that
 * have been requested already can come before it.  If all calls set it, the order is the
 * file's.
 */
SP_MUST_CHECK int sp__chunks_next(struct sp__chunks *c, bool in_order,
				  struct sp__file_chunk *chunk);
/* Has the rules of sp__rstream_wait(). */
SP_MUST_CHECK int sp__chunks_wait(struct sp__chunks *c, int64_t timeout_ns);
/* Returns the queue of its reads, for its descriptor, counters and engine. */
const struct sp__queue *sp__chunks_queue(const struct sp__chunks *c);
