/* SPDX-License-Identifier: MIT */
/*
 * Performs merges before the final one, in the order of the policy.  One merge opens its inputs,
 * with a read plan and a pool of pages, or with unpackers if a program compressed the runs, and
 * then writes a new run.
 */
#include <assert.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "base/err.h"
#include "run/charge.h"
#include "sort/plan/plan.h"
#include "sort/runs/step.h"

struct keys_ctx {
	const struct sp__spilled *spilled;
	const struct sp__step_inputs *in;
};

static uint64_t first_page(const struct sp__spilled *spilled, const struct sp__step_inputs *in,
			   unsigned run)
{
	return in->spans ? in->spans[run].from / spilled->sort->plan.page_bytes : 0;
}

static uint64_t pages_of(const struct sp__spilled *spilled, const struct sp__step_inputs *in,
			 unsigned run)
{
	return in->spans ? sp__run_span_pages(&in->spans[run], spilled->sort->plan.page_bytes)
			 : in->runs[run]->npages;
}

static const struct sp__lastkey *last_key(const struct keys_ctx *k, unsigned run, uint64_t page)
{
	return &k->in->runs[run]->lastkeys[first_page(k->spilled, k->in, run) + page];
}

static int compare_last_keys(void *ctx, unsigned ra, uint64_t pa, unsigned rb, uint64_t pb)
{
	const struct keys_ctx *k = ctx;
	const struct sp__keyset *ks = sp__ks(k->spilled->sort->opts.keys);
	const struct sp__lastkey *a = last_key(k, ra, pa), *b = last_key(k, rb, pb);
	const void *ka = k->in->runs[ra]->keys + a->offset, *kb = k->in->runs[rb]->keys + b->offset;
	int c;

	if (ks->form == SP__KEY_COLLATED)
		return sp_keyset_compare(k->spilled->sort->opts.keys, ka, a->bytes, kb, b->bytes);
	c = sp__order_bytes(ka, a->bytes, kb, b->bytes);
	return ks->descending ? -c : c;
}

static int pool_get(void *pool, size_t run, bool wait, const char **data, size_t *bytes)
{
	return sp__pool_get(pool, run, wait, data, bytes);
}

static int pool_release(void *pool, size_t run)
{
	return sp__pool_release(pool, run);
}

static int unpackers_get(void *unpackers, size_t run, bool wait, const char **data, size_t *bytes)
{
	/* A pipe cannot be waited for together with other events, so this blocks. */
	(void)wait;
	return sp__unpackers_get(unpackers, run, data, bytes);
}

void sp__step_close(struct sp__spilled *spilled, struct sp__step_inputs *in)
{
	sp__unpackers_close(in->unpackers);
	sp__pool_close(in->pool);
	if (in->plan)
		in->spill->demand_reads += sp__readplan_demanded(in->plan);
	sp__readplan_free(in->plan);
	free(in->runs);
	sp__budget_credit(&spilled->sort->env.budget, in->charged);
	*in = (struct sp__step_inputs){ 0 };
}

/* Returns the costs of the device, as measured while runs were formed. */
static struct sp__device_costs device_of(const struct sp__spilled *spilled)
{
	struct sp__device_costs d = sp__plan_device(&spilled->sort->opts);

	if (spilled->prediction.transfer_s_per_mib > 0)
		d.transfer_s_per_mib = spilled->prediction.transfer_s_per_mib;
	if (spilled->prediction.seek_s > 0)
		d.seek_s = spilled->prediction.seek_s;
	return d;
}

/* Repeats the planner's choice, now that runs and memory are known. */
static enum sp_readahead strategy_for(const struct sp__spilled *spilled, unsigned n, uint64_t pages,
				      unsigned buffers, struct sp_strategy_plan *table)
{
	const struct sp__sort_shared *s = spilled->sort;

	return sp__plan_readahead(s->opts.readahead, pages, s->plan.page_bytes, n, buffers,
				  spilled->lastkey_fn != NULL, device_of(spilled), table);
}

static int open_plan(struct sp__spilled *spilled, struct sp__step_inputs *in)
{
	struct sp__readplan_opts o = { .runs = in->n, .buffers = in->buffers };
	struct sp_errinfo *err = in->spill->opts.err;
	uint64_t *run_pages = calloc(in->n, sizeof(*run_pages));
	uint32_t *sequence = NULL;
	struct keys_ctx ctx = { spilled, in };
	int rc = -ENOMEM;

	if (!run_pages)
		goto out;
	for (unsigned i = 0; i < in->n; i++)
		o.pages += run_pages[i] = pages_of(spilled, in, i);
	o.run_pages = run_pages;
	o.strategy = strategy_for(spilled, in->n, o.pages, in->buffers, NULL);
	if (sp__readplan_needs_sequence(o.strategy)) {
		sequence = malloc(o.pages * sizeof(*sequence));
		if (!sequence)
			goto out;
		rc = sp__consumption_build(in->n, run_pages, compare_last_keys, &ctx, sequence);
		if (rc < 0)
			goto out;
		o.consumption = sequence;
	}
	rc = sp__readplan_new(&in->plan, &o);
	/* Charges without refusal: the planner has reserved this memory. */
	in->charged = sp__merge_memory(in->n) + sp__pool_memory(in->spill, in->n, in->buffers) +
		      sp__readplan_memory(&o);
	sp__budget_charge(&spilled->sort->env.budget, in->charged);
out:
	free(run_pages);
	free(sequence);
	if (rc == SP_EBUDGET)
		return sp__errf(err, rc, "merge", NULL, -1,
				"merging %u runs needs %u pages of %u bytes, there are %u", in->n,
				sp__readplan_min(o.strategy, in->n), spilled->sort->plan.page_bytes,
				in->buffers);
	if (rc < 0)
		return sp__err(err, rc, rc == -ENOMEM ? "allocate" : "merge", NULL, -1);
	return 0;
}

static int open_unpackers(struct sp__spilled *spilled, struct sp__step_inputs *in,
			  struct sp__freemem where, struct sp__cursor *cursors)
{
	const struct sp__sort_shared *s = spilled->sort;
	int rc;

	if (where.bytes / s->plan.page_bytes < in->n)
		return sp__errf(s->env.err, SP_EBUDGET, "merge", NULL, -1,
				"merging %u runs needs as many pages of %u bytes", in->n,
				s->plan.page_bytes);
	rc = sp__unpackers_open(&in->unpackers, spilled->store, in->runs, in->n, where.mem);
	if (rc < 0)
		return rc;
	in->buffers = in->n;
	for (unsigned i = 0; i < in->n; i++)
		cursors[i].feed = (struct sp__feed){ .ctx = in->unpackers,
						     .index = i,
						     .counted = s->opts.count,
						     .get = unpackers_get };
	return 0;
}

/* Frees memory for the current records of n runs, if they are long and the pages leave enough. */
static struct sp__freemem without_records(const struct sp__spilled *spilled, unsigned n,
					  struct sp__freemem where)
{
	const size_t records = sp__runs_current(spilled, n), page = spilled->sort->plan.page_bytes;
	const size_t pages = sp__readplan_min(spilled->sort->opts.readahead, n);
	struct sp__freemem rest = where;

	if (!records || where.bytes < records + sp__max(pages, 2 * (size_t)n) * page)
		return where;
	rest.bytes = (where.bytes - records) & ~(size_t)4095;
	sp__pages_drop(where.mem + rest.bytes, where.bytes - rest.bytes);
	return rest;
}

int sp__step_open(struct sp__spilled *spilled, struct sp__spill *spill, struct sp__step_inputs *in,
		  const unsigned *ids, const struct sp__run_span *spans, unsigned n,
		  struct sp__freemem where, struct sp__cursor *cursors)
{
	const struct sp__sort_shared *s = spilled->sort;
	unsigned min = sp__readplan_min(s->opts.readahead, n);
	struct sp__poolplan pp;
	uint64_t pages = 0;
	int rc;

	*in = (struct sp__step_inputs){ .spill = spill, .spans = spans, .n = n };
	where = without_records(spilled, n, where);
	in->buffers = (unsigned)(where.bytes / s->plan.page_bytes);
	in->runs = calloc(n, sizeof(struct sp__run *));
	if (!in->runs)
		return sp__err(spill->opts.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < n; i++) {
		in->runs[i] = spilled->runs[ids[i]];
		pages += pages_of(spilled, in, i);
	}
	if (spill->opts.program)
		return open_unpackers(spilled, in, where, cursors);
	if (in->buffers > pages && in->buffers > min)
		in->buffers = pages > min ? (unsigned)pages : min;
	rc = open_plan(spilled, in);
	if (rc < 0)
		return rc;
	pp = (struct sp__poolplan){ in->plan, sp__readplan_next, sp__readplan_consumed,
				    sp__readplan_largest(in->plan) };
	rc = sp__pool_open(&in->pool, spill, in->runs, spans, n, where.mem, in->buffers, &pp);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n; i++)
		cursors[i].feed = (struct sp__feed){ .ctx = in->pool,
						     .index = i,
						     .counted = s->opts.count,
						     .get = pool_get,
						     .release = pool_release };
	return 0;
}

void sp__step_replan(struct sp__spilled *spilled, const unsigned *ids, unsigned n, unsigned buffers)
{
	struct sp_sort_replan *r = &spilled->replan;
	uint64_t pages = 0;

	for (unsigned i = 0; i < n; i++)
		pages += spilled->runs[ids[i]]->npages;
	*r = (struct sp_sort_replan){ .runs = n, .merge_pages = buffers };
	r->readahead = strategy_for(spilled, n, pages, buffers, r->strategy);
	if (spilled->sort->opts.compress_program)
		r->readahead = SP_READ_NONE;
}

/* --count: puts one record for each group of equal keys, with the sum of their numbers. */
static int pour_counted(struct sp__spilled *spilled, struct sp__merge *m, struct sp__pace *pace,
			struct sp__runwriter *w)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__counting *c = &spilled->counting;
	int rc;

	while ((rc = sp__merge_next(m, true)) == SP_READY) {
		if (s->env.device)
			sp__keep_pace(&s->env, m->bytes, pace, m->n);
		if (m->equal) {
			sp__tally_add(&s->balance.dropped, m->rec, m->bytes);
			c->number += 1 + sp__merge_current(m)->more;
			continue;
		}
		rc = sp__counting_put(c, w);
		if (!rc)
			rc = sp__counting_hold(c, m->rec, m->bytes, 1 + sp__merge_current(m)->more,
					       &s->env.budget);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? rc : sp__counting_put(c, w);
}

static int pour(struct sp__spilled *spilled, struct sp__merge *m, struct sp__pace *pace,
		struct sp__runwriter *w)
{
	struct sp__sort_shared *s = spilled->sort;
	int rc;

	while ((rc = sp__merge_next(m, true)) == SP_READY) {
		if (s->env.device)
			sp__keep_pace(&s->env, m->bytes, pace, m->n);
		if (m->prev) {
			w->prev = m->prev;
			w->prev_bytes = m->prev_bytes;
		}
		if (m->equal && s->opts.unique) {
			sp__tally_add(&s->balance.dropped, m->rec, m->bytes);
			continue;
		}
		if (s->opts.top && w->records >= s->opts.top)
			break;
		rc = sp__runwriter_put_near(w, m->rec, m->bytes, m->reach);
		if (rc < 0)
			return rc;
	}
	w->prev = m->prev;
	w->prev_bytes = m->prev_bytes;
	return rc < 0 ? rc : 0;
}

int sp__merge_into(struct sp__spilled *spilled, struct sp__merge *m, unsigned level,
		   struct sp__run **run)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__pace pace = { 0 };
	struct sp__runwriter w;
	int rc;

	/* The new run and the one being written would both use the write buffers. */
	assert(!spilled->writing);
	rc = sp__runs_new(spilled, &w, level);
	if (rc < 0)
		return rc;
	m->plain = !s->opts.unique;
	rc = s->opts.count ? pour_counted(spilled, m, &pace, &w) : pour(spilled, m, &pace, &w);
	sp__charge_merge(&s->env, &pace, m->n);
	if (rc < 0)
		sp__err(s->env.err, rc, "merge", NULL, -1);
	else
		rc = sp__runwriter_finish(&w);
	/* Long records are not kept until the next merge. */
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_empty(&spilled->counting.held[i], &s->env.budget);
	if (rc < 0) {
		sp__runs_discard(&w);
		return rc;
	}
	*run = w.run;
	sp__runwriter_close(&w);
	s->stats.merges++;
	if (level > s->stats.merge_passes)
		s->stats.merge_passes = level;
	return 0;
}

int sp__step_balance(const struct sp__spilled *spilled, uint64_t records, const struct sp__run *run,
		     uint64_t dropped_before)
{
	struct sp__sort_shared *s = spilled->sort;
	uint64_t found = run->records + s->balance.dropped.records - dropped_before;

	if (found < records && s->opts.top && run->records == s->opts.top) {
		s->balance.dropped.records += records - found;
		return 0;
	}
	return sp__balance_compare(s, "records of a merge", records, found);
}

/* Merges runs ids[0..n) into a new run, which replaces the first one. */
static int merge_step(struct sp__spilled *spilled, const unsigned *ids, unsigned n, unsigned level,
		      struct sp__freemem where)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__merge m;
	struct sp__step_inputs in = { 0 };
	struct sp__run *run;
	const struct sp__tally before = s->balance.dropped;
	struct sp__tally dropped;
	uint64_t records = 0;
	int rc = sp__merge_init(&m, s->opts.keys, n, &s->env.budget, s->env.err);

	if (rc < 0)
		return rc;
	rc = sp__step_open(spilled, spilled->store, &in, ids, NULL, n, where, m.cursors);
	sp__step_replan(spilled, ids, n, in.buffers);
	if (rc == 0)
		rc = sp__merge_into(spilled, &m, level, &run);
	sp__step_close(spilled, &in);
	sp__merge_release(&m);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n; i++)
		records += spilled->runs[ids[i]]->records;
	/* Records that --limit does not read are also dropped. */
	rc = sp__step_balance(spilled, records, run, before.records);
	dropped = sp__tally_since(s->balance.dropped, &before);
	if (!rc && spilled->resume)
		rc = sp__resume_merged(spilled->resume, spilled->store, spilled->runs,
				       &(struct sp__merged_runs){ ids, n, run, dropped });
	for (unsigned i = 0; i < n; i++) {
		sp__run_free(spilled->runs[ids[i]]);
		spilled->runs[ids[i]] = NULL;
	}
	spilled->runs[ids[0]] = run;
	s->stats.spilled_runs++;
	if (rc < 0)
		return rc;
	rc = sp__policy_merged(spilled->policy, ids[0], run->bytes);
	return rc < 0 ? sp__err(s->env.err, rc, "allocate", NULL, -1) : 0;
}

/* Descriptors besides those of runs: 0 to 2, input, output, report, and those of one merge. */
#define OTHER_DESCRIPTORS 16
#define MIN_RUNS 4

/* Returns the maximum number of runs of a compress program, each of which holds a descriptor. */
static uint64_t runs_allowed(unsigned files)
{
	uint64_t others = OTHER_DESCRIPTORS + (uint64_t)files;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return UINT64_MAX;
	return rl.rlim_cur > others + MIN_RUNS ? rl.rlim_cur - others : MIN_RUNS;
}

/* Each run of a program holds a descriptor.  True if there are too many, next to `files` others. */
static bool crowded(const struct sp__spilled *spilled, unsigned files)
{
	return spilled->store && spilled->store->opts.program &&
	       sp__policy_runs(spilled->policy) >= runs_allowed(files);
}

int sp__runs_relieve(struct sp__spilled *spilled, unsigned files, struct sp__freemem where)
{
	const struct sp_sort_plan *plan = &spilled->sort->plan;
	size_t pages = where.bytes / plan->page_bytes;
	struct sp__policy_step step;

	while (crowded(spilled, files)) {
		/* The merge needs the write buffers, so no run can be continued. */
		int rc = sp__runs_end(spilled);
		unsigned n;

		if (rc < 0)
			return rc;
		n = sp__policy_relieve(spilled->policy, spilled->ids,
				       pages < plan->fan_in ? (unsigned)pages : plan->fan_in,
				       &step);
		if (!n)
			return 0;
		rc = merge_step(spilled, spilled->ids, n, step.level, where);
		if (rc < 0)
			return rc;
	}
	return 0;
}

uint64_t sp__runs_current(const struct sp__spilled *spilled, uint64_t n)
{
	uint64_t largest = 0, all = 0;

	for (size_t i = 0; i < spilled->nruns; i++)
		if (spilled->runs[i]) {
			largest = sp__max(largest, spilled->runs[i]->largest);
			all += spilled->runs[i]->long_bytes;
		}
	return sp__min(n * largest, all);
}

/* True if the current records of a merge of all runs fit into half of the memory. */
static bool all_fit(const struct sp__spilled *spilled)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < spilled->nruns; i++)
		sum += spilled->runs[i] ? spilled->runs[i]->largest : 0;
	return sum <= spilled->sort->plan.memory_bytes / 2;
}

/* Chooses up to `most` runs whose current records fit into half of the memory, or two runs. */
static unsigned choose_light(const struct sp__spilled *spilled, unsigned most,
			     struct sp__policy_step *step)
{
	for (;; most = sp__max(most / 2, 2)) {
		unsigned n = sp__policy_relieve(spilled->policy, spilled->ids, most, step);
		uint64_t sum = 0;

		for (unsigned i = 0; i < n; i++)
			sum += spilled->runs[spilled->ids[i]]->largest;
		if (n <= 2 || sum <= spilled->sort->plan.memory_bytes / 2)
			return n;
	}
}

/*
 * Merges until the current records of all runs, of which each has one in memory, fit into half of
 * it, or until two runs are left.  Slots that stay in memory can leave no pages for that.
 */
static int lighten(struct sp__spilled *spilled, struct sp__freemem where)
{
	const struct sp_sort_plan *plan = &spilled->sort->plan;
	const enum sp_readahead strategy = spilled->sort->opts.readahead;
	struct sp__policy_step step;
	unsigned most = plan->fan_in, n;
	int rc = 0;

	while (most && sp__readplan_min(strategy, most) > where.bytes / plan->page_bytes)
		most--;
	if (most < 2)
		return 0;
	while (!rc && !all_fit(spilled) && sp__policy_runs(spilled->policy) > 2 &&
	       (n = choose_light(spilled, most, &step)))
		rc = merge_step(spilled, spilled->ids, n, step.level, where);
	return rc;
}

int sp__runs_reduce(struct sp__spilled *spilled, bool input_ended, struct sp__freemem where)
{
	unsigned *ids = spilled->ids, n;
	struct sp__policy_step step;
	int rc = input_ended ? lighten(spilled, where) : 0;

	if (rc)
		return rc;
	if (!input_ended && !all_fit(spilled))
		sp__policy_narrow(spilled->policy, 2);
	do {
		n = sp__policy_next(spilled->policy, input_ended, ids, spilled->sort->plan.fan_in,
				    &step);
		if (!n || step.final)
			return (int)n;
		rc = merge_step(spilled, ids, n, step.level, where);
	} while (!rc);
	return rc;
}
