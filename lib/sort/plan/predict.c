/* SPDX-License-Identifier: MIT */
/*
 * Predicts clusters and duration of a sort's merges on a real device from costs per byte and seek.
 *
 * Reads.  A merge reads as many clusters as its read plan needs (strategy.c).  A merge that writes
 * into the space it frees produces a run of many extents, and later merges pay for the seeks
 * between them.
 *
 * CPU time overlaps with I/O, except while the first pages are read and after the last page has
 * arrived.  Without read-ahead the two add up.
 *
 * Not modelled: arrays, drives that reorder requests, too little memory to describe all extents,
 * skewed input.
 */
#include <math.h>
#include <stdlib.h>
#include "run/memory.h"
#include "sort/plan/predict.h"

/* A run: its bytes, and how many of its pages start an extent of their own. */
struct run {
	double bytes, extents;
};

struct merges {
	const struct sp__sort_sizes *s;
	const struct sp__merge_costs *costs;
	struct sp__device_costs device;
	bool keys;
	struct run *runs;
	struct sp__merge_totals *totals;
};

/* Bytes, pages and seeks of a merge. */
struct moved {
	double bytes, pages, clusters, jumps; /* jumps: between extents inside clusters */
	unsigned buffers;
	enum sp_readahead strategy;
};

static struct moved read_runs(const struct merges *m, const struct sp__merge_step *step)
{
	const struct sp_sort_plan *p = m->s->plan;
	struct sp_strategy_plan table[SP_READ_COUNT_];
	struct moved r = { .buffers = step->pages };
	double extents = 0;

	for (unsigned i = 0; i < step->n; i++) {
		const struct run *run = &m->runs[step->ids[i]];

		r.bytes += run->bytes;
		extents += run->extents * run->bytes / p->page_bytes;
	}
	r.bytes = fmin(r.bytes, m->s->max_bytes + (double)r.buffers * p->page_bytes);
	r.pages = r.bytes / p->page_bytes;
	r.strategy =
		sp__plan_readahead(m->s->opts->readahead, (uint64_t)ceil(r.pages), p->page_bytes,
				   step->n, r.buffers, m->keys, m->device, table);
	/* A single run is read in sequence. */
	r.clusters = step->n > 1 ? table[r.strategy].cluster_reads : 1;
	r.jumps = extents * fmax(1 - r.clusters / r.pages, 0);
	return r;
}

/*
 * Describes the run that a merge of n writes, and returns its seeks.  If runs are in order, the arm
 * leaves reading for some of the chunks.  If space is reused, there are n free extents, and 1 + k /
 * n pages of each run for a chunk of k pages, so a chunk has k n / (k + n) extents.
 */
static double write_run(const struct merges *m, const struct sp__merge_step *step,
			const struct moved *r, struct run *out)
{
	const struct sp_sort_plan *p = m->s->plan;
	double chunk_bytes = sp__buffers(p->memory_bytes).chunk_bytes, n = step->n;
	double k = fmax(floor(chunk_bytes / p->page_bytes), 1), chunks = r->pages / k;
	double stops = r->clusters + r->jumps, hops = chunks * stops / (chunks + stops);

	/* A single chunk is written while nothing is read. */
	if (sp__plan_spill_bytes(m->s->opts, p->memory_bytes, p->page_bytes) < 2 * p->page_bytes)
		hops = chunks;
	*out = (struct run){ .bytes = r->bytes };
	/* Placed runs free whole tracks. */
	if ((int)step->level - 1 > p->recycle || p->placement != SP_PLACE_CONTIGUOUS)
		return hops;
	out->extents = fmin(k, n) / k;
	return r->pages * out->extents;
}

static int form(void *ctx, unsigned i, uint64_t *bytes, bool *last)
{
	struct merges *m = ctx;
	const struct sp__sort_sizes *s = m->s;
	uint64_t n = s->runs - (s->kept_bytes > 0);
	struct run *r = &m->runs[i];

	*r = (struct run){ .bytes = fmin(s->run_bytes, s->bytes - i * s->run_bytes) };
	/* Replacement selection does not know yet which records are first. */
	if (s->plan->formation == SP_FORM_LOAD)
		r->bytes = fmin(r->bytes, s->max_bytes);
	*bytes = (uint64_t)r->bytes;
	*last = i + 1 >= n;
	return 0;
}

static int merge(void *ctx, const struct sp__merge_step *step, uint64_t *bytes)
{
	struct merges *m = ctx;
	const struct sp__merge_costs *c = m->costs;
	struct moved r = read_runs(m, step);
	struct run out = { 0 };
	double seeks = r.clusters + r.jumps, cpu = c->merge_s * r.bytes, device, first;
	bool path = m->device.path && step->final && step->level == 1;

	if (!step->final)
		seeks += write_run(m, step, &r, &out);
	/* Along the path each page costs a hop. */
	device = r.bytes * c->read_s + out.bytes * c->write_s +
		 (path ? r.pages * m->device.seek_s : seeks * c->seek_s);
	first = r.strategy == SP_READ_NONE ? 1 : fmin(r.buffers / r.pages, 1);
	m->totals->seconds += first * (device + cpu) + (1 - first) * fmax(cpu, device);
	m->totals->clusters += r.clusters;
	m->runs[step->ids[0]] = out;
	*bytes = (uint64_t)out.bytes;
	return 0;
}

int sp__predict_merges(const struct sp__sort_sizes *s, bool keys,
		       const struct sp__merge_costs *costs, struct sp__merge_totals *totals)
{
	static const struct sp__steps steps = { form, merge };
	struct merges m = { .s = s,
			    .costs = costs,
			    .device = sp__plan_device(s->opts),
			    .keys = keys,
			    .totals = totals };
	int rc;

	*totals = (struct sp__merge_totals){ 0 };
	if (s->in_memory || s->runs > SP__STEPS_RUNS_MAX)
		return 0;
	m.runs = calloc(s->runs, sizeof(*m.runs));
	rc = m.runs ? sp__steps_follow(s, &steps, &m) : -ENOMEM;
	free(m.runs);
	return rc;
}
