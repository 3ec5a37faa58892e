/* SPDX-License-Identifier: MIT */
/*
 * Joins outer rows with the inner records that an index finds, many concurrently (inl.h).
 *
 * States of an outer row: free; looking, its key is in the lookup; matched, offsets of inner
 * records have come and are requested while the batch has free slots; settled, all its records have
 * been joined.  Looking keys and requested records are in flight.
 *
 * Algorithm: the batch is the limit of keys and records in flight.  It starts at 1 and doubles each
 * time as many have been joined, up to `max`.  If the device serves one request at a time, a lookup
 * ahead of the rows that are joined delays them.  So at most 1 + n / 4 outer rows are unsettled
 * after n settled ones: if a lookup takes as long as the read of its record, a row of the result is
 * late by at most an eighth of the time so far.  The batch is refilled when a tenth of the limit of
 * unsettled rows has been joined, so that requests go to the system in groups.
 *
 * next() first returns rows that have arrived.  Then it collects completions, turns finished
 * lookups into reads, and fills the batch.  It returns SP_LATER only if none of this is possible.
 *
 * If ordered, lookups and reads return in the order of the puts, so rows do too.  Rows that come
 * without a partner are in the queue `settling` until the rows before them are settled.
 *
 * The place of each record that is read is checked, and its key is compared with that of its row.
 * If the source of the index has changed, that is an error.
 *
 * Memory: an eighth for outer rows, half of the rest for nodes of the index, half for records.
 *
 * Rejected: searching only the first K = 10 % of the queue for arrivals, as in the paper.  Here
 * completions come as a list, so searching costs nothing; on a simulated drive 1500 probes then
 * take 34, 21, 17 and 3 % longer with 8, 32, 64 and 128 outstanding.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/matched.h"
#include "join/inl/inl.h"

/* Share of the batch that is filled together. */
#define REFILL 10
/* Settled outer rows for each row that is looked up ahead. */
#define SETTLED_PER_AHEAD 4

struct outer {
	struct sp__tuple row;
	struct sp__bytes copy; /* its records */
	struct sp__bytes key;  /* from sp__key_make() */
	unsigned pending;      /* records requested and not joined */
	bool looking, matched;
	struct outer *next; /* in the list of free or of settling rows */
};

struct sp__inl {
	struct sp__inl_opts opts;
	struct sp__inlkeys keys;
	struct sp__lookup *lookup;
	struct sp__fetch *fetch;

	struct outer *rows, *idle;
	struct outer *settling, *settling_last;
	unsigned nrows; /* not idle */
	uint64_t row_bytes;
	struct outer *given; /* the row returned last; it can be settled now */

	struct sp__found found; /* the lookup whose records are being requested */
	struct outer *finding;	/* the row of found; NULL: none */
	size_t asked;		/* records of found that are requested */

	unsigned batch, looking;
	uint64_t settled; /* outer rows */
	uint64_t joined;  /* since the batch was filled */
	uint64_t grown;	  /* joined since it was doubled */
	bool filling, outer_ended;
	uint64_t moves; /* changes of any row; a call without one can do nothing more */
	struct sp__tuple row;
	uint64_t probes;
	int status; /* result of the last call; an error is kept */
};

static int no_memory(const struct sp__inl *l)
{
	return sp__join_no_memory(l->opts.env);
}

/* Opening. */

int sp__inl_open(struct sp__inl **level, const struct sp__inl_opts *opts)
{
	struct sp__inl *l = calloc(1, sizeof(*l));
	struct sp__env *env = opts->env;
	struct sp__lookup_opts lo = { .index = opts->index,
				      .reads = opts->reads,
				      .waits = opts->waits,
				      .max = opts->max,
				      .bytes = opts->memory_bytes * 7 / 16,
				      .gap_bytes = opts->gap_bytes,
				      .ordered = opts->ordered };
	struct sp__fetch_opts fo = { .volume = opts->volume,
				     .reads = opts->reads,
				     .budget = &env->budget,
				     .err = env->err,
				     .max = opts->max,
				     .memory_bytes = opts->memory_bytes * 7 / 16,
				     .gap_bytes = opts->gap_bytes,
				     .ordered = opts->ordered };
	int rc;

	*level = l;
	if (!l)
		return sp__join_no_memory(opts->env);
	l->opts = *opts;
	l->status = SP_READY;
	l->batch = 1;
	l->rows = calloc(opts->max, sizeof(*l->rows));
	if (!l->rows)
		return no_memory(l);
	for (unsigned i = 0; i < opts->max; i++) {
		l->rows[i].next = l->idle;
		l->idle = &l->rows[i];
	}
	rc = sp__inlkeys_open(&l->keys, &l->opts);
	if (!rc)
		rc = sp__lookup_open(&l->lookup, &lo);
	return rc ? rc : sp__fetch_open(&l->fetch, &fo);
}

void sp__inl_close(struct sp__inl *l)
{
	struct sp__budget *budget;

	if (!l)
		return;
	budget = &l->opts.env->budget;
	for (unsigned i = 0; l->rows && i < l->opts.max; i++) {
		sp__bytes_release(&l->rows[i].copy, budget);
		sp__bytes_release(&l->rows[i].key, budget);
	}
	free(l->rows);
	sp__lookup_close(l->lookup);
	sp__fetch_close(l->fetch);
	sp__inlkeys_release(&l->keys);
	free(l);
}

/* Outer rows. */

void sp__inl_expect(struct sp__inl *l, uint64_t rows)
{
	sp__lookup_expect(l->lookup, rows);
}

/* Copies the records of a row. */
static int copy_row(struct sp__inl *l, struct outer *o, const struct sp__tuple *row)
{
	struct sp__budget *budget = &l->opts.env->budget;
	size_t at = 0;

	sp__bytes_empty(&o->copy, budget);
	o->row = *row;
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++)
		if (row->of[i].data &&
		    sp__bytes_append(&o->copy, row->of[i].data, row->of[i].bytes, budget) < 0)
			return no_memory(l);
	/* An empty record has an address, too. */
	if (!o->copy.data && sp__bytes_append(&o->copy, "", 1, budget) < 0)
		return no_memory(l);
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++) {
		if (!row->of[i].data)
			continue;
		o->row.of[i].data = o->copy.data + at;
		at += row->of[i].bytes;
	}
	return 0;
}

static int look_up(struct sp__inl *l, struct outer *o)
{
	const struct sp__line *line = &o->row.of[l->opts.left];
	struct sp__slice key = { 0 };
	int rc = sp__inlkeys_make(&l->keys, l->opts.outer_side, line, &key);

	if (!rc && sp__bytes_set(&o->key, key.p, key.n, &l->opts.env->budget) < 0)
		rc = no_memory(l);
	if (!rc)
		rc = sp__inlkeys_for_index(&l->keys, line);
	if (!rc)
		rc = sp__lookup_put(l->lookup, l->keys.of_outer.data, l->keys.of_outer.bytes,
				    (uint64_t)(o - l->rows));
	return rc;
}

static unsigned in_flight(const struct sp__inl *l)
{
	return l->looking + l->opts.max - sp__fetch_slots_left(l->fetch);
}

/* Takes the next outer row.  1: taken; 0: not now. */
static int take_outer(struct sp__inl *l)
{
	const struct sp__tuple *row;
	struct outer *o = l->idle;
	int rc = l->opts.outer.next(l->opts.outer.operator, & row);

	l->outer_ended = rc == SP_END;
	if (rc != SP_READY)
		return rc < 0 ? rc : 0;
	rc = copy_row(l, o, row);
	if (!rc)
		rc = look_up(l, o);
	if (rc < 0)
		return rc;
	l->idle = o->next;
	o->pending = 0;
	o->looking = true;
	o->matched = false;
	l->nrows++;
	l->row_bytes += o->copy.bytes;
	l->looking++;
	l->probes++;
	l->moves++;
	return 1;
}

/* Limit of unsettled outer rows. */
static unsigned rows_ahead(const struct sp__inl *l)
{
	return (unsigned)sp__min(1 + l->settled / SETTLED_PER_AHEAD, l->batch);
}

/* True if a tenth of rows_ahead() has been joined: then fill() precedes rows that have arrived. */
static bool is_due(const struct sp__inl *l)
{
	return !l->outer_ended && l->joined >= sp__max(rows_ahead(l) / REFILL, 1);
}

/* Fills the batch if a refill is due or nothing is in flight. */
static int fill(struct sp__inl *l)
{
	int rc = 1;

	if (in_flight(l) && !l->filling && !is_due(l))
		return 0;
	l->filling = true;
	l->joined = 0;
	while (rc == 1 && !l->outer_ended && l->idle && sp__lookup_has_space(l->lookup) &&
	       in_flight(l) < l->batch && l->nrows < rows_ahead(l) &&
	       (!l->nrows || l->row_bytes < l->opts.memory_bytes / 8))
		rc = take_outer(l);
	/* A row that is not available yet is requested again. */
	l->filling = rc == 0 && !l->outer_ended;
	return rc < 0 ? rc : 0;
}

/* Counts a key or record in flight that has been joined or had no partner. */
static void join_one(struct sp__inl *l)
{
	l->joined++;
	l->moves++;
	if (++l->grown < l->batch)
		return;
	l->grown = 0;
	l->batch = (unsigned)sp__min(2 * (uint64_t)l->batch, l->opts.max);
}

/* Matches. */

static void enqueue(struct sp__inl *l, struct outer *o)
{
	o->next = NULL;
	if (l->settling)
		l->settling_last->next = o;
	else
		l->settling = o;
	l->settling_last = o;
}

/* Ends the lookup of a row. */
static void found_all(struct sp__inl *l, struct outer *o)
{
	o->looking = false;
	l->looking--;
	l->moves++;
	if (l->opts.ordered || !o->pending)
		enqueue(l, o);
}

/* Requests the records found.  1: all of them; 0: the batch is full. */
static int ask(struct sp__inl *l)
{
	for (; l->asked < l->found.n; l->asked++) {
		const struct sp__keymatch *m = &l->found.matches[l->asked];

		if (l->opts.max - sp__fetch_slots_left(l->fetch) >= l->batch)
			return 0;
		sp__fetch_put(l->fetch, m->offset, m->bytes, l->found.tag);
		l->finding->pending++;
		l->moves++;
	}
	if (l->found.last && !l->finding->pending && !l->finding->matched)
		join_one(l);
	if (l->found.last)
		found_all(l, l->finding);
	l->finding = NULL;
	return 1;
}

/* Turns lookups that have finished into reads. */
static int ask_all(struct sp__inl *l)
{
	int rc = SP_READY;

	for (;;) {
		if (l->finding && !ask(l))
			break;
		rc = sp__lookup_get(l->lookup, &l->found);
		if (rc != SP_READY)
			break;
		l->finding = &l->rows[l->found.tag];
		l->asked = 0;
	}
	return rc < 0 ? rc : sp__fetch_flush(l->fetch);
}

/* Rows. */

static void settle(struct sp__inl *l, struct outer *o)
{
	l->row_bytes -= o->copy.bytes;
	l->nrows--;
	l->settled++;
	o->next = l->idle;
	l->idle = o;
	l->moves++;
}

/* True if the next settled row becomes a row of the result without a partner. */
static bool give_alone(struct sp__inl *l, const struct sp__tuple **row)
{
	while (l->settling && !l->settling->pending) {
		struct outer *o = l->settling;

		l->settling = o->next;
		if (!o->matched && l->opts.unpaired) {
			l->given = o;
			*row = &o->row;
			return true;
		}
		settle(l, o);
	}
	return false;
}

/* True (1) if the inner record has the key of the row. */
static int matches(struct sp__inl *l, const struct outer *o, const struct sp__line *inner,
		   bool *equal)
{
	struct sp__slice key = { 0 };
	int rc = sp__inlkeys_make(&l->keys, !l->opts.outer_side, inner, &key);

	*equal = !rc && sp__order_bytes(key.p, key.n, o->key.data, o->key.bytes) == 0;
	return rc;
}

/*
 * Checks a record whose key differs from the row's.  That is correct if the key of the join is
 * longer or narrower than the key of the index, but not if the index key of the record differs as
 * well.
 */
static int check_place(struct sp__inl *l, const struct outer *o, const struct sp__fetched *record)
{
	const struct sp__index *ix = l->opts.index;
	int rc = sp__inlkeys_same(&l->keys, &o->row.of[l->opts.left], record->data, record->bytes);

	if (rc)
		return rc < 0 ? rc : 0;
	return sp__sourcecheck_other_key(ix, record->offset);
}

/* Joins a record that has arrived with its row.  1: a row of the result is complete. */
static int join(struct sp__inl *l, const struct sp__fetched *record)
{
	struct outer *o = &l->rows[record->tag];
	struct sp__line *inner = &l->row.of[l->opts.inner];
	bool equal, first;
	int rc = sp__sourcecheck_place(l->opts.index, record);

	if (rc)
		return rc;
	l->row = o->row;
	inner->data = record->data;
	inner->bytes = record->bytes;
	rc = matches(l, o, inner, &equal);
	join_one(l);
	if (!--o->pending && !o->looking && !l->opts.ordered)
		enqueue(l, o);
	if (rc < 0 || !equal)
		return rc ? rc : check_place(l, o, record);
	first = !o->matched;
	o->matched = true;
	if (l->opts.semi)
		inner->data = NULL;
	return l->opts.pairs || (l->opts.semi && first);
}

/* Returns the next row: SP_READY, SP_LATER or an error. */
static int give(struct sp__inl *l, const struct sp__tuple **row)
{
	struct sp__fetched record;
	int rc;

	for (;;) {
		if (give_alone(l, row))
			return SP_READY;
		rc = sp__fetch_get(l->fetch, &record);
		if (rc != SP_READY)
			return rc < 0 ? rc : SP_LATER;
		rc = join(l, &record);
		if (rc < 0)
			return rc;
		if (rc) {
			*row = &l->row;
			return SP_READY;
		}
	}
}

static int advance(struct sp__inl *l)
{
	int rc = sp__requests_collect(l->opts.reads);

	if (!rc)
		rc = ask_all(l);
	return rc ? rc : fill(l);
}

static int next(struct sp__inl *l, const struct sp__tuple **row)
{
	int rc = is_due(l) ? SP_LATER : give(l, row);
	uint64_t before;

	while (rc == SP_LATER) {
		before = l->moves;
		rc = advance(l);
		if (!rc)
			rc = give(l, row);
		if (rc == SP_LATER && l->moves == before)
			break;
	}
	if (rc != SP_LATER)
		return rc;
	if (l->outer_ended && !l->nrows)
		return SP_END;
	rc = sp__requests_flush(l->opts.reads);
	if (sp__queue_outstanding(l->opts.reads->queue))
		sp__requests_later(l->opts.reads, l->opts.waits);
	return rc ? rc : SP_LATER;
}

/* Releases the row returned last. */
static void release(struct sp__inl *l)
{
	if (l->given)
		settle(l, l->given);
	l->given = NULL;
	sp__fetch_release(l->fetch);
}

int sp__inl_next(void *level, const struct sp__tuple **row)
{
	struct sp__inl *l = level;

	release(l);
	if (l->status >= 0)
		l->status = next(l, row);
	return l->status;
}

int sp__inl_more(void *level, const struct sp__tuple **row)
{
	struct sp__inl *l = level;

	release(l);
	if (l->status >= 0)
		l->status = is_due(l) ? SP_LATER : give(l, row);
	return l->status;
}

void sp__inl_note(const struct sp__inl *l, struct sp_join_stats *st)
{
	const struct sp__fetch_counts *c;
	uint64_t hits, misses;

	if (!l->fetch)
		return;
	c = sp__fetch_counts(l->fetch);
	sp__lookup_counts(l->lookup, &hits, &misses);
	st->probes += l->probes;
	st->index_reads += misses;
	st->inner_records += c->records;
	st->inner_reads += c->reads;
	st->inner_bytes += c->bytes;
	st->shared_records += c->shared;
	st->coalesced_records += c->coalesced;
	st->batch = (unsigned)sp__max(st->batch, l->batch);
}
