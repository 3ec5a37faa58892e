/* SPDX-License-Identifier: MIT */
/*
 * How long a sort on real files will take, told when its runs have been formed.
 *
 * Its merges are those that the policy will order, of runs of their mean length, and each takes as
 * long as its device or its computation (predict.c).  The device is measured: t of writing by the
 * writing of the runs, t of reading and s by a few reads of them.  How fast merging computes is not
 * known yet; it is taken to move its bytes at the pace at which all were moved until now: of the
 * processors, where it is known what the device took, else, where the page cache keeps the runs, of
 * the clock.  The result costs the device what the input did: often nothing, for a page cache that
 * has the one takes the other.
 *
 * The plan stays what it was.  Pages are written, and of the strategies for reading ahead formula
 * (5), t D + s N, chooses the one with the least N, whatever t and s are.  Merging fewer at once
 * than the memory M allows, in two passes of the square root of n runs, saves
 * s (n - 2 sqrt(n)) / M for each MB and costs 2 t: it pays from 2200 runs in 64 MB on flash with
 * s / t = 0.06 MB, and from 150 on a disk with 1 MB, if writing them took the arm nowhere else.
 */
#include <stdlib.h>
#include "run/memory.h"
#include "sort/plan/predict_impl.h"
#include "sort/state.h"

/* Runs in temporary space, and how many bytes each of theirs is there; NULL: no memory. */
static struct sp__run **stored(const struct sp_sort *s, size_t *n, uint64_t *bytes, double *packed)
{
	struct sp__run **runs = calloc(s->spilled.nruns + 1, sizeof(struct sp__run *));
	uint64_t units = 0;

	*n = *bytes = 0;
	for (size_t i = 0; runs && i < s->spilled.nruns; i++) {
		if (!s->spilled.runs[i])
			continue;
		runs[(*n)++] = s->spilled.runs[i];
		*bytes += s->spilled.runs[i]->bytes;
		units += s->spilled.runs[i]->units;
	}
	*packed = (double)units * s->spilled.store->unit_bytes / (double)*bytes;
	return runs;
}

static void measure(struct sp_sort *s, struct sp__run *const *runs, size_t n)
{
	struct sp_prediction *f = &s->merging.prediction;
	struct sp__freemem where = sp__free_region(s, false);
	double seek_s = -1;

	if (s->merging.seeks && where.bytes >= 2 * SP__SEEK_BYTES)
		seek_s = sp__spill_seek_s(s->spilled.store, runs, n, where.mem);
	if (s->merging.seeks && where.bytes >= sp__spill_read_memory(s->spilled.store))
		f->read_s_per_mib =
			sp__spill_read_s(s->spilled.store, runs[n / 2], where.mem) * MIB;
	f->seek_s = fmax(seek_s, 0);
	f->transfer_s_per_mib = sp__spill_write_s(s->spilled.store) * MIB;
}

/* Of each byte that has been read or written, before it was packed. */
static double pace_s(const struct sp_sort *s, double packed)
{
	const struct sp__spill *store = s->spilled.store;
	double moved = (double)(s->stats.input_bytes - s->stats.resumed_bytes) +
		       (double)(store->write_bytes + store->read_bytes) / packed;
	uint64_t took = sp__env_now_ns(&s->env) - s->env.begin_ns;

	if (s->merging.prediction.transfer_s_per_mib > 0)
		took = sp__min(took, sp__env_cpu_ns(&s->env) - s->env.cpu_begin_ns);
	return (double)took * 1e-9 / moved;
}

static double in_memory(const struct sp_sort *s)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < s->forming.nslots; i++)
		if (s->forming.slots[i].state == SP__SLOT_SORTED)
			bytes += s->forming.slots[i].buf.record_bytes;
	return (double)bytes;
}

static double rest_s(struct sp_sort *s, size_t n, uint64_t bytes, double packed)
{
	const struct sp_prediction *f = &s->merging.prediction;
	double write_s = f->transfer_s_per_mib / MIB * packed, pace = pace_s(s, packed);
	double read_s = f->read_s_per_mib > 0 ? f->read_s_per_mib / MIB * packed : write_s;
	struct sp__sort_prediction t = { .at = { .byte_s = read_s,
						 .write_byte_s = write_s,
						 .run_byte_s = read_s,
						 .run_write_byte_s = write_s,
						 .seek_s = f->seek_s,
						 .drives = 1,
						 .mirrors = 1,
						 .copy_s = 2 * pace },
					 .o = &s->opts,
					 .plan = &s->plan,
					 .device = sp__plan_device(&s->opts),
					 .keys = s->spilled.lastkey_fn != NULL,
					 .bytes = (double)bytes,
					 .most_bytes = INFINITY,
					 .record_bytes = SP__PLAN_RECORD_BYTES,
					 .chunk_bytes =
						 sp__buffers(s->plan.memory_bytes).chunk_bytes,
					 .run_bytes = (double)bytes / (double)n };

	return sp__sort_predict_merges(&t, n) < 0 ? -1 : t.seconds + pace * in_memory(s);
}

void sp__sort_predict_formed(struct sp_sort *s)
{
	double now, rest, packed;
	struct sp__run **runs;
	uint64_t bytes;
	size_t n;

	/* Of sorted files that are merged (-m) no runs are formed. */
	if (s->env.device || s->opts.compress_program || s->merging.inputs.n)
		return;
	runs = stored(s, &n, &bytes, &packed);
	if (runs && n && n <= SP__TOLD_RUNS) {
		now = (double)(sp__env_now_ns(&s->env) - s->env.begin_ns) * 1e-9;
		measure(s, runs, n);
		rest = rest_s(s, n, bytes, packed);
		s->merging.prediction.seconds = rest < 0 ? 0 : now + rest;
	}
	free(runs);
}
