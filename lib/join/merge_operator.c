/* SPDX-License-Identifier: MIT */
/*
 * The merge join as an operator: its sources are its inputs, and the emit's buffer is its batch.
 */
#include <string.h>
#include "join/merge_join.h"

struct merging {
	struct sp_operator op;
	struct sp__join j;
	struct sp_join_io io;
	struct sp__merging_join *merge;
	struct sp__bytes out;
};

/* The sink of the emit, which is flushed only between records. */
static int collect(void *merging, const char *data, size_t bytes, bool whole)
{
	struct merging *g = merging;

	(void)whole;
	return sp__flow_append(g->op.flow, &g->out, data, bytes);
}

static void tell_disorder(void *merging, unsigned file, uint64_t line, const char *data,
			  size_t bytes)
{
	struct merging *g = merging;

	(void)sp__errf(g->op.flow->env.err, SP_EFORMAT, "join", NULL, -1,
		       "input %u is not sorted at record %llu: %.*s", file,
		       (unsigned long long)line, bytes > 80 ? 80 : (int)bytes, data);
}

static int next(void *operator, struct sp_batch * batch)
{
	struct merging *g = operator;
	int rc;

	g->out.bytes = 0;
	do {
		int flushed;

		rc = sp__merge_some(g->merge);
		if (rc == SP__MERGE_DISORDER)
			return SP_EFORMAT;
		if (rc < 0)
			return rc;
		flushed = sp__emit_flush(&g->j.result.emit);
		if (flushed < 0)
			return flushed;
	} while (!g->out.bytes && rc == SP_READY);
	if (!g->out.bytes)
		return rc;
	*batch = (struct sp_batch){ g->out.data, g->out.bytes };
	return SP_READY;
}

static void close_merging(void *operator)
{
	struct merging *g = operator;

	sp__merge_free(g->merge);
	for (int i = 0; i < 2; i++)
		sp__source_close(&g->j.source[i]);
	sp__emit_release(&g->j.result.emit);
	sp__bytes_release(&g->out, &g->op.flow->env.budget);
}

static bool merges(const struct sp_join_opts *o, struct sp_operator *const inputs[2])
{
	for (int i = 0; i < 2; i++)
		if (inputs[i]->format.kind != SP_REC_LINE || inputs[i]->format.eol != o->eol)
			return false;
	return (o->algorithm == SP_JOIN_MERGE || o->algorithm == SP_JOIN_AUTO) && o->nkeys <= 1 &&
	       !o->types && !o->collated && !o->csv && !o->fixed_bytes[0] && !o->semi &&
	       !o->header && !o->auto_columns && !o->limited && !o->nthen;
}

static int open_join(struct merging *g, struct sp_operator *const inputs[2],
		     const struct sp_join_opts *opts)
{
	static const size_t first = 0;
	struct sp_flow *flow = g->op.flow;
	struct sp__join *j = &g->j;
	int rc;

	j->opts = *opts;
	j->opts.order = opts->order == SP_JOIN_NOCHECK ? SP_JOIN_NOCHECK : SP_JOIN_CHECK;
	if (!opts->nkeys)
		j->opts.keys[0] = j->opts.keys[1] = &first;
	j->opts.nkeys = 1;
	j->io = &g->io;
	j->env = flow->env; /* for its device and its errors; only the plan closes it */
	j->read = sp__env_reading(&flow->env);
	for (int i = 0; i < 2; i++)
		j->source[i] = (struct sp__source){ .join = j,
						    .operator= inputs[i],
						    .format = inputs[i]->format };
	rc = sp__emit_init(&j->result.emit, &j->opts, flow->env.err);
	if (!rc)
		rc = sp__merge_check(j);
	if (rc)
		return rc;
	j->result.emit.sink = collect;
	j->result.emit.sink_arg = g;
	g->op.cut = j->result.emit.cut;
	g->merge = sp__merge_new(j);
	return g->merge ? 0 : -ENOMEM;
}

int sp_join_operator(struct sp_operator **op, struct sp_operator *left, struct sp_operator *right,
		     const struct sp_join_opts *opts)
{
	struct sp_operator *inputs[2] = { left, right };
	struct merging *g;
	int rc;

	if (!merges(opts, inputs))
		return sp__errf(left->flow->env.err, SP_EUNSUP, "plan", NULL, -1,
				"only lines are merged, by one key that compares as bytes");
	g = sp__operator_new(left->flow, sizeof(*g), inputs, 2, &rc);
	if (!g)
		return rc;
	g->op.next = next;
	g->op.close = close_merging;
	g->io.disorder = tell_disorder;
	g->io.disorder_arg = g;
	*op = &g->op;
	return open_join(g, inputs, opts);
}
