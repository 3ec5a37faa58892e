/* SPDX-License-Identifier: MIT */
/*
 * Aggregation of neighbouring records.  The group fields of the current group, as they will be
 * written, are its key; a record with another key ends it.  Finished groups are collected, and
 * handed out when the batch of the input is used up.
 *
 * Memory: one key, and the groups that end in one batch.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "flow/decimal.h"
#include "flow/operator.h"

#define AVG_PLACES 6

/* Of the numbers in one field. */
struct total {
	struct sp_flow_value value;
	uint64_t numbers;
	struct sp__decimal sum, least, most;
};

struct aggregate {
	struct sp_operator op, *input;
	size_t *groups, ngroups;
	struct total *totals;
	size_t ntotals;
	bool begun;	  /* there is a current group */
	uint64_t records; /* in it */
	struct sp__fields fields;
	struct sp__bytes key, other; /* of the current group; of the record */
	struct sp__bytes out;
};

static int append(struct aggregate *a, struct sp__bytes *b, const char *data, size_t bytes)
{
	return sp__flow_append(a->op.flow, b, data, bytes);
}

/* The fields of a group, separated. */
static int make_key(struct aggregate *a, struct sp__bytes *key)
{
	int rc = 0;

	key->bytes = 0;
	for (size_t i = 0; i < a->ngroups && !rc; i++) {
		size_t k = a->groups[i];

		if (i)
			rc = append(a, key, a->op.cut.sep, a->op.cut.sep_bytes);
		if (!rc && k < a->fields.n)
			rc = append(a, key, a->fields.at[k].p, a->fields.at[k].n);
	}
	return rc;
}

/* Writes one value of the current group. */
static int put_value(struct aggregate *a, const struct total *t)
{
	char text[SP__DECIMAL_TEXT];
	struct sp__decimal avg;

	if (!t->numbers && t->value.function != SP_FLOW_COUNT)
		return 0;
	switch (t->value.function) {
	case SP_FLOW_COUNT:
		return append(a, &a->out, text,
			      (size_t)snprintf(text, sizeof(text), "%" PRIu64, a->records));
	case SP_FLOW_SUM:
		return append(a, &a->out, text, sp__decimal_print(&t->sum, text));
	case SP_FLOW_MIN:
		return append(a, &a->out, text, sp__decimal_print(&t->least, text));
	case SP_FLOW_MAX:
		return append(a, &a->out, text, sp__decimal_print(&t->most, text));
	case SP_FLOW_AVG:
		avg = sp__decimal_divide(&t->sum, t->numbers,
					 (unsigned)sp__max(AVG_PLACES, t->sum.places));
		return append(a, &a->out, text, sp__decimal_print(&avg, text));
	}
	return 0;
}

/* Writes the current group. */
static int end_group(struct aggregate *a)
{
	const char eol = sp__operator_eol(&a->op);
	int rc = append(a, &a->out, a->key.data, a->key.bytes);

	for (size_t i = 0; i < a->ntotals && !rc; i++) {
		if (i || a->ngroups)
			rc = append(a, &a->out, a->op.cut.sep, a->op.cut.sep_bytes);
		if (!rc)
			rc = put_value(a, &a->totals[i]);
	}
	a->begun = false;
	return rc ? rc : append(a, &a->out, &eol, 1);
}

static void begin_group(struct aggregate *a)
{
	for (size_t i = 0; i < a->ntotals; i++)
		a->totals[i] = (struct total){ .value = a->totals[i].value };
	a->records = 0;
	a->begun = true;
}

static int bad_number(const struct aggregate *a, const struct sp__slice *s, const char *why)
{
	return sp__errf(a->op.flow->env.err, SP_EFORMAT, "aggregate", NULL, -1, "'%.*s': %s",
			(int)sp__min(s->n, 40), s->p, why);
}

/* The same number with more places: so the result does not depend on the order of the records. */
static bool is_longer(const struct sp__decimal *d, const struct sp__decimal *than)
{
	return d->units == than->units && d->places > than->places;
}

static int add(struct aggregate *a, struct total *t)
{
	const struct sp__slice *s = &a->fields.at[t->value.field];
	struct sp__decimal d;

	if (t->value.function == SP_FLOW_COUNT || t->value.field >= a->fields.n || !s->n)
		return 0;
	if (!sp__decimal_parse(s->p, s->n, &d))
		return bad_number(a, s, "not a number of at most 9 decimal places");
	if (!sp__decimal_add(&t->sum, &d))
		return bad_number(a, s, "the sum up to here is too large");
	if (!t->numbers || d.units < t->least.units || is_longer(&d, &t->least))
		t->least = d;
	if (!t->numbers || d.units > t->most.units || is_longer(&d, &t->most))
		t->most = d;
	t->numbers++;
	return 0;
}

static int take_record(struct aggregate *a, const char *rec, size_t bytes)
{
	struct sp__bytes key;
	int rc = sp__fields_split(&a->op.cut, rec, bytes, &a->fields);

	if (rc < 0)
		return sp__err(a->op.flow->env.err, rc, "allocate", NULL, -1);
	rc = make_key(a, &a->other);
	if (!rc && a->begun &&
	    (a->key.bytes != a->other.bytes ||
	     (a->key.bytes && memcmp(a->key.data, a->other.data, a->key.bytes))))
		rc = end_group(a);
	if (rc)
		return rc;
	if (!a->begun) {
		begin_group(a);
		key = a->key;
		a->key = a->other;
		a->other = key;
	}
	a->records++;
	for (size_t i = 0; i < a->ntotals && !rc; i++)
		rc = add(a, &a->totals[i]);
	return rc;
}

static int take_batch(struct aggregate *a, const struct sp_batch *batch)
{
	const char *end = batch->data + batch->bytes;
	uint64_t records = 0;
	int rc = 0;

	for (const char *rec = batch->data, *after; rec < end && !rc; rec = after, records++) {
		size_t bytes;

		after = sp__record_next(&a->op.format, rec, end, &bytes);
		rc = take_record(a, rec, bytes);
	}
	sp__charge_work(&a->op.flow->env, records, 1, 0);
	return rc;
}

static int next(void *operator, struct sp_batch * batch)
{
	struct aggregate *a = operator;
	int rc;

	a->out.bytes = 0;
	while (!a->out.bytes) {
		struct sp_batch in;

		rc = sp__operator_next(a->input, &in);
		if (rc == SP_READY)
			rc = take_batch(a, &in);
		else if (rc != SP_END)
			return rc;
		else if (!a->begun)
			return rc;
		else
			rc = end_group(a);
		if (rc < 0)
			return rc;
	}
	*batch = (struct sp_batch){ a->out.data, a->out.bytes };
	return SP_READY;
}

static void close_aggregate(void *operator)
{
	struct aggregate *a = operator;
	struct sp__budget *b = &a->op.flow->env.budget;

	free(a->groups);
	free(a->totals);
	free(a->fields.at);
	sp__bytes_release(&a->key, b);
	sp__bytes_release(&a->other, b);
	sp__bytes_release(&a->out, b);
}

static int copy_opts(struct aggregate *a, const size_t *groups, size_t ngroups,
		     const struct sp_flow_value *values, size_t nvalues)
{
	a->ngroups = ngroups;
	a->ntotals = nvalues;
	a->groups = calloc(ngroups + 1, sizeof(*groups));
	a->totals = calloc(nvalues + 1, sizeof(*a->totals));
	if (!a->groups || !a->totals)
		return sp__err(a->op.flow->env.err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < ngroups; i++)
		a->groups[i] = groups[i];
	for (size_t i = 0; i < nvalues; i++)
		a->totals[i].value = values[i];
	return 0;
}

int sp_flow_aggregate(struct sp_operator **op, struct sp_operator *input, const size_t *groups,
		      size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	struct aggregate *a;
	int rc = sp__operator_fields(input);

	if (!rc && ngroups)
		rc = sp__operator_ordered(input, "an aggregation of neighbours");
	a = rc ? NULL : sp__operator_new(input->flow, sizeof(*a), &input, 1, &rc);
	if (!a)
		return rc;
	a->op.next = next;
	a->op.close = close_aggregate;
	a->input = input;
	*op = &a->op;
	a->op.any_order = false;
	rc = copy_opts(a, groups, ngroups, values, nvalues);
	if (!rc && !ngroups)
		begin_group(a);
	return rc;
}
