/* SPDX-License-Identifier: MIT */
/* Makes the keys of groups and computes and prints their values (grouping.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "flow/grouping.h"

#define AVG_PLACES 6

int sp__grouping_open(struct sp__grouping *g, struct sp_flow *flow, const size_t *groups,
		      size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	g->ngroups = ngroups;
	g->nvalues = nvalues;
	g->groups = calloc(ngroups + 1, sizeof(*groups));
	g->values = calloc(nvalues + 1, sizeof(*values));
	if (!g->groups || !g->values)
		return sp__err(flow->env.err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < ngroups; i++)
		g->groups[i] = groups[i];
	for (size_t i = 0; i < nvalues; i++)
		g->values[i] = values[i];
	return 0;
}

void sp__grouping_close(struct sp__grouping *g, struct sp_flow *flow)
{
	free(g->groups);
	free(g->values);
	free(g->fields.at);
	sp__bytes_release(&g->key, &flow->env.budget);
}

/* Joins the group fields with separators. */
static int make_key(struct sp__grouping *g, struct sp_operator *op)
{
	int rc = 0;

	g->key.bytes = 0;
	for (size_t i = 0; i < g->ngroups && !rc; i++) {
		size_t k = g->groups[i];

		if (i)
			rc = sp__flow_append(op->flow, &g->key, op->cut.sep, op->cut.sep_bytes);
		if (!rc && k < g->fields.n)
			rc = sp__flow_append(op->flow, &g->key, g->fields.at[k].p,
					     g->fields.at[k].n);
	}
	return rc;
}

int sp__grouping_batch(struct sp_operator *op, const struct sp_batch *batch,
		       int (*take)(void *arg, const char *record, size_t bytes), void *arg)
{
	const char *end = batch->data + batch->bytes;
	uint64_t records = 0;
	int rc = 0;

	for (const char *rec = batch->data, *after; rec < end && !rc; rec = after, records++) {
		size_t bytes;

		after = sp__record_next(&op->format, rec, end, &bytes);
		rc = take(arg, rec, bytes);
	}
	sp__charge_work(&op->flow->env, records, 1, 0);
	return rc;
}

int sp__grouping_split(struct sp__grouping *g, struct sp_operator *op, const char *record,
		       size_t bytes)
{
	int rc = sp__fields_split(&op->cut, record, bytes, &g->fields);

	if (rc < 0)
		return sp__err(op->flow->env.err, rc, "allocate", NULL, -1);
	return make_key(g, op);
}

static int bad_number(const struct sp_operator *op, const struct sp__slice *s, const char *reason)
{
	return sp__errf(op->flow->env.err, SP_EFORMAT, "aggregate", NULL, -1, "'%.*s': %s",
			(int)sp__min(s->n, 40), s->p, reason);
}

/*
 * True if d is the same number with more decimal places.  Preferring it makes the result
 * independent of the order of the records.
 */
static bool is_longer(const struct sp__decimal *d, const struct sp__decimal *than)
{
	return d->units == than->units && d->places > than->places;
}

static int add(const struct sp_operator *op, const struct sp__slice *s, struct sp__total *t)
{
	struct sp__decimal d;

	if (!sp__decimal_parse(s->p, s->n, &d))
		return bad_number(op, s, "not a number of at most 9 decimal places");
	if (!sp__decimal_add(&t->sum, &d))
		return bad_number(op, s, "the sum up to here is too large");
	if (!t->numbers || d.units < t->min.units || is_longer(&d, &t->min))
		t->min = d;
	if (!t->numbers || d.units > t->max.units || is_longer(&d, &t->max))
		t->max = d;
	t->numbers++;
	return 0;
}

int sp__grouping_add(const struct sp__grouping *g, const struct sp_operator *op,
		     struct sp__total *totals)
{
	int rc = 0;

	for (size_t i = 0; i < g->nvalues && !rc; i++) {
		const struct sp_flow_value *v = &g->values[i];

		if (v->function != SP_FLOW_COUNT && v->field < g->fields.n &&
		    g->fields.at[v->field].n)
			rc = add(op, &g->fields.at[v->field], &totals[i]);
	}
	return rc;
}

/* Prints one value. */
static size_t print(enum sp_flow_function function, const struct sp__total *t, uint64_t records,
		    char text[SP__DECIMAL_TEXT])
{
	struct sp__decimal avg;

	if (function == SP_FLOW_COUNT)
		return (size_t)snprintf(text, SP__DECIMAL_TEXT, "%" PRIu64, records);
	if (!t->numbers)
		return 0;
	if (function == SP_FLOW_SUM)
		return sp__decimal_print(&t->sum, text);
	if (function == SP_FLOW_MIN)
		return sp__decimal_print(&t->min, text);
	if (function == SP_FLOW_MAX)
		return sp__decimal_print(&t->max, text);
	avg = sp__decimal_divide(&t->sum, t->numbers, (unsigned)sp__max(AVG_PLACES, t->sum.places));
	return sp__decimal_print(&avg, text);
}

int sp__grouping_put(const struct sp__grouping *g, const struct sp_operator *op,
		     const struct sp__slice *key, const struct sp__total *totals, uint64_t records,
		     struct sp__bytes *out)
{
	const char eol = sp__operator_eol(op);
	char text[SP__DECIMAL_TEXT];
	int rc = sp__flow_append(op->flow, out, key->p, key->n);

	for (size_t i = 0; i < g->nvalues && !rc; i++) {
		if (i || g->ngroups)
			rc = sp__flow_append(op->flow, out, op->cut.sep, op->cut.sep_bytes);
		if (!rc)
			rc = sp__flow_append(
				op->flow, out, text,
				print(g->values[i].function, &totals[i], records, text));
	}
	return rc ? rc : sp__flow_append(op->flow, out, &eol, 1);
}
