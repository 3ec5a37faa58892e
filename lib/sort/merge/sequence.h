/* SPDX-License-Identifier: MIT */
/*
 * Declares a sequence: the records of a merge, without those that -u and --count drop (sequence.c).
 *
 * Owner: the thread that merges.
 */
#pragma once

#include "run/charge.h"
#include "sort/shared.h"
#include "sort/tree/merge.h"

/* Under --count: a group of equal keys. */
struct sp__group {
	struct sp__bytes held; /* first record, with free space for the number before it */
	uint64_t number;       /* 0: no group is held */
};

/*
 * Returns the length of a 1 in the result: in the format of uniq -c or, in CSV, with a separator.
 */
static inline size_t sp__counted_bytes(const struct sp_recfmt *f)
{
	return f->kind == SP_REC_CSV ? 2 : 8;
}

/* Returns the record after a number of the result. */
const char *sp__uncounted(const struct sp_recfmt *f, const char *rec);

/* For each cursor of a merge, the offset of its current record in its run. */
struct sp__run_offsets {
	uint64_t *at;
	unsigned last; /* cursor of the merge's current record */
	size_t bytes;  /* bytes of this record in its run; it has not been passed */
};

struct sp__sequence {
	const struct sp__sort_shared *sort;
	struct sp__merge merge; /* the caller sets its cursors */
	struct sp__balance *balance;
	struct sp__pace pace;
	struct sp__run_offsets *offsets; /* kept if not NULL */
	struct sp__group group;		 /* --count: the group whose number is still unknown */
	bool group_due;	     /* it starts with the merge's current record, which is not held yet */
	const char *rec;     /* record returned last */
	size_t bytes, reach; /* reach: bytes that can be read from rec on */
};

/* Opens a merge of n cursors.  err receives the errors of the merge.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__sequence_open(struct sp__sequence *q, struct sp__sort_shared *s, unsigned n,
				    struct sp__balance *balance, struct sp_errinfo *err);
/* Accepts a sequence that is zeroed or closed. */
void sp__sequence_close(struct sp__sequence *q);
/* Does what sp__sequence_next() does, with --count: gives the next group. */
SP_MUST_CHECK int sp__sequence_next_counted(struct sp__sequence *q, bool wait);

/* Called after sp__merge_next(), which returned rc: passes the record before. */
void sp__run_offsets_step(struct sp__run_offsets *p, const struct sp__merge *m, int rc);

/* Moves the merge to the next record that is not equal to the one before, and counts the others. */
static inline int sp__sequence_next_distinct(struct sp__sequence *q, bool wait)
{
	const struct sp__merge *m = &q->merge;
	int rc;

	while ((rc = sp__merge_next(&q->merge, wait)) == SP_READY) {
		q->pace.records++;
		q->pace.bytes += m->bytes;
		if (q->offsets)
			sp__run_offsets_step(q->offsets, m, rc);
		if (!m->equal)
			return rc;
		sp__tally_add_near(&q->balance->dropped, m->rec, m->bytes, m->reach);
		q->group.number += 1 + sp__merge_current(m)->more;
	}
	if (q->offsets)
		sp__run_offsets_step(q->offsets, m, rc);
	return rc;
}

/*
 * Sets rec, bytes and reach, valid until the next call.  Returns SP_READY, SP_END, SP_LATER (if
 * !wait) or an error.  Inline, since it is called for each record.
 */
static inline int sp__sequence_next(struct sp__sequence *q, bool wait)
{
	const struct sp_sort_opts *o = &q->sort->opts;
	int rc;

	if (o->top && q->balance->given.records == o->top)
		return SP_END;
	if (o->count)
		return sp__sequence_next_counted(q, wait);
	rc = sp__sequence_next_distinct(q, wait);
	if (rc != SP_READY)
		return rc;
	q->rec = q->merge.rec;
	q->bytes = q->merge.bytes;
	q->reach = q->merge.reach;
	sp__tally_add_near(&q->balance->given, q->rec, q->bytes, q->reach);
	return rc;
}
