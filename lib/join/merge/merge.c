/* SPDX-License-Identifier: MIT */
/*
 * Joins two sorted files concurrently, in GNU join's order of events.
 *
 * Algorithm: each file has one line of look-ahead.  If keys are equal, all following lines of each
 * file with that key are collected into two groups, and each pair of the groups is written.  Lines
 * are used in the read stream's memory.  When a stream moves to its next batch, the data of the
 * previous one that is still needed (a group, and the last key for the order check) is copied.
 *
 * The join can suspend and resume.  A file whose next line is needed is due.  While its input has
 * no data, the join returns SP_LATER and resumes from the same state when it is called again.
 * Meanwhile it reads the other file ahead, after copying the needed data of that file's batch.
 * Only operators need this: in a join of files the streams read ahead by themselves.
 *
 * A line is compared with the line before it if disorder matters: always, from the first unpaired
 * line on, or never.
 *
 * Memory: the largest two groups, two keys, and the data read ahead: two chunks, or 128 KiB more
 * than one.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "join/merge/merge.h"
#include "join/merge/ranges.h"

struct copies {
	struct copies *next;
	size_t bytes; /* charged */
	char data[];
};

/* True for a side that must advance before anything else; the value is the reason. */
enum due { NOT_DUE, AFTER_PAIR, AFTER_UNPAIRED };

/* One file. */
struct side {
	struct sp__source *source;
	int number;
	struct sp__line now; /* the current line */
	bool have;	     /* there is one */
	enum due due;
	struct sp__bytes now_copy; /* holds the line after its batch is released */
	struct sp__slice last_key;
	struct sp__bytes last_copy; /* holds the key after its batch is released */
	bool last;		    /* there is a line before */
	bool reported;		    /* disorder was reported */

	struct sp__line *group;
	size_t ngroup, group_capacity, copied; /* copied: number of copies, at the start */
	struct copies *copies;
};

enum phase { APART, GATHERING_1, GATHERING_2, PAIRING, TAIL_1, TAIL_2, DONE };

struct sp__merging_join {
	struct sp__join_inputs *in;
	struct sp__result *out;
	const struct sp_join_opts *opts;
	struct sp__env *env;
	enum phase phase;
	size_t paired, with; /* PAIRING: indices into the groups, the major order first */
	struct side side[2];
	struct sp__budget *budget;
	uint64_t taken; /* memory of the groups */
	struct sp__keyorder order;
	bool unpairable;	     /* some line found no partner */
	struct sp__joinrange *range; /* the sources' part of the files; NULL: all */
	int result;		     /* once DONE */
};

static int compare(const struct sp__merging_join *m, const struct sp__slice *a,
		   const struct sp__slice *b)
{
	return sp__keyorder_compare(&m->order, a, b);
}

/* Order. */

static int report_disorder(struct sp__merging_join *m, struct side *s)
{
	const struct sp_join_io *io = m->in->io;
	int rc = sp__result_flush(m->out);

	s->reported = true;
	io->disorder(io->disorder_arg, (unsigned)s->number + 1, s->source->lines, s->now.data,
		     s->now.bytes);
	if (rc < 0)
		return rc;
	return m->opts->order == SP_JOIN_CHECK ? 1 : 0;
}

static int check(struct sp__merging_join *m, struct side *s)
{
	enum sp_join_order order = m->opts->order;

	if (m->range || !s->last || s->reported || order == SP_JOIN_NOCHECK ||
	    (order == SP_JOIN_CHECK_UNPAIRABLE && !m->unpairable))
		return 0;
	if (compare(m, &s->last_key, &s->now.key) <= 0)
		return 0;
	return report_disorder(m, s);
}

/* Advancing. */

/* Moves a key to another copy of its line; a missing field stays missing. */
static struct sp__slice moved(const struct sp__slice *key, const char *from, const char *to)
{
	if (key->p == sp__no_field)
		return *key;
	return (struct sp__slice){ to + (key->p - from), key->n };
}

/*
 * Charges memory that a group has taken.  A range waits if it might take more than it has: 0, or
 * -ECANCELED.
 */
static int charge(struct sp__merging_join *m, uint64_t bytes)
{
	sp__budget_charge(m->budget, bytes);
	m->taken += bytes;
	return m->range ? sp__joinrange_hold(m->range, m->taken) : 0;
}

static void credit(struct sp__merging_join *m, uint64_t bytes)
{
	sp__budget_credit(m->budget, bytes);
	m->taken -= bytes;
}

/* Copies the data still needed before the batch is released. */
static int keep(struct sp__merging_join *m, struct side *s)
{
	struct copies *c;
	size_t bytes = 0, at = 0;

	if (s->last && s->last_key.p != sp__no_field && s->last_key.p != s->last_copy.data) {
		if (sp__bytes_set(&s->last_copy, s->last_key.p, s->last_key.n, m->budget) < 0)
			return sp__join_no_memory(m->env);
		s->last_key.p = s->last_copy.data;
	}
	for (size_t i = s->copied; i < s->ngroup; i++)
		bytes += s->group[i].bytes;
	if (s->copied == s->ngroup)
		return 0;
	c = malloc(sizeof(*c) + bytes);
	if (!c)
		return sp__join_no_memory(m->env);
	c->bytes = sizeof(*c) + bytes;
	for (; s->copied < s->ngroup; s->copied++) {
		struct sp__line *l = &s->group[s->copied];

		memcpy(c->data + at, l->data, l->bytes);
		l->key = moved(&l->key, l->data, c->data + at);
		l->data = c->data + at;
		at += l->bytes;
	}
	c->next = s->copies;
	s->copies = c;
	return charge(m, c->bytes);
}

/* Reads the next line: 0, 1 (disorder ends the join), SP_LATER, SP__MERGE_STOPPED, or an error. */
static int next(struct sp__merging_join *m, struct side *s)
{
	struct sp__source *src = s->source;
	const char *end;
	int rc;

	while (src->at == src->end) {
		rc = keep(m, s);
		if (rc < 0)
			return rc;
		rc = sp__source_fill(src);
		if (rc != SP_READY)
			return rc;
	}
	end = memchr(src->at, src->format.eol, (size_t)(src->end - src->at));
	sp__line_set(&m->out->emit, s->number, src->at, (size_t)(end - src->at), &s->now);
	if (m->range && s->last && compare(m, &s->last_key, &s->now.key) > 0)
		return SP__MERGE_STOPPED;
	src->at = end + 1;
	src->lines++;
	s->have = true;
	return check(m, s);
}

/* Keeps the rest of a batch as read ahead and copies the current line before its release. */
static int put_aside(struct sp__merging_join *m, struct side *s)
{
	const char *from = s->now.data;
	int rc = keep(m, s);

	if (!rc && s->have && from != s->now_copy.data) {
		/* The terminator keeps the copy from being empty. */
		if (sp__bytes_set(&s->now_copy, from, s->now.bytes + 1, m->budget) < 0)
			return sp__join_no_memory(m->env);
		s->now.key = moved(&s->now.key, from, s->now_copy.data);
		s->now.data = s->now_copy.data;
	}
	return rc ? rc : sp__source_aside(s->source, m->env->err);
}

/* Reads the next line; if none is available, the side is due for `reason`.  Returns as next(). */
static inline int try_next(struct sp__merging_join *m, struct side *s, enum due reason)
{
	int rc = next(m, s);

	s->due = rc == SP_LATER || rc == SP__MERGE_STOPPED ? reason : NOT_DUE;
	if (reason == AFTER_UNPAIRED && !rc)
		m->unpairable = true;
	return rc;
}

/* Advances after the current line has been used. */
static inline int leave(struct sp__merging_join *m, struct side *s, enum due reason)
{
	s->last_key = s->now.key;
	s->last = true;
	s->have = false;
	return try_next(m, s, reason);
}

/* Advances the sides that are due. */
static int move_on(struct sp__merging_join *m)
{
	int rc = 0, later = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		if (m->side[i].due)
			rc = try_next(m, &m->side[i], m->side[i].due);
		if (rc == SP_LATER) {
			later = rc;
			rc = 0;
		}
	}
	return rc ? rc : later;
}

/* Reads the other file ahead while one has no data.  SP_LATER or an error. */
static int turn(struct sp__merging_join *m)
{
	int rc = 0;

	for (int i = 0; i < 2 && rc >= 0; i++) {
		struct side *s = &m->side[i];

		if (s->due)
			continue;
		rc = put_aside(m, s);
		if (!rc)
			rc = sp__source_take(s->source, m->in->read.chunk_bytes + SP__AHEAD_BYTES,
					     m->env->err);
	}
	return rc < 0 ? rc : SP_LATER;
}

/* Groups. */

/* Ends a line, with its terminator. */
static void settle(struct side *s, const struct sp__line *l)
{
	sp__tally_count(&s->source->done, l->bytes + 1);
}

/* Frees a group. */
static void empty_group(struct sp__merging_join *m, struct side *s)
{
	while (s->copies) {
		struct copies *c = s->copies;

		s->copies = c->next;
		credit(m, c->bytes);
		free(c);
	}
	s->ngroup = s->copied = 0;
}

static int grow_group(struct sp__merging_join *m, struct side *s)
{
	size_t before = s->group_capacity;

	if (!SP__ARRAY_GROW(s->group, s->group_capacity, before + 1))
		return sp__join_no_memory(m->env);
	return charge(m, (s->group_capacity - before) * sizeof(*s->group));
}

/* Collects the current line and the following ones that match the other file's. */
static int gather(struct sp__merging_join *m, struct side *s, const struct side *other)
{
	int rc;

	while (s->have) {
		const struct sp__slice *key =
			other->ngroup ? &other->group[0].key : &other->now.key;

		if (s->ngroup &&
		    (s->number ? compare(m, key, &s->now.key) : compare(m, &s->now.key, key)))
			break;
		rc = s->ngroup == s->group_capacity ? grow_group(m, s) : 0;
		if (rc)
			return rc;
		s->group[s->ngroup++] = s->now;
		rc = leave(m, s, AFTER_PAIR);
		if (rc)
			return rc;
	}
	m->phase++;
	return 0;
}

/*
 * Writes the pairs in the order of one side, ties in the order of the other; stops if the buffer is
 * full.
 */
static int all_pairs(struct sp__merging_join *m)
{
	struct sp__emit *e = &m->out->emit;
	int major = m->opts->ordered == 2;
	const struct side *a = &m->side[major], *b = &m->side[!major];

	for (; m->paired < a->ngroup && m->opts->pairs; m->paired++, m->with = 0)
		for (; m->with < b->ngroup; m->with++) {
			if (e->error)
				return e->error;
			if (sp__result_full(m->out))
				return 0;
			sp__emit_sides(e, major, &a->group[m->paired], &b->group[m->with]);
		}
	m->paired = 0;
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < m->side[i].ngroup; k++)
			settle(&m->side[i], &m->side[i].group[k]);
		empty_group(m, &m->side[i]);
	}
	m->phase = APART;
	return e->error;
}

static int single(struct sp__merging_join *m, struct side *s, enum due reason)
{
	struct sp__emit *e = &m->out->emit;

	if (m->opts->unpaired[s->number])
		sp__emit_sides(e, s->number, &s->now, NULL);
	settle(s, &s->now);
	return e->error ? e->error : leave(m, s, reason);
}

static int apart(struct sp__merging_join *m)
{
	int rc = 0, diff;

	while (!rc && m->side[0].have && m->side[1].have) {
		if (sp__result_full(m->out))
			return 0;
		diff = compare(m, &m->side[0].now.key, &m->side[1].now.key);
		if (!diff) {
			m->phase = GATHERING_1;
			return 0;
		}
		rc = single(m, &m->side[diff > 0], AFTER_UNPAIRED);
	}
	if (!rc)
		m->phase = TAIL_1;
	return rc;
}

/* Writes or only checks the rest of a file after the other has ended. */
static int tail(struct sp__merging_join *m, struct side *s)
{
	/* Only the range of the other file has ended, so the lines must precede the rest of it. */
	bool more = m->range && m->range->cut.more[!s->number];
	bool write = m->opts->unpaired[s->number];
	bool look =
		m->opts->order != SP_JOIN_NOCHECK && !(m->side[0].reported && m->side[1].reported);
	int rc = 0;

	while ((write || look || more) && s->have && !rc) {
		if (s->reported && !write)
			break;
		if (sp__result_full(m->out))
			return 0;
		if (more && compare(m, &s->now.key, &m->range->cut.bound) >= 0)
			return SP__MERGE_STOPPED;
		rc = single(m, s, more ? AFTER_UNPAIRED : AFTER_PAIR);
	}
	if (!rc)
		m->phase++;
	return rc;
}

/*
 * Runs until the end or a full buffer: 0; 1 (disorder ends the join), SP_LATER, SP__MERGE_STOPPED,
 * or an error.
 */
static int run(struct sp__merging_join *m)
{
	int rc = move_on(m);

	while (!rc && m->phase != DONE && !sp__result_full(m->out)) {
		if (m->phase == APART)
			rc = apart(m);
		else if (m->phase == PAIRING)
			rc = all_pairs(m);
		else if (m->phase < PAIRING)
			rc = gather(m, &m->side[m->phase - GATHERING_1],
				    &m->side[m->phase == GATHERING_1]);
		else
			rc = tail(m, &m->side[m->phase - TAIL_1]);
	}
	return rc == SP_LATER ? turn(m) : rc;
}

/* Ends the join.  Returns rc, an error of the end, or 1 if there was disorder. */
static int end(struct sp__merging_join *m, int rc)
{
	/* Skips a current line that is not needed. */
	for (int i = 0; i < 2; i++)
		if (m->side[i].have)
			settle(&m->side[i], &m->side[i].now);
	if (!rc)
		rc = sp__balance_sources(m->in);
	if (rc && rc != SP__LIMIT_REACHED)
		return rc;
	return m->side[0].reported || m->side[1].reported ? 1 : rc;
}

static struct sp__keyorder order_of(const struct sp__join_inputs *in, const struct sp__result *out,
				    bool collate)
{
	return (struct sp__keyorder){ SP_JOIN_SORTED_BYTES,
				      in->opts->ignore_case ? out->emit.cut.upper : NULL, collate };
}

struct sp__merging_join *sp__merge_new(struct sp__join_inputs *in, struct sp__result *out,
				       bool collate, struct sp__budget *budget)
{
	struct sp__merging_join *m = calloc(1, sizeof(*m));

	if (!m) {
		(void)sp__join_no_memory(in->env);
		return NULL;
	}
	m->in = in;
	m->out = out;
	m->opts = in->opts;
	m->env = in->env;
	m->budget = budget;
	m->order = order_of(in, out, collate);
	for (int i = 0; i < 2; i++) {
		in->source[i].budget = budget;
		m->side[i] =
			(struct side){ .source = &in->source[i], .number = i, .due = AFTER_PAIR };
	}
	return m;
}

int sp__merge_some(struct sp__merging_join *m)
{
	int rc;

	if (m->phase == DONE)
		return m->result;
	rc = run(m);
	if (m->range)
		m->range->unpairable = m->unpairable;
	if (rc == SP_LATER || rc == SP__MERGE_STOPPED || (!rc && m->phase != DONE))
		return rc ? rc : SP_READY;
	m->phase = DONE;
	rc = end(m, rc);
	return m->result = rc == 1 ? SP__MERGE_DISORDER : rc;
}

void sp__merge_free(struct sp__merging_join *m)
{
	for (int i = 0; m && i < 2; i++) {
		struct side *s = &m->side[i];

		empty_group(m, s);
		credit(m, s->group_capacity * sizeof(*s->group));
		free(s->group);
		sp__bytes_release(&s->last_copy, m->budget);
		sp__bytes_release(&s->now_copy, m->budget);
	}
	free(m);
}

int sp__merge_check(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	if (o->ordered && o->unpaired[o->ordered == 1] && (o->pairs || o->unpaired[o->ordered - 1]))
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"a merge cannot put lines of file %u without partner last",
				3 - o->ordered);
	return 0;
}

/* Ranges. */

static void *begin_range(struct sp__joinrange *r, const void *order)
{
	const struct sp__keyorder *o = order;
	struct sp__merging_join *m = sp__merge_new(&r->in, &r->out, o->collate, r->budget);

	if (m)
		m->range = r;
	return m;
}

static int run_range(void *merge)
{
	return sp__merge_some(merge);
}

/* Merges the rest of both files, after a range that has stopped. */
static void go_on(void *merge, struct sp__result *out, const struct sp__joinrange_past *past)
{
	struct sp__merging_join *m = merge;

	m->range = NULL;
	m->out = out;
	m->env = m->in->env;
	m->unpairable |= past->unpairable;
	if (m->phase > PAIRING)
		m->phase = APART;
	for (int i = 0; i < 2; i++)
		if (!m->side[i].have && !m->side[i].due)
			m->side[i].due = AFTER_PAIR;
}

static void end_range(void *merge)
{
	sp__merge_free(merge);
}

int sp__join_merge(struct sp__join_inputs *in, struct sp__result *out)
{
	static const struct sp__joinrange_ops ops = { begin_range, run_range, go_on, end_range };
	bool collate = !in->opts->ignore_case && sp__collate_hard();
	struct sp__keyorder order = order_of(in, out, collate);
	struct sp__merging_join *m;
	int rc = sp__joinranges_merge(in, out, &order, &ops, &order);

	if (rc != SP_EUNSUP)
		return rc == SP__MERGE_DISORDER ? 1 : rc;
	m = sp__merge_new(in, out, collate, &in->env->budget);
	rc = m ? sp__merge_some(m) : -ENOMEM;
	sp__merge_free(m);
	return rc == SP__MERGE_DISORDER ? 1 : rc;
}
