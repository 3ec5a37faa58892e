/* SPDX-License-Identifier: MIT */
/*
 * Cuts sorted data at exact positions.
 *
 * Algorithm: a key to cut at is searched among candidates: the last keys of pages of runs, and the
 * keys in memory.  Each candidate has a rank in every input, found by bisection: the number of its
 * pages, or entries, that precede the key.  Ranks times mean lengths are about the bytes before the
 * cut.  The remaining candidates are an interval of each input.  The middle candidate of the widest
 * interval is tried, and its ranks exclude all candidates on one side of it.  So each step halves
 * one interval, and all of them if inputs are alike.  The result is the candidate nearest to the
 * wanted position.  It is off by less than a page of each run, unless a group of equal keys is
 * larger.
 *
 * Truncated keys: last keys are cut to SP__LASTKEY_MAX bytes.  A candidate is one byte shorter, so
 * a truncated last key is never equal to a candidate or a prefix of it, and its order is that of
 * the whole key.  Hence the first record that does not precede the candidate ends in the first page
 * whose last key does not precede it, and starts after the last record of an earlier page.  From
 * there on, records are compared one by one: those of one page for each run and cut, or of two if a
 * record crosses them.
 *
 * Rejected: splitters by sampling, which are inexact; bytes of the order of records as a part of
 * the cut, which would divide groups that -u collapses and -s keeps.
 */
#include <stdlib.h>
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "sort/merge/cut.h"

#define CANDIDATE_MAX (SP__LASTKEY_MAX - 1)

/* A normalised key. */
struct key {
	const void *data;
	size_t bytes;
};

/* The search for one cut: remaining candidates, and the ranks of the one being tried. */
struct search {
	uint64_t *low, *high, *rank;
	struct key below, above;	   /* nearest keys on both sides of the wanted position */
	uint64_t below_bytes, above_bytes; /* UINT64_MAX: there is none */
};

static const struct sp__run *run_of(const struct sp__cuts *c, unsigned j)
{
	return c->forming->spilled->runs[c->ids[j]];
}

bool sp__cuts_possible(const struct sp__spilled *spilled, const unsigned *ids, unsigned n)
{
	if (sp__ks(spilled->sort->opts.keys)->form == SP__KEY_COLLATED)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!spilled->runs[ids[i]]->lastkeys || spilled->runs[ids[i]]->group_shift)
			return false;
	return true;
}

static uint64_t positions(const struct sp__cuts *c, unsigned j)
{
	return j < c->n ? run_of(c, j)->npages : c->bufs[j - c->n]->n;
}

static uint64_t total_bytes(const struct sp__cuts *c, unsigned j)
{
	return j < c->n ? run_of(c, j)->bytes : sp__runbuf_gives(c->bufs[j - c->n]);
}

/* Returns the number of pages before the first one in which a record ends. */
static uint64_t lead(const struct sp__cuts *c, unsigned j)
{
	uint64_t page = 0;

	while (j < c->n && page < run_of(c, j)->npages &&
	       run_of(c, j)->lastkeys[page].tail == c->forming->sort->plan.page_bytes)
		page++;
	return page;
}

static struct key key_at(const struct sp__cuts *c, unsigned j, uint64_t position)
{
	const struct sp__lastkey *last;
	struct key k;

	if (j < c->n) {
		last = &run_of(c, j)->lastkeys[position];
		return (struct key){ run_of(c, j)->keys + last->offset, last->bytes };
	}
	k.data = sp__runbuf_key(c->bufs[j - c->n], &c->bufs[j - c->n]->entries[position], &k.bytes);
	return k;
}

static bool precedes(const struct sp__cuts *c, struct key a, struct key b)
{
	int order = sp__order_bytes(a.data, a.bytes, b.data, b.bytes);

	return sp__ks(c->forming->sort->opts.keys)->descending ? order > 0 : order < 0;
}

static uint64_t rank(const struct sp__cuts *c, unsigned j, struct key k)
{
	uint64_t from = lead(c, j);

	return from + SP__BISECT(positions(c, j) - from, i, precedes(c, key_at(c, j, from + i), k));
}

/* Returns about how many bytes the first positions of an input have. */
static uint64_t bytes_of(const struct sp__cuts *c, unsigned j, uint64_t first)
{
	return (uint64_t)((double)total_bytes(c, j) * (double)first / (double)positions(c, j));
}

/* Returns the input whose candidates have the most bytes; n + nbufs: there are no candidates. */
static unsigned widest(const struct sp__cuts *c, const struct search *s)
{
	unsigned inputs = c->n + c->nbufs, best = inputs;
	uint64_t max = 0, bytes;

	for (unsigned j = 0; j < inputs; j++) {
		if (s->low[j] >= s->high[j])
			continue;
		bytes = bytes_of(c, j, s->high[j] - s->low[j]) + 1;
		if (bytes > max)
			best = j;
		if (bytes > max)
			max = bytes;
	}
	return best;
}

/* Tries the middle candidate of input j. */
static void try(const struct sp__cuts *c, struct search *s, unsigned j, uint64_t wanted)
{
	uint64_t middle = s->low[j] + (s->high[j] - s->low[j]) / 2, bytes = 0;
	struct key k = key_at(c, j, middle);

	k.bytes = sp__min(k.bytes, CANDIDATE_MAX);
	for (unsigned i = 0; i < c->n + c->nbufs; i++) {
		s->rank[i] = rank(c, i, k);
		if (s->rank[i])
			bytes += bytes_of(c, i, s->rank[i]);
	}
	if (bytes <= wanted) {
		s->below = k;
		s->below_bytes = bytes;
		for (unsigned i = 0; i < c->n + c->nbufs; i++)
			s->low[i] = sp__max(s->low[i], s->rank[i]);
		s->low[j] = sp__max(s->low[j], middle + 1);
	} else {
		s->above = k;
		s->above_bytes = bytes;
		for (unsigned i = 0; i < c->n + c->nbufs; i++)
			s->high[i] = sp__min(s->high[i], s->rank[i]);
		/* In descending order, the candidate can follow the key that it is a prefix of. */
		s->high[j] = sp__min(s->high[j], middle);
	}
}

/*
 * Chooses the candidate nearest to the wanted position.  False if there is none, without records.
 */
static bool choose(const struct sp__cuts *c, struct search *s, uint64_t wanted, struct key *k)
{
	unsigned inputs = c->n + c->nbufs, j;

	s->below_bytes = s->above_bytes = UINT64_MAX;
	for (j = 0; j < inputs; j++) {
		s->low[j] = lead(c, j);
		s->high[j] = positions(c, j);
	}
	while ((j = widest(c, s)) < inputs)
		try(c, s, j, wanted);
	if (s->below_bytes == UINT64_MAX && s->above_bytes == UINT64_MAX)
		return false;
	*k = s->below;
	if (s->below_bytes == UINT64_MAX || s->above_bytes - wanted < wanted - s->below_bytes)
		*k = s->above;
	return true;
}

/*
 * Returns the records of a run that include the first one not preceding the key; *at: where they
 * start.
 */
static struct sp__run_span around(const struct sp__cuts *c, unsigned j, struct key k,
				  struct sp__cut_at *at)
{
	const struct sp__run *run = run_of(c, j);
	const uint64_t page_bytes = c->forming->sort->plan.page_bytes;
	uint64_t page = rank(c, j, k), before = page, end = (page + 1) * page_bytes;
	struct sp__run_span span;

	if (page == run->npages) {
		*at = (struct sp__cut_at){ run->bytes, run->records };
		return (struct sp__run_span){ run->bytes, run->bytes };
	}
	while (before && run->lastkeys[before - 1].tail == page_bytes)
		before--;
	span.from = before ? before * page_bytes - run->lastkeys[before - 1].tail : 0;
	span.to = (end < run->bytes ? end : run->bytes) - run->lastkeys[page].tail;
	*at = (struct sp__cut_at){ span.from, 0 };
	while (before)
		at->records += run->lastkeys[--before].records;
	return span;
}

/* Passes the records of a cursor that precede the key. */
static int pass(const struct sp__cuts *c, struct sp__merge *m, unsigned j, struct key k,
		struct sp__cut_at *at)
{
	const struct sp__cursor_env env = { m->keys, m->budget, &m->saved, m->err, false };
	struct sp__cursor *cursor = &m->cursors[j];
	int rc;

	for (; (rc = sp__cursor_next(cursor, &env, true)) == SP_READY; at->records++) {
		if (!precedes(c, (struct key){ cursor->key, cursor->key_bytes }, k))
			return 0;
		at->position += cursor->head + cursor->bytes;
	}
	return rc < 0 ? sp__err(m->err, rc, "merge", NULL, -1) : 0;
}

/* Finds the positions of a key in the runs. */
static int cut_runs(const struct sp__cuts *c, struct sp__spill *reader, struct key k,
		    struct sp__freemem where, struct sp__cut_at *at)
{
	struct sp__sort_shared *s = c->forming->sort;
	struct sp__run_span *spans = calloc(c->n, sizeof(*spans));
	struct sp__step_inputs in = { 0 };
	struct sp__merge m;
	int rc = sp__merge_init(&m, s->opts.keys, c->n, &s->env.budget, reader->opts.err);

	if (!rc && !spans)
		rc = sp__err(reader->opts.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned j = 0; !rc && j < c->n; j++)
		spans[j] = around(c, j, k, &at[j]);
	if (!rc)
		rc = sp__step_open(c->forming->spilled, reader, &in, c->ids, spans, c->n, where,
				   m.cursors);
	for (unsigned j = 0; !rc && j < c->n; j++)
		rc = pass(c, &m, j, k, &at[j]);
	sp__step_close(c->forming->spilled, &in);
	sp__merge_release(&m);
	free(spans);
	return rc;
}

/* Finds all positions of a key. */
static int cut_at(const struct sp__cuts *c, struct sp__spill *reader, struct key k,
		  struct sp__freemem where, struct sp__cut_at *at)
{
	for (unsigned j = c->n; j < c->n + c->nbufs; j++)
		at[j].position = at[j].records = rank(c, j, k);
	return c->n ? cut_runs(c, reader, k, where, at) : 0;
}

static struct sp__cut_at end_of(const struct sp__cuts *c, unsigned j)
{
	if (j < c->n)
		return (struct sp__cut_at){ run_of(c, j)->bytes, run_of(c, j)->records };
	return (struct sp__cut_at){ positions(c, j), positions(c, j) };
}

static int cut_all(struct sp__cuts *c, struct search *s, struct sp__spill *reader,
		   struct sp__freemem where)
{
	const size_t inputs = c->n + c->nbufs;
	uint64_t bytes = 0;
	struct key k, last = { 0 };
	int rc = 0;

	for (unsigned j = 0; j < inputs; j++) {
		bytes += total_bytes(c, j);
		c->at[c->parts * inputs + j] = end_of(c, j);
	}
	for (unsigned i = 1; !rc && i < c->parts; i++, last = k) {
		if (!choose(c, s, bytes / c->parts * i, &k))
			return SP_EUNSUP;
		/* Two searches can end at different keys of one page. */
		if (i > 1 && precedes(c, k, last))
			k = last;
		rc = cut_at(c, reader, k, where, c->at + i * inputs);
	}
	return rc;
}

static int list_buffers(struct sp__cuts *c)
{
	const struct sp__forming *forming = c->forming;
	struct sp__slot *slot;

	c->bufs = calloc(forming->nslots, sizeof(*c->bufs));
	if (!c->bufs)
		return -ENOMEM;
	for (uint64_t from = 0; (slot = sp__slot_from(forming, SP__SLOT_SORTED, from));
	     from = slot->age + 1)
		c->bufs[c->nbufs++] = &slot->buf;
	return 0;
}

int sp__cuts_find(struct sp__cuts *c, struct sp__forming *forming, struct sp__spill *reader,
		  const unsigned *ids, unsigned n, unsigned parts, struct sp__freemem where)
{
	struct search search = { 0 };
	size_t inputs;
	int rc;

	*c = (struct sp__cuts){ .forming = forming, .ids = ids, .n = n, .parts = parts };
	rc = list_buffers(c);
	inputs = c->n + c->nbufs;
	c->at = calloc(inputs * (parts + 1) + 1, sizeof(*c->at));
	search.low = calloc(3 * inputs + 1, sizeof(*search.low));
	if (rc < 0 || !c->at || !search.low) {
		free(search.low);
		return sp__err(forming->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	}
	search.high = search.low + inputs;
	search.rank = search.high + inputs;
	rc = cut_all(c, &search, reader, where);
	free(search.low);
	return rc;
}

void sp__cuts_release(struct sp__cuts *c)
{
	free(c->bufs);
	free(c->at);
}

static uint64_t entries_bytes(const struct sp__runbuf *rb, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	size_t bytes;

	for (; from < to; from++) {
		(void)sp__runbuf_record(rb, &rb->entries[from], &bytes);
		sum += bytes * (rb->repeats ? sp__runbuf_number(rb, &rb->entries[from]) : 1);
	}
	return sum;
}

/* Returns the records that a part has of an input. */
static uint64_t records(const struct sp__cuts *c, unsigned part, unsigned j)
{
	const struct sp__cut_at *from = &c->at[(size_t)part * (c->n + c->nbufs) + j];

	return from[c->n + c->nbufs].records - from->records;
}

uint64_t sp__cuts_bytes(const struct sp__cuts *c, unsigned part)
{
	uint64_t sum = 0;

	for (unsigned j = 0; j < c->n + c->nbufs; j++) {
		uint64_t from = sp__cuts_at(c, part, j), to = sp__cuts_at(c, part + 1, j);

		sum += j < c->n ? to - from : entries_bytes(c->bufs[j - c->n], from, to);
		sum -= j < c->n && c->forming->sort->opts.count ? records(c, part, j) : 0;
	}
	return sum;
}

uint64_t sp__cuts_records(const struct sp__cuts *c, unsigned part)
{
	uint64_t sum = 0;

	for (unsigned j = 0; j < c->n + c->nbufs; j++)
		sum += records(c, part, j);
	return sum;
}
