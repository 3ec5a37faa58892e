/* SPDX-License-Identifier: MIT */
/*
 * Reads records by number: a batch of numbers, sorted, fills a window; a task prints each record
 * once, and puts the texts in the order of the numbers.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "run/memory.h"
#include "table/file/tombstones.h"
#include "table/read/get.h"
#include "table/read/ring.h"

#define BATCH_MAX 2048
#define DIRECTORY_SHARE 8 /* of the working memory, for directory rows */

struct asked {
	uint64_t record;
	uint32_t place;	   /* in the batch */
	size_t begin, end; /* its text in printed */
};

/* The numbers of a slot. */
struct batch {
	struct asked *sorted;
	const struct asked **in_order;
	uint32_t n;
	struct sp__bytes printed; /* in the order of the records */
};

struct get {
	struct sp__window_ring ring;
	struct batch batches[SP__RING_SLOTS];
	const struct sp__tableget_opts *opts;
	struct sp_table_stats *stats;
	sp_table_sink sink;
	void *arg;
	struct sp__scan_ranges ranges; /* for directory rows */
	uint32_t batch, max;	       /* numbers of the next batch, and of the largest */
	bool ended;		       /* next() has no further number */
};

static int compare(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	if (x->record != y->record)
		return x->record < y->record ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* Takes the numbers of a batch.  Returns SP_READY, SP_END, or an error. */
static int take_numbers(struct get *g, struct batch *b)
{
	uint64_t record;
	int rc = g->ended ? SP_END : SP_READY;

	for (b->n = 0; rc == SP_READY && b->n < g->batch;) {
		int there;

		rc = g->opts->next(g->opts->arg, &record);
		if (rc != SP_READY)
			break;
		g->stats->keys++;
		there = g->opts->exist ? 1
				       : sp__tombstones_exists(g->ring.file, record, g->ring.err);
		if (there > 0) {
			b->sorted[b->n] = (struct asked){ .record = record, .place = b->n };
			b->n++;
		} else {
			rc = there ? there : g->opts->absent(g->opts->arg, record);
			rc = rc ? rc : SP_READY;
		}
	}
	g->ended = rc == SP_END;
	g->stats->keys_found += b->n;
	return rc < 0 ? rc : b->n ? SP_READY : SP_END;
}

static int fill(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	struct batch *b = s->own;
	int rc = take_numbers(g, b);

	if (rc != SP_READY)
		return rc;
	g->batch = sp__min(2 * g->batch, g->max);
	qsort(b->sorted, b->n, sizeof(*b->sorted), compare);
	for (uint32_t i = 0; i < b->n; i++) {
		uint8_t *row;

		if (i && b->sorted[i].record == b->sorted[i - 1].record)
			continue;
		row = sp__ranges_row(&g->ranges, b->sorted[i].record, &rc, g->ring.err);
		if (rc)
			return rc;
		rc = sp__window_add(&s->window, b->sorted[i].record, 1, row);
		if (rc)
			return sp__err(g->ring.err, rc, "read", g->ring.file->path, -1);
	}
	return SP_READY;
}

/* Adds the records of a slot to aggregates. */
static int work_sums(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	struct batch *b = s->own;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < b->n; i++) {
		const struct sp__rows rows = sp__window_rows(&s->window, b->sorted[i].record);

		rc = sp__scan_sums_add(g->opts->sums, s, &rows, NULL, 1);
	}
	s->matched = b->n;
	return rc ? sp__err(&s->err, rc, "scan", g->ring.file->path, -1) : 0;
}

static int work(void *get, struct sp__window_slot *s)
{
	struct get *g = get;
	struct batch *b = s->own;
	struct sp__budget *budget = &g->ring.file->env.budget;
	int rc = 0;

	b->printed.bytes = 0;
	for (uint32_t i = 0; !rc && i < b->n; i++) {
		struct asked *a = &b->sorted[i];

		b->in_order[a->place] = a;
		if (i && a->record == a[-1].record) {
			a->begin = a[-1].begin;
		} else {
			struct sp__rows rows = sp__window_rows(&s->window, a->record);

			a->begin = b->printed.bytes;
			rc = sp__output_rows(g->opts->output, &rows, NULL, 1, &b->printed, budget);
		}
		a->end = b->printed.bytes;
	}
	for (uint32_t i = 0; !rc && i < b->n; i++) {
		const struct asked *a = b->in_order[i];

		rc = sp__bytes_append(&s->out, b->printed.data + a->begin, a->end - a->begin,
				      budget);
	}
	s->matched = b->n;
	return rc ? sp__err(&s->err, rc, "get", g->ring.file->path, -1) : 0;
}

/* Limits later batches by the memory that the records of a slot took. */
static void limit_batches(struct get *g, const struct sp__window_slot *s)
{
	const struct batch *b = s->own;
	uint64_t bytes = s->window.bytes + s->out.bytes + b->printed.bytes;
	uint64_t max = g->ring.slot_bytes * b->n / sp__max(bytes, 1);

	g->max = (uint32_t)sp__max(sp__min(max, g->max), 1);
	g->batch = sp__min(g->batch, g->max);
}

static int give(void *get, struct sp__window_slot *s)
{
	struct get *g = get;

	limit_batches(g, s);
	g->stats->records_read += s->window.nranges;
	g->stats->records_matched += s->matched;
	g->stats->cells_read += s->window.cells_read;
	g->stats->output_bytes += s->out.bytes;
	sp__charge_work(&g->ring.file->env, s->matched, 0, s->out.bytes);
	return g->opts->sums ? 0 : g->sink(g->arg, s->out.data, s->out.bytes);
}

uint32_t sp__tableget_batch(const struct sp_run_opts *run, const struct sp__table_layout *l,
			    const bool *groups, uint32_t ntexts, double printed_bytes)
{
	uint64_t bytes, cells = ntexts;

	for (uint32_t f = 0; f < l->ngroups; f++)
		cells += groups[f];
	(void)sp__ring_slots(run, l, groups, ntexts, &bytes);
	/* Records are printed in the order of their numbers, then put in the order asked. */
	cells = cells * l->cell_bytes + 2 * (uint64_t)printed_bytes;
	return (uint32_t)sp__min(bytes / cells + 1, BATCH_MAX);
}

static int open_batches(struct get *g)
{
	const struct sp__window *w = &g->ring.slots[0].window;
	const struct sp__tablefile *f = g->ring.file;

	g->max = sp__tableget_batch(&g->ring.run, &f->layout, w->groups, w->ntexts,
				    sp__table_printed_bytes(&f->schema, g->opts->columns));
	for (unsigned i = 0; i < g->ring.nslots; i++) {
		g->batches[i].sorted = malloc(g->max * sizeof(struct asked));
		g->batches[i].in_order = malloc(g->max * sizeof(struct asked *));
		if (!g->batches[i].sorted || !g->batches[i].in_order)
			return -ENOMEM;
	}
	return 0;
}

static int run(struct get *g)
{
	const struct sp_run_opts *run = &g->ring.file->run;
	int rc = sp__ring_open(&g->ring, g->opts->columns, g->batches, sizeof(*g->batches));

	if (rc)
		return rc;
	g->ranges.rows_needed = g->ring.slots[0].window.ntexts;
	rc = open_batches(g);
	if (!rc)
		rc = sp__ranges_open(&g->ranges,
				     sp__working_memory(run, run->memory_bytes) / DIRECTORY_SHARE);
	if (rc)
		return sp__err(g->ring.err, rc, "get", g->ring.file->path, -1);
	return sp__ring_run(&g->ring);
}

int sp__tableget(struct sp__tablefile *f, const struct sp__tableget_opts *o, sp_table_sink sink,
		 void *arg, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops print = { fill, work, give };
	static const struct sp__window_ring_ops add = { fill, work_sums, give };
	struct get g = { .opts = o,
			 .stats = stats,
			 .sink = sink,
			 .arg = arg,
			 .ranges = { .file = f },
			 .batch = 1 };
	int rc;

	g.ring.file = f;
	g.ring.ops = o->sums ? &add : &print;
	g.ring.arg = &g;
	g.ring.err = err;
	g.ring.parts = o->parts ? o->parts : 1;
	rc = run(&g);
	sp__ring_close(&g.ring, stats);
	sp__ranges_close(&g.ranges);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		free(g.batches[i].sorted);
		free(g.batches[i].in_order);
		sp__bytes_release(&g.batches[i].printed, &f->env.budget);
	}
	return rc;
}
