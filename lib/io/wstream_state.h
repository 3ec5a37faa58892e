/* SPDX-License-Identifier: MIT */
/*
 * Inside a write stream; wstream.c describes its states.
 *
 *   wstream.c         what the caller sees; from one state to the next
 *   wstream_plain.c   bytes by write(2)
 *   wstream_queued.c  chunks in a ring, through a queue; space reserved ahead
 *
 * Functions return 0 or the stream's error, set by sp__wstream_fail().
 */
#ifndef SP__IO_WSTREAM_STATE_H
#define SP__IO_WSTREAM_STATE_H

#include "io/wstream.h"

#define SP__WSTREAM_DEPTH_MAX 64

struct sp__wslot {
	struct sp__request req;
	bool busy;
};

struct sp__wstream {
	int fd;
	char *name;
	struct sp_errinfo *err;
	struct sp__wstream_opts opts;
	int error; /* the first; everything returns it from then on */
	bool queued;
	bool finished;
	bool plain_only;    /* queueing was tried or is out of the question */
	uint64_t put_bytes; /* by the caller, in all */
	uint64_t offset;    /* queued: of the next chunk; plain: bytes written so far */
	char *buf;	    /* plain: one chunk; queued: depth of them */
	bool mapped;
	size_t buf_bytes;
	size_t filled; /* bytes in the chunk that gathers */
	struct sp__io_counters plain;

	struct sp__volume *volume;
	struct sp__queue *q;
	struct sp__wslot *slots;
	unsigned depth, fill;
	bool ours;	       /* the file ends where we do */
	uint64_t reserved;     /* offset up to which space is reserved */
	uint64_t expected_end; /* of the file; UINT64_MAX: unknown */
	bool no_reserve;
	uint64_t bad_from; /* offset of the first chunk that failed */
};

/* wstream.c */
/* Keeps and describes the first error, and returns it. */
int sp__wstream_fail(struct sp__wstream *ws, int code, long long offset);
/* Plain: is it time to try the queue? */
bool sp__wstream_wants_queue(const struct sp__wstream *ws);
/*
 * With a full chunk gathered, or on a machine with what there is.  Where it
 * cannot be done the stream stays plain, for good.
 */
SP_MUST_CHECK int sp__wstream_go_queued(struct sp__wstream *ws);
/* Back to write(2) after the last byte written; only between chunks. */
SP_MUST_CHECK int sp__wstream_go_plain(struct sp__wstream *ws);
/* The rest of what was put, after the state has changed. */
SP_MUST_CHECK int sp__wstream_go_on(struct sp__wstream *ws, const char *data, size_t bytes);

/* wstream_plain.c */
SP_MUST_CHECK int sp__wplain_put(struct sp__wstream *ws, const char *data, size_t bytes);
SP_MUST_CHECK int sp__wplain_flush(struct sp__wstream *ws); /* what has been gathered */
/* Leaves the descriptor's offset alone. */
SP_MUST_CHECK int sp__wplain_write_at(struct sp__wstream *ws, const char *data, size_t bytes,
				      uint64_t at);

/* wstream_queued.c */
SP_MUST_CHECK int sp__wqueued_put(struct sp__wstream *ws, const char *data, size_t bytes);
/* Sends off what has been gathered; where direct writing is done, a whole chunk. */
SP_MUST_CHECK int sp__wqueued_submit(struct sp__wstream *ws);
SP_MUST_CHECK int sp__wqueued_drain(struct sp__wstream *ws); /* waits until nothing is in flight */
SP_MUST_CHECK int sp__wqueued_finish(struct sp__wstream *ws);
/* Gives back the space reserved beyond the end. */
void sp__wqueued_release(struct sp__wstream *ws);
/* Truncates to the longest prefix without a gap; no reserved space remains. */
void sp__wqueued_abandon(struct sp__wstream *ws);

#endif
