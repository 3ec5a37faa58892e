/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "join/inl/index.h"
#include "join/joining.h"

/* The sink of the emit, which is flushed only between records. */
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
		sp__source_close(&g->j.source[i]);
	sp__emit_release(&g->j.result.emit);
	sp__bytes_release(&g->out, &g->op.flow->env.budget);
	sp__budget_credit(&g->op.flow->env.budget, g->buffer_bytes);
}

struct sp__joining *sp__joining_new(struct sp_operator *const inputs[2],
				    const struct sp_join_opts *opts, size_t bytes, int *rc)
{
	static const size_t first = 0;
	struct sp_flow *flow = inputs[0]->flow;
	struct sp__joining *g = sp__operator_new(flow, bytes, inputs, inputs[1] ? 2 : 1, rc);
	struct sp__join *j;

	if (!g)
		return NULL;
	j = &g->j;
	j->opts = *opts;
	if (!opts->nkeys) {
		j->opts.nkeys = 1;
		j->opts.keys[0] = j->opts.keys[1] = &first;
	}
	j->io = &g->io;
	j->progress.phase = -1;
	j->env = flow->env; /* for its device and its errors; only the plan closes it */
	sp__budget_init(&j->env.budget, flow->env.budget.limit_bytes);
	j->read = sp__env_reading(&flow->env);
	for (int i = 0; i < 2 && inputs[i]; i++)
		j->source[i] = (struct sp__source){ .join = j,
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

static bool same_records(const struct sp_recfmt *a, const struct sp_recfmt *b)
{
	if (a->kind != b->kind || a->kind == SP_REC_FIXED)
		return false;
	return a->kind == SP_REC_CSV ? a->separator == b->separator : a->eol == b->eol;
}

/* Beside what is for files; further indexes are operators of their own. */
static const char *refuse(const struct sp_join_opts *o, struct sp_operator *const inputs[2])
{
	struct sp_recfmt format;

	if (o->header || o->auto_columns || o->limited || o->nthen)
		return "a join of operators has no header, no limit and no further files";
	if (o->fixed_bytes[0] || o->fixed_bytes[1])
		return "a join of operators joins lines or CSV records";
	if (sp__is_inl(o->algorithm) != !inputs[1])
		return "index nested loops have one input, other joins have two";
	for (int i = 0; i < 2 && inputs[i]; i++) {
		format = sp__join_format(o, i);
		if (!same_records(&inputs[i]->format, &format))
			return "the records of an input are not those of the join";
	}
	return NULL;
}

int sp_join_operator(struct sp_operator **op, struct sp_operator *left, struct sp_operator *right,
		     const struct sp_join_opts *opts)
{
	struct sp_operator *const inputs[2] = { left, right };
	const char *reason = refuse(opts, inputs);

	if (reason)
		return sp__errf(left->flow->env.err, SP_EUNSUP, "plan", NULL, -1, "%s", reason);
	if (!right)
		return sp__inl_operator(op, inputs, opts);
	return sp__join_operator_algorithm(opts) == SP_JOIN_MERGE
		       ? sp__merge_operator(op, inputs, opts)
		       : sp__hash_operator(op, inputs, opts);
}
