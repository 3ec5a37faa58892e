/* SPDX-License-Identifier: MIT */
/*
 * Joining two sorted files in parallel, in GNU join's order of events.
 *
 * Each file has one line of look-ahead.  If keys are equal, all following lines of each
 * file with that key are collected into two groups, and each pair of the groups is
 * written.  Lines are used in the read stream's memory; only when a stream moves to its
 * next batch, the parts of the previous one that are still needed (a group, and the last
 * key for the order check) are copied.
 *
 * A line is compared with the one before it if disorder matters: always, from the first
 * unpaired line on, or never.
 *
 * Memory: the largest two groups, and two keys.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "join/presorted.h"
#include "rec/collate.h"

struct copies {
	struct copies *next;
	char data[];
};

/* One file. */
struct side {
	struct sp__source *source;
	int number;
	struct sp__line now; /* the current line */
	bool have;	     /* there is one */
	struct sp__slice last_key;
	struct sp__bytes last_copy; /* memory for it after its batch is gone */
	bool last;		    /* there is a line before */
	bool reported;		    /* disorder was reported */

	struct sp__line *group;
	size_t ngroup, group_room, copied; /* copied: number of copies, at the start */
	struct copies *copies;
};

struct merge {
	struct sp__join *j;
	struct side side[2];
	bool collate;
	struct sp__keyorder order; /* otherwise */
	bool unpairable;	   /* some line found no partner */
};

static int compare(const struct merge *m, const struct sp__slice *a, const struct sp__slice *b)
{
	if (m->collate && a->n && b->n)
		return sp__collate_compare(a->p, a->n, b->p, b->n);
	return sp__keyorder_compare(&m->order, a, b);
}

/* Order. */

static int tell_disorder(struct merge *m, struct side *s)
{
	struct sp__join *j = m->j;
	int rc = sp__result_flush(j);

	s->reported = true;
	j->io->disorder(j->io->disorder_arg, (unsigned)s->number + 1, s->source->lines, s->now.data,
			s->now.bytes);
	if (rc < 0)
		return rc;
	return j->opts.order == SP_JOIN_CHECK ? 1 : 0;
}

static int check(struct merge *m, struct side *s)
{
	enum sp_join_order order = m->j->opts.order;

	if (!s->last || s->reported || order == SP_JOIN_NOCHECK ||
	    (order == SP_JOIN_CHECK_UNPAIRABLE && !m->unpairable))
		return 0;
	if (compare(m, &s->last_key, &s->now.key) <= 0)
		return 0;
	return tell_disorder(m, s);
}

/* Advancing. */

/* A missing field must stay missing. */
static struct sp__slice moved(const struct sp__slice *key, const char *from, const char *to)
{
	if (key->p == sp__no_field)
		return *key;
	return (struct sp__slice){ to + (key->p - from), key->n };
}

/* Before the batch is released: copies the parts still needed. */
static int keep(struct merge *m, struct side *s)
{
	struct copies *c;
	size_t bytes = 0, at = 0;

	if (s->last && s->last_key.p != sp__no_field && s->last_key.p != s->last_copy.data) {
		if (sp__bytes_set(&s->last_copy, s->last_key.p, s->last_key.n, NULL) < 0)
			return sp__join_no_memory(m->j);
		s->last_key.p = s->last_copy.data;
	}
	for (size_t i = s->copied; i < s->ngroup; i++)
		bytes += s->group[i].bytes;
	if (s->copied == s->ngroup)
		return 0;
	c = malloc(sizeof(*c) + bytes);
	if (!c)
		return sp__join_no_memory(m->j);
	for (; s->copied < s->ngroup; s->copied++) {
		struct sp__line *l = &s->group[s->copied];

		memcpy(c->data + at, l->data, l->bytes);
		l->key = moved(&l->key, l->data, c->data + at);
		l->data = c->data + at;
		at += l->bytes;
	}
	c->next = s->copies;
	s->copies = c;
	return 0;
}

/* The next line: 0, 1 (disorder ends it) or an error. */
static int next(struct merge *m, struct side *s)
{
	struct sp__source *src = s->source;
	const char *end;
	int rc;

	if (s->have) {
		s->last_key = s->now.key;
		s->last = true;
	}
	while (src->at == src->end) {
		rc = keep(m, s);
		if (rc < 0)
			return rc;
		rc = sp__source_fill(src);
		if (rc != SP_READY) {
			s->have = false;
			return rc;
		}
	}
	end = memchr(src->at, src->format.eol, (size_t)(src->end - src->at));
	sp__line_set(m->j, s->number, src->at, (size_t)(end - src->at), &s->now);
	src->at = end + 1;
	src->lines++;
	s->have = true;
	return check(m, s);
}

/* Groups. */

/* A line has been processed, with its terminator. */
static void settle(struct side *s, const struct sp__line *l)
{
	sp__tally_count(&s->source->done, l->bytes + 1);
}

static void settle_group(struct side *s)
{
	for (size_t i = 0; i < s->ngroup; i++)
		settle(s, &s->group[i]);
}

static void empty_group(struct side *s)
{
	while (s->copies) {
		struct copies *c = s->copies;

		s->copies = c->next;
		free(c);
	}
	s->ngroup = s->copied = 0;
}

static int gather_one(struct merge *m, struct side *s)
{
	if (!SP__ARRAY_ROOM(s->group, s->group_room, s->ngroup + 1))
		return sp__join_no_memory(m->j);
	s->group[s->ngroup++] = s->now;
	return next(m, s);
}

/* The current line, and those after it as long as they match the other file's. */
static int gather(struct merge *m, struct side *s, const struct side *other)
{
	const struct sp__slice *key = other->ngroup ? &other->group[0].key : &other->now.key;
	int rc, diff = 0;

	do {
		rc = gather_one(m, s);
		if (rc || !s->have)
			return rc;
		diff = s->number ? compare(m, key, &s->now.key) : compare(m, &s->now.key, key);
	} while (!diff);
	return 0;
}

/* In the order of one side, ties in that of the other. */
static void all_pairs(struct merge *m, int major)
{
	const struct side *a = &m->side[major], *b = &m->side[!major];

	for (size_t i = 0; i < a->ngroup; i++)
		for (size_t k = 0; k < b->ngroup && !m->j->result.emit.error; k++)
			sp__emit_sides(&m->j->result.emit, major, &a->group[i], &b->group[k]);
}

static int pairs(struct merge *m)
{
	struct side *a = &m->side[0], *b = &m->side[1];
	int rc = gather(m, a, b);

	if (!rc)
		rc = gather(m, b, a);
	if (!rc && m->j->opts.pairs)
		all_pairs(m, m->j->opts.ordered == 2);
	settle_group(a);
	settle_group(b);
	empty_group(a);
	empty_group(b);
	return rc ? rc : m->j->result.emit.error;
}

static int single(struct merge *m, struct side *s)
{
	struct sp__emit *e = &m->j->result.emit;

	if (m->j->opts.unpaired[s->number])
		sp__emit_sides(e, s->number, &s->now, NULL);
	settle(s, &s->now);
	return e->error ? e->error : next(m, s);
}

static int body(struct merge *m)
{
	int rc = 0, diff;

	while (!rc && m->side[0].have && m->side[1].have) {
		diff = compare(m, &m->side[0].now.key, &m->side[1].now.key);
		if (!diff) {
			rc = pairs(m);
			continue;
		}
		rc = single(m, &m->side[diff > 0]);
		m->unpairable = true;
	}
	return rc;
}

/* The rest of a file after the other has ended: written, or only checked. */
static int tail(struct merge *m, struct side *s)
{
	bool write = m->j->opts.unpaired[s->number];
	bool look = m->j->opts.order != SP_JOIN_NOCHECK &&
		    !(m->side[0].reported && m->side[1].reported);
	int rc = 0;

	if (!write && !look)
		return 0;
	while (!rc && s->have) {
		rc = single(m, s);
		if (s->reported && !write)
			break;
	}
	return rc;
}

static int run(struct merge *m)
{
	int rc = next(m, &m->side[0]);

	if (!rc)
		rc = next(m, &m->side[1]);
	if (!rc)
		rc = body(m);
	for (int i = 0; i < 2 && !rc; i++)
		rc = tail(m, &m->side[i]);
	/* A current line that is not needed. */
	for (int i = 0; i < 2; i++)
		if (m->side[i].have)
			settle(&m->side[i], &m->side[i].now);
	if (!rc)
		rc = sp__balance_sources(m->j);
	if (rc)
		return rc;
	return m->side[0].reported || m->side[1].reported;
}

int sp__join_merge(struct sp__join *j)
{
	struct merge m = { .j = j,
			   .collate = !j->opts.ignore_case && sp__collate_hard(),
			   .order.by = SP_JOIN_SORTED_BYTES };
	int rc;

	if (j->opts.ignore_case)
		m.order.upper = j->result.emit.cut.upper;
	for (int i = 0; i < 2; i++)
		m.side[i] = (struct side){ .source = &j->source[i], .number = i };
	rc = run(&m);
	for (int i = 0; i < 2; i++) {
		empty_group(&m.side[i]);
		free(m.side[i].group);
		sp__bytes_release(&m.side[i].last_copy, NULL);
	}
	return rc;
}
