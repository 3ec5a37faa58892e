/* SPDX-License-Identifier: MIT */
/*
 * Merges files that seem to be sorted.
 *
 * Algorithm: each file has a current record.  The one with the smaller key has no partner and is
 * skipped.  If keys are equal, the records of one file with that key are its group: a span of the
 * batch, with a copy of the records in earlier batches.  Each record of the other file with that
 * key is joined with the group as it is read.  If a file's group had several records and met only
 * one, that file streams from then on.
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
#include "join/plan/plan.h"
#include "join/keys/keyorder.h"
#include "join/input/balance.h"
#include "join/merge/presorted.h"
#include "join/space/runread.h"
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
	char *mem;	     /* of the writer, then of the reader */
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

struct group {
	struct side *side; /* the file of its records; NULL: none */
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
	int holds; /* the file whose records form the group */
	struct group group;
	struct sp__tally wanted, met; /* records of the groups, per traversal */
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
	struct group *g = &t->group;
	struct sp__slice *key = &s->last_key;

	if (s->last && key->p != sp__no_field) {
		if (sp__bytes_set(&s->last_copy, key->p, key->n, NULL) < 0)
			return sp__join_no_memory(t->env);
		key->p = s->last_copy.data;
	}
	if (g->side != s)
		return 0;
	if (sp__bytes_append(&g->copy, g->begin, (size_t)(s->source->end - g->begin), NULL) < 0)
		return sp__join_no_memory(t->env);
	return g->copy.bytes > t->layout->table_bytes;
}

/* Reads the next record: 0, 1 (it is out of order, or there is no space) or an error. */
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
		sp__line_set(&t->out->emit, s->number, g->copy.data, g->first.bytes, &g->first);
	return 0;
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
		sp__line_set(&t->out->emit, s->number, data, bytes, &l);
		t->met.records++;
		if (streamed)
			sp__emit_sides(&t->out->emit, t->holds, &l, streamed);
		else
			sp__emit_sides(&t->held.emit, t->holds, &l, NULL);
	}
}

static void whole_group(struct trial *t, const struct sp__line *streamed)
{
	const struct group *g = &t->group;

	t->wanted.records += g->records;
	span(t, g->copy.data, g->copy.data + g->copy.bytes, streamed);
	span(t, g->begin, g->end, streamed);
}

/* Joins a streamed record that has partners. */
static int match(struct trial *t, const struct side *s)
{
	const struct sp_join_opts *o = t->opts;

	if (o->pairs && t->group.records == 1)
		sp__emit_sides(&t->out->emit, t->holds, &t->group.first, &s->now);
	else if (o->pairs)
		whole_group(t, &s->now);
	if (o->semi && s->number == 0)
		sp__emit_sides(&t->held.emit, 0, &s->now, NULL);
	return t->out->emit.error ? t->out->emit.error : t->held.emit.error;
}

static int matches(struct trial *t)
{
	struct side *h = &t->side[t->holds], *s = &t->side[!t->holds];
	uint64_t streamed = 0;
	int rc = gather(t, h);

	if (rc)
		return rc;
	if (t->opts->semi && h->number == 0)
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
	/* Reads the rest even if it is not needed, to check its order. */
	while (!rc && a->have)
		rc = single(t, a);
	while (!rc && b->have)
		rc = single(t, b);
	return rc;
}

/* Checks that the output is the pairs of the records returned; returns rc if so. */
static int balance(struct trial *t, int rc)
{
	int lost = sp__balance_same(t->in, t->holds, "groups of a merge", &t->wanted, &t->met);

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

int sp__join_presorted(struct sp__join_inputs *in, struct sp__result *out,
		       const struct sp__join_layout *layout)
{
	struct trial t = { .in = in,
			   .out = out,
			   .opts = in->opts,
			   .env = in->env,
			   .layout = layout,
			   .order.by = in->opts->sorted };
	int rc;

	if (in->opts->ignore_case)
		t.order.upper = out->emit.cut.upper;
	for (int i = 0; i < 2; i++)
		t.side[i] = (struct side){ .source = &in->source[i],
					   .number = i,
					   .term = sp__rec_term(&in->source[i].format) };
	rc = held_open(&t);
	if (!rc)
		rc = merge(&t);
	if (!rc)
		rc = held_write(&t.held, &out->emit);
	if (rc >= 0)
		rc = balance(&t, rc);
	held_close(&t.held);
	for (int i = 0; i < 2; i++)
		sp__bytes_release(&t.side[i].last_copy, NULL);
	sp__bytes_release(&t.group.copy, NULL);
	return rc;
}
