/* SPDX-License-Identifier: MIT */
/*
 * Runs index nested loops as an operator above any operator, including another of its kind.  A
 * batch holds the rows that have arrived.
 */
#include "base/err.h"
#include "join/inl/plan.h"
#include "join/input/balance.h"
#include "join/inl/index.h"
#include "join/joining.h"

struct looping {
	struct sp__joining g;
	struct sp__inl_plan plan;
};

static int next(void *operator, struct sp_batch * batch)
{
	struct looping *l = operator;
	struct sp__inl *top = sp__inl_plan_top(&l->plan);
	const struct sp__tuple *row;
	int rc = sp__inl_next(top, &row);

	while (rc == SP_READY) {
		sp__inl_plan_write(&l->plan, row);
		if (sp__result_full(&l->g.j.result))
			break;
		rc = sp__inl_more(top, &row);
	}
	/* The end or an error is returned after the last rows. */
	rc = sp__joining_batch(&l->g, batch, rc);
	return rc == SP_END ? sp__balance_sources(&l->g.j.in) : rc;
}

static void note(const void *operator, struct sp_run_stats * st)
{
	sp__inl_plan_note(&((const struct looping *)operator)->plan, st);
}

static void close_looping(void *operator)
{
	struct looping *l = operator;

	sp__inl_plan_close(&l->plan);
	sp__joining_release(&l->g);
}

static int check(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	const struct sp_join_io io = { 0 };

	if (!o->index[1] || o->index[0])
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"index nested loops of operators need the index of input 2");
	return sp__inl_check(o, &io, err);
}

int sp__inl_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
		     const struct sp_join_opts *opts)
{
	struct sp_flow *flow = inputs[0]->flow;
	struct sp__joining *g;
	struct looping *l;
	int rc = check(opts, flow->env.err);

	if (rc)
		return rc;
	g = sp__joining_new(inputs, opts, sizeof(*l), &rc);
	if (!g)
		return rc;
	l = (struct looping *)(void *)g;
	g->op.next = next;
	g->op.close = close_looping;
	g->op.note = note;
	l->plan.in = &g->j.in;
	l->plan.out = &g->j.result;
	l->plan.nlevels = 1;
	l->plan.waits = &flow->waits;
	*op = &g->op;
	return rc ? rc : sp__inl_plan_open(&l->plan);
}
