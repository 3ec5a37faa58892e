/* SPDX-License-Identifier: MIT */
/*
 * From runs to one sequence.
 *
 * The policy says which runs to merge into a new one until so few are left
 * that the final merge can take them all.  Runs still in memory when the input
 * ends stay there and take part in the final merge as they are, as long as
 * the memory beside them is enough for the pages of the spilled ones.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "base/err.h"
#include "sort/consume.h"
#include "sort/ovc.h"
#include "sort/plan.h"
#include "sort/state.h"

/* A run that is worth reading ahead for wants so many pages of the pool. */
#define PAGES_EACH 4
/* Beside those of stored runs: 0-2, input, output, report, and those of one merge. */
#define OTHER_DESCRIPTORS 16
#define LEAST_RUNS 4

struct region {
	char *mem;
	size_t bytes;
};

/* What one merge of spilled runs needs while it lasts. */
struct inputs {
	struct sp__readplan *plan;
	struct sp__pool *pool;
	struct sp__unpackers *unpackers; /* instead of the two, behind a program */
	struct sp__run **runs;
	unsigned n;
	uint64_t charged;
};

int sp__finish_add_run(struct sp_sort *s, struct sp__run *run)
{
	if (s->nruns == s->runs_cap) {
		size_t cap = s->runs_cap ? 2 * s->runs_cap : 64;
		struct sp__run **p = realloc(s->runs, cap * sizeof(*p));

		if (!p)
			goto fail;
		s->runs = p;
		s->runs_cap = cap;
	}
	if (sp__policy_add(s->policy, (unsigned)s->nruns, run->bytes) < 0)
		goto fail;
	s->runs[s->nruns++] = run;
	s->stats.spilled_runs++;
	return 0;
fail:
	sp__run_free(run);
	return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
}

/* The largest piece of the arena that holds nothing now. */
static struct region free_region(const struct sp_sort *s, bool with_write)
{
	struct region best = { NULL, 0 }, now = { NULL, 0 };

	for (unsigned i = 0; i < s->nslots; i++) {
		const struct sp__slot *slot = &s->slots[i];

		if (slot->state == SP__SLOT_EMPTY) {
			if (!now.bytes)
				now.mem = slot->mem;
			now.bytes += slot->bytes;
		} else if (slot->state != SP__SLOT_GONE) {
			now.bytes = 0;
		}
		if (now.bytes > best.bytes)
			best = now;
	}
	if (!now.bytes)
		now.mem = s->spare_mem;
	now.bytes += s->spare_bytes + (with_write ? s->write_bytes : 0);
	if (now.bytes > best.bytes)
		best = now;
	if (s->opts.merge_bytes && best.bytes > s->opts.merge_bytes)
		best.bytes = s->opts.merge_bytes;
	return best;
}

struct keys_ctx {
	const struct sp_sort *sort;
	struct sp__run *const *runs;
};

static int compare_last_keys(void *ctx, unsigned ra, uint64_t pa, unsigned rb, uint64_t pb)
{
	const struct keys_ctx *k = ctx;
	const struct sp__keyset *ks = sp__ks(k->sort->opts.keys);
	const struct sp__lastkey *a = &k->runs[ra]->lastkeys[pa], *b = &k->runs[rb]->lastkeys[pb];
	const void *ka = k->runs[ra]->keys + a->offset, *kb = k->runs[rb]->keys + b->offset;
	int c;

	if (ks->form == SP__KEY_COLLATED)
		return sp_keyset_compare(k->sort->opts.keys, ka, a->bytes, kb, b->bytes);
	c = sp__order_bytes(ka, a->bytes, kb, b->bytes);
	return ks->descending ? -c : c;
}

static unsigned plan_next(void *plan, unsigned free_pages, unsigned *run)
{
	return sp__readplan_next(plan, free_pages, run);
}

static void plan_consumed(void *plan, unsigned run)
{
	sp__readplan_consumed(plan, run);
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
	/* A pipe cannot be waited for together with other things, so it is here. */
	(void)wait;
	return sp__unpackers_get(unpackers, run, data, bytes);
}

/* A page of a pipe is valid until the next one is asked for. */
static int unpackers_release(void *unpackers, size_t run)
{
	(void)unpackers;
	(void)run;
	return 0;
}

static void close_inputs(struct sp_sort *s, struct inputs *in)
{
	sp__unpackers_close(in->unpackers);
	sp__pool_close(in->pool);
	if (in->plan)
		s->spill->demand_reads += sp__readplan_demanded(in->plan);
	sp__readplan_free(in->plan);
	free(in->runs);
	sp__budget_credit(&s->budget, in->charged);
	*in = (struct inputs){ 0 };
}

/* Now that runs and memory are known, the predictions are made anew. */
static enum sp_readahead strategy_for(struct sp_sort *s, uint64_t pages, unsigned n,
				      unsigned buffers)
{
	enum sp_readahead best =
		sp__plan_readahead(pages, s->plan.page_bytes, n, buffers, s->lastkey_fn != NULL,
				   sp__plan_device(&s->opts), s->plan.strategy);

	return s->opts.readahead != SP_READ_AUTO ? s->opts.readahead : best;
}

static int open_plan(struct sp_sort *s, struct inputs *in, unsigned buffers)
{
	struct sp__readplan_opts o = { .runs = in->n, .buffers = buffers };
	uint64_t *run_pages = calloc(in->n, sizeof(*run_pages));
	uint32_t *sequence = NULL;
	struct keys_ctx ctx = { s, in->runs };
	int rc = -ENOMEM;

	if (!run_pages)
		goto out;
	for (unsigned i = 0; i < in->n; i++)
		o.pages += run_pages[i] = in->runs[i]->npages;
	o.run_pages = run_pages;
	o.strategy = strategy_for(s, o.pages, in->n, buffers);
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
	/* Without refusal: the planner has left room. */
	in->charged = sp__merge_memory(in->n) + sp__pool_memory(s->spill, in->n, buffers) +
		      sp__readplan_memory(&o);
	sp__budget_force(&s->budget, in->charged);
	s->plan.readahead = o.strategy;
	s->plan.merge_pages = buffers;
out:
	free(run_pages);
	free(sequence);
	if (rc == SP_EBUDGET)
		return sp__errf(s->err, rc, "merge", NULL, -1,
				"merging %u runs needs %u pages of %u bytes, there are %u", in->n,
				sp__readplan_least(o.strategy, in->n), s->plan.page_bytes, buffers);
	if (rc < 0)
		return sp__err(s->err, rc, rc == -ENOMEM ? "allocate" : "merge", NULL, -1);
	return 0;
}

static int open_unpackers(struct sp_sort *s, struct inputs *in, struct region where,
			  struct sp__merge *m)
{
	int rc;

	if (where.bytes / s->plan.page_bytes < in->n)
		return sp__errf(s->err, SP_EBUDGET, "merge", NULL, -1,
				"merging %u runs needs so many pages of %u bytes", in->n,
				s->plan.page_bytes);
	rc = sp__unpackers_open(&in->unpackers, s->spill, in->runs, in->n, where.mem);
	if (rc < 0)
		return rc;
	s->plan.merge_pages = in->n;
	for (unsigned i = 0; i < in->n; i++) {
		struct sp__feed feed = { in->unpackers, i, unpackers_get, unpackers_release, NULL };

		sp__cursor_feed(&m->cursors[i], &feed);
	}
	return 0;
}

/* Opens runs ids[0..n) as the first n cursors of a merge. */
static int open_inputs(struct sp_sort *s, struct inputs *in, const unsigned *ids, unsigned n,
		       struct region where, struct sp__merge *m)
{
	unsigned buffers = (unsigned)(where.bytes / s->plan.page_bytes), least;
	struct sp__poolplan pp;
	uint64_t pages = 0;
	int rc;

	*in = (struct inputs){ .n = n };
	in->runs = calloc(n, sizeof(struct sp__run *));
	if (!in->runs)
		return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < n; i++) {
		in->runs[i] = s->runs[ids[i]];
		pages += in->runs[i]->npages;
	}
	if (s->spill->opts.program)
		return open_unpackers(s, in, where, m);
	least = sp__readplan_least(s->opts.readahead, n);
	if (buffers > pages && buffers > least)
		buffers = pages > least ? (unsigned)pages : least;
	rc = open_plan(s, in, buffers);
	if (rc < 0)
		return rc;
	pp = (struct sp__poolplan){ in->plan, plan_next, plan_consumed,
				    sp__readplan_largest(in->plan) };
	rc = sp__pool_open(&in->pool, s->spill, in->runs, n, where.mem, buffers, &pp);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n; i++) {
		struct sp__feed feed = { in->pool, i, pool_get, pool_release, NULL };

		sp__cursor_feed(&m->cursors[i], &feed);
	}
	return 0;
}

static void free_runs(struct sp_sort *s, const unsigned *ids, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sp__run_free(s->runs[ids[i]]);
		s->runs[ids[i]] = NULL;
	}
}

static int pour(struct sp_sort *s, struct sp__merge *m, struct sp__runwriter *w)
{
	struct sp__pace pace = { 0 };
	int rc;

	while ((rc = sp__merge_next(m, true)) == SP_READY) {
		if (s->machine)
			sp__keep_pace(s, m, &pace);
		if (m->prev) {
			w->prev = m->prev;
			w->prev_bytes = m->prev_bytes;
		}
		if (m->equal && s->opts.unique && !s->opts.count)
			continue;
		if (s->opts.top && !s->opts.count && w->records >= s->opts.top)
			break;
		rc = sp__runwriter_put(w, m->rec, m->bytes);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return sp__err(s->err, rc, "merge", NULL, -1);
	w->prev = m->prev;
	w->prev_bytes = m->prev_bytes;
	return sp__runwriter_finish(w);
}

/* Runs the merge whose cursors are open into a new run. */
static int merge_into(struct sp_sort *s, struct sp__merge *m, uint64_t age, unsigned level,
		      struct sp__run **run)
{
	struct sp__runwriter w = { 0 };
	int rc = sp__run_new(run, &s->budget);

	/* Both would use the write buffers. */
	assert(!s->writing);
	if (rc < 0)
		return sp__err(s->err, rc, "allocate", NULL, -1);
	(*run)->age = age;
	(*run)->level = level;
	rc = sp__runwriter_open(&w, s->spill, *run, s->write_mem, s->write_bytes, s->lastkey_fn, s);
	if (rc == 0)
		rc = pour(s, m, &w);
	sp__runwriter_close(&w);
	if (rc < 0) {
		sp__run_free(*run);
		return rc;
	}
	s->stats.merges++;
	if (level > s->stats.merge_passes)
		s->stats.merge_passes = level;
	return 0;
}

/* Merges runs into a new one. */
static int merge_step(struct sp_sort *s, const unsigned *ids, unsigned n, unsigned level,
		      struct region where)
{
	struct sp__merge m;
	struct inputs in = { 0 };
	struct sp__run *run;
	int rc = sp__merge_init(&m, s->opts.keys, n, &s->budget);

	if (rc < 0)
		return sp__err(s->err, rc, "allocate", NULL, -1);
	m.err = s->err;
	m.plain = !s->opts.unique || s->opts.count;
	rc = open_inputs(s, &in, ids, n, where, &m);
	if (rc == 0)
		rc = merge_into(s, &m, s->runs[ids[0]]->age, level, &run);
	close_inputs(s, &in);
	sp__merge_release(&m);
	if (rc < 0)
		return rc;
	free_runs(s, ids, n);
	s->runs[ids[0]] = run;
	s->stats.spilled_runs++;
	rc = sp__policy_merged(s->policy, ids[0], run->bytes);
	return rc < 0 ? sp__err(s->err, rc, "allocate", NULL, -1) : 0;
}

/* How many runs there may be behind a program, each holding a descriptor. */
static uint64_t runs_allowed(const struct sp_sort *s)
{
	uint64_t others = OTHER_DESCRIPTORS + (s->inputs ? s->inputs->fan_in : 0);
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return UINT64_MAX;
	return rl.rlim_cur > others + LEAST_RUNS ? rl.rlim_cur - others : LEAST_RUNS;
}

/* Merges some of the runs now if there are too many to be kept. */
static int relieve(struct sp_sort *s)
{
	struct sp__policy_step step;

	if (!s->spill || !s->spill->opts.program)
		return 0;
	while (sp__policy_runs(s->policy) >= runs_allowed(s)) {
		struct region where = free_region(s, false);
		size_t pages = where.bytes / s->plan.page_bytes;
		/* The merge needs the write buffers, so no run can be continued. */
		int rc = sp__form_end_run(s);
		unsigned n;

		if (rc < 0)
			return rc;
		n = sp__policy_relieve(s->policy, s->ids,
				       pages < s->plan.fan_in ? (unsigned)pages : s->plan.fan_in,
				       &step);
		if (!n)
			return 0;
		rc = merge_step(s, s->ids, n, step.level, where);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Merges the next n input files (-m) into a run. */
static int merge_files(struct sp_sort *s, unsigned n)
{
	struct sp__merge m;
	struct sp__run *run;
	int rc = sp__form_open_spill(s);

	if (rc < 0)
		return rc;
	rc = sp__merge_init(&m, s->opts.keys, n, &s->budget);
	if (rc < 0)
		return sp__err(s->err, rc, "allocate", NULL, -1);
	m.err = s->err;
	m.plain = !s->opts.unique || s->opts.count;
	rc = sp__inputs_open(s->inputs, n, m.cursors);
	if (rc == 0)
		rc = merge_into(s, &m, s->next_age++, 0, &run);
	sp__inputs_close(s->inputs);
	sp__merge_release(&m);
	return rc < 0 ? rc : sp__finish_add_run(s, run);
}

/* Merges files into runs until the final merge can take the runs and the rest. */
static int reduce_files(struct sp_sort *s)
{
	const struct sp__inputs *in = s->inputs;

	for (;;) {
		uint64_t runs = sp__policy_runs(s->policy), left = in->n - in->next, over;
		unsigned n = in->fan_in;
		int rc;

		if (runs + left <= in->fan_in || !left)
			return 0;
		over = runs + left - in->fan_in + 1;
		if (over < n && over >= 2 && runs + 1 < in->fan_in)
			n = (unsigned)over;
		if (n > left)
			n = (unsigned)left;
		rc = merge_files(s, n);
		if (!rc)
			rc = relieve(s);
		if (rc < 0)
			return rc;
	}
}

int sp__finish_due(struct sp_sort *s)
{
	struct sp__policy_step step;
	struct region where = { s->spare_mem, s->spare_bytes };
	unsigned n;
	int rc;

	if (s->plan.policy != SP_MERGE_EAGER)
		return relieve(s);
	/* Merges need the write buffers, so a run cannot be continued later. */
	rc = sp__form_end_run(s);
	if (rc < 0)
		return rc;
	while ((n = sp__policy_next(s->policy, false, s->ids, s->plan.fan_in, &step)) > 0) {
		rc = merge_step(s, s->ids, n, step.level, where);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static unsigned slots_in_memory(const struct sp_sort *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->nslots; i++)
		n += s->slots[i].state == SP__SLOT_SORTED;
	return n;
}

/* May the runs in memory stay there? */
static bool may_keep(const struct sp_sort *s)
{
	uint64_t n = sp__policy_runs(s->policy);
	size_t room = free_region(s, true).bytes / s->plan.page_bytes;

	return !s->opts.run_bytes && s->plan.policy == SP_MERGE_LAZY &&
	       n + slots_in_memory(s) <= s->plan.fan_in && n * PAGES_EACH <= room;
}

static int store_rest(struct sp_sort *s)
{
	struct sp__slot *slot;
	int rc = 0;

	while (!rc && s->writing && (slot = sp__form_slot(s, SP__SLOT_SORTED)) &&
	       sp__form_continues(s, slot))
		rc = sp__form_store_oldest(s);
	if (!rc)
		rc = sp__form_end_run(s);
	if (!rc && may_keep(s))
		return 0;
	while (!rc && slots_in_memory(s))
		rc = sp__form_store_oldest(s);
	return rc ? rc : sp__form_end_run(s);
}

/* Cursors of the final merge: n spilled runs, then the runs in memory. */
static int set_up_final(struct sp_sort *s, unsigned n)
{
	unsigned memory = slots_in_memory(s);
	unsigned strips = s->replacing ? sp__replace_strips(&s->replace) : 0;
	unsigned files = s->inputs ? s->inputs->n - s->inputs->next : 0;
	struct inputs in;
	int rc = sp__merge_init(&s->merge, s->opts.keys, n + memory + strips + files, &s->budget);

	if (rc < 0)
		return sp__err(s->err, rc, "allocate", NULL, -1);
	s->merging = true;
	s->merge.err = s->err;
	s->merge.plain = !s->opts.unique && !s->opts.count;
	for (unsigned i = 0; i < memory; i++) {
		struct sp__slot *oldest = NULL;

		for (unsigned k = 0; k < s->nslots; k++) {
			struct sp__slot *slot = &s->slots[k];

			if (slot->state == SP__SLOT_SORTED && slot->age >= s->final_age &&
			    (!oldest || slot->age < oldest->age))
				oldest = slot;
		}
		if (!oldest)
			return SP_ESTATE;
		s->final_age = oldest->age + 1;
		sp__cursor_memory(&s->merge.cursors[n + i], &oldest->buf);
	}
	if (strips)
		sp__replace_cursors(&s->replace, s->merge.cursors + n + memory);
	if (n) {
		struct region where = free_region(s, true);

		/* The streams of input files have their part of the memory. */
		if (files && where.bytes > s->inputs->memory_bytes + (size_t)n * s->plan.page_bytes)
			where.bytes -= s->inputs->memory_bytes;
		rc = open_inputs(s, &in, s->ids, n, where, &s->merge);
		s->pool = in.pool;
		s->unpackers = in.unpackers;
		s->readplan = in.plan;
		s->final_runs = in.runs;
		s->final_charged = in.charged;
		if (rc < 0)
			return rc;
	}
	if (files) {
		rc = sp__inputs_open(s->inputs, files, s->merge.cursors + n + memory);
		if (rc < 0)
			return rc;
	}
	s->stats.merges += n + memory + files > 1;
	s->stats.merge_passes += n + memory + files > 1;
	return 0;
}

int sp__finish_prepare(struct sp_sort *s)
{
	struct sp__policy_step step = { 0 };
	unsigned n = 0;
	int rc;

	s->merge_begin_ns = sp__sort_now_ns(s);
	s->merge_cpu_begin_ns = sp__sort_cpu_ns(s);
	if (s->inputs) {
		rc = reduce_files(s);
		if (rc < 0)
			return rc;
	}
	if (s->spill) {
		rc = store_rest(s);
		if (rc < 0)
			return rc;
		while ((n = sp__policy_next(s->policy, true, s->ids, s->plan.fan_in, &step)) > 0 &&
		       !step.final) {
			rc = merge_step(s, s->ids, n, step.level, free_region(s, false));
			if (rc < 0)
				return rc;
		}
	}
	return set_up_final(s, n);
}

void sp__finish_close(struct sp_sort *s)
{
	struct inputs in = {
		s->readplan, s->pool, s->unpackers, s->final_runs, 0, s->final_charged
	};

	close_inputs(s, &in);
	if (s->merging)
		sp__merge_release(&s->merge);
	if (s->inputs)
		sp__inputs_release(s->inputs);
	free(s->inputs);
	for (size_t i = 0; i < s->nruns; i++)
		sp__run_free(s->runs[i]);
	free(s->runs);
	sp__policy_free(s->policy);
	free(s->ids);
}
