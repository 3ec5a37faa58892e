/* SPDX-License-Identifier: MIT */
/*
 * From runs to one sequence.
 *
 * The policy chooses runs to merge until the final merge can take all that are left.
 * Runs still in memory at the end of the input stay there and take part in the final
 * merge, as long as the remaining memory is enough for the pages of the spilled ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

/* Descriptors besides those of stored runs: 0-2, input, output, report, and one merge's. */
#define OTHER_DESCRIPTORS 16
#define LEAST_RUNS 4

int sp__finish_add_run(struct sp_sort *s, struct sp__run *run)
{
	if (!SP__ARRAY_GROW(s->spilled.runs, s->spilled.runs_cap, s->spilled.nruns + 1))
		goto fail;
	if (sp__policy_add(s->spilled.policy, (unsigned)s->spilled.nruns, run->bytes) < 0)
		goto fail;
	s->spilled.runs[s->spilled.nruns++] = run;
	s->stats.spilled_runs++;
	return 0;
fail:
	sp__run_free(run);
	return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
}

/* The maximum number of runs of a program, each of which holds a descriptor. */
static uint64_t runs_allowed(const struct sp_sort *s)
{
	uint64_t others = OTHER_DESCRIPTORS + s->merging.inputs.fan_in;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return UINT64_MAX;
	return rl.rlim_cur > others + LEAST_RUNS ? rl.rlim_cur - others : LEAST_RUNS;
}

/* Merges some of the runs now if there are too many to keep. */
static int relieve(struct sp_sort *s)
{
	struct sp__policy_step step;

	if (!s->spilled.store || !s->spilled.store->opts.program)
		return 0;
	while (sp__policy_runs(s->spilled.policy) >= runs_allowed(s)) {
		struct sp__freemem where = sp__free_region(s, false);
		size_t pages = where.bytes / s->plan.page_bytes;
		/* The merge needs the write buffers, so no run can be continued. */
		int rc = sp__runs_end(s);
		unsigned n;

		if (rc < 0)
			return rc;
		n = sp__policy_relieve(s->spilled.policy, s->spilled.ids,
				       pages < s->plan.fan_in ? (unsigned)pages : s->plan.fan_in,
				       &step);
		if (!n)
			return 0;
		rc = sp__merge_step(s, s->spilled.ids, n, step.level, where);
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
	uint64_t read = s->merging.inputs.read.records, dropped = s->balance.dropped.records;
	int rc = sp__runs_open_spill(s);

	if (rc < 0)
		return rc;
	rc = sp__merge_init(&m, s->opts.keys, n, &s->env.budget, s->env.err);
	if (rc < 0)
		return rc;
	rc = sp__inputs_open(s, &s->merging.inputs, n, m.cursors, s->env.err);
	if (rc == 0)
		rc = sp__merge_into(s, &m, 0, &run);
	sp__inputs_close(&s->merging.inputs);
	sp__merge_release(&m);
	if (rc == 0)
		rc = sp__finish_add_run(s, run);
	if (rc < 0)
		return rc;
	return sp__balance_merged(s, s->merging.inputs.read.records - read, run, dropped);
}

/* Merges files into runs until the final merge can take the runs and the rest. */
static int reduce_files(struct sp_sort *s)
{
	struct sp__inputs *in = &s->merging.inputs;

	while (in->next < in->n) {
		uint64_t runs = sp__policy_runs(s->spilled.policy), left = in->n - in->next, over;
		int open = sp__inputs_acquire(in, s->env.err), rc;
		unsigned n = in->fan_in;

		if (open < 0)
			return open;
		if (runs + left <= in->fan_in && (uint64_t)open == left)
			return 0;
		over = runs + left - sp__min(runs + left, in->fan_in) + 1;
		if (over < n && over >= 2 && runs + 1 < in->fan_in)
			n = (unsigned)over;
		rc = merge_files(s, sp__min(n, (unsigned)open));
		if (!rc)
			rc = relieve(s);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Does the merges that are due before the final one; returns how many runs that one has, 0 if
 * none is due yet, or an error.
 */
static int merge_due(struct sp_sort *s, bool input_ended, struct sp__freemem where)
{
	unsigned *ids = s->spilled.ids, n;
	struct sp__policy_step step;
	int rc;

	do {
		n = sp__policy_next(s->spilled.policy, input_ended, ids, s->plan.fan_in, &step);
		if (!n || step.final)
			return (int)n;
		rc = sp__merge_step(s, ids, n, step.level, where);
	} while (!rc);
	return rc;
}

int sp__finish_due(struct sp_sort *s)
{
	struct sp__freemem where = { s->forming.spare_mem, s->forming.spare_bytes };
	int rc;

	if (!sp__policy_eager(s->plan.policy))
		return relieve(s);
	/* Merges need the write buffers, so a run cannot be continued later. */
	rc = sp__runs_end(s);
	return rc < 0 ? rc : merge_due(s, false, where);
}

static unsigned slots_in_memory(const struct sp_sort *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->forming.nslots; i++)
		n += s->forming.slots[i].state == SP__SLOT_SORTED;
	return n;
}

/* Can the runs in memory stay there? */
static bool may_keep(const struct sp_sort *s)
{
	uint64_t n = sp__policy_runs(s->spilled.policy);
	size_t room = sp__free_region(s, true).bytes / s->plan.page_bytes;

	/* What is in memory is no checkpoint. */
	return !s->resume && !s->opts.run_bytes && s->plan.policy == SP_MERGE_LAZY &&
	       n + slots_in_memory(s) <= s->plan.fan_in && n * SP__PAGES_KEPT <= room;
}

static int store_rest(struct sp_sort *s)
{
	struct sp__slot *slot;
	int rc = 0;

	while (!rc && s->spilled.writing && (slot = sp__slot_oldest(s, SP__SLOT_SORTED)) &&
	       sp__runs_continues(s, slot))
		rc = sp__runs_store(s, slot);
	if (!rc)
		rc = sp__runs_end(s);
	if (!rc && may_keep(s))
		return 0;
	while (!rc && (slot = sp__slot_oldest(s, SP__SLOT_SORTED)))
		rc = sp__runs_store(s, slot);
	return rc ? rc : sp__runs_end(s);
}

/* Memory for the pages of n spilled runs in the final merge. */
static struct sp__freemem pages_for(struct sp_sort *s, unsigned n, unsigned files)
{
	struct sp__freemem where = sp__free_region(s, true);

	/* The streams of input files take part of the memory. */
	if (files && where.bytes > s->merging.inputs.memory_bytes + (size_t)n * s->plan.page_bytes)
		where.bytes -= s->merging.inputs.memory_bytes;
	return where;
}

static int memory_cursors(const struct sp_sort *s, struct sp__cursor *cursors, unsigned n)
{
	uint64_t from = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct sp__slot *slot = sp__slot_from(s, SP__SLOT_SORTED, from);

		if (!slot)
			return SP_ESTATE;
		from = slot->age + 1;
		sp__cursor_memory(&cursors[i], &slot->buf);
	}
	return 0;
}

/* Cursors of the final merge: branches, the rest of n spilled runs, then runs in memory. */
static int set_up_final(struct sp_sort *s, unsigned n, bool threaded)
{
	unsigned memory = slots_in_memory(s);
	unsigned strips = s->forming.replacing ? sp__replace_strips(&s->forming.replace) : 0;
	unsigned files = s->merging.inputs.n - s->merging.inputs.next;
	struct sp__freemem where = pages_for(s, n, files);
	unsigned pages = (unsigned)(where.bytes / s->plan.page_bytes);
	unsigned branched = n && threaded ? sp__branches_open(s, s->spilled.ids, n, &where) : 0;
	struct sp__merge *m = &s->merging.merge;
	unsigned spilled, left;
	int rc;

	if (files && !n && threaded)
		sp__branches_open_files(s);
	left = s->merging.inputs.n - s->merging.inputs.next;
	spilled = s->merging.nbranches + n - branched;
	rc = sp__merge_init(m, s->opts.keys, spilled + memory + strips + left, &s->env.budget,
			    s->env.err);
	if (rc < 0)
		return rc;
	m->plain = !s->opts.unique && !s->opts.count;
	s->merging.branched = branched;
	sp__branches_cursors(s, m->cursors);
	rc = memory_cursors(s, m->cursors + spilled, memory);
	if (strips)
		sp__replace_cursors(&s->forming.replace, m->cursors + spilled + memory);
	if (rc == 0 && n > branched)
		rc = sp__step_open(s, s->spilled.store, &s->merging.final,
				   s->spilled.ids + branched,
				   s->merging.spans ? s->merging.spans + branched : NULL,
				   n - branched, where, m->cursors + s->merging.nbranches);
	if (rc == 0 && n)
		sp__step_replan(s, s->spilled.ids, n, branched ? pages : s->merging.final.buffers);
	if (rc == 0 && left)
		rc = sp__inputs_open(s, &s->merging.inputs, left, m->cursors + spilled + memory,
				     s->env.err);
	if (rc < 0)
		return rc;
	s->stats.merges += n + memory + files > 1;
	s->stats.merge_passes += n + memory + files > 1;
	return 0;
}

int sp__finish_reduce(struct sp_sort *s)
{
	int rc, n = 0;

	if (s->merging.reduced)
		return 0;
	s->merging.begin_ns = sp__env_now_ns(&s->env);
	s->merging.cpu_begin_ns = sp__env_cpu_ns(&s->env);
	rc = reduce_files(s);
	if (!rc && s->spilled.store) {
		rc = store_rest(s);
		if (!rc)
			sp__sort_predict_formed(s);
		if (!rc)
			n = merge_due(s, true, sp__free_region(s, false));
		sp__spill_trim(s->spilled.store);
	}
	if (rc < 0 || n < 0)
		return rc < 0 ? rc : n;
	s->merging.runs_left = (unsigned)n;
	s->merging.reduced = true;
	return sp__balance_formed(s);
}

int sp__finish_prepare(struct sp_sort *s, bool threaded)
{
	int rc = sp__finish_reduce(s);

	return rc < 0 ? rc : set_up_final(s, s->merging.runs_left, threaded);
}

void sp__finish_close(struct sp_sort *s)
{
	sp__step_close(s, &s->merging.final);
	sp__merge_release(&s->merging.merge);
	sp__inputs_close(&s->merging.inputs);
	sp__inputs_free(&s->merging.inputs);
	for (size_t i = 0; i < s->spilled.nruns; i++)
		sp__run_free(s->spilled.runs[i]);
	free(s->spilled.runs);
	sp__policy_free(s->spilled.policy);
	free(s->spilled.ids);
}
