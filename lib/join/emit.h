/* SPDX-License-Identifier: MIT */
/*
 * Putting records of the result together.
 *
 * They are gathered in a buffer that stays in the processor's cache and goes
 * to the write stream, or to a sink instead, when it is full.  An error is kept: it is
 * looked at when the buffer is flushed, and by whoever wants to stop early.
 */
#ifndef SP__JOIN_EMIT_H
#define SP__JOIN_EMIT_H

#include <spindle/join.h>
#include "io/wstream.h"
#include "join/fields.h"

/* A line without its terminator and tag, and its key. */
struct sp__line {
	const char *data;
	size_t bytes;
	struct sp__slice key;
};

struct sp__emit {
	const struct sp_join_opts *opts;
	struct sp__cut cut;
	const char *filler; /* as it is written */
	char *own_filler;   /* its memory, if it had to be quoted */
	size_t filler_bytes;
	/* The result has as many columns of either file as its first line has: auto_fields. */
	bool padded;
	size_t auto_fields[2];
	const char *const *inputs; /* names, set by the owner: for messages */
	bool simple;		   /* whole rests of lines can be copied */
	/* Binary records: */
	size_t fixed_bytes[2]; /* of either file in the result; 0: it has no part in that */
	unsigned char fill;
	struct sp__fields fields[2];

	struct sp__wstream *ws; /* set by the owner before the first flush */
	/*
	 * Instead of ws, or NULL: takes records; whole: the last of them ends here.  each:
	 * it wants every record by itself.
	 */
	int (*sink)(void *arg, const char *data, size_t bytes, bool whole);
	void *sink_arg;
	bool each;
	/* Tags of both records (tag.h) go in front: of file 1 or 2 first; 0: none do. */
	unsigned tags_of;
	char *whole; /* records before it are; in buf */
	bool begun;  /* the head of a record has gone */
	struct sp_errinfo *err;
	char *buf, *at, *end;
	uint64_t bytes, records; /* flushed; begun */
	int error;
};

int sp__emit_init(struct sp__emit *e, const struct sp_join_opts *opts, struct sp_errinfo *err);
void sp__emit_release(struct sp__emit *e);

/* As many columns of file 0 or 1 as its first line has, if padded. */
int sp__emit_auto(struct sp__emit *e, int side, const struct sp__line *first);
/* One record of the result; a or b may be NULL. */
void sp__emit_pair(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b);
/* Bytes of the result so far. */
static inline uint64_t sp__emit_bytes(const struct sp__emit *e)
{
	return e->bytes + (uint64_t)(e->at - e->buf);
}
/* Bytes of the result as they are. */
void sp__emit_raw(struct sp__emit *e, const char *data, size_t bytes);
/* Everything so far goes to the stream or sink. 0 or the first error. */
SP_MUST_CHECK int sp__emit_flush(struct sp__emit *e);

#endif
