/* SPDX-License-Identifier: MIT */
/*
 * Inside a read stream; rstream.c describes its two modes.
 *
 *   rstream.c         the interface; which mode to begin with
 *   rstream_queued.c  chunks in a ring, requested ahead of the caller
 *   rstream_plain.c   bytes by read(2)
 */
#ifndef SP__IO_RSTREAM_STATE_H
#define SP__IO_RSTREAM_STATE_H

#include "io/rstream.h"

#define SP__RSTREAM_DEPTH_MAX 64

struct sp__rslot {
	struct sp__request req;
	bool busy, done;
};

struct sp__rstream {
	int fd;
	char *name;
	struct sp_errinfo *err;
	struct sp__trace *trace;
	bool queued;
	bool pollable;	 /* may have nothing to read yet: pipe, terminal */
	int status;	 /* SP_READY until the end or an error, which stay */
	uint64_t offset; /* of the next byte to give */
	size_t chunk_bytes;
	char *buf;
	size_t buf_bytes;
	bool mapped;		      /* buf is from sp__pages_alloc */
	struct sp__io_counters plain; /* of read(2) */

	struct sp__volume *volume;
	struct sp__queue *q;
	struct sp__rslot *slots;
	unsigned depth, head;
	bool lent;	 /* the slot before head is with the caller */
	bool short_read; /* a chunk was shorter than asked */
	uint64_t ask;	 /* offset of the next request */
	uint64_t known;	 /* size at opening */
};

/* rstream.c: the error that everything returns from now on. */
int sp__rstream_fail(struct sp__rstream *rs, int code, uint64_t offset);

/* As sp__rstream_next(). */
SP_MUST_CHECK int sp__rplain_next(struct sp__rstream *rs, const char **data, size_t *bytes,
				  bool wait);
/* The same; where the queued way ends, the stream goes plain. */
SP_MUST_CHECK int sp__rqueued_next(struct sp__rstream *rs, const char **data, size_t *bytes,
				   bool wait);
/* Asks for the first chunks. 0 or an error of the queue. */
SP_MUST_CHECK int sp__rqueued_begin(struct sp__rstream *rs);

#endif
