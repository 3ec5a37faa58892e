/* SPDX-License-Identifier: MIT */
/*
 * Sorts step by step: put batches, finish, get batches.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/form/parts.h"
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
	s->reported_later = rc == SP_LATER;
	return fail(s, rc);
}

static int open_rooms(struct sp_sort *s)
{
	struct sp__sort_shared *shared = &s->shared;
	size_t buffer_bytes = sp__buffers(shared->plan.memory_bytes).chunk_bytes;
	int rc;

	s->spilled.err = shared->env.err;
	/* Virtual time has one thread. */
	shared->threads = shared->env.device ? 1 : shared->opts.run.parallel;
	rc = sp__runs_open(&s->spilled);
	if (!rc)
		rc = sp__form_open(&s->forming, SP__RING_BUFFERS * buffer_bytes);
	if (!rc)
		sp__ring_use(&s->output.ring, s->forming.output_mem, buffer_bytes);
	return rc;
}

static void connect_rooms(struct sp_sort *s)
{
	s->spilled.sort = s->forming.sort = s->merging.sort = &s->shared;
	s->forming.spilled = s->merging.spilled = &s->spilled;
	s->merging.forming = &s->forming;
	s->output.merging = &s->merging;
}

int sp__sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts, const struct sp__env *plan,
		 struct sp_errinfo *err)
{
	struct sp_sort *s = calloc(1, sizeof(*s));
	struct sp_sort_opts planned = *opts;
	struct sp_sort_plan made = { 0 };
	int rc;

	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	connect_rooms(s);
	sp__ring_init(&s->output.ring);
	pthread_mutex_init(&s->output.busy, NULL);
	sp__plan_threads(&planned);
	rc = sp_sort_plan(&planned, &made, err);
	planned.run.placement = made.placement;
	memcpy(&s->shared, &(struct sp__sort_shared){ .opts = planned, .plan = made },
	       sizeof(s->shared));
	if (!rc)
		rc = plan ? sp__env_share(&s->shared.env, &s->shared.opts.run, plan)
			  : sp__env_open(&s->shared.env, &s->shared.opts.run, err);
	if (!rc)
		rc = open_rooms(s);
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
	int rc;

	if (s->state != SP__SORT_FORMING)
		return s->error ? s->error : SP_ESTATE;
	rc = sp__form_put(&s->forming, batch);
	if (rc == SP_EFORMAT)
		rc = sp__errf(s->shared.env.err, rc, "sort", NULL, -1, "a record is not JSON");
	return note_later(s, rc);
}

int sp_sort_finish(struct sp_sort *s)
{
	int rc;

	if (s->state != SP__SORT_FORMING)
		return s->error ? s->error : SP_ESTATE;
	rc = sp__form_join(&s->forming);
	if (!rc)
		sp__form_end(&s->forming);
	s->state = SP__SORT_FINISHING;
	return fail(s, rc);
}

static void note_phases(struct sp_sort *s)
{
	uint64_t now = sp__env_now_ns(&s->shared.env), cpu = sp__env_cpu_ns(&s->shared.env);

	if (!s->merging.begin_ns) {
		s->merging.begin_ns = now;
		s->merging.cpu_begin_ns = cpu;
	}
	s->shared.stats.phase_elapsed_s[SP_PHASE_RUN_FORMATION] =
		(double)(s->merging.begin_ns - s->shared.env.begin_ns) * 1e-9;
	s->shared.stats.phase_cpu_s[SP_PHASE_RUN_FORMATION] =
		(double)(s->merging.cpu_begin_ns - s->shared.env.cpu_begin_ns) * 1e-9;
	s->shared.stats.phase_elapsed_s[SP_PHASE_MERGE] =
		(double)(now - s->merging.begin_ns) * 1e-9;
	s->shared.stats.phase_cpu_s[SP_PHASE_MERGE] =
		(double)(cpu - s->merging.cpu_begin_ns) * 1e-9;
}

static int check_comparisons(struct sp_sort *s)
{
	return sp__collate_check(s->shared.opts.keys, s->shared.env.err);
}

int sp__sort_reduce(struct sp_sort *s)
{
	int rc = sp__form_join(&s->forming);

	if (!rc)
		rc = check_comparisons(s);
	return fail(s, rc < 0 ? rc : sp__final_reduce(&s->merging));
}

/* Called at the end of the result: checks that no record is missing. */
static int ended(struct sp_sort *s)
{
	int rc;

	s->state = SP__SORT_DONE;
	rc = check_comparisons(s);
	return rc < 0 ? rc : sp__balance_ended(&s->merging);
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
		rc = sp__form_settled(&s->forming);
		if (rc == SP_LATER)
			return note_later(s, rc);
		if (rc == SP_READY)
			rc = check_comparisons(s);
		if (!rc) {
			s->state = SP__SORT_OUTPUT;
			rc = sp__output_start(&s->output);
		}
		if (rc < 0)
			return fail(s, rc);
	}
	rc = sp__output_get(&s->output, batch);
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
		return sp__output_wait(&s->output);
	if (!s->reported_later)
		return SP_ESTATE;
	s->reported_later = false;
	return fail(s, sp__form_join(&s->forming));
}

int sp__sort_put_all(struct sp_sort *s, const struct sp_batch *batch)
{
	int rc;

	while ((rc = sp_sort_put(s, batch)) == SP_LATER && (rc = sp_sort_wait(s)) >= 0)
		;
	return rc;
}

int sp__sort_put_valid(struct sp_sort *s, const struct sp_batch *batch, size_t *valid)
{
	int rc;

	while ((rc = sp__form_put(&s->forming, batch)) == SP_LATER) {
		s->reported_later = true;
		rc = sp_sort_wait(s);
		if (rc < 0)
			return rc;
	}
	if (rc != SP_EFORMAT)
		return fail(s, rc);
	*valid = s->forming.taken;
	s->forming.taken = 0;
	return rc;
}

int sp__sort_get_next(struct sp_sort *s, struct sp_batch *batch)
{
	int rc;

	while ((rc = sp_sort_get(s, batch)) == SP_LATER && (rc = sp_sort_wait(s)) >= 0)
		;
	return rc;
}

bool sp__sort_reads_parts(const struct sp_sort *s, struct sp__rstream_opts *reading)
{
	const struct sp__chunks_plan chunks = sp__form_part_chunks(&s->forming);

	reading->chunk_bytes = (uint32_t)chunks.bytes;
	reading->depth = chunks.n;
	return sp__form_by_parts(&s->forming);
}

uint64_t sp__sort_part_bytes(const struct sp_sort *s, uint64_t input_bytes)
{
	return sp__form_part_bytes(&s->forming, input_bytes);
}

bool sp__sort_holds(const struct sp_sort *s, uint64_t bytes, uint64_t records, unsigned threads)
{
	const unsigned n = s->forming.nslots;
	/* When a slot is to be stored, each of several threads has one that is partly full. */
	const unsigned full = threads > 1 ? n - sp__min(n, threads) : n;
	uint64_t capacity = 0;

	for (unsigned i = 0; i < full; i++)
		capacity += s->forming.slots[i].bytes;
	return bytes + records * SP__ENTRY_COST <= capacity;
}

int sp__sort_put_parts(struct sp_sort *s, struct sp__parts *parts, uint64_t input_bytes,
		       sp__sort_encode_fn *encode, void *arg)
{
	const struct sp__form_source source = {
		.parts = parts, .input_bytes = input_bytes, .encode = encode, .arg = arg
	};

	return fail(s, sp__form_parts(&s->forming, &source));
}

int sp__sort_merge_inputs(struct sp_sort *s, const struct sp_sort_io *io, unsigned sim_file)
{
	int rc = sp__inputs_list(&s->merging.inputs, &s->shared, io, sim_file);

	if (rc < 0)
		return rc;
	s->spilled.uncut = s->merging.inputs.n > 0;
	s->forming.slots[0].state = SP__SLOT_EMPTY;
	s->state = SP__SORT_FINISHING;
	return 0;
}

int sp__sort_adopt(struct sp_sort *s, struct sp__resume *resume)
{
	struct sp_sort_stats *stats = &s->shared.stats;
	int rc = resume->nfound ? sp__form_join(&s->forming) : 0;

	s->spilled.resume = resume;
	if (!rc)
		rc = sp__runs_adopt(&s->spilled, sp__free_region(&s->forming, true));
	stats->input_bytes = stats->resumed_bytes = resume->covered_bytes;
	stats->records = resume->read.records;
	return rc;
}

static void note_spill(const struct sp_sort *s, struct sp_sort_stats *st, bool regions)
{
	struct sp__io_counters c;

	if (s->spilled.store) {
		sp__spill_counters(s->spilled.store, &c);
		sp__env_note_io(&st->run, &c);
		sp__env_note_spill(&s->shared.env, &st->run, s->spilled.store);
		st->compress_error = s->spilled.store->program_error;
		st->cluster_reads = s->spilled.store->cluster_reads;
		st->demand_reads = s->spilled.store->demand_reads;
		st->spill_recycled_bytes = sp__spill_recycled_bytes(s->spilled.store);
	}
	if (s->shared.env.device || (s->spilled.store && regions))
		sp__env_note_regions(&s->shared.env, &st->run, s->spilled.store);
}

void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_counters)
{
	/*
	 * The working thread owns the counters.  Waits for run formation, or for the next buffer of
	 * the final merge, which can itself wait for the caller.
	 */
	if (s->output.threaded)
		pthread_mutex_lock(&s->output.busy);
	else
		(void)!sp__form_join(&s->forming);
	note_phases(s);
	*stats = s->shared.stats;
	stats->plan = s->shared.plan;
	stats->prediction = s->spilled.prediction;
	stats->replan = s->spilled.replan;
	stats->output_records = s->shared.balance.given.records;
	for (unsigned i = 0; i < s->forming.nslots; i++)
		stats->collapsed += s->forming.slots[i].buf.distinct.collapsed;
	sp__env_note(&s->shared.env, &stats->run, device_counters);
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
	sp__env_sync(&s->shared.env, s->spilled.store);
}

void sp__sort_stop(struct sp_sort *s)
{
	sp__form_stop(&s->forming);
	sp__output_stop(&s->output);
}

int sp__sort_free(struct sp_sort *s)
{
	int rc;

	if (!s)
		return 0;
	sp__waits_withdraw(&s->wait);
	sp__sort_stop(s);
	sp__final_close(&s->merging);
	sp__runs_close(&s->spilled);
	sp__form_close(&s->forming);
	rc = sp__env_close(&s->shared.env);
	sp__ring_destroy(&s->output.ring);
	pthread_mutex_destroy(&s->output.busy);
	free(s);
	return rc;
}

struct sp__env *sp__sort_env(struct sp_sort *s)
{
	return &s->shared.env;
}

void sp_sort_free(struct sp_sort *s)
{
	(void)sp__sort_free(s);
}
