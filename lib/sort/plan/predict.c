/* SPDX-License-Identifier: MIT */
/*
 * Predicts clusters and duration of a sort's merges on a real device from costs per byte and seek.
 *
 * Reads.  A merge reads as many clusters as its read plan needs (choices.c).  A merge that writes
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
#include "base/minmax.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sort/plan/policy.h"
#include "sort/plan/predict.h"
#include "sort/select/replace.h"

/* Returns the bytes of the records that fill a run. */
static double run_of(const struct sp__sort_sizes *s)
{
	double full = (double)s->plan->run_bytes / (1 + SP__ENTRY_COST / s->record_bytes);

	if (s->plan->formation == SP_FORM_LOAD && ceil(s->bytes / full) == (double)s->runs)
		return full;
	return s->bytes / (double)(s->runs ? s->runs : 1);
}

/*
 * Returns the pages for a merge.  The memory for runs is free when they are formed, except that of
 * a kept run.  The final merge writes no run.
 */
static unsigned pages_for(const struct sp__sort_sizes *s, bool formed, bool final)
{
	const struct sp_sort_plan *p = s->plan;
	uint64_t slots = p->run_bytes * p->run_buffers, bytes = p->merge_bytes;

	if (!sp__policy_eager(p->policy))
		bytes -= sp__min(bytes, slots);
	if (formed && !(final && s->kept_bytes > 0))
		bytes += slots;
	if (final)
		bytes += sp__plan_spill_bytes(s->opts, p->memory_bytes, p->page_bytes);
	if (s->opts->merge_bytes)
		bytes = sp__min(bytes, s->opts->merge_bytes);
	return (unsigned)sp__max(sp__min(bytes / p->page_bytes, UINT32_MAX), 1);
}

/*
 * Returns the length of the last run if it stays in memory, else 0.  It stays if the rest has pages
 * for the other runs (merge/final.c).  On a simulated machine one run is formed at a time.
 */
static double kept_of(struct sp__sort_sizes *s)
{
	const struct sp_sort_plan *p = s->plan;

	if (!sp__volume_spec_simulated(&s->opts->run) || p->formation != SP_FORM_LOAD ||
	    p->policy != SP_MERGE_LAZY || s->opts->run_bytes || s->runs > p->fan_in)
		return 0;
	s->kept_bytes = s->bytes - (double)(s->runs - 1) * s->run_bytes;
	return (s->runs - 1) * SP__PAGES_KEPT <= pages_for(s, true, true) ? s->kept_bytes : 0;
}

struct sp__sort_sizes sp__sort_sizes(const struct sp_sort_opts *o, const struct sp_sort_plan *plan)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	struct sp__sort_sizes s = { .opts = o,
				    .plan = plan,
				    .record_bytes = record ? (double)record : SP__PLAN_RECORD_BYTES,
				    .bytes = (double)plan->input_bytes,
				    .max_bytes = INFINITY,
				    .runs = plan->runs,
				    .in_memory = plan->in_memory };
	double selected = sp__replace_run_bytes(plan->run_bytes);

	if (o->top && !o->count)
		s.max_bytes = (double)o->top * s.record_bytes;
	/* The first and the last run of replacement selection are short. */
	if (plan->formation == SP_FORM_REPLACEMENT) {
		s.runs = (uint64_t)ceil(s.bytes / selected + 0.5);
		s.in_memory |= s.bytes <= selected / 2;
	}
	s.run_bytes = run_of(&s);
	s.kept_bytes = plan->in_memory ? 0 : kept_of(&s);
	s.in_memory |= s.kept_bytes == s.bytes;
	return s;
}

double sp__sort_batch_bytes(const struct sp__sort_sizes *s)
{
	double memory = (double)sp__replace_batch_bytes(s->plan->run_bytes);

	return fmax(memory / (1 + SP__ENTRY_COST / s->record_bytes), s->record_bytes);
}

/* State of following a policy. */
struct follow {
	const struct sp__sort_sizes *s;
	const struct sp__steps *steps;
	void *ctx;
	struct sp__policy *policy;
	unsigned *ids;
	unsigned n; /* runs formed */
	bool formed;
};

static int form(struct follow *f)
{
	uint64_t bytes = 0;
	int rc = f->n < SP__STEPS_RUNS_MAX ? f->steps->form(f->ctx, f->n, &bytes, &f->formed)
					   : -E2BIG;

	return rc || !bytes ? rc : sp__policy_add(f->policy, f->n++, bytes);
}

static int merge(struct follow *f, unsigned n, const struct sp__policy_step *order)
{
	struct sp__merge_step step = { .ids = f->ids,
				       .n = n,
				       .level = order->level,
				       .pages = pages_for(f->s, f->formed, order->final),
				       .final = order->final };
	uint64_t bytes = 0;
	int rc = f->steps->merge(f->ctx, &step, &bytes);

	return rc || step.final ? rc : sp__policy_merged(f->policy, f->ids[0], bytes);
}

int sp__steps_follow(const struct sp__sort_sizes *s, const struct sp__steps *steps, void *ctx)
{
	const struct sp_sort_plan *p = s->plan;
	struct follow f = {
		.s = s, .steps = steps, .ctx = ctx, .ids = calloc(p->fan_in, sizeof(*f.ids))
	};
	struct sp__policy_step order = { 0 };
	int rc = f.ids ? sp__policy_new(&f.policy, p->policy, p->fan_in, false) : -ENOMEM;

	while (!rc && !order.final) {
		unsigned n = sp__policy_next(f.policy, f.formed, f.ids, p->fan_in, &order);

		if (!n && f.formed)
			break;
		rc = n ? merge(&f, n, &order) : form(&f);
	}
	sp__policy_free(f.policy);
	free(f.ids);
	return rc;
}

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

static int form_run(void *ctx, unsigned i, uint64_t *bytes, bool *last)
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

static int merge_runs(void *ctx, const struct sp__merge_step *step, uint64_t *bytes)
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
	static const struct sp__steps steps = { form_run, merge_runs };
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
