/* SPDX-License-Identifier: MIT */
/*
 * The incremental sort: put batches, finish, get batches.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

static int fail(struct sp_sort *s, int rc)
{
	if (rc < 0) {
		s->error = rc;
		s->state = SP__SORT_DONE;
	}
	return rc;
}

static int note_later(struct sp_sort *s, int rc)
{
	s->told_later = rc == SP_LATER;
	return fail(s, rc);
}

static int open_parts(struct sp_sort *s)
{
	bool stable = sp__ks(s->opts.keys)->last_resort ? sp__ks(s->opts.keys)->last_collated
							: !sp__ks(s->opts.keys)->exact;
	int rc;

	/* Virtual time has one executor. */
	s->threads = s->env.device ? 1 : sp__threads(s->opts.run.parallel);
	s->spilled.write_bytes =
		sp__plan_spill_bytes(&s->opts, s->plan.memory_bytes, s->plan.page_bytes);
	s->output.buffer_bytes = sp__buffers(s->plan.memory_bytes).chunk_bytes;
	rc = sp__policy_new(&s->spilled.policy, s->plan.policy, s->plan.fan_in, stable);
	if (rc == SP_EUNSUP)
		return sp__errf(s->env.err, rc, "plan", NULL, -1,
				"polyphase merging does not keep the order of equal keys");
	if (rc < 0)
		return sp__err(s->env.err, rc, rc == -ENOMEM ? "allocate" : "plan", NULL, -1);
	s->spilled.ids = calloc(s->plan.fan_in, sizeof(*s->spilled.ids));
	if (!s->spilled.ids)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	return sp__form_open(s);
}

int sp__sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts, const struct sp__env *plan,
		 struct sp_errinfo *err)
{
	struct sp_sort *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	s->opts = *opts;
	sp__ring_init(&s->output.ring);
	pthread_mutex_init(&s->output.busy, NULL);
	rc = sp_sort_plan(&s->opts, &s->plan, err);
	s->opts.run.placement = s->plan.placement;
	if (!rc)
		rc = plan ? sp__env_share(&s->env, &s->opts.run, plan)
			  : sp__env_open(&s->env, &s->opts.run, err);
	if (!rc)
		rc = open_parts(s);
	if (rc < 0) {
		sp_sort_free(s);
		return rc;
	}
	*sort = s;
	return 0;
}

int sp_sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts, struct sp_errinfo *err)
{
	return sp__sort_new(sort, opts, NULL, err);
}

int sp_sort_put(struct sp_sort *s, const struct sp_batch *batch)
{
	if (s->state != SP__SORT_FORMING)
		return s->error ? s->error : SP_ESTATE;
	return note_later(s, sp__form_put(s, batch));
}

int sp_sort_finish(struct sp_sort *s)
{
	int rc;

	if (s->state != SP__SORT_FORMING)
		return s->error ? s->error : SP_ESTATE;
	rc = sp__form_join(s);
	if (!rc)
		sp__form_end(s);
	s->state = SP__SORT_FINISHING;
	return fail(s, rc);
}

static void note_phases(struct sp_sort *s)
{
	uint64_t now = sp__env_now_ns(&s->env), cpu = sp__env_cpu_ns(&s->env);

	if (!s->merging.begin_ns) {
		s->merging.begin_ns = now;
		s->merging.cpu_begin_ns = cpu;
	}
	s->stats.phase_elapsed_s[SP_PHASE_RUN_FORMATION] =
		(double)(s->merging.begin_ns - s->env.begin_ns) * 1e-9;
	s->stats.phase_cpu_s[SP_PHASE_RUN_FORMATION] =
		(double)(s->merging.cpu_begin_ns - s->env.cpu_begin_ns) * 1e-9;
	s->stats.phase_elapsed_s[SP_PHASE_MERGE] = (double)(now - s->merging.begin_ns) * 1e-9;
	s->stats.phase_cpu_s[SP_PHASE_MERGE] = (double)(cpu - s->merging.cpu_begin_ns) * 1e-9;
}

/* strcoll() may have failed for lack of memory. */
static int check_comparisons(struct sp_sort *s)
{
	const struct sp__keyset *ks = sp__ks(s->opts.keys);

	if ((ks->form == SP__KEY_COLLATED || ks->last_collated) && sp__collate_starved())
		return sp__err(s->env.err, -ENOMEM, "compare", NULL, -1);
	return 0;
}

int sp__sort_reduce(struct sp_sort *s)
{
	int rc = sp__form_join(s);

	if (!rc)
		rc = check_comparisons(s);
	return fail(s, rc < 0 ? rc : sp__finish_reduce(s));
}

/* The end of the result: nothing may be missing. */
static int ended(struct sp_sort *s)
{
	int rc;

	s->state = SP__SORT_DONE;
	rc = check_comparisons(s);
	return rc < 0 ? rc : sp__balance_ended(s);
}

int sp__sort_given(struct sp_sort *s)
{
	return fail(s, ended(s));
}

int sp_sort_get(struct sp_sort *s, struct sp_batch *batch)
{
	int rc;

	if (s->state == SP__SORT_DONE)
		return s->error ? s->error : SP_END;
	if (s->state == SP__SORT_FORMING)
		return SP_ESTATE;
	if (s->state == SP__SORT_FINISHING) {
		rc = sp__form_settled(s);
		if (rc == SP_LATER)
			return note_later(s, rc);
		if (rc == SP_READY)
			rc = check_comparisons(s);
		if (!rc)
			rc = sp__output_start(s);
		if (rc < 0)
			return fail(s, rc);
	}
	rc = sp__output_get(s, batch);
	if (rc == SP_END) {
		rc = ended(s);
		if (!rc)
			rc = SP_END;
	}
	return fail(s, rc);
}

int sp_sort_wait(struct sp_sort *s)
{
	if (s->state == SP__SORT_OUTPUT)
		return sp__output_wait(s);
	if (!s->told_later)
		return SP_ESTATE;
	s->told_later = false;
	return fail(s, sp__form_join(s));
}

int sp__sort_put_all(struct sp_sort *s, const struct sp_batch *batch)
{
	int rc;

	while ((rc = sp_sort_put(s, batch)) == SP_LATER) {
		rc = sp_sort_wait(s);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int sp__sort_get_next(struct sp_sort *s, struct sp_batch *batch)
{
	int rc;

	while ((rc = sp_sort_get(s, batch)) == SP_LATER) {
		rc = sp_sort_wait(s);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static void note_spill(const struct sp_sort *s, struct sp_sort_stats *st, bool regions)
{
	struct sp__io_counters c;

	if (s->spilled.store) {
		sp__spill_counters(s->spilled.store, &c);
		sp__env_note_io(&st->run, &c);
		sp__env_note_spill(&s->env, &st->run, s->spilled.store);
		st->compress_error = s->spilled.store->program_error;
		st->cluster_reads = s->spilled.store->cluster_reads;
		st->demand_reads = s->spilled.store->demand_reads;
		st->spill_recycled_bytes = sp__spill_recycled_bytes(s->spilled.store);
	}
	if (s->env.device || (s->spilled.store && regions))
		sp__env_note_regions(&s->env, &st->run, s->spilled.store);
}

void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_counters)
{
	/* The working thread owns the figures: wait for run formation, or for the next
	 * buffer of the final merge, which may itself wait for the caller. */
	if (s->output.threaded)
		pthread_mutex_lock(&s->output.busy);
	else
		(void)!sp__form_join(s);
	note_phases(s);
	*stats = s->stats;
	stats->plan = s->plan;
	stats->prediction = s->merging.prediction;
	stats->replan = s->merging.replan;
	stats->output_records = s->balance.given.records;
	for (unsigned i = 0; i < s->forming.nslots; i++)
		stats->collapsed += s->forming.slots[i].buf.distinct.collapsed;
	sp__env_note(&s->env, &stats->run, device_counters);
	note_spill(s, stats, device_counters);
	if (s->merging.inputs.n) {
		sp__inputs_close(&s->merging.inputs);
		sp__env_note_io(&stats->run, &s->merging.inputs.done);
		stats->input_bytes = s->merging.inputs.bytes;
	}
	if (s->output.threaded)
		pthread_mutex_unlock(&s->output.busy);
}

void sp_sort_stats(struct sp_sort *sort, struct sp_sort_stats *stats)
{
	sp__sort_stats(sort, stats, true);
}

void sp__sort_sync(struct sp_sort *s)
{
	sp__env_sync(&s->env, s->spilled.store);
}

int sp__sort_free(struct sp_sort *s)
{
	int rc;

	if (!s)
		return 0;
	sp__waits_withdraw(&s->wait);
	sp__output_close(s);
	sp__finish_close(s);
	sp__form_close(s);
	sp__spill_close(s->spilled.store);
	rc = sp__env_close(&s->env);
	sp__ring_destroy(&s->output.ring);
	pthread_mutex_destroy(&s->output.busy);
	free(s);
	return rc;
}

struct sp__env *sp__sort_env(struct sp_sort *s)
{
	return &s->env;
}

void sp_sort_free(struct sp_sort *s)
{
	(void)sp__sort_free(s);
}
