/* SPDX-License-Identifier: MIT */
/* Opens and closes the common state of joins as operators, and makes batches of their rows. */
#include "join/joining.h"

/* Sink of the emit, which is flushed only between records. */
static int collect(void *joining, const char *data, size_t bytes, bool whole)
{
	struct sp__joining *g = joining;

	(void)whole;
	return sp__flow_append(g->op.flow, &g->out, data, bytes);
}

int sp__joining_batch(struct sp__joining *g, struct sp_batch *batch, int status)
{
	int rc;

	g->out.bytes = 0;
	rc = sp__emit_flush(&g->j.result.emit);
	if (rc || !g->out.bytes)
		return rc ? rc : status;
	*batch = (struct sp_batch){ g->out.data, g->out.bytes };
	return SP_READY;
}

void sp__joining_release(struct sp__joining *g)
{
	for (int i = 0; i < 2; i++)
		sp__source_close(&g->j.in.source[i]);
	sp__emit_release(&g->j.result.emit);
	sp__bytes_release(&g->out, &g->op.flow->env.budget);
	sp__budget_credit(&g->op.flow->env.budget, g->buffer_bytes);
}

struct sp__joining *sp__joining_new(struct sp_operator *const inputs[2],
				    const struct sp_join_opts *opts, size_t bytes, int *rc)
{
	struct sp_flow *flow = inputs[0]->flow;
	struct sp__joining *g = sp__operator_new(flow, bytes, inputs, inputs[1] ? 2 : 1, rc);
	struct sp__join *j;

	if (!g)
		return NULL;
	j = &g->j;
	sp__join_set(j, opts, &g->io);
	j->env = flow->env; /* borrows its device and error struct; only the plan closes it */
	sp__budget_init(&j->env.budget, flow->env.budget.limit_bytes);
	j->in.read = sp__env_reading(&flow->env);
	for (int i = 0; i < 2 && inputs[i]; i++)
		j->in.source[i] = (struct sp__source){ .in = &j->in,
						       .operator= inputs[i],
						       .format = inputs[i]->format };
	*rc = sp__flow_charge(flow, SP__EMIT_BYTES);
	if (*rc)
		return g;
	g->buffer_bytes = SP__EMIT_BYTES;
	*rc = sp__emit_init(&j->result.emit, &j->opts, flow->env.err);
	j->result.emit.sink = collect;
	j->result.emit.sink_arg = g;
	g->op.cut = j->result.emit.cut;
	return g;
}
