/* SPDX-License-Identifier: MIT */
/*
 * Defines a read stream: the bytes of one input, in order, read ahead of the caller.
 *
 * A regular file that is large and not in the page cache is read through a queue of its own in
 * direct requests of one chunk.  Everything else (pipes, terminals, small or cached files, /proc)
 * is read with read(2) into one buffer.  A named engine is used for every large file.  The stream
 * starts at the descriptor's present offset.  A regular file that grows is read to its new end; if
 * it is smaller at its end than at opening, the end is SP_EFORMAT.
 *
 * A compressed input can be unpacked (unpacking.c): the stream then returns the unpacked bytes.
 */
#pragma once

#include <spindle/batch.h>
#include <spindle/packed.h>
#include "io/queue.h"

struct sp__rstream_opts {
	const char *engine; /* see sp__queue_opts */
	/*
	 * The caller's queue, for several streams of one thread; its counters include theirs, and
	 * it is closed before them.  NULL: each stream has a queue of its own.
	 */
	struct sp__queue *queue;
	char *memory;		/* the caller's, for `depth` chunks, page-aligned; or NULL */
	enum sp__direct direct; /* _ALWAYS: even if cached; buffered if direct is impossible */
	size_t chunk_bytes;	/* size of one request; multiple of 4096 */
	unsigned depth;		/* chunks: one with the caller, the rest ahead; up to 64 */
	bool whole;		/* the caller reads to the end: full read-ahead from the start */
	struct sp__trace *trace;
	const struct sp__volume *device; /* simulated: a regular file is stored on it, ... */
	unsigned sim_file;		 /* ... with this number; or NULL */
	enum sp_packed unpack;		 /* the format to be unpacked, by tasks */
	uint64_t unpack_bytes;		 /* the memory for unpacking, with its chunks, ... */
	unsigned unpack_share;		 /* ... which is 1 / unpack_share of -S */
	struct sp_batch ahead; /* bytes read from fd before: they come first and are unpacked too */
	bool limited;	       /* a regular file is read to this offset, not to its end: */
	uint64_t limit;
	bool drop_mark; /* a byte order mark at the beginning is skipped */
};

struct sp__rstream;

/* Opens a stream.  Borrows fd; the caller closes it after the stream. */
SP_MUST_CHECK int sp__rstream_open(struct sp__rstream **rs, int fd, const char *name,
				   const struct sp__rstream_opts *opts, struct sp_errinfo *err);
void sp__rstream_close(struct sp__rstream *rs); /* accepts NULL */

/*
 * Returns the next bytes: SP_READY with a span valid until the next call, SP_END, SP_LATER (only if
 * !wait: nothing has arrived yet), or an error, described in the err given at opening, which must
 * outlive the stream.
 */
SP_MUST_CHECK int sp__rstream_next(struct sp__rstream *rs, const char **data, size_t *bytes,
				   bool wait);
/*
 * After next() has returned SP_LATER, waits until it can return something else.  Returns 1; 0 after
 * timeout_ns (-1: no limit); or an error.
 */
SP_MUST_CHECK int sp__rstream_wait(struct sp__rstream *rs, int64_t timeout_ns);
/* True if a byte order mark was skipped; known when next() has returned SP_READY or SP_END. */
bool sp__rstream_marked(const struct sp__rstream *rs);
/* Returns a descriptor for poll(2), with the rules of sp__queue_fd(); -1: none. */
int sp__rstream_fd(const struct sp__rstream *rs);
void sp__rstream_counters(const struct sp__rstream *rs, struct sp__io_counters *c);
/* How a stream reads ahead. */
struct sp__read_state {
	bool direct;		 /* from the device, past the page cache */
	bool asked;		 /* everything up to its end has been requested */
	uint64_t chunks, waited; /* returned; for how many of them the caller had to wait */
};
void sp__rstream_state(const struct sp__rstream *rs, struct sp__read_state *r);
/* True if the file is read through the page cache because its file system refuses direct I/O. */
bool sp__rstream_refused(const struct sp__rstream *rs);
const char *sp__rstream_engine(const struct sp__rstream *rs); /* "read" if none */

/*
 * Unpacking (unpacking.c) is the part of a read stream whose input is compressed; the rules of the
 * stream apply.  A thread of its own reads.  Members whose ends it can find (pack/member.h) are
 * unpacked by queued tasks, several at a time; it unpacks the others itself.
 */
struct sp__unpacking;

/*
 * True if the stream is to be unpacked; false for a file that can be reread and has no magic
 * number.
 */
bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts);
SP_MUST_CHECK int sp__unpacking_open(struct sp__unpacking **p, int fd, const char *name,
				     const struct sp__rstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__unpacking_next(struct sp__unpacking *p, const char **data, size_t *bytes,
				     bool wait);
SP_MUST_CHECK int sp__unpacking_wait(struct sp__unpacking *p, int64_t timeout_ns);
void sp__unpacking_close(struct sp__unpacking *p); /* accepts NULL */
/* Reports the counters of packed bytes that were read. */
void sp__unpacking_counters(struct sp__unpacking *p, struct sp__io_counters *c);
