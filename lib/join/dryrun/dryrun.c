/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of a join on a simulated machine from sizes, budget and machine alone.
 *
 * Algorithm: the join is run dry.  Its streams submit their requests to the machine (streams.h),
 * and computation is charged as by the join, but records are counts, and no byte is read.  The
 * simulated drive needs no model here.  If the inputs are large, only a part is run dry, as if all
 * partitions were smaller by one factor, and the time is multiplied by it.  Likewise a few blocks
 * of nested loops stand for all.  Several short records are handled as one.
 *
 * Assumptions, since sizes do not show them: the records of a file are equally long and in random
 * order.  The keys of the file with fewer records are all different, and each record of the other
 * file has one of them.  A pair is as long as both its records.
 *
 * Not modelled: joins with many levels of many partitions, whose dry run is too much work; their
 * time is unknown.
 *
 * Rejected: a mean cost of positioning, as in the sort's prediction (sort/plan/predict.c).  A chunk
 * of a partition is read while two others are outstanding, and drives differ in which they serve
 * next.  Partitions fill in nearly the same order each time, so their chunks are at nearly one
 * distance, and whether its angle suits the drive varies.
 */
#include <math.h>
#include "base/err.h"
#include "join/result/emit.h"
#include "join/dryrun/impl.h"
#include "run/volume_spec.h"

/* Chunks of inputs that are run dry as a whole. */
#define MAX_CHUNKS 4096
/* Records of both inputs that are handled one by one. */
#define MAX_RECORDS 2000000

/* Adds bytes of the result to the buffer. */
uint64_t sp__dryrun_emit(struct sp__dryrun *t, double bytes)
{
	uint64_t n;

	t->emit_owed += bytes;
	n = (uint64_t)t->emit_owed;
	t->emit_owed -= (double)n;
	if (t->emitted + n > SP__EMIT_BYTES) {
		sp__drywrite_put(&t->to, t->emitted);
		t->emitted = 0;
	}
	t->emitted += n;
	return n;
}

/* Merges sorted inputs; writes the result as it comes.  Reading charges the records passed. */
static void merge(struct sp__dryrun *t)
{
	struct sp__dryread read[2];
	double passed[2] = { 0, 0 }, done = 0;
	uint64_t bytes[2] = { 0, 0 };
	bool ended[2] = { false, false };
	double all = t->emits[0] * (double)t->input[0].records;

	for (int i = 0; i < 2; i++)
		sp__dryread_open(&t->r, &read[i], &t->input[i], t->buffers.chunk_bytes, false);
	while (!(ended[0] && ended[1]) && !t->r.error) {
		int i = ended[0] || (!ended[1] && passed[1] < passed[0]);

		sp__dryrun_emit(t, all * (passed[i] - done));
		done = passed[i];
		sp__dryrun_work(t, (uint64_t)((double)bytes[i] / t->mean[i]), 1, bytes[i]);
		bytes[i] = sp__dryread_next(&read[i]);
		passed[i] += (double)bytes[i] / (double)t->input[i].bytes;
		ended[i] = !bytes[i];
	}
}

/* Sets lengths and numbers of records, and the result bytes per record. */
static void describe(struct sp__dryrun *t)
{
	const struct sp_join_opts *o = t->o;
	double bundle_bytes, all = (double)o->input_bytes[0] + (double)o->input_bytes[1], max = 0,
			     each;

	t->scale = fmax(all / MAX_CHUNKS / t->buffers.chunk_bytes, 1);
	bundle_bytes = all / t->scale / MAX_RECORDS;
	for (int i = 0; i < 2; i++) {
		t->mean[i] =
			(double)(o->record_bytes[i] ? o->record_bytes[i] : SP__JOIN_MEAN_BYTES);
		t->bundle[i] = fmax(ceil(bundle_bytes / t->mean[i]), 1);
		t->input[i].bytes = (uint64_t)fmax((double)o->input_bytes[i] / t->scale, 1);
		t->input[i].records = (uint64_t)fmax((double)t->input[i].bytes / t->mean[i], 1);
		max = fmax(max, (double)t->input[i].records);
	}
	/* Pairs, or records of the first file that have a partner. */
	each = o->pairs ? max * (t->mean[0] + t->mean[1])
			: (o->semi ? (double)t->input[0].records * t->mean[0] : 0);
	for (int i = 0; i < 2; i++)
		t->emits[i] = each / (double)t->input[i].records;
}

static void join(struct sp__dryrun *t, const struct sp_join_plan *plan)
{
	const enum sp__sim_files on = sp__machine_spec(t->r.machine)->files;
	const bool both = on == SP__SIM_FILES_BOTH;

	for (int i = 0; i < 2; i++) {
		uint64_t records = t->input[i].records;

		sp__dryfile_input(&t->r, &t->input[i], both || on == SP__SIM_FILES_IN,
				  t->o->input_bytes[i], t->input[i].bytes);
		t->input[i].records = records;
	}
	sp__dryfile_result(&t->r, &t->result, both || on == SP__SIM_FILES_OUT);
	sp__drywrite_open(&t->r, &t->to, &t->result, t->buffers.chunk_bytes, t->buffers.writes);
	if (t->algorithm == SP_JOIN_MERGE) {
		merge(t);
	} else {
		sp__dryrun_hash(t, (int)plan->build - 1);
	}
	sp__drywrite_put(&t->to, t->emitted);
	sp__drywrite_end(&t->to);
	sp__drywrite_finish(&t->to);
	if (t->result.file >= 0 && !t->r.error)
		sp__drymachine_sync(&t->r);
	for (int i = 0; i < 2; i++)
		sp__dryfile_end(&t->r, &t->input[i]);
	sp__dryfile_end(&t->r, &t->result);
}

/* True if the join can be run dry. */
static bool is_known(const struct sp_join_opts *o, const struct sp_join_plan *plan,
		     const struct sp__machine_spec *spec)
{
	/* OPT uses the requests of another run. */
	return o->input_bytes[0] && o->input_bytes[1] && !o->limited && !o->ordered &&
	       o->run.placement == SP_PLACE_CONTIGUOUS && !sp__is_inl(plan->algorithm) &&
	       !(spec->cache_bytes && spec->policy == SP__PCACHE_OPT);
}

int sp__join_predict(const struct sp_join_opts *o, const struct sp_join_plan *plan,
		     const struct sp__join_layout *layout, struct sp__join_prediction *prediction,
		     struct sp_errinfo *err)
{
	const char *text = sp__volume_spec_machine_spec(&o->run);
	struct sp__dryrun t = { .o = o,
				.l = layout,
				.buffers = sp__buffers(
					sp__working_memory(&o->run, o->run.memory_bytes)),
				.algorithm = plan->algorithm,
				.seed = sp__mix64(o->run.seed + 1),
				.rng.state = o->run.seed };
	struct sp__machine_spec spec;
	int rc;

	if (!text)
		return 0;
	rc = sp__machine_spec_parse(&spec, text, err);
	if (rc < 0 || !is_known(o, plan, &spec))
		return rc;
	rc = sp__drymachine_open(&t.r, &spec, err);
	if (rc < 0)
		return rc;
	describe(&t);
	join(&t, plan);
	rc = t.r.error;
	prediction->work = t.r.work;
	if (!rc)
		prediction->seconds = (sp__dryrun_now(&t) + t.more_s) * t.scale;
	sp__drymachine_close(&t.r);
	/* No space on the device, which can fail the join too; or too much work. */
	if (rc == -ENOSPC || rc == -E2BIG)
		return 0;
	return rc < 0 ? sp__err(err, rc, "allocate", NULL, -1) : 0;
}

int sp_join_predict(const struct sp_join_opts *opts, struct sp_join_plan *plan,
		    struct sp_errinfo *err)
{
	struct sp__join_layout l = { 0 };
	struct sp__join_prediction prediction = { 0 };
	int rc = plan->algorithm == SP_JOIN_MERGE ? 0 : sp__join_layout(opts, &l, err);

	if (!rc)
		rc = sp__join_predict(opts, plan, &l, &prediction, err);
	plan->seconds = prediction.seconds;
	return rc;
}
