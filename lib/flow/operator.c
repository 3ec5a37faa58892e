/* SPDX-License-Identifier: MIT */
/* Creates, calls and closes the operators of a plan, and runs a scan as an operator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "flow/operator.h"
#include "flow/scan.h"

/* A scan. */
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

int sp_flow_open(struct sp_flow **flow, const struct sp_run_opts *run, struct sp_errinfo *err)
{
	struct sp_flow *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	f->run = *run;
	rc = sp__env_open(&f->env, &f->run, err);
	if (rc < 0) {
		sp_flow_close(f);
		return rc;
	}
	*flow = f;
	return 0;
}

int sp_flow_close(struct sp_flow *f)
{
	int rc;

	if (!f)
		return 0;
	/* Closes from the root to the leaves: an operator is opened after its inputs. */
	while (f->last) {
		struct sp_operator *op = f->last;

		f->last = op->before;
		if (op->close)
			op->close(op);
		free(op);
	}
	rc = sp__env_close(&f->env);
	free(f);
	return rc;
}

static int check_inputs(const struct sp_flow *flow, struct sp_operator *const *inputs,
			size_t ninputs)
{
	for (size_t i = 0; i < ninputs; i++)
		if (inputs[i]->taken || inputs[i]->flow != flow || (i && inputs[i] == inputs[0]))
			return sp__errf(flow->env.err, SP_ESTATE, "plan", NULL, -1,
					"an operator is the input of one other, of its own plan");
	return 0;
}

void *sp__operator_new(struct sp_flow *flow, size_t bytes, struct sp_operator *const *inputs,
		       size_t ninputs, int *rc)
{
	struct sp_operator *op;

	*rc = check_inputs(flow, inputs, ninputs);
	if (*rc)
		return NULL;
	op = calloc(1, bytes);
	if (!op) {
		*rc = sp__err(flow->env.err, -ENOMEM, "allocate", NULL, -1);
		return NULL;
	}
	for (size_t i = 0; i < ninputs; i++)
		inputs[i]->taken = true;
	op->flow = flow;
	if (ninputs) {
		op->input = inputs[0];
		op->format = inputs[0]->format;
		op->cut = inputs[0]->cut;
	}
	for (size_t i = 0; i < ninputs; i++)
		op->any_order |= inputs[i]->any_order;
	op->before = flow->last;
	flow->last = op;
	return op;
}

int sp__operator_next(void *operator, struct sp_batch * batch)
{
	struct sp_operator *op = operator;
	int rc;

	if (op->over)
		return op->status;
	rc = op->next(op, batch);
	if (rc <= 0) {
		op->over = true;
		op->status = rc;
	}
	return rc;
}

int sp__operator_ordered(const struct sp_operator *input, const char *what)
{
	if (!input->any_order)
		return 0;
	return sp__errf(input->flow->env.err, SP_EUNSUP, "plan", NULL, -1,
			"%s needs its input in order, not from a scan in any order", what);
}

int sp__operator_fields(const struct sp_operator *input)
{
	if (input->format.kind != SP_REC_FIXED)
		return 0;
	return sp__errf(input->flow->env.err, SP_EUNSUP, "plan", NULL, -1,
			"fixed-length records have no fields");
}

int sp__flow_charge(struct sp_flow *flow, uint64_t bytes)
{
	struct sp__budget *b = &flow->env.budget;
	uint64_t need = b->used_bytes + bytes;

	if (need > b->limit_bytes)
		return sp__errf(flow->env.err, SP_EBUDGET, "plan", NULL, -1,
				"the operators of the plan need at least %llu bytes of memory",
				(unsigned long long)need);
	sp__budget_charge(b, bytes);
	return 0;
}

int sp__flow_append(struct sp_flow *flow, struct sp__bytes *b, const char *data, size_t bytes)
{
	if (!bytes || sp__bytes_append(b, data, bytes, &flow->env.budget) == 0)
		return 0;
	return sp__err(flow->env.err, -ENOMEM, "allocate", NULL, -1);
}

bool sp_flow_field(const struct sp_operator *op, const char *record, size_t bytes, size_t k,
		   const char **field, size_t *field_bytes)
{
	struct sp__slice s = { record, 0 };
	bool found =
		op->format.kind != SP_REC_FIXED && sp__field_find(&op->cut, record, bytes, k, &s);

	*field = s.p;
	*field_bytes = s.n;
	return found;
}

struct sp_recfmt sp_flow_format(const struct sp_operator *op)
{
	return op->format;
}

int sp_flow_next(struct sp_operator *op, struct sp_batch *batch)
{
	return sp__operator_next(op, batch);
}

int sp_flow_wait(struct sp_flow *flow)
{
	return sp__waits_block(&flow->waits);
}

int sp_flow_get(struct sp_operator *op, struct sp_batch *batch)
{
	return sp__iter_next(&(struct sp__iter){ op, sp__operator_next }, &op->flow->waits, batch);
}

void sp_flow_stats(const struct sp_flow *flow, struct sp_run_stats *stats)
{
	*stats = (struct sp_run_stats){ 0 };
	for (const struct sp_operator *op = flow->last; op; op = op->before)
		if (op->note)
			op->note(op, stats);
	sp__env_note(&flow->env, stats, false);
}
