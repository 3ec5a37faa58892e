/* SPDX-License-Identifier: MIT */
/*
 * Declares the cursor: one sorted input of a merge, read record by record.
 *
 * A cursor reads either a sorted run buffer in memory or a feed.  A feed is any source of spans of
 * bytes in order: a spilled run through the page pool, an input file of -m, the output of a
 * decompression program.  A record that crosses spans is assembled in the cursor's carry, so that a
 * span can be released as soon as its last whole record has been merged.
 */
#pragma once

#include "base/mem.h"
#include "sort/records/runbuf.h"

/* A source of spans; its calls are those of spill/pool.h. */
struct sp__feed {
	void *ctx;
	size_t index;
	int (*get)(void *ctx, size_t index, bool wait, const char **data, size_t *bytes);
	int (*release)(void *ctx, size_t index); /* NULL: get() ends the previous span */
	const char *name;			 /* for messages; NULL: none */
	struct sp__tally *read;			 /* records that were read; NULL: not tallied */
	bool counted;				 /* records have numbers before them (counted.h) */
};

struct sp__cursor {
	const char *rec; /* current record, with its terminator */
	size_t bytes;
	uint64_t more;		  /* number of records that it stands for, less one */
	size_t head;		  /* bytes of this number before it, in a feed */
	size_t reach;		  /* bytes that may be read from rec on, at least its own */
	const unsigned char *key; /* NULL: not yet known (memory), or no byte key */
	size_t key_bytes;
	uint64_t prefix; /* of the key, as in an entry; only for feeds */

	const struct sp__runbuf *buf; /* memory cursor: entries not yet passed */
	const struct sp__entry *entry, *entry_end;

	struct sp__feed feed;
	const char *at, *end; /* rest of the current span */
	bool holding;	      /* a span is borrowed */
	bool partial;	      /* the carry holds the head of the next record */
	uint64_t scanned;     /* CSV: state of the search for its end */
	uint64_t newlines;    /* CSV: in all spans of an input */
	struct sp__bytes carry;
	struct sp__keybuf keybuf[2]; /* ENCODED, COLLATED: of this record and the one before */
	int which;
	const unsigned char *prev_key; /* of the record before; only for feeds */
	size_t prev_key_bytes;
	uint64_t prev_prefix;
	bool moved; /* the record before is in saved, see cursor.c */
	bool same;  /* it is known to be identical, with the same encoded key */
};

struct sp__cursor_env {
	const struct sp_keyset *keys;
	struct sp__budget *budget;
	struct sp__bytes *saved; /* shared by all cursors of a merge */
	struct sp_errinfo *err;
	bool keyless; /* keys are not needed */
};

/*
 * Makes a zeroed cursor read some entries of a sorted buffer, from one up to another.  For a feed,
 * the caller sets c->feed instead.
 */
void sp__cursor_part(struct sp__cursor *c, const struct sp__runbuf *buf, size_t from, size_t to);
void sp__cursor_release(struct sp__cursor *c, struct sp__budget *budget);

/*
 * Moves to the next record.  Returns SP_READY, SP_END, SP_LATER (if !wait; call again), or an
 * error.  The previous record stays readable until the call after this one: where it was or, if
 * c->moved, in env->saved from saved->data on, with its terminator.
 */
int sp__cursor_next(struct sp__cursor *c, const struct sp__cursor_env *env, bool wait);
