/* SPDX-License-Identifier: MIT */
/*
 * Defines a write stream: bytes in order to one output, written asynchronously.
 *
 * Small outputs, pipes, terminals and files opened for appending are written with write(2), which
 * can block.  A regular file is written through a queue once 8 MiB have been written or are
 * expected: directly, in aligned requests of one chunk from buffers of the stream, and through the
 * page cache for the unaligned beginning and end.  If that is impossible, the stream continues with
 * write(2).  The stream starts at the descriptor's present offset and leaves it at the end of the
 * bytes written.
 *
 * The output can be compressed (packing.c): members of a fixed size, of all bytes put from
 * opening to finishing.
 */
#pragma once

#include <spindle/packed.h>
#include "base/hash.h"
#include "io/queue.h"

struct sp__wstream_opts {
	const char *engine;
	enum sp__direct direct;	 /* _ALWAYS: from the first chunk on */
	size_t chunk_bytes;	 /* size of one request; multiple of 4096 */
	unsigned depth;		 /* chunks; at least 2 to overlap, at most 64 */
	uint64_t expected_bytes; /* total; 0: unknown.  Sizes the space reserved ahead */
	struct sp__trace *trace;
	const struct sp__volume *device; /* simulated: a regular file is stored on it; or NULL */
	/*
	 * The stream writes pieces of a regular file, at the offsets of sp__wstream_move(), and
	 * other streams write the rest.  The descriptor's offset is neither used nor changed, space
	 * is neither reserved nor truncated, and no page of the cache is written both directly and
	 * through the cache.
	 */
	bool piece;
	enum sp_packed pack;  /* the format of the output, packed by tasks */
	unsigned pack_level;  /* 0: the default */
	uint64_t pack_bytes;  /* the memory for packing, with its chunks */
	XXH3_state_t *digest; /* hashes the bytes put, until finished; not with pack; or NULL */
};

struct sp__wstream;

/* Opens a stream.  Borrows fd.  err is kept: it receives the first failure of any later call. */
SP_MUST_CHECK int sp__wstream_open(struct sp__wstream **ws, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
/* Copies the bytes, or writes them; waits while all chunks are in flight. */
SP_MUST_CHECK int sp__wstream_put(struct sp__wstream *ws, const void *data, size_t bytes);
/* Puts bytes of which `reach`, at least as many, can be read from data on. */
SP_MUST_CHECK int sp__wstream_put_near(struct sp__wstream *ws, const char *data, size_t bytes,
				       size_t reach);
/*
 * Returns the free memory of the current chunk, to be filled from its start until the next call of
 * the stream, and its bytes: at least one.  NULL: the stream does not go through a queue.
 */
char *sp__wstream_pin(struct sp__wstream *ws, size_t *bytes);
/* Puts the first bytes of the pinned memory. */
SP_MUST_CHECK int sp__wstream_put_pinned(struct sp__wstream *ws, size_t bytes);
/*
 * Writes the bytes put so far.  Does nothing for a stream that is compressed or goes through a
 * queue, which waits for a whole chunk.
 */
SP_MUST_CHECK int sp__wstream_flush(struct sp__wstream *ws);
/*
 * Only for pieces: ends the piece, so that the system has all bytes put so far, and starts another
 * one at this offset of the file.  The first piece starts at 0 unless it is moved.
 */
SP_MUST_CHECK int sp__wstream_move(struct sp__wstream *ws, uint64_t at);
/*
 * Writes the rest.  After 0 the system has everything (the device need not; call fsync for that),
 * and nothing can be put.
 */
SP_MUST_CHECK int sp__wstream_finish(struct sp__wstream *ws);
/*
 * Frees the stream.  An unfinished stream is abandoned: a file whose end was the stream's is
 * truncated to the last byte written without a gap.  Accepts NULL.
 */
void sp__wstream_close(struct sp__wstream *ws);

void sp__wstream_counters(const struct sp__wstream *ws, struct sp__io_counters *c);

/*
 * Packing (packing.c) is the part of a write stream whose output is compressed; the rules of the
 * stream apply.  The bytes are cut into frames of a fixed size, which queued tasks pack; a thread
 * of its own writes the packed frames in order.  So the output does not depend on the number of
 * threads.
 */
struct sp__packing;

/* Packs and writes the bytes that are put. */
SP_MUST_CHECK int sp__packing_open(struct sp__packing **p, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes);
SP_MUST_CHECK int sp__packing_finish(struct sp__packing *p);
void sp__packing_close(struct sp__packing *p); /* accepts NULL */
/* Reports the counters of packed bytes that were written. */
void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c);
