/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of a sort on a simulated machine from its plan and from the machine alone.
 *
 * Algorithm: the sort is run dry (predict/dryrun.h).  Runs are formed and merged (merge.c) in
 * the order of the policy, with the read plans, the page pool and the space of the sort itself, and
 * computation is charged as by the sort; but records are counts.  If the input is large, only a
 * part is run dry, as if all runs were shorter by one factor, and the time is multiplied by it.
 *
 * Assumptions: the records are equally long and in random order, and their keys differ.
 *
 * Not modelled: compression, records that are dropped because keys repeat, checkpoints.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/ring.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sort/dryrun/impl.h"
#include "sort/plan/policy.h"
#include "sort/select/replace.h"

/* Times that are nearly equal decide nothing. */
#define NOTABLE 0.98

static int plan_and_predict(const struct sp_sort_opts *o, struct sp_sort_plan *plan,
			    struct sp_errinfo *err)
{
	int rc = sp__plan_placed(o, plan, err);

	return rc < 0 ? rc : sp_sort_predict(o, plan, err);
}

/*
 * Chooses a placement: makes a plan for each, runs them dry, and takes the one with the shortest
 * time.
 *
 * Placement by tracks pays where runs are written, since what is left of a track after its last
 * whole page gives a write the time to settle, and along the semi-sequential path where short
 * clusters of many runs are read.  It costs space, and pages that suit tracks.  Times are known on
 * simulated machines alone; elsewhere, and if nothing is known of the input, runs are contiguous.
 */
int sp_sort_plan(const struct sp_sort_opts *opts, struct sp_sort_plan *plan, struct sp_errinfo *err)
{
	static const enum sp_placement others[] = { SP_PLACE_TRACK, SP_PLACE_SEMISEQ };
	struct sp_sort_opts o = *opts;
	int rc;

	sp__plan_threads(&o);
	if (opts->run.placement != SP_PLACE_AUTO)
		return sp__plan_placed(&o, plan, err);
	o.run.placement = SP_PLACE_CONTIGUOUS;
	rc = plan_and_predict(&o, plan, err);
	if (rc < 0 || !sp__volume_spec_simulated(&o.run) || !plan->seconds || plan->in_memory)
		return rc;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct sp_errinfo unused = SP_ERRINFO_INIT;
		struct sp_sort_plan other;

		o.run.placement = others[i];
		if (plan_and_predict(&o, &other, &unused) == 0 &&
		    other.seconds < plan->seconds * NOTABLE)
			*plan = other;
	}
	return 0;
}

#define FIRST_RUN (1.718281828 / 2)
#define LENGTH_SPREAD 0.05
#define STRIPS_PER_BATCH 3

/* Reads bytes of the input. */
static int fill(struct sp__drysort *t, uint64_t bytes)
{
	int rc = 0;

	while (!rc && bytes) {
		uint64_t n;

		if (!t->input)
			rc = sp__dryinput_next(&t->in, &t->input);
		n = sp__min(t->input, bytes);
		if (!n)
			break;
		sp__charge_work(&t->env, sp__drysort_records(t, n), 0, n);
		t->input -= n;
		t->taken += n;
		bytes -= n;
	}
	return rc;
}

/* Reads and sorts bytes of the input. */
static int load(struct sp__drysort *t, uint64_t bytes)
{
	int rc = fill(t, bytes);

	sp__charge_sorting(&t->env, (uint64_t)((double)bytes / t->s->record_bytes));
	return rc;
}

static int load_run(struct sp__drysort *t, unsigned id, uint64_t *bytes, bool *last)
{
	const struct sp__sort_sizes *s = t->s;
	uint64_t left = t->bytes - t->taken;
	uint64_t n = id + 1 < s->runs ? sp__min(left, (uint64_t)s->run_bytes) : left;
	int rc = load(t, n);

	*last = n == left;
	if (rc < 0 || (*last && s->kept_bytes > 0))
		return rc;
	*bytes = (uint64_t)fmin((double)n, s->max_bytes);
	rc = sp__drysort_begin_run(t, id, 0);
	sp__charge_work(&t->env, 0, 0, *bytes);
	return rc < 0 ? rc : sp__runwriter_skip(&t->write, *bytes);
}

/* Writes bytes from memory to the present run. */
static int select_some(struct sp__drysort *t, uint64_t bytes, unsigned strips)
{
	int rc = 0;

	t->held -= bytes;
	while (!rc && bytes) {
		uint64_t n = sp__min(bytes, sp__drysort_slice(t));

		sp__drysort_charge(t, n, strips);
		rc = sp__runwriter_skip(&t->write, n);
		bytes -= n;
	}
	return rc;
}

/*
 * Adds a batch if the memory has free space.  After the last one *end becomes the end of the
 * present run, which is `length` long now.
 */
static int add_batch(struct sp__drysort *t, double capacity, uint64_t length, uint64_t *end)
{
	uint64_t n = sp__min(t->bytes - t->taken, (uint64_t)sp__sort_batch_bytes(t->s));
	int rc;

	if ((double)t->held > capacity || t->drains)
		return 0;
	rc = load(t, n);
	t->held += n;
	t->drains = t->taken == t->bytes;
	if (t->drains)
		*end = length +
		       (uint64_t)((double)t->held * (1 - fmin((double)length / (double)*end, 1)));
	return rc;
}

static int select_run(struct sp__drysort *t, unsigned id, uint64_t *bytes, bool *last)
{
	const double all = sp__replace_run_bytes(t->s->plan->run_bytes), length = all / t->scale;
	const unsigned strips = (unsigned)(STRIPS_PER_BATCH * all / 2 / sp__sort_batch_bytes(t->s));
	double spread = 1 + LENGTH_SPREAD * (2 * sp__rng_real(&t->rng) - 1);
	uint64_t end = (uint64_t)(length * spread * (id ? 1 : FIRST_RUN)), n;
	int rc;

	/* The policy learns that the input has ended only after the last run (form/form.c). */
	*last = t->drains && !t->held;
	if (*last)
		return 0;
	rc = sp__drysort_begin_run(t, id, 0);
	while (!rc && *bytes < end && !(t->drains && !t->held)) {
		rc = add_batch(t, length / 2, *bytes, &end);
		n = t->drains ? 0 : (uint64_t)(length / 2);
		n = sp__min(t->held - sp__min(t->held, n), end - *bytes);
		if (!rc)
			rc = select_some(t, n, strips);
		*bytes += n;
	}
	return rc < 0 ? rc : sp__drysort_end_run(t);
}

/* form() of struct sp__steps. */
static int form_run(void *drysort, unsigned id, uint64_t *bytes, bool *last)
{
	struct sp__drysort *t = drysort;

	*bytes = 0;
	return t->s->plan->formation == SP_FORM_LOAD ? load_run(t, id, bytes, last)
						     : select_run(t, id, bytes, last);
}

/* Reads and sorts the input in memory; *strips: how many are to be merged. */
static int sort_in_memory(struct sp__drysort *t, unsigned *strips)
{
	const uint64_t all = t->bytes;
	bool batches = !t->s->plan->in_memory && t->s->plan->formation == SP_FORM_REPLACEMENT;
	uint64_t each = batches ? (uint64_t)sp__sort_batch_bytes(t->s) : all;
	int rc = 0;

	for (*strips = 0; !rc && t->taken < all; ++*strips)
		rc = load(t, sp__min(each, all - t->taken));
	return rc;
}

/* The same as in a sort (runs/runs.c). */
#define REQUESTS 256

int sp__drysort_end_run(struct sp__drysort *t)
{
	int rc;

	if (!t->writing)
		return 0;
	t->writing = false;
	rc = sp__runwriter_finish(&t->write);
	sp__runwriter_close(&t->write);
	return rc;
}

int sp__drysort_begin_run(struct sp__drysort *t, unsigned id, unsigned level)
{
	int rc = sp__drysort_end_run(t);

	if (!rc)
		rc = sp__run_new(&t->runs[id], &t->env.budget);
	if (rc < 0)
		return rc;
	t->runs[id]->level = level;
	t->writing = true;
	return sp__runwriter_open(&t->write, t->store, t->runs[id], t->write_mem, t->write_bytes,
				  NULL, NULL);
}

static int open_space(struct sp__drysort *t)
{
	const struct sp_sort_plan *p = t->s->plan;
	struct sp__spill_opts o = sp__env_spilling(&t->env);
	uint64_t slots = p->run_bytes * p->run_buffers;

	o.page_bytes = p->page_bytes;
	o.recycle_level = p->recycle;
	o.depth = REQUESTS;
	o.budget = &t->env.budget;
	o.placement = p->placement;
	o.runs = p->runs;
	t->write_bytes = sp__plan_spill_bytes(t->s->opts, p->memory_bytes, p->page_bytes);
	/* The memory that is left describes the runs (form/form.c). */
	sp__budget_init(&t->env.budget, p->memory_bytes);
	sp__budget_charge(&t->env.budget,
			  (sp__policy_eager(p->policy) ? slots + p->merge_bytes
						       : sp__max(slots, p->merge_bytes)) +
				  t->write_bytes + SP__RING_BUFFERS * t->out.chunk_bytes);
	t->write_mem = malloc(t->write_bytes);
	t->runs = calloc(SP__STEPS_RUNS_MAX, sizeof(struct sp__run *));
	return t->write_mem && t->runs ? sp__spill_open(&t->store, &o) : -ENOMEM;
}

static int run(struct sp__drysort *t)
{
	static const struct sp__steps steps = { form_run, sp__drysort_merge };
	unsigned strips;
	int rc = sp__dryinput_open(&t->in, &t->env, t->s->plan->input_bytes, t->bytes);

	if (!rc)
		rc = sp__dryoutput_open(&t->out, &t->env);
	if (!rc && t->s->in_memory) {
		rc = sort_in_memory(t, &strips);
		if (!rc)
			rc = sp__drysort_write(t, strips);
	} else if (!rc) {
		rc = open_space(t);
		if (!rc)
			rc = sp__steps_follow(t->s, &steps, t);
	}
	if (!rc)
		rc = sp__dryoutput_finish(&t->out);
	if (!rc)
		sp__env_sync(&t->env, t->store);
	return rc;
}

static void close_all(struct sp__drysort *t)
{
	if (t->writing)
		sp__runwriter_close(&t->write);
	for (unsigned i = 0; t->runs && i < SP__STEPS_RUNS_MAX; i++)
		sp__run_free(t->runs[i]);
	sp__spill_close(t->store);
	sp__drystream_close(&t->in);
	sp__drystream_close(&t->out);
	free(t->runs);
	free(t->write_mem);
}

/* Shortens the runs of a large sort. */
static void scale(struct sp__drysort *t, struct sp__sort_sizes *s)
{
	const struct sp_sort_plan *p = s->plan;
	double work = sp__dryrun_requests(&t->env, s->bytes * 2 * (p->passes + 1), p->page_bytes);

	t->scale = fmax(work / SP__DRYRUN_WORK_MAX, 1);
	s->bytes /= t->scale;
	s->run_bytes /= t->scale;
	s->max_bytes /= t->scale;
	s->kept_bytes /= t->scale;
	t->bytes = (uint64_t)s->bytes;
}

int sp_sort_predict(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
		    struct sp_errinfo *err)
{
	struct sp_sort_opts o = *opts;
	struct sp__sort_sizes s = sp__sort_sizes(&o, plan);
	struct sp__drysort t = { .s = &s, .rng.state = opts->run.seed };
	int rc;

	/* It can be AUTO. */
	o.run.placement = plan->placement;
	if (!sp__volume_spec_simulated(&opts->run) || !plan->input_bytes ||
	    opts->compress_program || s.runs > SP__STEPS_RUNS_MAX)
		return 0;
	rc = sp__dryrun_open(&t.env, &o.run, err);
	if (!rc) {
		scale(&t, &s);
		rc = run(&t);
	}
	if (!rc)
		plan->seconds = sp__dryrun_s(&t.env) * t.scale;
	close_all(&t);
	return sp__dryrun_close(&t.env, rc);
}
