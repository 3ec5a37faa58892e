/* SPDX-License-Identifier: MIT */
/*
 * Returns the records of a merge in order, drops equal ones under -u, and counts them under
 * --count.
 *
 * A group of equal keys is returned when the merge has reached the next one, since its number is
 * only then known.  One record is copied per group.
 */
#include <string.h>
#include "sort/merge/sequence.h"

/* Returns the byte after a number. */
static char separator(const struct sp_recfmt *f)
{
	return f->kind == SP_REC_CSV ? f->separator : ' ';
}

/* Returns the record after its number; valid until another one is held.  Adds it to b. */
static void group_give(struct sp__group *g, const struct sp_recfmt *f, struct sp__balance *b,
		       const char **data, size_t *bytes)
{
	char *rec = g->held.data + SP__COUNT_SPACE, *p = rec;

	sp__tally_add(&b->given, rec, g->held.bytes - SP__COUNT_SPACE);
	b->counted += g->number;
	*--p = separator(f);
	for (; g->number; g->number /= 10)
		*--p = (char)('0' + g->number % 10);
	while (p > rec - sp__counted_bytes(f))
		*--p = ' ';
	*data = p;
	*bytes = g->held.bytes - (size_t)(p - g->held.data);
}

const char *sp__uncounted(const struct sp_recfmt *f, const char *rec)
{
	rec += strspn(rec, " ");
	return strchr(rec, separator(f)) + 1;
}

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

void sp__run_offsets_step(struct sp__run_offsets *p, const struct sp__merge *m, int rc)
{
	const struct sp__cursor *c = sp__merge_current(m);

	if (rc != SP_READY && rc != SP_END)
		return;
	p->at[p->last] += p->bytes;
	p->bytes = 0;
	if (rc == SP_END)
		return;
	p->last = (unsigned)(c - m->cursors);
	p->bytes = m->bytes + c->head;
}

static int hold(struct sp__sequence *q)
{
	const struct sp__merge *m = &q->merge;

	q->group_due = false;
	q->group.number = 1 + sp__merge_current(m)->more;
	return sp__count_hold(&q->group.held, m->rec, m->bytes, m->budget);
}

int sp__sequence_next_counted(struct sp__sequence *q, bool wait)
{
	int rc;

	do {
		rc = q->group_due ? hold(q) : 0;
		if (!rc)
			rc = sp__sequence_next_distinct(q, wait);
		if (rc < 0 || rc == SP_LATER)
			return rc;
		q->group_due = rc == SP_READY;
		/* The first record starts a group, and none has ended. */
	} while (!q->group.number && q->group_due);
	if (!q->group.number)
		return rc;
	group_give(&q->group, &q->sort->opts.format, q->balance, &q->rec, &q->bytes);
	q->reach = q->bytes;
	return SP_READY;
}
