/* SPDX-License-Identifier: MIT */
/*
 * Merging files that seem to be sorted.
 *
 * Each file has a current record; the one with the smaller key has no partner and is
 * passed.  If keys are equal, the records of one file with that key are its group: a span
 * of the batch, with a copy of those in earlier batches.  Each record of the other file
 * with that key is joined with the group as it is read.  If a file's group had several
 * records and met only one, that file streams from then on.
 *
 * Every record is compared with the one before it.  At any moment the output consists of
 * exactly the pairs among the first records of each file, up to some number; when a record
 * is out of order those numbers are returned, and the other pairs can be found in another
 * way.  Unpaired records could not be taken back so easily: they are held until both
 * files have ended (held.h).
 *
 * Memory: one group, at most the table memory of a hash join.  A larger one ends the
 * merge like disorder.
 *
 * Rejected: checking the order of both files before joining, which reads them twice if
 * they are sorted.
 */
#include <errno.h>
#include "base/err.h"
#include "join/held.h"
#include "join/plan.h"
#include "join/presorted.h"

struct side {
	struct sp__source *source;
	int number;
	struct sp__line now;   /* the current record */
	bool have;	       /* there is one */
	bool same;	       /* its key is that of the one before */
	uint64_t before;       /* records before it */
	struct sp__tally done; /* records completely processed, and their bytes */
	struct sp__slice last_key;
	struct sp__bytes last_copy; /* memory for it after its batch is gone */
	bool last;		    /* there is a record before */
	size_t term;		    /* bytes of terminator after each record */
};

struct group {
	struct side *side; /* the file of its records; NULL: none */
	uint64_t records;
	struct sp__line first;	 /* of one record */
	const char *begin, *end; /* records in the current batch ... */
	struct sp__bytes copy;	 /* ... and those before */
};

struct trial {
	struct sp__join *j;
	struct sp__keyorder order;
	unsigned char upper[256];
	uint64_t group_bytes; /* at most */
	struct side side[2];
	int holds; /* the file whose records form the group */
	struct group group;
	struct sp__tally wanted, met; /* records of the groups, each time a group is traversed */
	struct sp__held held;
};

static int no_memory(struct trial *t)
{
	return sp__err(t->j->env.err, -ENOMEM, "allocate", NULL, -1);
}

/* Before the batch is released: copies the parts still needed.  1: that is too much. */
static int keep(struct trial *t, struct side *s)
{
	struct group *g = &t->group;
	struct sp__slice *key = &s->last_key;

	if (s->last && key->p != sp__no_field) {
		if (sp__bytes_set(&s->last_copy, key->p, key->n, NULL) < 0)
			return no_memory(t);
		key->p = s->last_copy.data;
	}
	if (g->side != s)
		return 0;
	if (sp__bytes_append(&g->copy, g->begin, (size_t)(s->source->end - g->begin), NULL) < 0)
		return no_memory(t);
	return g->copy.bytes > t->group_bytes;
}

/* The next record: 0, 1 (it is out of order, or there is no space) or an error. */
static int next(struct trial *t, struct side *s)
{
	struct sp__source *src = s->source;
	size_t bytes;
	const char *data;
	int rc, diff;

	s->last |= s->have;
	s->before += s->have;
	s->last_key = s->now.key;
	s->have = false;
	while (src->at == src->end) {
		rc = keep(t, s);
		if (!rc)
			rc = sp__source_fill(src);
		else if (rc > 0)
			return 1;
		if (t->group.side == s)
			t->group.begin = src->at;
		if (rc != SP_READY)
			return rc;
	}
	data = src->at;
	src->at = sp__record_next(&src->format, data, src->end, &bytes);
	src->lines++;
	sp__line_set(t->j, s->number, data, bytes, &s->now);
	s->have = true;
	/* The hash join ignores quotes. */
	if (t->j->result.emit.cut.kind == SP__CUT_CSV && s->now.key.n && *s->now.key.p == '"')
		return 1;
	if (!s->last)
		return 0;
	diff = sp__keyorder_compare(&t->order, &s->last_key, &s->now.key);
	s->same = !diff;
	return diff > 0;
}

/* All records before the current ones have been processed. */
static void settle(struct trial *t)
{
	for (int i = 0; i < 2; i++)
		t->j->merged[i] = t->side[i].before;
}

/* Holds an unpaired record. */
static void alone(struct trial *t, const struct side *s, const struct sp__line *l)
{
	sp__emit_pair(&t->held.emit, s->number ? NULL : l, s->number ? l : NULL);
}

static int single(struct trial *t, struct side *s)
{
	int rc;

	if (t->j->opts.unpaired[s->number])
		alone(t, s, &s->now);
	sp__tally_count(&s->done, s->now.bytes + s->term);
	rc = next(t, s);
	settle(t);
	return rc < 0 ? rc : t->held.emit.error ? t->held.emit.error : rc;
}

/* Groups. */

static int gather(struct trial *t, struct side *s)
{
	struct group *g = &t->group;
	int rc;

	g->side = s;
	g->first = s->now;
	g->begin = s->now.data;
	g->records = 0;
	g->copy.bytes = 0;
	do {
		g->records++;
		rc = next(t, s);
	} while (!rc && s->have && s->same);
	g->side = NULL;
	if (rc)
		return rc;
	g->end = s->have ? s->now.data : g->begin;
	if (g->copy.bytes)
		sp__line_set(t->j, s->number, g->copy.data, g->first.bytes, &g->first);
	return 0;
}

static void pair(struct trial *t, const struct sp__line *one, const struct sp__line *streamed)
{
	if (t->holds)
		sp__emit_pair(&t->j->result.emit, streamed, one);
	else
		sp__emit_pair(&t->j->result.emit, one, streamed);
}

/* Writes each record of a span of the group: with the streamed one, or alone. */
static void span(struct trial *t, const char *at, const char *end, const struct sp__line *streamed)
{
	const struct side *s = &t->side[t->holds];
	struct sp__line l;
	size_t bytes;

	while (at < end) {
		const char *data = at;

		at = sp__record_next(&s->source->format, data, end, &bytes);
		sp__line_set(t->j, s->number, data, bytes, &l);
		t->met.records++;
		if (streamed)
			pair(t, &l, streamed);
		else
			alone(t, s, &l);
	}
}

static void whole_group(struct trial *t, const struct sp__line *streamed)
{
	const struct group *g = &t->group;

	t->wanted.records += g->records;
	span(t, g->copy.data, g->copy.data + g->copy.bytes, streamed);
	span(t, g->begin, g->end, streamed);
}

/* The streamed record has partners. */
static int match(struct trial *t, const struct side *s)
{
	const struct sp_join_opts *o = &t->j->opts;

	if (o->pairs && t->group.records == 1)
		pair(t, &t->group.first, &s->now);
	else if (o->pairs)
		whole_group(t, &s->now);
	if (o->semi && s->number == 0)
		alone(t, s, &s->now);
	return t->j->result.emit.error ? t->j->result.emit.error : t->held.emit.error;
}

static int matches(struct trial *t)
{
	struct side *h = &t->side[t->holds], *s = &t->side[!t->holds];
	uint64_t streamed = 0;
	int rc = gather(t, h);

	if (rc)
		return rc;
	if (t->j->opts.semi && h->number == 0)
		whole_group(t, NULL);
	do {
		streamed++;
		sp__tally_count(&s->done, s->now.bytes + s->term);
		rc = match(t, s);
		if (!rc)
			rc = next(t, s);
		settle(t);
	} while (!rc && s->have && s->same);
	h->done.records += t->group.records;
	h->done.sum += t->group.copy.bytes + (uint64_t)(t->group.end - t->group.begin);
	if (t->group.records > 1 && streamed == 1)
		t->holds = !t->holds;
	return rc;
}

static int merge(struct trial *t)
{
	struct side *a = &t->side[0], *b = &t->side[1];
	int rc = next(t, a);

	if (!rc)
		rc = next(t, b);
	while (!rc && a->have && b->have) {
		int diff = sp__keyorder_compare(&t->order, &a->now.key, &b->now.key);

		rc = diff ? single(t, diff < 0 ? a : b) : matches(t);
	}
	/* The rest is read even if it is not needed, to check its order. */
	while (!rc && a->have)
		rc = single(t, a);
	while (!rc && b->have)
		rc = single(t, b);
	return rc;
}

/* Checks that the output is the pairs of the records returned; returns rc if so. */
static int balance(struct trial *t, int rc)
{
	int lost = sp__balance_same(t->j, t->holds, "groups of a merge", &t->wanted, &t->met);

	for (int i = 0; i < 2 && !lost; i++) {
		struct sp__tally *done = &t->side[i].done;
		struct sp__tally merged = { .records = t->j->merged[i], .sum = done->sum };

		lost = sp__balance_same(t->j, i, "merge", &merged, done);
		sp__tally_join(&t->j->source[i].done, done);
	}
	if (!lost && !rc)
		lost = sp__balance_sources(t->j);
	return lost ? lost : rc;
}

int sp__join_presorted(struct sp__join *j)
{
	struct trial t = { .j = j, .order.by = j->opts.sorted };
	struct sp__join_layout layout;
	int rc = sp__join_layout(&j->opts, &layout, j->env.err);

	if (rc < 0)
		return rc;
	t.group_bytes = layout.table_bytes;
	if (j->opts.ignore_case) {
		sp__upper_init(t.upper);
		t.order.upper = t.upper;
	}
	for (int i = 0; i < 2; i++)
		t.side[i] = (struct side){ .source = &j->source[i],
					   .number = i,
					   .term = sp__rec_term(&j->source[i].format) };
	rc = sp__held_open(&t.held, j, &layout);
	if (!rc)
		rc = merge(&t);
	if (!rc)
		rc = sp__held_write(&t.held);
	if (rc >= 0)
		rc = balance(&t, rc);
	sp__held_close(&t.held);
	for (int i = 0; i < 2; i++)
		sp__bytes_release(&t.side[i].last_copy, NULL);
	sp__bytes_release(&t.group.copy, NULL);
	return rc;
}
