/* SPDX-License-Identifier: MIT */
/*
 * Filters, limits and projects records.  A filter passes each series of neighbouring matches in the
 * memory of the input batch.  A projection makes shorter records in memory of its own.
 */
#include <stdlib.h>
#include "base/err.h"
#include "flow/operator.h"

/* A projection. */
struct project {
	struct sp_operator op;
	size_t *wanted, nwanted;
	struct sp__fields fields; /* the fields of one record */
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

static int next_projected(void *operator, struct sp_batch * batch)
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
	p->op.next = next_projected;
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

/* Passes the first records of the input. */
struct limit {
	struct sp_operator op;
	uint64_t left; /* records */
};

static int next_limited(void *operator, struct sp_batch * batch)
{
	struct limit *l = operator;
	struct sp_batch in;
	const char *at, *end;
	int rc;

	if (!l->left)
		return SP_END;
	rc = sp__operator_next(l->op.input, &in);
	if (rc != SP_READY)
		return rc;
	end = in.data + in.bytes;
	for (at = in.data; at < end && l->left; l->left--) {
		size_t bytes;

		at = sp__record_next(&l->op.format, at, end, &bytes);
	}
	*batch = (struct sp_batch){ in.data, (size_t)(at - in.data) };
	return SP_READY;
}

int sp_flow_limit(struct sp_operator **op, struct sp_operator *input, uint64_t records)
{
	int rc;
	struct limit *l = sp__operator_new(input->flow, sizeof(*l), &input, 1, &rc);

	if (!l)
		return rc;
	l->op.next = next_limited;
	l->left = records;
	*op = &l->op;
	return 0;
}

struct filter {
	struct sp_operator op;
	sp_flow_predicate *keep;
	void *arg;
	const char *at, *end; /* the unread part of the input batch */
};

/* Charges the records examined since `from`. */
static void charge(const struct filter *f, const char *from, uint64_t records)
{
	sp__charge_work(&f->op.flow->env, records, 1, (uint64_t)(f->at - from));
}

/* Finds the next series of matches in the batch; empty: there are none. */
static int select_some(struct filter *f, struct sp_batch *batch)
{
	const char *from = f->at;
	uint64_t records = 0;
	int keep = 0;

	*batch = (struct sp_batch){ from, 0 };
	while (f->at < f->end) {
		const char *rec = f->at;
		size_t bytes;

		f->at = sp__record_next(&f->op.format, rec, f->end, &bytes);
		records++;
		keep = f->keep(f->arg, rec, bytes);
		if (keep < 0)
			return sp__err(f->op.flow->env.err, keep, "filter", NULL, -1);
		if (keep && !batch->bytes)
			batch->data = rec;
		if (keep)
			batch->bytes = (size_t)(f->at - batch->data);
		else if (batch->bytes)
			break;
	}
	charge(f, from, records);
	return 0;
}

static int next_filtered(void *operator, struct sp_batch * batch)
{
	struct filter *f = operator;
	int rc = 0;

	do {
		struct sp_batch in;

		if (f->at == f->end) {
			rc = sp__operator_next(f->op.input, &in);
			if (rc != SP_READY)
				return rc;
			f->at = in.data;
			f->end = in.data + in.bytes;
		}
		rc = select_some(f, batch);
		if (rc < 0)
			return rc;
	} while (!batch->bytes);
	return SP_READY;
}

int sp_flow_filter(struct sp_operator **op, struct sp_operator *input, sp_flow_predicate *keep,
		   void *arg)
{
	int rc;
	struct filter *f = sp__operator_new(input->flow, sizeof(*f), &input, 1, &rc);

	if (!f)
		return rc;
	f->op.next = next_filtered;
	f->keep = keep;
	f->arg = arg;
	*op = &f->op;
	return 0;
}
