/* SPDX-License-Identifier: MIT */
/*
 * A read stream: the bytes of one input, in order, read ahead of the caller.
 *
 * A regular file that is large, and not in the page cache already, is read
 * through a queue of its own in big direct requests.  Everything else (pipes,
 * terminals, small or cached files, /proc) is read with read(2) into one
 * buffer; a named engine is used for every large file.
 * Starts at the descriptor's present offset; a regular file that grows is read
 * to its new end; if it is smaller at its end than at opening, the end is SP_EFORMAT.
 *
 * A compressed input can be unpacked (io/unpacking.h): the bytes are then those it stands for.
 */
#ifndef SP__IO_RSTREAM_H
#define SP__IO_RSTREAM_H

#include <spindle/batch.h>
#include <spindle/packed.h>
#include "io/queue.h"

struct sp__rstream_opts {
	const char *engine; /* as in sp__queue_opts */
	/*
	 * Of the caller, for several streams of one thread, and with their counts; it is closed
	 * before they are.  NULL: each has one of its own.
	 */
	struct sp__queue *queue;
	char *memory;		/* for `depth` chunks, page-aligned, of the caller; or NULL */
	enum sp__direct direct; /* _ALWAYS: even if cached; buffered if it cannot be done */
	size_t chunk_bytes;	/* of one request; multiple of 4096 */
	unsigned depth;		/* chunks: one with the caller, at most the rest ahead; up to 64 */
	bool whole;		/* the caller reads to the end: all of the rest, from the start */
	struct sp__trace *trace;
	const struct sp__volume *device; /* simulated: a regular file lies on it, ... */
	unsigned sim_file;		 /* ... with this number; or NULL */
	enum sp_packed unpack;		 /* the format to be unpacked, by a thread of its own */
	uint64_t unpack_bytes;		 /* the memory for that, with its chunks, ... */
	unsigned unpack_share;		 /* ... and which share of -S it is: 1 / unpack_share */
	struct sp_batch ahead; /* read from fd before: it comes first, and is unpacked too */
	bool drop_mark;	       /* a byte order mark at the beginning is left out */
};

struct sp__rstream;

/* Borrows fd (closed by the caller, after the stream). */
SP_MUST_CHECK int sp__rstream_open(struct sp__rstream **rs, int fd, const char *name,
				   const struct sp__rstream_opts *opts, struct sp_errinfo *err);
void sp__rstream_close(struct sp__rstream *rs); /* accepts NULL */

/*
 * The next bytes: SP_READY with a span valid until the next call, SP_END,
 * SP_LATER (only if !wait: nothing has arrived yet), or an error, described in
 * the err given at opening (kept by the stream, so it must outlive it).
 */
SP_MUST_CHECK int sp__rstream_next(struct sp__rstream *rs, const char **data, size_t *bytes,
				   bool wait);
/*
 * Waits until next() can do more than return SP_LATER again, after it has returned that: 1; at
 * most timeout_ns (-1: no limit), then 0; or an error.
 */
SP_MUST_CHECK int sp__rstream_wait(struct sp__rstream *rs, int64_t timeout_ns);
/* True if a mark was left out; known when next() has returned SP_READY or SP_END. */
bool sp__rstream_marked(const struct sp__rstream *rs);
/* A descriptor for poll(2), as sp__queue_fd(); -1: none. */
int sp__rstream_fd(const struct sp__rstream *rs);
void sp__rstream_counters(const struct sp__rstream *rs, struct sp__io_counters *c);
/* True if the file is read through the page cache because its file system refuses direct I/O. */
bool sp__rstream_refused(const struct sp__rstream *rs);
const char *sp__rstream_engine(const struct sp__rstream *rs); /* "read" if none */

#endif
