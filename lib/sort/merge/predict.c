/* SPDX-License-Identifier: MIT */
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
#include <math.h>
#include <stdlib.h>
#include "sort/plan/layout.h"
#include "sort/plan/predict.h"
#include "sort/merge/merging.h"

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

void sp__sort_predict_formed(struct sp__merging *merging)
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
