/* SPDX-License-Identifier: MIT */
/*
 * Runs a scan as an operator of a plan.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "flow/operator.h"
#include "flow/scan.h"

struct leaf {
	struct sp_operator op;
	struct sp__scan *scan;
	uint64_t buffer_bytes; /* charged */
	/* On a simulated machine: the inputs and their locations. */
	const char *const *inputs;
	size_t ninputs;
	unsigned sim_file;
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

/* Charges the buffers before anything is read. */
static int charge(struct leaf *l, const struct sp__scan_opts *o)
{
	uint64_t chunks = o->stream.depth + (o->any_order ? SP__SCAN_ANY_CHUNKS : 0);
	uint64_t bytes = chunks * o->stream.chunk_bytes;
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

static bool same_inputs(const struct leaf *a, const struct leaf *b)
{
	bool same = a->ninputs == b->ninputs;

	for (size_t i = 0; same && i < a->ninputs; i++)
		same = !strcmp(a->inputs[i], b->inputs[i]);
	return same;
}

/* Skips files that an earlier scan of the plan has allocated on the machine. */
static int lay(struct leaf *l, const struct sp__volume *device)
{
	for (const struct sp_operator *op = l->op.before; op; op = op->before) {
		const struct leaf *other = (const struct leaf *)op;

		if (op->next == next && same_inputs(l, other)) {
			l->sim_file = other->sim_file;
			return 0;
		}
	}
	return sp__inputs_lay(device, l->inputs, l->ninputs, &l->sim_file, l->op.flow->env.err);
}

int sp_flow_scan(struct sp_operator **op, struct sp_flow *flow, const struct sp_flow_scan *scan)
{
	bool csv = scan->format.kind == SP_REC_CSV;
	struct sp__scan_opts o = { .format = scan->format,
				   .inputs = scan->inputs,
				   .ninputs = scan->ninputs,
				   .header_records = scan->header_records,
				   .any_order = scan->any_order && !csv,
				   .stream = sp__env_reading(&flow->env),
				   .waits = &flow->waits,
				   .err = flow->env.err };
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
	l->op.any_order = o.any_order;
	rc = charge(l, &o);
	l->inputs = o.inputs;
	l->ninputs = o.ninputs;
	if (!rc)
		rc = lay(l, o.stream.device);
	o.stream.sim_file = l->sim_file;
	if (!rc)
		rc = sp__scan_open(&l->scan, &o);
	*op = &l->op;
	return rc;
}
