/* SPDX-License-Identifier: MIT */
/*
 * Computes the sizes of a sort's runs and follows the merges that its policy orders.
 *
 * Assumptions: records are equally long and in random order.
 */
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "run/volume_spec.h"
#include "sort/plan/policy.h"
#include "sort/plan/steps.h"
#include "sort/records/runbuf.h"
#include "sort/select/replace.h"

/* Returns the bytes of the records that fill a run. */
static double run_of(const struct sp__sort_sizes *s)
{
	double full = (double)s->plan->run_bytes / (1 + SP__ENTRY_COST / s->record_bytes);

	if (s->plan->formation == SP_FORM_LOAD && ceil(s->bytes / full) == (double)s->runs)
		return full;
	return s->bytes / (double)(s->runs ? s->runs : 1);
}

/*
 * Returns the pages for a merge.  The memory for runs is free when they are formed, except that of
 * a kept run.  The final merge writes no run.
 */
static unsigned pages_for(const struct sp__sort_sizes *s, bool formed, bool final)
{
	const struct sp_sort_plan *p = s->plan;
	uint64_t slots = p->run_bytes * p->run_buffers, bytes = p->merge_bytes;

	if (!sp__policy_eager(p->policy))
		bytes -= sp__min(bytes, slots);
	if (formed && !(final && s->kept_bytes > 0))
		bytes += slots;
	if (final)
		bytes += sp__plan_spill_bytes(s->opts, p->memory_bytes, p->page_bytes);
	if (s->opts->merge_bytes)
		bytes = sp__min(bytes, s->opts->merge_bytes);
	return (unsigned)sp__max(sp__min(bytes / p->page_bytes, UINT32_MAX), 1);
}

/*
 * Returns the length of the last run if it stays in memory, else 0.  It stays if the rest has pages
 * for the other runs (merge/final.c).  On a simulated machine one run is formed at a time.
 */
static double kept_of(struct sp__sort_sizes *s)
{
	const struct sp_sort_plan *p = s->plan;

	if (!sp__volume_spec_simulated(&s->opts->run) || p->formation != SP_FORM_LOAD ||
	    p->policy != SP_MERGE_LAZY || s->opts->run_bytes || s->runs > p->fan_in)
		return 0;
	s->kept_bytes = s->bytes - (double)(s->runs - 1) * s->run_bytes;
	return (s->runs - 1) * SP__PAGES_KEPT <= pages_for(s, true, true) ? s->kept_bytes : 0;
}

struct sp__sort_sizes sp__sort_sizes(const struct sp_sort_opts *o, const struct sp_sort_plan *plan)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	struct sp__sort_sizes s = { .opts = o,
				    .plan = plan,
				    .record_bytes = record ? (double)record : SP__PLAN_RECORD_BYTES,
				    .bytes = (double)plan->input_bytes,
				    .max_bytes = INFINITY,
				    .runs = plan->runs,
				    .in_memory = plan->in_memory };
	double selected = sp__replace_run_bytes(plan->run_bytes);

	if (o->top && !o->count)
		s.max_bytes = (double)o->top * s.record_bytes;
	/* The first and the last run of replacement selection are short. */
	if (plan->formation == SP_FORM_REPLACEMENT) {
		s.runs = (uint64_t)ceil(s.bytes / selected + 0.5);
		s.in_memory |= s.bytes <= selected / 2;
	}
	s.run_bytes = run_of(&s);
	s.kept_bytes = plan->in_memory ? 0 : kept_of(&s);
	s.in_memory |= s.kept_bytes == s.bytes;
	return s;
}

double sp__sort_batch_bytes(const struct sp__sort_sizes *s)
{
	double memory = (double)sp__replace_batch_bytes(s->plan->run_bytes);

	return fmax(memory / (1 + SP__ENTRY_COST / s->record_bytes), s->record_bytes);
}

/* State of following a policy. */
struct follow {
	const struct sp__sort_sizes *s;
	const struct sp__steps *steps;
	void *ctx;
	struct sp__policy *policy;
	unsigned *ids;
	unsigned n; /* runs formed */
	bool formed;
};

static int form(struct follow *f)
{
	uint64_t bytes = 0;
	int rc = f->n < SP__STEPS_RUNS_MAX ? f->steps->form(f->ctx, f->n, &bytes, &f->formed)
					   : -E2BIG;

	return rc || !bytes ? rc : sp__policy_add(f->policy, f->n++, bytes);
}

static int merge(struct follow *f, unsigned n, const struct sp__policy_step *order)
{
	struct sp__merge_step step = { .ids = f->ids,
				       .n = n,
				       .level = order->level,
				       .pages = pages_for(f->s, f->formed, order->final),
				       .final = order->final };
	uint64_t bytes = 0;
	int rc = f->steps->merge(f->ctx, &step, &bytes);

	return rc || step.final ? rc : sp__policy_merged(f->policy, f->ids[0], bytes);
}

int sp__steps_follow(const struct sp__sort_sizes *s, const struct sp__steps *steps, void *ctx)
{
	const struct sp_sort_plan *p = s->plan;
	struct follow f = {
		.s = s, .steps = steps, .ctx = ctx, .ids = calloc(p->fan_in, sizeof(*f.ids))
	};
	struct sp__policy_step order = { 0 };
	int rc = f.ids ? sp__policy_new(&f.policy, p->policy, p->fan_in, false) : -ENOMEM;

	while (!rc && !order.final) {
		unsigned n = sp__policy_next(f.policy, f.formed, f.ids, p->fan_in, &order);

		if (!n && f.formed)
			break;
		rc = n ? merge(&f, n, &order) : form(&f);
	}
	sp__policy_free(f.policy);
	free(f.ids);
	return rc;
}
