/* SPDX-License-Identifier: MIT */
/*
 * Projects records: makes a batch of shorter records, in memory of the operator, from each input
 * batch.
 */
#include <stdlib.h>
#include "base/err.h"
#include "flow/operator.h"

struct project {
	struct sp_operator op;
	size_t *wanted, nwanted;
	struct sp__fields fields; /* of one record */
	struct sp__bytes out;
};

static int put_record(struct project *p, const char *rec, size_t bytes)
{
	const char eol = sp__operator_eol(&p->op);
	struct sp_flow *flow = p->op.flow;
	int rc = sp__fields_split(&p->op.cut, rec, bytes, &p->fields);

	if (rc < 0)
		return sp__err(flow->env.err, rc, "allocate", NULL, -1);
	for (size_t i = 0; i < p->nwanted && !rc; i++) {
		size_t k = p->wanted[i];

		if (i)
			rc = sp__flow_append(flow, &p->out, p->op.cut.sep, p->op.cut.sep_bytes);
		if (!rc && k < p->fields.n)
			rc = sp__flow_append(flow, &p->out, p->fields.at[k].p, p->fields.at[k].n);
	}
	return rc ? rc : sp__flow_append(flow, &p->out, &eol, 1);
}

static int next(void *operator, struct sp_batch * batch)
{
	struct project *p = operator;
	struct sp_batch in;
	uint64_t records = 0;
	const char *end;
	int rc = sp__operator_next(p->op.input, &in);

	if (rc != SP_READY)
		return rc;
	end = in.data + in.bytes;
	sp__bytes_empty(&p->out, &p->op.flow->env.budget);
	for (const char *rec = in.data, *after; rec < end; rec = after, records++) {
		size_t bytes;

		after = sp__record_next(&p->op.format, rec, end, &bytes);
		rc = put_record(p, rec, bytes);
		if (rc < 0)
			return rc;
	}
	sp__charge_work(&p->op.flow->env, records, 0, p->out.bytes);
	*batch = (struct sp_batch){ p->out.data, p->out.bytes };
	return SP_READY;
}

static void close_project(void *operator)
{
	struct project *p = operator;

	free(p->wanted);
	free(p->fields.at);
	sp__bytes_release(&p->out, &p->op.flow->env.budget);
}

int sp_flow_project(struct sp_operator **op, struct sp_operator *input, const size_t *fields,
		    size_t nfields)
{
	struct project *p;
	int rc = sp__operator_fields(input);

	p = rc ? NULL : sp__operator_new(input->flow, sizeof(*p), &input, 1, &rc);
	if (!p)
		return rc;
	p->op.next = next;
	p->op.close = close_project;
	p->nwanted = nfields;
	p->wanted = calloc(nfields + 1, sizeof(*fields));
	if (!p->wanted)
		return sp__err(input->flow->env.err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < nfields; i++)
		p->wanted[i] = fields[i];
	*op = &p->op;
	return 0;
}
