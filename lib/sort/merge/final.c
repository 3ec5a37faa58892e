/* SPDX-License-Identifier: MIT */
/*
 * Prepares the final merge: reduces the runs to as many as it can take, and opens its inputs.
 *
 * The policy chooses runs to merge until the final merge can take all remaining ones.  Runs that
 * are still in memory at the end of the input stay there and take part in the final merge, if the
 * remaining memory is enough for the pages of the spilled ones.
 */
#include "base/minmax.h"
#include "sort/plan/plan.h"
#include "sort/merge/merging.h"

/* Merges the next n input files (-m) into a run. */
static int merge_files(struct sp__merging *merging, unsigned n)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp__sort_shared *s = merging->sort;
	struct sp__merge m;
	struct sp__run *run;
	uint64_t read = merging->inputs.read.records, dropped = s->balance.dropped.records;
	int rc = sp__runs_open_spill(spilled);

	if (rc < 0)
		return rc;
	rc = sp__merge_init(&m, s->opts.keys, n, &s->env.budget, s->env.err);
	if (rc < 0)
		return rc;
	rc = sp__inputs_open(s, &merging->inputs, n, m.cursors, s->env.err);
	if (rc == 0)
		rc = sp__merge_into(spilled, &m, 0, &run);
	sp__inputs_close(&merging->inputs);
	sp__merge_release(&m);
	if (rc == 0)
		rc = sp__runs_add(spilled, run);
	if (rc < 0)
		return rc;
	return sp__step_balance(spilled, merging->inputs.read.records - read, run, dropped);
}

/* Merges files into runs until the final merge can take the runs and the remaining files. */
static int reduce_files(struct sp__merging *merging)
{
	struct sp__inputs *in = &merging->inputs;

	while (in->next < in->n) {
		uint64_t runs = sp__policy_runs(merging->spilled->policy), left = in->n - in->next,
			 over;
		int open = sp__inputs_acquire(in, merging->sort->env.err), rc;
		unsigned n = in->fan_in;

		if (open < 0)
			return open;
		if (runs + left <= in->fan_in && (uint64_t)open == left)
			return 0;
		over = runs + left - sp__min(runs + left, in->fan_in) + 1;
		if (over < n && over >= 2 && runs + 1 < in->fan_in)
			n = (unsigned)over;
		rc = merge_files(merging, sp__min(n, (unsigned)open));
		if (!rc)
			rc = sp__runs_relieve(merging->spilled, in->fan_in,
					      sp__free_region(merging->forming, false));
		if (rc < 0)
			return rc;
	}
	return 0;
}

static unsigned slots_in_memory(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	unsigned n = 0;

	for (unsigned i = 0; i < forming->nslots; i++)
		n += forming->slots[i].state == SP__SLOT_SORTED;
	return n;
}

/* True if the runs in memory can stay there. */
static bool may_keep(const struct sp__merging *merging)
{
	struct sp__spilled *spilled = merging->spilled;
	const struct sp__sort_shared *s = merging->sort;
	uint64_t n = sp__policy_runs(spilled->policy);
	const uint64_t needed =
		n * SP__PAGES_KEPT * s->plan.page_bytes + sp__runs_current(spilled, n);

	/* A run in memory is not a checkpoint; a giant record would be next to those of merges. */
	return !spilled->resume && !sp__slots_giant(merging->forming) && !s->opts.run_bytes &&
	       s->plan.policy == SP_MERGE_LAZY && n + slots_in_memory(merging) <= s->plan.fan_in &&
	       needed <= sp__free_region(merging->forming, true).bytes;
}

static int store_rest(struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__slot *slot;
	int rc = 0;

	while (!rc && spilled->writing && (slot = sp__slot_oldest(forming, SP__SLOT_SORTED)) &&
	       sp__runs_continues(spilled, &slot->buf))
		rc = sp__form_store(forming, slot);
	if (!rc)
		rc = sp__runs_end(spilled);
	if (!rc && may_keep(merging))
		return 0;
	while (!rc && (slot = sp__slot_oldest(forming, SP__SLOT_SORTED)))
		rc = sp__form_store(forming, slot);
	return rc ? rc : sp__runs_end(spilled);
}

/* Returns the memory for the pages of n spilled runs in the final merge. */
static struct sp__freemem pages_for(struct sp__merging *merging, unsigned n, unsigned files)
{
	struct sp__freemem where = sp__free_region(merging->forming, true);

	/* The streams of input files take a part of the memory. */
	if (files &&
	    where.bytes > merging->inputs.memory_bytes + (size_t)n * merging->sort->plan.page_bytes)
		where.bytes -= merging->inputs.memory_bytes;
	return where;
}

/* Makes a cursor of each slot in memory, oldest first. */
static void memory_cursors(const struct sp__merging *merging, struct sp__cursor *cursors)
{
	const struct sp__slot *slot;

	for (uint64_t from = 0; (slot = sp__slot_from(merging->forming, SP__SLOT_SORTED, from));
	     from = slot->age + 1)
		sp__cursor_part(cursors++, &slot->buf, 0, slot->buf.n);
}

/*
 * Sets up the cursors of the final merge: n spilled runs, runs in memory, strips, then sorted
 * files.
 */
static int set_up_final(struct sp__merging *merging, unsigned n)
{
	struct sp__forming *forming = merging->forming;
	struct sp__sort_shared *s = merging->sort;
	unsigned memory = slots_in_memory(merging);
	unsigned strips = forming->replacing ? sp__replace_strips(&forming->replace) : 0;
	unsigned files = merging->inputs.n - merging->inputs.next;
	struct sp__cursor *cursors;
	int rc = sp__sequence_open(&merging->sequence, s, n + memory + strips + files, &s->balance,
				   s->env.err);

	if (rc < 0)
		return rc;
	cursors = merging->sequence.merge.cursors;
	memory_cursors(merging, cursors + n);
	if (strips)
		sp__replace_cursors(&forming->replace, cursors + n + memory);
	if (n) {
		rc = sp__step_open(merging->spilled, merging->spilled->store, &merging->final,
				   merging->spilled->ids, NULL, n, pages_for(merging, n, files),
				   cursors);
		sp__step_replan(merging->spilled, merging->spilled->ids, n, merging->final.buffers);
	}
	if (rc == 0 && files)
		rc = sp__inputs_open(s, &merging->inputs, files, cursors + n + memory, s->env.err);
	if (rc < 0)
		return rc;
	s->stats.merges += n + memory + files > 1;
	s->stats.merge_passes += n + memory + files > 1;
	return 0;
}

int sp__final_reduce(struct sp__merging *merging)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp__sort_shared *s = merging->sort;
	int rc, n = 0;

	if (merging->reduced)
		return 0;
	merging->begin_ns = sp__env_now_ns(&s->env);
	merging->cpu_begin_ns = sp__env_cpu_ns(&s->env);
	rc = reduce_files(merging);
	if (!rc && spilled->store) {
		rc = store_rest(merging);
		if (!rc)
			sp__sort_predict_formed(merging);
		if (!rc)
			n = sp__runs_reduce(spilled, true,
					    sp__free_region(merging->forming, false));
		sp__spill_trim(spilled->store);
	}
	if (rc < 0 || n < 0)
		return rc < 0 ? rc : n;
	merging->runs_left = (unsigned)n;
	merging->reduced = true;
	return sp__balance_formed(merging);
}

int sp__final_prepare(struct sp__merging *merging)
{
	int rc = sp__final_reduce(merging);

	return rc < 0 ? rc : set_up_final(merging, merging->runs_left);
}

void sp__final_close(struct sp__merging *merging)
{
	sp__step_close(merging->spilled, &merging->final);
	sp__sequence_close(&merging->sequence);
	sp__inputs_close(&merging->inputs);
	sp__inputs_free(&merging->inputs);
}
