/* SPDX-License-Identifier: MIT */
/*
 * Runs the merge join as an operator of a plan.
 */
#include "base/err.h"
#include "join/merge/merge.h"
#include "join/joining.h"

struct merging {
	struct sp__joining g;
	struct sp__merging_join *merge;
};

static void report_disorder(void *merging, unsigned file, uint64_t line, const char *data,
			    size_t bytes)
{
	struct merging *m = merging;

	(void)sp__errf(m->g.op.flow->env.err, SP_EFORMAT, "join", NULL, -1,
		       "input %u is not sorted at record %llu: %.*s", file,
		       (unsigned long long)line, bytes > 80 ? 80 : (int)bytes, data);
}

static int next(void *operator, struct sp_batch * batch)
{
	struct merging *m = operator;
	int rc;

	do {
		rc = sp__merge_some(m->merge);
		if (rc == SP__MERGE_DISORDER)
			rc = SP_EFORMAT;
		if (rc < 0)
			return rc;
		rc = sp__joining_batch(&m->g, batch, rc);
	} while (rc == SP_READY && !m->g.out.bytes);
	return rc;
}

static void close_merging(void *operator)
{
	struct merging *m = operator;

	sp__merge_free(m->merge);
	sp__joining_release(&m->g);
}

int sp__merge_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
		       const struct sp_join_opts *o)
{
	struct sp_flow *flow = inputs[0]->flow;
	struct sp_join_opts opts = *o;
	struct sp__joining *g;
	struct merging *m;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = sp__operator_ordered(inputs[i], "a merge join");
	if (rc)
		return rc;
	if (o->nkeys > 1 || o->types || o->collated || o->csv || o->semi)
		return sp__errf(flow->env.err, SP_EUNSUP, "plan", NULL, -1,
				"only lines are merged, by one key that compares as bytes");
	if (o->order != SP_JOIN_NOCHECK)
		opts.order = SP_JOIN_CHECK;
	g = sp__joining_new(inputs, &opts, sizeof(*m), &rc);
	if (!g)
		return rc;
	m = (struct merging *)(void *)g;
	g->op.next = next;
	g->op.close = close_merging;
	g->io.disorder = report_disorder;
	g->io.disorder_arg = m;
	*op = &g->op;
	if (!rc)
		rc = sp__merge_check(&g->j.opts, g->j.env.err);
	if (rc)
		return rc;
	m->merge = sp__merge_new(&g->j.in, &g->j.result, false, &flow->env.budget);
	return m->merge ? 0 : -ENOMEM;
}
