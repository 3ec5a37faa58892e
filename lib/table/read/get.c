/* SPDX-License-Identifier: MIT */
/*
 * Reads records by number: a batch of numbers, sorted, fills windows one after the other; tasks
 * print each record once, and the texts are given in the order of the numbers.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "run/memory.h"
#include "table/file/directory.h"
#include "table/read/choice.h"
#include "table/read/get.h"
#include "table/read/ring.h"

#define BATCH_MAX (UINT32_C(1) << 20)
#define BATCH_FIRST 16	  /* as many records take hardly longer than one; */
#define BATCH_EARLY 256	  /* batches grow slowly up to here, so that the first records come soon */
#define WINDOW_MAX 2048	  /* records: tasks of windows work concurrently */
#define CHUNK_BYTES 65536 /* bytes of output, if records are put in another order */

struct asked {
	uint64_t record;
	uint32_t place; /* in the batch */
	uint32_t bytes; /* its text: */
	size_t begin;	/* in the output of its window, then in that of the batch */
};

/* The numbers of a slot: some of the sorted batch. */
struct part {
	uint32_t first, n;
	uint64_t cells; /* cells of values */
};

struct get {
	struct sp__window_ring ring;
	struct part parts[SP__RING_SLOTS];
	const struct sp__tableget_opts *opts;
	const struct sp__reading *to;
	struct sp__tableget_plan plan;
	struct sp__layout_gather gather;
	uint32_t ncolumns;   /* columns that are read */
	struct asked *asked; /* the batch: n, of which those before `at` are in windows */
	size_t capacity;
	uint64_t *found_by; /* of each place of the batch, if records are checked */
	size_t found_by_capacity;
	uint32_t n, at, next_n; /* next_n: of the next batch */
	uint32_t later;		/* numbers behind the batch that a larger one left over */
	bool cut;		/* the texts of the batch need more memory than it has */
	bool ascending;		/* the order of the numbers is that of the records */
	bool ended;		/* next() has no further number */
	struct sp__bytes text;	/* of the batch, in the order of the records */
	struct sp__bytes out;	/* in the order of the numbers */
};

void sp__tableget_plan(struct sp__tableget_plan *p, const struct sp_run_opts *run, unsigned parts,
		       const struct sp__table_layout *l, const bool *groups, uint32_t ntexts,
		       double printed_bytes, uint64_t gap_bytes)
{
	struct sp_run_opts half = *run;
	uint64_t cells = 0;

	for (uint32_t f = 0; f < l->ngroups; f++)
		cells += groups[f];
	p->parts = 2 * parts;
	half.memory_bytes = sp__working_memory(run, run->memory_bytes) / p->parts;
	p->slots = sp__ring_slots(&half, l, groups, ntexts, &p->slot_bytes);
	p->gap_cells = sp__min(gap_bytes, p->slot_bytes / 2 / sp__max(cells, 1)) / l->cell_bytes;
	/* Its memory grows by doubling. */
	p->batch_bytes = half.memory_bytes / 2;
	p->batch = (uint32_t)sp__min(
		(uint64_t)((double)p->batch_bytes / (sizeof(struct asked) + printed_bytes)) + 1,
		BATCH_MAX);
	p->more_bytes = ntexts * (double)l->cell_bytes + printed_bytes;
}

bool sp__tableget_full(const struct sp__tableget_plan *p, const struct sp__layout_gather *g,
		       uint64_t n)
{
	uint64_t cells = g->cells + g->more;

	return n >= WINDOW_MAX ||
	       (double)(cells * g->layout->cell_bytes) + (double)(n + 1) * p->more_bytes >
		       (double)p->slot_bytes;
}

uint32_t sp__tableget_next(const struct sp__tableget_plan *p, uint32_t batch)
{
	if (!batch)
		return (uint32_t)sp__min(BATCH_FIRST, p->batch);
	return batch < BATCH_EARLY ? (uint32_t)sp__min(2 * batch, p->batch) : p->batch;
}

static int by_record(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return SP__ORDER(x->record, y->record) ?: SP__ORDER(x->place, y->place);
}

static int by_place(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return SP__ORDER(x->place, y->place);
}

/* Notes what the number at a place of the batch was found by. */
static int note_origin(struct get *g, uint32_t place)
{
	const struct sp__tableget_check *c = g->opts->check;

	if (!c || !c->found_by)
		return 0;
	if (!SP__ARRAY_GROW(g->found_by, g->found_by_capacity, place + 1))
		return sp__err(g->ring.err, -ENOMEM, "get", g->ring.file->path, -1);
	g->found_by[place] = c->found_by(c->arg);
	return 0;
}

/* Compares a record, the first of rows, with what its number was found by. */
static int check(const struct get *g, const struct asked *a, const struct sp__rows *rows,
		 struct sp_errinfo *err)
{
	const struct sp__tableget_check *c = g->opts->check;

	return c ? c->check(c->arg, c->found_by ? g->found_by[a->place] : 0, rows, err) : 0;
}

/* Adds a number to the batch if its record is there. */
static int add_number(struct get *g, uint64_t record)
{
	int rc = g->opts->exist ? 1 : sp__tombstones_exists(g->ring.file, record, g->ring.err);

	g->to->stats->keys++;
	if (rc <= 0)
		return rc ? rc : g->opts->absent(g->opts->arg, record);
	g->to->stats->keys_found++;
	if (!SP__ARRAY_GROW(g->asked, g->capacity, g->n + 1))
		return sp__err(g->ring.err, -ENOMEM, "get", g->ring.file->path, -1);
	g->ascending &= !g->n || g->asked[g->n - 1].record <= record;
	g->asked[g->n] = (struct asked){ .record = record, .place = g->n };
	g->n++;
	return note_origin(g, g->n - 1);
}

/* Takes numbers that were left over. */
static void take_later(struct get *g)
{
	memmove(g->asked, g->asked + g->n, g->later * sizeof(*g->asked));
	g->n = (uint32_t)sp__min(g->later, g->next_n);
	g->later -= g->n;
	g->at = 0;
	g->text.bytes = 0;
	g->ascending = false;
	qsort(g->asked, g->n, sizeof(*g->asked), by_record);
}

/* Takes the numbers of a batch.  Returns SP_READY, SP_END, or an error. */
static int take_batch(struct get *g)
{
	uint64_t record;
	int rc = g->ended ? SP_END : SP_READY;

	if (g->later) {
		take_later(g);
		return SP_READY;
	}
	g->n = g->at = 0;
	g->text.bytes = 0;
	g->ascending = true;
	while (rc == SP_READY && g->n < g->next_n) {
		rc = g->opts->next(g->opts->arg, &record);
		if (rc == SP_READY) {
			rc = add_number(g, record);
			rc = rc ? rc : SP_READY;
		}
	}
	g->ended = rc == SP_END;
	g->next_n = sp__tableget_next(&g->plan, g->next_n);
	if (rc >= 0 && !g->ascending)
		qsort(g->asked, g->n, sizeof(*g->asked), by_record);
	return rc < 0 ? rc : g->n ? SP_READY : SP_END;
}

static bool repeated(const struct get *g, uint32_t i)
{
	return i && g->asked[i].record == g->asked[i - 1].record;
}

/* Adds the next records of the batch to a window, as long as there is memory for them. */
static int fill(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	struct part *p = s->own;
	double texts = 0; /* read, and printed */
	int rc;

	*p = (struct part){ .first = g->at };
	if (g->cut)
		return SP_END;
	s->window.gap_cells = g->plan.gap_cells;
	sp__layout_gather_begin(&g->gather);
	for (; g->at < g->n; g->at++) {
		const uint64_t record = g->asked[g->at].record;
		uint8_t *row;

		if (repeated(g, g->at))
			continue;
		if (g->at > p->first && sp__tableget_full(&g->plan, &g->gather, g->at - p->first))
			break;
		row = sp__ranges_row(&g->ring.ranges, record, &rc, g->ring.err);
		if (rc)
			return rc;
		texts += 2 * sp__ranges_text_bytes(&g->ring.ranges, &s->window, record, row);
		if (g->at > p->first && texts > (double)g->plan.slot_bytes)
			break;
		rc = sp__window_add(&s->window, record, 1, row);
		if (rc)
			return sp__err(g->ring.err, rc, "read", g->ring.file->path, -1);
		sp__layout_gather_add(&g->gather, record);
	}
	p->n = g->at - p->first;
	p->cells = g->gather.cells;
	return p->n ? SP_READY : SP_END;
}

/* Adds the records of a slot to aggregates. */
static int work_sums(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	const struct part *p = s->own;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < p->n; i++) {
		const struct asked *a = &g->asked[p->first + i];
		const struct sp__rows rows = sp__window_rows(&s->window, a->record);

		rc = check(g, a, &rows, &s->err);
		if (rc)
			return rc;
		rc = sp__scan_sums_add(g->opts->sums, s, &rows, NULL, 1);
	}
	s->matched = p->n;
	return rc ? sp__err(&s->err, rc, "scan", g->ring.file->path, -1) : 0;
}

/* Prints a record that is the one before once more. */
static int print_again(struct sp__window_slot *s, const struct asked *a, struct sp__budget *budget)
{
	if (sp__bytes_reserve(&s->out, s->out.bytes + a->bytes, budget))
		return -ENOMEM;
	memcpy(s->out.data + s->out.bytes, s->out.data + a->begin, a->bytes);
	s->out.bytes += a->bytes;
	return 0;
}

static int work(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	const struct part *p = s->own;
	struct sp__budget *budget = &g->ring.file->env.budget;
	struct sp__rows rows;
	int rc = 0;

	for (uint32_t i = p->first; !rc && i < p->first + p->n; i++) {
		struct asked *a = &g->asked[i];

		if (!repeated(g, i))
			rows = sp__window_rows(&s->window, a->record);
		rc = check(g, a, &rows, &s->err);
		if (rc)
			return rc;
		if (repeated(g, i)) {
			a->begin = a[-1].begin;
			a->bytes = a[-1].bytes;
			rc = g->ascending ? print_again(s, a, budget) : 0;
		} else {
			a->begin = s->out.bytes;
			rc = sp__output_rows(g->opts->output, &rows, NULL, 1, &s->out, budget,
					     &s->err);
			a->bytes = (uint32_t)(s->out.bytes - a->begin);
		}
	}
	s->matched = p->n;
	return rc ? sp__err(&s->err, rc, "get", g->ring.file->path, -1) : 0;
}

/* Limits batches by their memory: out: bytes of output of a record. */
static void limit_batch(struct get *g, double out)
{
	const bool checked = g->opts->check && g->opts->check->found_by;
	const double bytes = sizeof(*g->asked) + checked * sizeof(*g->found_by) + out;

	g->plan.batch = (uint32_t)sp__min(g->plan.batch,
					  (uint64_t)((double)g->plan.batch_bytes / bytes) + 1);
}

/* Limits later windows and batches by the memory that the records of a slot took. */
static void limit(struct get *g, const struct sp__window_slot *s)
{
	const struct part *p = s->own;
	const uint64_t values = p->cells * g->ring.file->layout.cell_bytes;
	const double out = (double)s->out.bytes / p->n;
	double more = out;

	if (s->window.bytes > values)
		more += (double)(s->window.bytes - values) / p->n;
	if (more > g->plan.more_bytes)
		g->plan.more_bytes = more;
	limit_batch(g, out);
	g->next_n = (uint32_t)sp__min(g->next_n, g->plan.batch);
}

static int flush(struct get *g, struct sp__bytes *out)
{
	int rc = out->bytes ? g->to->sink(g->to->arg, out->data, out->bytes) : 0;

	g->to->stats->output_bytes += out->bytes;
	out->bytes = 0;
	return rc;
}

static int give(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	const struct part *p = s->own;

	limit(g, s);
	g->to->stats->records_read += s->window.nranges;
	g->to->stats->cells_read += s->window.cells_read;
	sp__charge_values(&g->ring.file->env, s->matched * g->ncolumns, 0);
	sp__charge_work(&g->ring.file->env, s->matched, 0, s->out.bytes);
	if (g->ncolumns)
		sp__columnjoin_charge(g->ring.file, s->matched, g->ncolumns - 1);
	if (g->opts->sums)
		return 0;
	if (g->ascending)
		return flush(g, &s->out);
	g->cut |= g->text.bytes && g->text.bytes + s->out.bytes > g->plan.batch_bytes;
	if (g->cut)
		return 0;
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		g->asked[i].begin += g->text.bytes;
	if (sp__bytes_append(&g->text, s->out.data, s->out.bytes, &g->ring.file->env.budget))
		return sp__err(g->ring.err, -ENOMEM, "get", g->ring.file->path, -1);
	return 0;
}

/*
 * Leaves at least half of the numbers of a batch over: their texts are longer than those of the
 * records before.
 */
static void leave_over(struct get *g)
{
	qsort(g->asked, g->n, sizeof(*g->asked), by_place);
	g->next_n = (uint32_t)sp__max(sp__min(g->n / 2, g->plan.batch), 1);
	g->later += g->n;
	g->n = 0;
	g->cut = false;
}

/* Gives the records of a batch in the order of the numbers. */
static int give_batch(struct get *g)
{
	int rc = 0;

	if (g->cut) {
		leave_over(g);
		return 0;
	}
	g->to->stats->records_matched += g->n;
	if (g->ascending || g->opts->sums)
		return 0;
	qsort(g->asked, g->n, sizeof(*g->asked), by_place);
	for (uint32_t i = 0; !rc && i < g->n; i++) {
		const struct asked *a = &g->asked[i];

		if (sp__bytes_append(&g->out, g->text.data + a->begin, a->bytes,
				     &g->ring.file->env.budget))
			return sp__err(g->ring.err, -ENOMEM, "get", g->ring.file->path, -1);
		if (g->out.bytes >= CHUNK_BYTES)
			rc = flush(g, &g->out);
	}
	return rc ? rc : flush(g, &g->out);
}

static int open_get(struct get *g)
{
	const struct sp__tablefile *f = g->ring.file;
	const struct sp__window *w = &g->ring.slots[0].window;
	const uint64_t memory = sp__working_memory(&f->run, f->run.memory_bytes);
	const unsigned parts = g->opts->parts ? g->opts->parts : 1;
	int rc;

	g->ring.parts = 2 * parts;
	g->ring.few = true;
	rc = sp__ring_open(&g->ring, g->opts->columns, g->parts, sizeof(*g->parts));
	if (rc)
		return rc;
	sp__tableget_plan(&g->plan, &f->run, parts, &f->layout, w->groups, w->ntexts,
			  sp__columns_printed_bytes(&f->schema, g->opts->columns),
			  g->opts->gap_bytes);
	limit_batch(g, sp__columns_printed_bytes(&f->schema, g->opts->columns));
	g->next_n = sp__tableget_next(&g->plan, 0);
	rc = sp__layout_gather_open(&g->gather, &f->layout, w->groups, g->plan.gap_cells,
				    f->cells.first.volume->align_bytes);
	for (uint32_t i = 0; i < f->schema.n; i++)
		g->ncolumns += g->opts->columns[i];
	if (!rc)
		rc = sp__ranges_open(&g->ring.ranges, memory / SP__TABLEGET_ROWS_SHARE);
	return rc ? sp__err(g->ring.err, rc, "get", f->path, -1) : 0;
}

static int run(struct get *g)
{
	int rc = open_get(g);

	while (!rc) {
		rc = take_batch(g);
		if (rc != SP_READY)
			return rc;
		rc = sp__ring_run(&g->ring);
		if (!rc)
			rc = give_batch(g);
	}
	return rc;
}

int sp__tableget(struct sp__tablefile *f, const struct sp__tableget_opts *o,
		 const struct sp__reading *to)
{
	static const struct sp__window_ring_ops print = { fill, work, give };
	static const struct sp__window_ring_ops add = { fill, work_sums, give };
	struct get g = {
		.ring = { .file = f, .ops = o->sums ? &add : &print, .arg = &g, .err = to->err },
		.opts = o,
		.to = to
	};
	int rc = run(&g);

	sp__ring_close(&g.ring, to->stats);
	sp__layout_gather_close(&g.gather);
	free(g.asked);
	free(g.found_by);
	sp__bytes_release(&g.text, &f->env.budget);
	sp__bytes_release(&g.out, &f->env.budget);
	return rc;
}
