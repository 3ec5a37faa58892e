/* SPDX-License-Identifier: MIT */
/*
 * Returns the records of a merge in order, drops equal ones under -u, and counts them under
 * --count.
 *
 * A group of equal keys is returned when the merge has reached the next one, since its number is
 * only then known.  One record is copied per group.
 */
#include "sort/merge/sequence.h"

int sp__sequence_open(struct sp__sequence *q, struct sp__sort_shared *s, unsigned n,
		      struct sp__balance *balance, struct sp_errinfo *err)
{
	q->sort = s;
	q->balance = balance;
	if (sp__merge_init(&q->merge, s->opts.keys, n, &s->env.budget, err) < 0)
		return -ENOMEM;
	q->merge.plain = !s->opts.unique && !s->opts.count;
	return 0;
}

void sp__sequence_close(struct sp__sequence *q)
{
	sp__bytes_release(&q->group.held, q->merge.budget);
	sp__merge_release(&q->merge);
}

/* Moves to the next record of the merge that is not equal to the one before. */
static int next_distinct(struct sp__sequence *q, bool wait)
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

static int hold(struct sp__sequence *q)
{
	const struct sp__merge *m = &q->merge;

	q->group_due = false;
	return sp__group_hold(&q->group, m->rec, m->bytes, 1 + sp__merge_current(m)->more,
			      m->budget);
}

static int next_counted(struct sp__sequence *q, bool wait)
{
	int rc;

	do {
		rc = q->group_due ? hold(q) : 0;
		if (!rc)
			rc = next_distinct(q, wait);
		if (rc < 0 || rc == SP_LATER)
			return rc;
		q->group_due = rc == SP_READY;
		/* The first record starts a group, and none has ended. */
	} while (!q->group.number && q->group_due);
	if (!q->group.number)
		return rc;
	sp__group_give(&q->group, &q->sort->opts.format, q->balance, &q->rec, &q->bytes);
	q->reach = q->bytes;
	return SP_READY;
}

int sp__sequence_next(struct sp__sequence *q, bool wait)
{
	const struct sp_sort_opts *o = &q->sort->opts;
	int rc;

	if (o->top && q->balance->given.records == o->top)
		return SP_END;
	if (o->count)
		return next_counted(q, wait);
	rc = next_distinct(q, wait);
	if (rc != SP_READY)
		return rc;
	q->rec = q->merge.rec;
	q->bytes = q->merge.bytes;
	q->reach = q->merge.reach;
	sp__tally_add_near(&q->balance->given, q->rec, q->bytes, q->reach);
	return rc;
}
