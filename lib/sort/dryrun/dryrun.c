/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of a sort on a simulated machine from its plan and from the machine alone.
 *
 * Algorithm: the sort is run dry (run/dryrun.h).  Runs are formed (form.c) and merged (merge.c) in
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
#include "run/volume_spec.h"
#include "sort/plan/policy.h"
#include "sort/dryrun/impl.h"

/* The same as in a sort (runs/store.c). */
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
	static const struct sp__steps steps = { sp__drysort_form, sp__drysort_merge };
	unsigned strips;
	int rc = sp__dryinput_open(&t->in, &t->env, t->s->plan->input_bytes, t->bytes);

	if (!rc)
		rc = sp__dryoutput_open(&t->out, &t->env);
	if (!rc && t->s->in_memory) {
		rc = sp__drysort_in_memory(t, &strips);
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
