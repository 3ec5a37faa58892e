/* SPDX-License-Identifier: MIT */
/*
 * Declares the merge of sorted cursors into one sequence, by a loser tree with offset-value codes.
 *
 * Algorithm: the tree has a leaf for each cursor, and each inner node has the loser of the match
 * played there.  The overall winner is the next record.  When it has been consumed, its cursor
 * advances, and only the matches on the path from its leaf are replayed, unless the cursor
 * continues with an equal record.  Matches compare codes (ovc.h).  Only if codes are equal are keys
 * compared, and the loser gets a new code.  Of equal records, that of the lower cursor wins:
 * cursors are in the order of age, oldest first.
 *
 * Under COLLATED keys, and once an input proves to be unsorted (possible with -m), there are no
 * codes: every match is a full comparison.
 */
#pragma once

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

/* A sorted input of a merge (cursor.c). */
struct sp__cursor {
	const char *rec; /* current record, with its terminator */
	size_t bytes;
	uint64_t more;		  /* number of records that it stands for, less one */
	size_t head;		  /* bytes of this number before it, in a feed */
	size_t reach;		  /* bytes that may be read from rec on, at least its own */
	const unsigned char *key; /* NULL: not yet known (memory), or no byte key */
	size_t key_bytes;
	uint64_t prefix; /* prefix of the key, as in an entry; only for feeds */

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
	const unsigned char *prev_key; /* key of the previous record; only for feeds */
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
	bool keyless;		      /* keys are not needed */
	struct sp__json_reader *json; /* of all cursors of a merge */
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

struct sp__match;

struct sp__merge {
	const struct sp_keyset *keys;
	struct sp__cursor *cursors; /* the caller fills in cursors[0..n) */
	unsigned n;
	struct sp__match *tree; /* [0]: the winner; [1..n): losers */
	struct sp__bytes saved;
	struct sp__json_reader json;
	struct sp__budget *budget;
	struct sp_errinfo *err;
	bool coded; /* offset-value codes are in use */
	bool started;
	unsigned starting; /* cursors that have their first record */

	const char *rec; /* current winner */
	size_t bytes;
	size_t reach;	  /* bytes that may be read from rec on */
	bool equal;	  /* the key equals that of the previous winner */
	bool plain;	  /* set by the caller: equal is not needed and stays false; more() is not
		       called */
	unsigned passed;  /* cursor of the previous winner */
	const char *prev; /* previous winner; NULL at first */
	size_t prev_bytes;
};

/* Allocates n zeroed cursors.  err, also for later calls, may be NULL.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__merge_init(struct sp__merge *m, const struct sp_keyset *keys, unsigned n,
				 struct sp__budget *budget, struct sp_errinfo *err);
void sp__merge_release(struct sp__merge *m);

/*
 * Returns the next record in m->rec and m->bytes, readable until the next call, as is the previous
 * record in m->prev.  Returns SP_READY, SP_END, SP_LATER (if !wait), or an error.
 */
SP_MUST_CHECK int sp__merge_next(struct sp__merge *m, bool wait);

/* Returns the cursor of the current winner, with the number that it stands for under --count. */
const struct sp__cursor *sp__merge_current(const struct sp__merge *m);

/*
 * Adds n cursors: passes the record returned last, drops the cursors that have ended, and appends
 * zeroed ones, for the caller to fill in.  None of their records may precede the one returned last.
 * m->equal is not reliable for the next record.  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__merge_more(struct sp__merge *m, unsigned n);

/* Returns the memory of n cursors, for planning. */
size_t sp__merge_memory(unsigned n);
