/* SPDX-License-Identifier: MIT */
/*
 * Makes an operator of a plan from the records of a table.
 *
 * A batch has the records of a window, printed in the style of the table; its memory is that of the
 * window's slot, which is free again at the next call.
 */
#include <stdio.h>
#include <spindle/table.h>
#include "base/err.h"
#include "base/minmax.h"
#include "flow/operator.h"
#include "table/pull.h"
#include "table/read/columnjoin.h"

#define SHARE 4 /* of the memory of the plan */

struct scan_operator {
	struct sp_operator op;
	struct sp__tablepull pull;
	struct sp__table_output output;
};

static int next(void *operator, struct sp_batch * batch)
{
	struct scan_operator *o = operator;
	struct sp__window_slot *s;
	int rc;

	do {
		rc = sp__rowscan_next(&o->pull.scan, &s);
	} while (rc == SP_READY && !s->out.bytes);
	if (rc == SP_READY)
		*batch = (struct sp_batch){ s->out.data, s->out.bytes };
	return rc;
}

static void note(const void *operator, struct sp_run_stats * st)
{
	const struct scan_operator *o = operator;
	const struct sp__queue *q = o->pull.scan.ring.requests.queue;
	const struct sp__queue *pool = o->pull.pool.requests.queue;

	if (!q)
		return;
	sp__env_note_io(st, sp__queue_counters(q));
	if (pool)
		sp__env_note_io(st, sp__queue_counters(pool));
	snprintf(st->input_engine, sizeof(st->input_engine), "%s", sp__queue_engine(q));
}

static void close_scan(void *operator)
{
	struct scan_operator *o = operator;

	sp__tablepull_close(&o->pull);
	sp__output_close(&o->output);
}

/* Sets the form of the records: without a header, and without bytes after the last field. */
static void set_form(struct scan_operator *o)
{
	struct sp__table_output *out = &o->output;
	const struct sp__table_schema *s = &o->pull.file.schema;

	out->header = out->cr = out->trailing_separator = false;
	o->op.format = (struct sp_recfmt){ .kind = out->format == SP_TABLE_TEXT	 ? SP_REC_LINE
						   : out->format == SP_TABLE_CSV ? SP_REC_CSV
										 : SP_REC_FIXED,
					   .eol = '\n',
					   .separator = out->separator };
	for (uint32_t k = 0; k < out->n && out->format == SP_TABLE_FIXED; k++)
		o->op.format.fixed_bytes += s->columns[out->columns[k]].type.bytes;
	sp__cut_init(&o->op.cut, &out->separator, out->format != SP_TABLE_FIXED,
		     out->format == SP_TABLE_CSV);
}

static int open_table(struct scan_operator *o, const char *table, const struct sp_table_opts *opts,
		      const struct sp_run_opts *run, const struct sp_table_query *query)
{
	const struct sp_flow *flow = o->op.flow;
	struct sp__tablepull *p = &o->pull;
	int rc = sp__tablepull_open(p, table, run, &flow->env, query, flow->env.err);

	if (rc || !opts)
		return rc;
	p->file.depth = opts->depth;
	rc = sp__columnjoin_set(&p->file, opts->dsm_join, flow->env.err);
	return rc || !opts->pool
		       ? rc
		       : sp__clotho_attach_file(&p->pool, &p->file, opts->pool, flow->env.err);
}

static int open_scan(struct scan_operator *o, const char *table, const struct sp_table_opts *opts,
		     const struct sp_table_query *query)
{
	struct sp_flow *flow = o->op.flow;
	struct sp__tablepull *p = &o->pull;
	struct sp_run_opts run = flow->run;
	int rc;

	run.memory_bytes = flow->env.budget.limit_bytes / SHARE;
	rc = sp__flow_charge(flow, run.memory_bytes);
	if (!rc)
		rc = open_table(o, table, opts, &run, query);
	if (rc)
		return rc;
	rc = sp__output_open(&o->output, &p->file.schema, query->format, p->columns, p->n,
			     flow->env.err);
	p->columns = NULL; /* taken over */
	if (rc)
		return rc;
	set_form(o);
	p->opts.output = &o->output;
	rc = sp__rowscan_open(&p->scan, &p->file, &p->opts, &p->stats, flow->env.err);
	p->scan.ring.waits = &flow->waits;
	return rc;
}

int sp_table_operator(struct sp_operator **op, struct sp_flow *flow, const char *table,
		      const struct sp_table_opts *opts, const struct sp_table_query *query)
{
	int rc;
	struct scan_operator *o = sp__operator_new(flow, sizeof(*o), NULL, 0, &rc);

	if (!o)
		return rc;
	o->op.next = next;
	o->op.close = close_scan;
	o->op.note = note;
	*op = &o->op;
	return open_scan(o, table, opts, query);
}
