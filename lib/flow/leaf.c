/* SPDX-License-Identifier: MIT */
/*
 * The scan as an operator.
 */
#include <errno.h>
#include <stdio.h>
#include "base/err.h"
#include "flow/operator.h"
#include "flow/scan.h"

struct leaf {
	struct sp_operator op;
	struct sp__scan *scan;
	uint64_t buffer_bytes; /* charged */
};

static void note(const void *operator, struct sp_run_stats * st)
{
	const struct leaf *l = operator;
	struct sp__io_counters c;

	if (!l->scan)
		return;

	sp__scan_counters(l->scan, &c);
	sp__env_note_io(st, &c);
	snprintf(st->input_engine, sizeof(st->input_engine), "%s", sp__scan_engine(l->scan));
}

static int next(void *operator, struct sp_batch * batch)
{
	struct leaf *l = operator;

	return sp__scan_next(l->scan, batch);
}

static void close_leaf(void *operator)
{
	struct leaf *l = operator;

	sp__scan_close(l->scan);
	sp__budget_credit(&l->op.flow->env.budget, l->buffer_bytes);
}

/* The buffers are charged before anything is read. */
static int charge(struct leaf *l, const struct sp__rstream_opts *o)
{
	uint64_t bytes = (uint64_t)o->depth * o->chunk_bytes;
	int rc = sp__flow_charge(l->op.flow, bytes);

	if (!rc)
		l->buffer_bytes = bytes;
	return rc;
}

static int check(const struct sp_flow *flow, const struct sp_flow_scan *scan)
{
	if (!scan->ninputs)
		return sp__errf(flow->env.err, -EINVAL, "plan", NULL, -1, "a scan needs inputs");
	if (scan->separator_bytes > SP__SEPARATOR_MAX)
		return sp__errf(flow->env.err, -EINVAL, "plan", NULL, -1,
				"a separator has at most %d bytes", SP__SEPARATOR_MAX);
	return 0;
}

int sp_flow_scan(struct sp_operator **op, struct sp_flow *flow, const struct sp_flow_scan *scan)
{
	struct sp__scan_opts o = { .format = scan->format,
				   .inputs = scan->inputs,
				   .ninputs = scan->ninputs,
				   .header_records = scan->header_records,
				   .stream = sp__env_reading(&flow->env),
				   .waits = &flow->waits,
				   .err = flow->env.err };
	bool csv = scan->format.kind == SP_REC_CSV;
	struct leaf *l;
	int rc = check(flow, scan);

	l = rc ? NULL : sp__operator_new(flow, sizeof(*l), NULL, 0, &rc);
	if (!l)
		return rc;
	l->op.next = next;
	l->op.close = close_leaf;
	l->op.note = note;
	l->op.format = scan->format;
	sp__cut_init(&l->op.cut,
		     csv		     ? &scan->format.separator
		     : scan->separator_bytes ? scan->separator
					     : NULL,
		     csv ? 1 : scan->separator_bytes, csv);
	rc = charge(l, &o.stream);
	if (!rc)
		rc = sp__inputs_lay(o.stream.device, o.inputs, o.ninputs, &o.stream.sim_file,
				    flow->env.err);
	if (!rc)
		rc = sp__scan_open(&l->scan, &o);
	*op = &l->op;
	return rc;
}
