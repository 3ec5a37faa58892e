/* SPDX-License-Identifier: MIT */
/*
 * Merging sorted cursors into one sequence: a loser tree with offset-value
 * codes.
 *
 * The tree has a leaf for each cursor and keeps at each inner node the loser
 * of the match played there; the winner of all is the next record.  When it
 * has been consumed its cursor moves on and only the matches on the path of
 * its leaf are played again.  Matches compare codes (ovc.h); keys are looked
 * at when codes are equal, and then the loser's code is made anew.  Of equal
 * records the one of the lower cursor wins: cursors are given oldest first.
 *
 * Under COLLATED keys, and once an input turns out not to be sorted (-m on
 * anything), there are no codes: every match is a whole comparison.
 */
#ifndef SP__SORT_MERGE_H
#define SP__SORT_MERGE_H

#include "sort/cursor.h"

struct sp__match;

struct sp__merge {
	const struct sp_keyset *keys;
	struct sp__cursor *cursors; /* the caller fills in cursors[0..n) */
	unsigned n;
	struct sp__match *tree; /* [0]: the winner; [1..n): losers */
	struct sp__bytes saved;
	struct sp__budget *budget;
	struct sp_errinfo *err; /* of the caller; may be NULL */
	bool coded;		/* offset-value codes are in use */
	bool started;
	unsigned starting; /* cursors that have their first record */

	const char *rec; /* the present winner */
	size_t bytes;
	bool equal;	  /* its key equals that of the winner before */
	bool plain;	  /* the caller's: equal is not asked for, and false; nor more() called */
	unsigned passed;  /* the cursor that the winner before came from */
	const char *prev; /* the winner before; NULL at first */
	size_t prev_bytes;
};

/* Room for n cursors, zeroed; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__merge_init(struct sp__merge *m, const struct sp_keyset *keys, unsigned n,
				 struct sp__budget *budget);
void sp__merge_release(struct sp__merge *m);

/*
 * The next record, in m->rec and m->bytes, readable until the next call, as
 * is the one before it in m->prev: SP_READY, SP_END, SP_LATER (if !wait), or
 * an error.
 */
SP_MUST_CHECK int sp__merge_next(struct sp__merge *m, bool wait);

/*
 * Lets n more cursors take part from now on: passes the record given out last,
 * drops the cursors that have ended, and makes room for the new ones, zeroed, at the end,
 * for the caller to fill in.  None of their records may be before the one
 * given out last.  m->equal is not to be relied on for the record that follows.  0 or an error.
 */
SP_MUST_CHECK int sp__merge_more(struct sp__merge *m, unsigned n);

/* Memory for n cursors, for planning. */
size_t sp__merge_memory(unsigned n);

#endif
