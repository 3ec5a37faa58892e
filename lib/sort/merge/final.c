/* SPDX-License-Identifier: MIT */
/*
 * Prepares the final merge: reduces the runs to as many as it can take, and opens its inputs;
 * predicts its duration; and compares the records of the sort with those of its result.
 *
 * The policy chooses runs to merge until the final merge can take all remaining ones.  Runs that
 * are still in memory at the end of the input stay there and take part in the final merge, if the
 * remaining memory is enough for the pages of the spilled ones.
 */
#include <math.h>
#include <stdlib.h>
#include "sort/merge/merging.h"
#include "sort/plan/predict.h"

/*
 * Predicts the duration of a sort on real files, when its runs have been formed.
 *
 * Algorithm: the merges are those that the policy will order, of runs of their mean length.  Each
 * takes as long as its device or its computation (plan/predict.c).  The device is measured: t of
 * writes while the runs are written, t and s of reads by several reads of the runs.  The speed of
 * merging is unknown yet; it is assumed to be the mean speed so far.  This is processor time if the
 * time of the device is known, otherwise, if the page cache holds the runs, elapsed time.  The
 * result is assumed to cost the device what the input did: often nothing, since a page cache that
 * holds the input also takes the result.
 *
 * The plan does not change.  Pages are already written, and formula (5), t D + s N, chooses the
 * read-ahead strategy with the lowest N for any t and s.  A smaller fan-in than the memory M
 * allows, in two passes with the square root of n runs, saves s (n - 2 sqrt(n)) / M per MiB and
 * costs 2 t.  It pays from 2200 runs in 64 MiB on flash with s / t = 0.06 MiB, and from 150 runs on
 * a disk with 1 MiB, if writing them did not move the arm elsewhere.
 */

/* Returns the runs in temporary space and their bytes there; NULL: no memory. */
static struct sp__run **stored(const struct sp__merging *merging, size_t *n, uint64_t *bytes,
			       double *packed)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp__run **runs = calloc(spilled->nruns + 1, sizeof(struct sp__run *));
	uint64_t units = 0;

	*n = *bytes = 0;
	for (size_t i = 0; runs && i < spilled->nruns; i++) {
		if (!spilled->runs[i])
			continue;
		runs[(*n)++] = spilled->runs[i];
		*bytes += spilled->runs[i]->bytes;
		units += spilled->runs[i]->units;
	}
	*packed = (double)units * spilled->store->unit_bytes / (double)*bytes;
	return runs;
}

static void measure(struct sp__merging *merging, struct sp__run *const *runs, size_t n)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp_prediction *f = &merging->spilled->prediction;
	struct sp__freemem where = sp__free_region(merging->forming, false);
	double seek_s = -1;

	if (merging->seeks && where.bytes >= 2 * SP__SEEK_BYTES)
		seek_s = sp__spill_seek_s(spilled->store, runs, n, where.mem);
	if (merging->seeks && where.bytes >= sp__spill_read_memory(spilled->store))
		f->read_s_per_mib = sp__spill_read_s(spilled->store, runs[n / 2], where.mem) * MIB;
	f->seek_s = fmax(seek_s, 0);
	f->transfer_s_per_mib = sp__spill_write_s(spilled->store) * MIB;
}

/* Returns the time per byte read or written, before compression. */
static double pace_s(const struct sp__merging *merging, double packed)
{
	struct sp__sort_shared *s = merging->sort;
	const struct sp__spill *store = merging->spilled->store;
	double moved = (double)(s->stats.input_bytes - s->stats.resumed_bytes) +
		       (double)(store->write_bytes + store->read_bytes) / packed;
	uint64_t took = sp__env_now_ns(&s->env) - s->env.begin_ns;

	if (merging->spilled->prediction.transfer_s_per_mib > 0)
		took = sp__min(took, sp__env_cpu_ns(&s->env) - s->env.cpu_begin_ns);
	return (double)took * 1e-9 / moved;
}

static double in_memory(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < forming->nslots; i++)
		if (forming->slots[i].state == SP__SLOT_SORTED)
			bytes += forming->slots[i].buf.record_bytes;
	return (double)bytes;
}

static double rest_s(struct sp__merging *merging, size_t n, uint64_t bytes, double packed)
{
	struct sp__sort_shared *s = merging->sort;
	const struct sp_prediction *f = &merging->spilled->prediction;
	double write_s = f->transfer_s_per_mib / MIB * packed, pace = pace_s(merging, packed);
	struct sp__merge_costs costs = { .write_s = write_s,
					 .seek_s = f->seek_s,
					 .merge_s = 2 * pace };
	struct sp__sort_sizes sizes = { .opts = &s->opts,
					.plan = &s->plan,
					.bytes = (double)bytes,
					.max_bytes = INFINITY,
					.runs = n,
					.run_bytes = (double)bytes / (double)n };
	struct sp__merge_totals totals;

	costs.read_s = f->read_s_per_mib > 0 ? f->read_s_per_mib / MIB * packed : write_s;
	return sp__predict_merges(&sizes, merging->spilled->lastkey_fn != NULL, &costs, &totals) < 0
		       ? -1
		       : totals.seconds + pace * in_memory(merging);
}

/* Sets spilled->prediction when runs have been formed, on real files; no request is outstanding. */
static void predict_formed(struct sp__merging *merging)
{
	struct sp__sort_shared *s = merging->sort;
	double now, rest, packed;
	struct sp__run **runs;
	uint64_t bytes;
	size_t n;

	/* A merge of sorted files (-m) forms no runs. */
	if (s->env.device || s->opts.compress_program || merging->inputs.n)
		return;
	runs = stored(merging, &n, &bytes, &packed);
	if (runs && n && n <= SP__STEPS_RUNS_MAX) {
		now = (double)(sp__env_now_ns(&s->env) - s->env.begin_ns) * 1e-9;
		measure(merging, runs, n);
		rest = rest_s(merging, n, bytes, packed);
		merging->spilled->prediction.seconds = rest < 0 ? 0 : now + rest;
	}
	free(runs);
}

/* Compares the records that a sort has read with those in its rooms, and with the result. */

struct sp__tally sp__balance_read(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__tally t = spilled->resume ? spilled->resume->read : (struct sp__tally){ 0 };

	for (unsigned i = 0; i < forming->nslots; i++)
		sp__tally_join(&t, &forming->slots[i].buf.added);
	sp__tally_join(&t, &merging->inputs.read);
	return t;
}

/* Returns the tally of the records that have been dropped so far.  No task may be running. */
static struct sp__tally balance_dropped(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__tally t = merging->sort->balance.dropped;

	for (unsigned i = 0; i < forming->nslots; i++)
		sp__tally_join(&t, &forming->slots[i].buf.dropped);
	sp__tally_join(&t, &forming->replace.dropped);
	if (spilled->resume)
		sp__tally_join(&t, &spilled->resume->dropped);
	return t;
}

/* Called after the last run: checks that all records are in runs, slots or strips. */
static int balance_formed(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	uint64_t read = sp__balance_read(merging).records, found = balance_dropped(merging).records;

	for (size_t i = 0; i < spilled->nruns; i++)
		found += spilled->runs[i] ? spilled->runs[i]->records : 0;
	for (unsigned i = 0; i < forming->nslots; i++)
		if (forming->slots[i].state == SP__SLOT_SORTED)
			found += forming->slots[i].buf.n + forming->slots[i].buf.repeated;
	found += forming->replace.held;
	return sp__balance_compare(merging->sort, "records in runs", read, found);
}

int sp__balance_ended(const struct sp__merging *merging)
{
	struct sp__sort_shared *s = merging->sort;
	struct sp__tally read = sp__balance_read(merging), found = balance_dropped(merging);
	int rc;

	sp__tally_join(&found, &s->balance.given);
	if (s->opts.top && s->balance.given.records == s->opts.top)
		return 0;
	rc = sp__balance_compare(merging->sort, "records", read.records, found.records);
	if (rc || s->opts.top)
		return rc;
	if (s->opts.count)
		rc = sp__balance_compare(merging->sort, "sum of counts", read.records,
					 s->balance.counted);
	if (!rc)
		rc = sp__balance_compare(merging->sort, "bytes", read.bytes, found.bytes);
	return rc ? rc : sp__balance_compare(merging->sort, "hash sum", read.sum, found.sum);
}

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
			predict_formed(merging);
		if (!rc)
			n = sp__runs_reduce(spilled, true,
					    sp__free_region(merging->forming, false));
		sp__spill_trim(spilled->store);
	}
	if (rc < 0 || n < 0)
		return rc < 0 ? rc : n;
	merging->runs_left = (unsigned)n;
	merging->reduced = true;
	return balance_formed(merging);
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
