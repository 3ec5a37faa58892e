/* SPDX-License-Identifier: MIT */
/*
 * Merges files that seem to be sorted.
 *
 * Algorithm: each file has a current record.  The one with the smaller key has no partner and is
 * skipped.  If keys are equal, the records of one file with that key are its group: a span of the
 * batch, with a copy of the records in earlier batches.  Each record of the other file with that
 * key is joined with the group as it is read.  The group is that of file 1, unless only file 2 has
 * a single record.  So the order of pairs depends on nothing but the records with their key, and is
 * the same for any ranges of the files (ranges.h).
 *
 * Invariant: every record is compared with the record before it, and the output so far is exactly
 * the pairs among the first records of each file, up to some number.  If a record is out of order,
 * these numbers are returned, and another algorithm finds the other pairs.  Unpaired records could
 * not be taken back as easily: they are held until both files have ended (struct held).
 *
 * Memory: one group, at most the table memory of a hash join.  A larger group ends the merge like
 * disorder.
 *
 * Rejected: checking the order of both files before joining, which reads them twice if they are
 * sorted.
 */
#include <stdlib.h>
#include "flow/runread.h"
#include "join/merge/merge.h"
#include "join/merge/ranges.h"
#include "join/space/space.h"
#include "spill/writer.h"

/*
 * Records that do not yet belong to the result for certain: assembled, and kept in temporary space
 * if they exceed a buffer.
 */
struct held {
	struct sp__join_inputs *in;
	const struct sp__join_layout *layout;
	struct sp__spill *spill; /* NULL: not open */
	struct sp__emit emit;
	char *mem;	     /* memory of the writer, then of the reader */
	struct sp__run *run; /* NULL: everything is in the buffer of emit */
	uint64_t bytes;	     /* put into it */
	struct sp__runwriter writer;
	bool writing;
};

struct side {
	struct sp__source *source;
	int number;
	struct sp__line now;   /* the current record */
	bool have;	       /* there is one */
	bool same;	       /* its key equals the key of the record before */
	uint64_t before;       /* records before it */
	struct sp__tally done; /* records completely processed, and their bytes */
	struct sp__slice last_key;
	struct sp__bytes last_copy; /* holds the key after its batch is released */
	bool last;		    /* there is a record before */
	size_t term;		    /* bytes of terminator after each record */
};

/* Records of one file with the same key. */
struct group {
	bool growing; /* the records read next can belong to it */
	uint64_t records;
	struct sp__line first;	 /* the first record */
	const char *begin, *end; /* records in the current batch */
	struct sp__bytes copy;	 /* records of earlier batches */
};

struct trial {
	struct sp__join_inputs *in;
	struct sp__result *out;
	const struct sp_join_opts *opts;
	struct sp__env *env;
	const struct sp__join_layout *layout;
	struct sp__keyorder order;
	struct side side[2];
	struct group group[2];	      /* by file */
	struct sp__tally wanted, met; /* records of the groups, per traversal */
	struct sp__joinrange *range;  /* the sources' part of the files; NULL: all */
	struct held held;
};

static int to_space(void *arg, const char *data, size_t bytes, bool whole)
{
	struct held *held = arg;
	const struct sp__join_layout *l = held->layout;
	struct sp__env *env = held->in->env;
	int rc = 0;

	(void)whole;
	if (!held->writing) {
		rc = sp__joinspace_open(&held->spill, held->in, l->page_bytes, 1, l->buffered);
		if (rc < 0)
			return rc;
		held->mem = sp__pages_alloc(l->write_bytes, true);
		if (!held->mem || sp__run_new(&held->run, &env->budget) < 0)
			return sp__join_no_memory(env);
		held->writing = true;
		rc = sp__runwriter_open(&held->writer, held->spill, held->run, held->mem,
					l->write_bytes, NULL, NULL);
	}
	held->bytes += bytes;
	return rc < 0 || !bytes ? rc : sp__runwriter_put(&held->writer, data, bytes);
}

static int held_open(struct trial *t)
{
	struct held *held = &t->held;
	int rc = sp__emit_init(&held->emit, t->opts, t->env->err);

	held->in = t->in;
	held->layout = t->layout;
	for (int i = 0; i < 2; i++)
		held->emit.auto_fields[i] = t->out->emit.auto_fields[i];
	held->emit.where = t->out->emit.where;
	held->emit.sink = to_space;
	held->emit.sink_arg = held;
	return rc;
}

/* Copies the records back from temporary space, as bytes. */
static int write_run(struct held *held, struct sp__emit *to)
{
	const struct sp_recfmt bytes = { .kind = SP_REC_FIXED, .fixed_bytes = 1 };
	struct sp__runread r;
	struct sp_batch batch;
	uint64_t back = 0;
	int rc = 0;

	sp__runread_open(&r, held->spill, held->run, &bytes, true, held->mem,
			 held->layout->write_bytes);
	while (!rc && (rc = sp__runread_next(&r, &batch)) == SP_READY) {
		sp__emit_raw(to, batch.data, batch.bytes);
		back += batch.bytes;
		rc = to->error;
	}
	sp__runread_close(&r);
	return rc ? rc : sp__balance_bytes(held->in, "records held", held->bytes, back);
}

/* Adds the held records to the result. */
static int held_write(struct held *held, struct sp__emit *to)
{
	struct sp__emit *e = &held->emit;
	int rc;

	if (!held->writing) {
		sp__emit_raw(to, e->buf, (size_t)(e->at - e->buf));
		rc = e->error ? e->error : to->error;
	} else {
		rc = sp__emit_flush(e);
		if (!rc)
			rc = sp__runwriter_finish(&held->writer);
		if (!rc)
			rc = write_run(held, to);
	}
	to->filtering.records += e->filtering.records;
	for (uint64_t i = 0; i < e->records && !rc; i++)
		sp__emit_count(to);
	return rc;
}

static void held_close(struct held *held)
{
	if (held->writing)
		sp__runwriter_close(&held->writer);
	sp__run_free(held->run);
	sp__joinspace_note(held->in, held->spill);
	sp__spill_close(held->spill);
	if (held->mem)
		sp__pages_free(held->mem, held->layout->write_bytes);
	sp__emit_release(&held->emit);
}

/* Copies the data still needed before the batch is released.  1: no memory for it. */
static int keep(struct trial *t, struct side *s)
{
	struct group *g = &t->group[s->number];
	struct sp__slice *key = &s->last_key;
	int rc;

	if (s->last && key->p != sp__no_field && key->p != s->last_copy.data) {
		if (sp__bytes_set(&s->last_copy, key->p, key->n, NULL) < 0)
			return sp__join_no_memory(t->env);
		key->p = s->last_copy.data;
	}
	if (!g->growing)
		return 0;
	if (sp__bytes_append(&g->copy, g->begin, (size_t)(s->source->end - g->begin), NULL) < 0)
		return sp__join_no_memory(t->env);
	if (t->range && (rc = sp__joinrange_hold(t->range, g->copy.bytes)) < 0)
		return rc;
	return g->copy.bytes > t->layout->table_bytes;
}

/* Reads the next record: 0, 1 (it is out of order, or there is no space) or an error. */
static int next(struct trial *t, struct side *s)
{
	struct sp__source *src = s->source;
	size_t bytes;
	const char *data;
	int rc, diff;

	if (s->have) {
		s->last = true;
		s->before++;
		s->last_key = s->now.key;
	}
	s->have = false;
	while (src->at == src->end) {
		rc = keep(t, s);
		if (!rc)
			rc = sp__source_fill(src);
		else if (rc > 0)
			return 1;
		if (t->group[s->number].growing)
			t->group[s->number].begin = src->at;
		if (rc != SP_READY)
			return rc;
	}
	data = src->at;
	src->at = sp__record_next(&src->format, data, src->end, &bytes);
	src->lines++;
	sp__line_set(&t->out->emit, s->number, data, bytes, &s->now);
	s->have = true;
	/* The hash join compares keys without quotes. */
	if (t->out->emit.cut.kind == SP__CUT_CSV && s->now.key.n && *s->now.key.p == '"')
		return 1;
	if (!s->last)
		return 0;
	diff = sp__keyorder_compare(&t->order, &s->last_key, &s->now.key);
	s->same = !diff;
	return diff > 0;
}

/* Counts all records before the current ones as processed. */
static void settle(struct trial *t)
{
	for (int i = 0; i < 2; i++)
		t->in->merged[i] = t->side[i].before;
}

static int single(struct trial *t, struct side *s)
{
	int rc;

	if (t->opts->unpaired[s->number])
		sp__emit_sides(&t->held.emit, s->number, &s->now, NULL); /* held */
	sp__tally_count(&s->done, s->now.bytes + s->term);
	rc = next(t, s);
	settle(t);
	return rc < 0 ? rc : t->held.emit.error ? t->held.emit.error : rc;
}

/* Groups. */

/* Makes the current record the first of a group, and reads the next one. */
static int open_group(struct trial *t, struct side *s)
{
	struct group *g = &t->group[s->number];

	g->growing = true;
	g->first = s->now;
	g->begin = s->now.data;
	g->records = 1;
	g->copy.bytes = 0;
	return next(t, s);
}

/* True if the current record has the key of the one before. */
static bool goes_on(const struct side *s)
{
	return s->have && s->same;
}

static void close_group(struct trial *t, struct side *s)
{
	struct group *g = &t->group[s->number];

	g->growing = false;
	g->end = s->have ? s->now.data : g->begin;
	if (g->copy.bytes)
		sp__line_set(&t->out->emit, s->number, g->copy.data, g->first.bytes, &g->first);
}

/* Adds all further records with its key. */
static int gather(struct trial *t, struct side *s)
{
	int rc = 0;

	while (!rc && goes_on(s)) {
		t->group[s->number].records++;
		rc = next(t, s);
	}
	return rc;
}

/*
 * Makes the groups of two records with equal keys, and chooses the one that is held: a group of one
 * record, or that of file 1.  The other one begins with a group of one record, if it has begun.
 */
static int groups(struct trial *t, struct side **held)
{
	struct side *a = &t->side[0], *b = &t->side[1];
	int rc = open_group(t, a);

	*held = a;
	t->group[1].records = 0;
	if (!rc && goes_on(a)) {
		rc = open_group(t, b);
		close_group(t, b);
		if (!rc && goes_on(b))
			rc = gather(t, a);
		else
			*held = b;
	}
	close_group(t, a);
	return rc;
}

/* Writes each record of a span of a group: with the streamed one, or alone. */
static void span(struct trial *t, const struct side *held, const char *at, const char *end,
		 const struct sp__line *streamed)
{
	struct sp__line l;
	size_t bytes;

	while (at < end) {
		const char *data = at;

		at = sp__record_next(&held->source->format, data, end, &bytes);
		sp__line_set(&t->out->emit, held->number, data, bytes, &l);
		t->met.records++;
		if (streamed)
			sp__emit_sides(&t->out->emit, held->number, &l, streamed);
		else
			sp__emit_sides(&t->held.emit, held->number, &l, NULL);
	}
}

static void whole_group(struct trial *t, const struct side *held, const struct sp__line *streamed)
{
	const struct group *g = &t->group[held->number];

	t->wanted.records += g->records;
	span(t, held, g->copy.data, g->copy.data + g->copy.bytes, streamed);
	span(t, held, g->begin, g->end, streamed);
}

/* Joins a streamed record with the group held. */
static int match(struct trial *t, const struct side *held, struct side *s,
		 const struct sp__line *streamed)
{
	const struct group *g = &t->group[held->number];
	const struct sp_join_opts *o = t->opts;

	sp__tally_count(&s->done, streamed->bytes + s->term);
	if (o->pairs && g->records == 1)
		sp__emit_sides(&t->out->emit, held->number, &g->first, streamed);
	else if (o->pairs)
		whole_group(t, held, streamed);
	if (o->semi && s->number == 0)
		sp__emit_sides(&t->held.emit, 0, streamed, NULL);
	return t->out->emit.error ? t->out->emit.error : t->held.emit.error;
}

static int matches(struct trial *t)
{
	struct side *h, *s;
	const struct group *g;
	int rc = groups(t, &h);

	if (rc)
		return rc;
	s = &t->side[!h->number];
	g = &t->group[h->number];
	if (t->opts->semi && h->number == 0)
		whole_group(t, h, NULL);
	/* The first record of the other file has been passed, or is the current one. */
	s->same = true;
	if (t->group[s->number].records) {
		rc = match(t, h, s, &t->group[s->number].first);
		settle(t);
	}
	while (!rc && goes_on(s)) {
		rc = match(t, h, s, &s->now);
		if (!rc)
			rc = next(t, s);
		settle(t);
	}
	h->done.records += g->records;
	h->done.sum += g->copy.bytes + (uint64_t)(g->end - g->begin);
	return rc;
}

/* Reads the rest of a file even if it is not needed, to check its order. */
static int tail(struct trial *t, struct side *s)
{
	/* Only the range of the other file has ended, so records must precede the rest. */
	bool more = t->range && t->range->cut.more[!s->number];
	int rc = 0;

	while (!rc && s->have) {
		if (more && sp__keyorder_compare(&t->order, &s->now.key, &t->range->cut.bound) >= 0)
			return SP__MERGE_STOPPED;
		rc = single(t, s);
	}
	return rc;
}

/* Merges from the current records on.  0; 1: disorder; SP__MERGE_STOPPED, or an error. */
static int merge(struct trial *t)
{
	struct side *a = &t->side[0], *b = &t->side[1];
	int rc = a->have ? 0 : next(t, a);

	if (!rc && !b->have)
		rc = next(t, b);
	while (!rc && a->have && b->have) {
		int diff = sp__keyorder_compare(&t->order, &a->now.key, &b->now.key);

		rc = diff ? single(t, diff < 0 ? a : b) : matches(t);
	}
	if (!rc)
		rc = tail(t, a);
	return rc ? rc : tail(t, b);
}

/* Checks that the output is the pairs of the records returned; returns rc if so. */
static int balance(struct trial *t, int rc)
{
	int lost = sp__balance_same(t->in, 0, "groups of a merge", &t->wanted, &t->met);

	for (int i = 0; i < 2 && !lost; i++) {
		struct sp__tally *done = &t->side[i].done;
		struct sp__tally merged = { .records = t->in->merged[i], .sum = done->sum };

		lost = sp__balance_same(t->in, i, "merge", &merged, done);
		sp__tally_join(&t->in->source[i].done, done);
	}
	if (!lost && !rc)
		lost = sp__balance_sources(t->in);
	return lost ? lost : rc;
}

static struct sp__keyorder order_of(const struct sp__join_inputs *in, const struct sp__result *out)
{
	return (struct sp__keyorder){ in->opts->sorted,
				      in->opts->ignore_case ? out->emit.cut.upper : NULL, false };
}

static int trial_begin(struct trial *t, struct sp__join_inputs *in, struct sp__result *out,
		       const struct sp__join_layout *layout)
{
	*t = (struct trial){ .in = in,
			     .out = out,
			     .opts = in->opts,
			     .env = in->env,
			     .layout = layout,
			     .order = order_of(in, out) };
	for (int i = 0; i < 2; i++)
		t->side[i] = (struct side){ .source = &in->source[i],
					    .number = i,
					    .term = sp__rec_term(&in->source[i].format) };
	return held_open(t);
}

static int trial_run(void *trial)
{
	struct trial *t = trial;
	int rc = merge(t);

	if (!rc)
		rc = held_write(&t->held, &t->out->emit);
	if (rc == 0 || rc == 1)
		rc = balance(t, rc);
	return rc == 1 ? SP__MERGE_DISORDER : rc;
}

static void trial_end(struct trial *t)
{
	held_close(&t->held);
	for (int i = 0; i < 2; i++) {
		sp__bytes_release(&t->side[i].last_copy, NULL);
		sp__bytes_release(&t->group[i].copy, NULL);
	}
}

/* Ranges. */

static void *begin_range(struct sp__joinrange *r, const void *layout)
{
	struct trial *t = malloc(sizeof(*t));

	if (!t) {
		(void)sp__join_no_memory(r->in.env);
		return NULL;
	}
	if (trial_begin(t, &r->in, &r->out, layout) < 0) {
		trial_end(t);
		free(t);
		return NULL;
	}
	t->range = r;
	return t;
}

/* Merges the rest of both files, after a range that has stopped. */
static void go_on(void *trial, struct sp__result *out, const struct sp__joinrange_past *past)
{
	struct trial *t = trial;

	t->range = NULL;
	t->out = out;
	t->env = t->in->env;
	for (int i = 0; i < 2; i++) {
		t->side[i].before += past->records[i];
		t->side[i].done.records += past->records[i];
	}
}

static void end_range(void *trial)
{
	trial_end(trial);
	free(trial);
}

int sp__join_presorted(struct sp__join_inputs *in, struct sp__result *out,
		       const struct sp__join_layout *layout)
{
	static const struct sp__joinrange_ops ops = { begin_range, trial_run, go_on, end_range };
	const struct sp_join_opts *o = in->opts;
	struct sp__keyorder order = order_of(in, out);
	/* What is held comes after all pairs. */
	bool alone = o->semi || o->unpaired[0] || o->unpaired[1];
	int rc = alone ? SP_EUNSUP : sp__joinranges_merge(in, out, &order, &ops, layout);
	struct trial t;

	if (rc == SP_EUNSUP) {
		rc = trial_begin(&t, in, out, layout);
		if (!rc)
			rc = trial_run(&t);
		trial_end(&t);
	}
	return rc == SP__MERGE_DISORDER ? 1 : rc;
}
