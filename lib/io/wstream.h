/* SPDX-License-Identifier: MIT */
/*
 * A write stream: bytes in order to one output, written asynchronously.
 *
 * Small outputs, pipes, terminals and files opened for appending are written
 * with write(2), which may block.  A regular file is written through a queue
 * once 8 MB have been written or are expected: direct, in big aligned
 * requests from buffers of the stream, the unaligned head and tail buffered.
 * Where that cannot be done it goes on with write(2).  Starts at the descriptor's
 * present offset and leaves it at the end of what was written.
 *
 * It can be compressed (io/packing.h): one member, with what is put from opening to finishing.
 */
#ifndef SP__IO_WSTREAM_H
#define SP__IO_WSTREAM_H

#include <spindle/packed.h>
#include "base/hash.h"
#include "io/queue.h"

struct sp__wstream_opts {
	const char *engine;
	enum sp__direct direct;	 /* _ALWAYS: from the first chunk on */
	size_t chunk_bytes;	 /* of one request; multiple of 4096 */
	unsigned depth;		 /* chunks; at least 2 to overlap, at most 64 */
	uint64_t expected_bytes; /* in all; 0: unknown.  Sizes what is reserved ahead */
	struct sp__trace *trace;
	const struct sp__volume *device; /* simulated: a regular file lies on it; or NULL */
	/*
	 * Others write the file before and after this piece: it is neither reserved nor truncated,
	 * and no page of the cache is written by both ways.
	 */
	bool piece;
	enum sp_packed pack;  /* the format in which it is written, by a thread of its own */
	uint64_t pack_bytes;  /* the memory for that, beside the chunks */
	XXH3_state_t *digest; /* of what is put, complete when finished; not with pack; or NULL */
};

struct sp__wstream;

/* Borrows fd.  err is kept: it receives the first failure of any later call. */
SP_MUST_CHECK int sp__wstream_open(struct sp__wstream **ws, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
/* Copies the bytes, or writes them; waits while all chunks are in flight. */
SP_MUST_CHECK int sp__wstream_put(struct sp__wstream *ws, const void *data, size_t bytes);
/* The same where `reach` bytes, at least as many, may be read from data on. */
SP_MUST_CHECK int sp__wstream_put_near(struct sp__wstream *ws, const char *data, size_t bytes,
				       size_t reach);
/*
 * Writes what has been put, unless it goes through a queue: then it waits for a whole chunk; or is
 * compressed.
 */
SP_MUST_CHECK int sp__wstream_flush(struct sp__wstream *ws);
/*
 * When this returns 0 the system has everything (the device need not; for that
 * call fsync).  Nothing can be put afterwards.
 */
SP_MUST_CHECK int sp__wstream_finish(struct sp__wstream *ws);
/*
 * Frees; what was not finished is abandoned, and a file whose end was ours is
 * truncated to the last byte written without a gap.  Accepts NULL.
 */
void sp__wstream_close(struct sp__wstream *ws);

void sp__wstream_counters(const struct sp__wstream *ws, struct sp__io_counters *c);

#endif
