/* SPDX-License-Identifier: MIT */
/*
 * Makes joins operators of a plan: checks their options, chooses the algorithm, and runs merge
 * joins and index nested loops (hash joins: hash_operator.c).
 */
#include "join/inl/inl.h"
#include "join/merge/merge.h"
#include "join/operator.h"

/* Sink of the emit, which is flushed only between records. */
static int collect(void *joining, const char *data, size_t bytes, bool whole)
{
	struct sp__joining *g = joining;

	(void)whole;
	return sp__flow_append(g->op.flow, &g->out, data, bytes);
}

/* SP_READY with the rows emitted; if there are none: status, or the error of emitting. */
static int joining_batch(struct sp__joining *g, struct sp_batch *batch, int status)
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

/*
 * Index nested loops, above any operator, including another of its kind.  A batch holds the rows
 * that have arrived.
 */
struct looping {
	struct sp__joining g;
	struct sp__inl_plan plan;
};

static int next_row(void *operator, struct sp_batch * batch)
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
	rc = joining_batch(&l->g, batch, rc);
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

static int check_index(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	const struct sp_join_io io = { 0 };

	if (!o->index[1] || o->index[0])
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"index nested loops of operators need the index of input 2");
	return sp__inl_check(o, &io, err);
}

static int inl_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
			const struct sp_join_opts *opts)
{
	struct sp_flow *flow = inputs[0]->flow;
	struct sp__joining *g;
	struct looping *l;
	int rc = check_index(opts, flow->env.err);

	if (rc)
		return rc;
	g = sp__joining_new(inputs, opts, sizeof(*l), &rc);
	if (!g)
		return rc;
	l = (struct looping *)(void *)g;
	g->op.next = next_row;
	g->op.close = close_looping;
	g->op.note = note;
	l->plan.in = &g->j.in;
	l->plan.out = &g->j.result;
	l->plan.nlevels = 1;
	l->plan.waits = &flow->waits;
	*op = &g->op;
	return rc ? rc : sp__inl_plan_open(&l->plan);
}

/* A merge join. */
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

static int next_merged(void *operator, struct sp_batch * batch)
{
	struct merging *m = operator;
	int rc;

	do {
		rc = sp__merge_some(m->merge);
		if (rc == SP__MERGE_DISORDER)
			rc = SP_EFORMAT;
		if (rc < 0)
			return rc;
		rc = joining_batch(&m->g, batch, rc);
	} while (rc == SP_READY && !m->g.out.bytes);
	return rc;
}

static void close_merging(void *operator)
{
	struct merging *m = operator;

	sp__merge_free(m->merge);
	sp__joining_release(&m->g);
}

/* The options have been checked.  inputs[1] NULL: index nested loops. */
static int merge_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
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
	g->op.next = next_merged;
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

static bool same_records(const struct sp_recfmt *a, const struct sp_recfmt *b)
{
	if (a->kind != b->kind || a->kind == SP_REC_FIXED)
		return false;
	return a->kind == SP_REC_CSV ? a->separator == b->separator : a->eol == b->eol;
}

/* Checks in addition to those for files; further indexes are operators of their own. */
static const char *refuse(const struct sp_join_opts *o, struct sp_operator *const inputs[2])
{
	struct sp_recfmt format;

	if (o->header || o->auto_columns || o->rows || o->where || o->limited || o->nthen)
		return "a join of operators cannot have a header, a condition, a limit or further "
		       "files";
	if (o->fixed_bytes[0] || o->fixed_bytes[1] || o->json)
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
		return inl_operator(op, inputs, opts);
	return opts->algorithm == SP_JOIN_AUTO || opts->algorithm == SP_JOIN_MERGE
		       ? merge_operator(op, inputs, opts)
		       : sp__hash_operator(op, inputs, opts);
}
