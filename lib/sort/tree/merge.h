/* SPDX-License-Identifier: MIT */
/*
 * Merging sorted cursors into one sequence: a loser tree with offset-value
 * codes.
 *
 * The tree has a leaf for each cursor and keeps at each inner node the loser of the
 * match played there; the overall winner is the next record.  When it has been
 * consumed its cursor advances and only the matches on the path of its leaf are
 * replayed, unless it goes on with an equal record.  Matches compare codes (ovc.h); only
 * if codes are equal are keys compared, and the loser's code is recomputed.  Of equal
 * records that of the lower cursor wins: cursors are given oldest first.
 *
 * Under COLLATED keys, and once an input proves to be unsorted (possible with -m),
 * there are no codes: every match is a full comparison.
 */
#pragma once

#include "sort/tree/cursor.h"

struct sp__match;

struct sp__merge {
	const struct sp_keyset *keys;
	struct sp__cursor *cursors; /* the caller fills in cursors[0..n) */
	unsigned n;
	struct sp__match *tree; /* [0]: the winner; [1..n): losers */
	struct sp__bytes saved;
	struct sp__budget *budget;
	struct sp_errinfo *err;
	bool coded; /* offset-value codes are in use */
	bool started;
	unsigned starting; /* cursors that have their first record */

	const char *rec; /* the current winner */
	size_t bytes;
	size_t reach; /* bytes that may be read from rec on */
	bool equal;   /* its key equals that of the winner before */
	bool plain;   /* set by the caller: equal is not needed, and false; more() is not called */
	unsigned passed;  /* the cursor of the previous winner */
	const char *prev; /* the previous winner; NULL at first */
	size_t prev_bytes;
};

/* Allocates n cursors, zeroed; 0 or -ENOMEM.  err, of this and of later calls, may be NULL. */
SP_MUST_CHECK int sp__merge_init(struct sp__merge *m, const struct sp_keyset *keys, unsigned n,
				 struct sp__budget *budget, struct sp_errinfo *err);
void sp__merge_release(struct sp__merge *m);

/*
 * The next record, in m->rec and m->bytes, readable until the next call, as
 * is the one before it in m->prev: SP_READY, SP_END, SP_LATER (if !wait), or
 * an error.
 */
SP_MUST_CHECK int sp__merge_next(struct sp__merge *m, bool wait);

/* The cursor of the current winner, with what it stands for under --count. */
const struct sp__cursor *sp__merge_current(const struct sp__merge *m);

/*
 * Adds n cursors: passes the record returned last, drops the cursors that have ended, and
 * appends the new ones, zeroed, for the caller to fill in.  None of their records may be
 * before the one returned last.  m->equal is not reliable for the next record.  0 or an
 * error.
 */
SP_MUST_CHECK int sp__merge_more(struct sp__merge *m, unsigned n);

/* Memory for n cursors, for planning. */
size_t sp__merge_memory(unsigned n);
