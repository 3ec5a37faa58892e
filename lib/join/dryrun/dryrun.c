/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of a join on a simulated machine from sizes, budget and machine alone.
 *
 * Algorithm: the join is run dry (predict/dryrun.h).  Its streams and partitions submit their
 * requests to the machine, and computation is charged as by the join, but records are counts.  If
 * the inputs are large, only a part is run dry, as if all partitions were smaller by one factor,
 * and the time is multiplied by it.  Likewise a few blocks of nested loops stand for all.
 * Several short records are handled as one.
 *
 * Assumptions, since sizes do not show them: the records of a file are equally long and in random
 * order.  The keys of the file with fewer records are all different, and each record of the other
 * file has one of them.  A pair is as long as both its records.
 *
 * Not modelled: joins with many levels of many partitions, whose dry run is too much work; their
 * time is unknown.
 *
 * Rejected: a mean cost of positioning.  A chunk of a partition is read while two others are
 * outstanding, and drives differ in which they serve next.  Partitions fill in nearly the same
 * order each time, so their chunks are at nearly one distance, and whether its angle suits the
 * drive varies.
 */
#include <math.h>
#include "base/err.h"
#include "join/dryrun/impl.h"
#include "join/result/emit.h"
#include "run/volume_spec.h"

/* Chunks of inputs that are run dry as a whole. */
#define MAX_CHUNKS 4096
/* Records of both inputs that are handled one by one. */
#define MAX_RECORDS 2000000

uint64_t sp__dryjoin_next(struct sp__dryjoin *t, struct sp__dryfile *input)
{
	uint64_t bytes = 0;

	if (t->error || sp__dryjoin_failed(t, sp__dryinput_next(&input->stream, &bytes)))
		return 0;
	if (input->stream.store && bytes)
		sp__dryjoin_work(t, sp__dryrun_requests(&t->env, (double)bytes, (double)bytes));
	return bytes;
}

static void put_result(struct sp__dryjoin *t, uint64_t bytes)
{
	if (t->result.store)
		sp__dryjoin_work(
			t, sp__dryrun_requests(&t->env, (double)bytes, t->result.chunk_bytes));
	if (!t->error)
		(void)sp__dryjoin_failed(t, sp__dryoutput_put(&t->result, bytes));
}

uint64_t sp__dryjoin_emit(struct sp__dryjoin *t, double bytes)
{
	uint64_t n;

	t->emit_owed += bytes;
	n = (uint64_t)t->emit_owed;
	t->emit_owed -= (double)n;
	if (t->emitted + n > SP__EMIT_BYTES) {
		put_result(t, t->emitted);
		t->emitted = 0;
	}
	t->emitted += n;
	return n;
}

/* Merges sorted inputs; writes the result as it comes.  Reading charges the records passed. */
static void merge(struct sp__dryjoin *t)
{
	double passed[2] = { 0, 0 }, done = 0;
	uint64_t bytes[2] = { 0, 0 };
	bool ended[2] = { false, false };
	double all = t->emits[0] * (double)t->input[0].records;

	while (!(ended[0] && ended[1]) && !t->error) {
		int i = ended[0] || (!ended[1] && passed[1] < passed[0]);

		sp__dryjoin_emit(t, all * (passed[i] - done));
		done = passed[i];
		sp__charge_work(&t->env, (uint64_t)((double)bytes[i] / t->mean[i]), 1, bytes[i]);
		bytes[i] = sp__dryjoin_next(t, &t->input[i]);
		passed[i] += (double)bytes[i] / (double)t->input[i].bytes;
		ended[i] = !bytes[i];
	}
}

/* Sets lengths and numbers of records, and the result bytes per record. */
static void describe(struct sp__dryjoin *t)
{
	const struct sp_join_opts *o = &t->o;
	double bundle_bytes, all = (double)o->input_bytes[0] + (double)o->input_bytes[1], max = 0,
			     each;

	t->scale = fmax(all / MAX_CHUNKS / sp__env_reading(&t->env).chunk_bytes, 1);
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

static void join(struct sp__dryjoin *t, const struct sp_join_plan *plan)
{
	const int build = (int)plan->build - 1;

	for (int i = 0; i < 2 && !t->error; i++)
		(void)sp__dryjoin_failed(t,
					 sp__dryinput_open(&t->input[i].stream, &t->env,
							   t->o.input_bytes[i], t->input[i].bytes));
	if (t->error || sp__dryjoin_failed(t, sp__dryoutput_open(&t->result, &t->env)))
		return;
	if (t->algorithm == SP_JOIN_MERGE)
		merge(t);
	else
		sp__dryjoin_hash(t, 0, build,
				 (struct sp__dryfile *[]){ &t->input[build], &t->input[!build] });
	put_result(t, t->emitted);
	if (!t->error && !sp__dryjoin_failed(t, sp__dryoutput_finish(&t->result)))
		sp__env_sync(&t->env, t->spill);
}

/* True if the join can be run dry. */
static bool is_known(const struct sp_join_opts *o, const struct sp_join_plan *plan)
{
	return sp__volume_spec_simulated(&o->run) && o->input_bytes[0] && o->input_bytes[1] &&
	       !o->limited && !o->ordered && o->run.placement == SP_PLACE_CONTIGUOUS &&
	       !sp__is_inl(plan->algorithm);
}

int sp__join_predict(const struct sp_join_opts *o, const struct sp_join_plan *plan,
		     const struct sp__join_layout *layout, struct sp__join_prediction *prediction,
		     struct sp_errinfo *err)
{
	struct sp__dryjoin t = { .o = *o,
				 .l = layout,
				 .algorithm = plan->algorithm,
				 .seed = sp__mix64(o->run.seed + 1),
				 .rng.state = o->run.seed };

	if (!is_known(o, plan))
		return 0;
	if (!sp__dryjoin_failed(&t, sp__dryrun_open(&t.env, &t.o.run, err))) {
		describe(&t);
		join(&t, plan);
	}
	prediction->work = (uint64_t)t.work;
	if (!t.error)
		prediction->seconds = (sp__dryrun_s(&t.env) + t.more_s) * t.scale;
	for (int i = 0; i < 2; i++)
		sp__drystream_close(&t.input[i].stream);
	sp__drystream_close(&t.result);
	sp__spill_close(t.spill);
	return sp__dryrun_close(&t.env, t.error);
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
