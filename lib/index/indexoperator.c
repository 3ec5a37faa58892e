/* SPDX-License-Identifier: MIT */
/*
 * Makes an operator of a plan from the records of a range.
 *
 * A batch has the records that have arrived, so it is returned as early as possible.
 */
#include <stdio.h>
#include <string.h>
#include <spindle/index.h>
#include "flow/operator.h"
#include "index/leafscan.h"
#include "index/matched.h"

#define DEPTH 128
/* Large enough that the call of an operator costs little compared with its records. */
#define BATCH_BYTES ((size_t)32 << 10)

struct range {
	struct sp_operator op;
	struct sp__index index;
	struct sp__requests reads;
	struct sp__leafscan *leaves;
	struct sp__matched matched;
	struct sp__bytes batch;
	int status; /* of the end of the batch; SP_READY: the batch was full */
};

static int next(void *operator, struct sp_batch * batch)
{
	struct range *r = operator;
	struct sp_flow *flow = r->op.flow;
	const char eol = sp__operator_eol(&r->op);
	struct sp__keymatch m;
	const char *record;
	uint64_t records = 0;
	int rc = r->status == SP_READY || r->status == SP_LATER ? SP_READY : r->status;

	r->batch.bytes = 0;
	while (rc == SP_READY && r->batch.bytes < BATCH_BYTES) {
		rc = sp__matched_next(&r->matched, &m, &record);
		if (rc != SP_READY)
			break;
		records++;
		if (sp__flow_append(flow, &r->batch, record, m.bytes) ||
		    (r->op.format.kind != SP_REC_FIXED &&
		     sp__flow_append(flow, &r->batch, &eol, 1)))
			rc = -ENOMEM;
	}
	sp__charge_work(&flow->env, records, 0, r->batch.bytes);
	r->status = rc;
	*batch = (struct sp_batch){ r->batch.data, r->batch.bytes };
	return r->batch.bytes && rc >= 0 ? SP_READY : rc;
}

static void note(const void *operator, struct sp_run_stats * st)
{
	const struct range *r = operator;

	if (!r->leaves)
		return;
	sp__leafscan_note(r->leaves, st);
	sp__env_note_io(st, sp__queue_counters(r->reads.queue));
	snprintf(st->input_engine, sizeof(st->input_engine), "%s",
		 sp__queue_engine(r->reads.queue));
}

static void close_range(void *operator)
{
	struct range *r = operator;

	sp__requests_close(&r->reads);
	sp__matched_close(&r->matched);
	sp__leafscan_close(r->leaves);
	sp__index_close(&r->index);
	sp__bytes_release(&r->batch, &r->op.flow->env.budget);
}

static void set_fields(struct range *r)
{
	const struct sp__index_header *h = &r->index.header;
	char separator = (char)h->separator;

	r->op.format = h->format;
	sp__cut_init(&r->op.cut, h->separator >= 0 ? &separator : NULL, h->separator >= 0,
		     h->format.kind == SP_REC_CSV);
}

static int open_range(struct range *r, const char *path, const char *lo, const char *hi)
{
	struct sp_flow *flow = r->op.flow;
	struct sp__queue_opts qo = { .engine = flow->run.engine,
				     .depth = DEPTH + 1,
				     .trace = flow->env.trace,
				     .device = sp__env_reading(&flow->env).device };
	struct sp__leafscan_opts so = { .index = &r->index,
					.reads = &r->reads,
					.waits = &flow->waits,
					.lo = lo,
					.hi = hi,
					.sums = true };
	int rc = sp__index_open(&r->index, path, &flow->env);

	if (!rc)
		rc = sp__requests_open(&r->reads, &qo, flow->env.err);
	if (rc)
		return rc;
	set_fields(r);
	rc = sp__leafscan_open(&r->leaves, &so);
	r->matched.find = sp__leafscan_find;
	r->matched.arg = r->leaves;
	return rc ? rc
		  : sp__matched_fetch(&r->matched, &r->index, DEPTH,
				      flow->env.budget.limit_bytes / 8);
}

int sp_index_operator(struct sp_operator **op, struct sp_flow *flow, const char *path,
		      const char *lo, const char *hi)
{
	int rc;
	struct range *r = sp__operator_new(flow, sizeof(*r), NULL, 0, &rc);

	if (!r)
		return rc;
	r->op.next = next;
	r->op.close = close_range;
	r->op.note = note;
	r->matched.reads = &r->reads;
	r->matched.waits = &flow->waits;
	r->matched.status = r->status = SP_READY;
	*op = &r->op;
	return open_range(r, path, lo, hi);
}
