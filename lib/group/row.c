/* SPDX-License-Identifier: MIT */
/*
 * Makes the row of a group: its key and aggregates (result.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/floats.h"
#include "base/minmax.h"
#include "base/put.h"
#include "group/running.h"
#include "group/sketch.h"
#include "group/total.h"
#include "rec/jsonread.h"

#define AVG_PLACES 6
#define SHOWN 40 /* bytes of a text in a message */

static int no_memory(struct sp__group_results *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

/* Values of a row. */

static int put_number(struct sp__group_results *r, uint32_t field, const struct sp__amount *x)
{
	char text[SP__AMOUNT_TEXT];

	return sp__group_field_put(r, field, text, sp__amount_print(x, text), true);
}

static int put_count(struct sp__group_results *r, uint32_t field, uint64_t n)
{
	char text[32];

	return sp__group_field_put(r, field, text, (size_t)(sp__put_u64(text, n) - text), true);
}

static int put_real(struct sp__group_results *r, uint32_t field, double x)
{
	char text[SP__SHORTEST_SPACE];

	return sp__group_field_put(r, field, text, (size_t)(sp__shortest_f64(text, x + 0.0) - text),
				   true);
}

static int put_text(struct sp__group_results *r, uint32_t field, const char *p, size_t n)
{
	return sp__group_field_put(r, field, p, n, false);
}

static int put_null(struct sp__group_results *r, uint32_t field)
{
	return put_text(r, field, "", 0);
}

static const struct sp__exactsum *reals_of(const struct sp__group_results *r, uint32_t at)
{
	return at ? sp__arena_at(&r->arena, at) : NULL;
}

/* Returns the sum, or the mean, of n numbers. */
static struct sp__amount sum_of(const struct sp__group_results *r, const struct sp__group_sum *sum,
				bool mean, uint64_t n)
{
	const struct sp__decimal units = { sum->units, sum->places };
	struct sp__amount x = { .units = sum->units, .places = sum->places };
	struct sp__decimal d;

	if (!sum->reals) {
		if (mean) {
			d = sp__decimal_divide(&units, n, sp__max(AVG_PLACES, sum->places));
			x.units = d.units;
			x.places = d.places;
		}
		return x;
	}
	x.is_real = true;
	x.real = sp__units_divide(sum->units, reals_of(r, sum->reals), mean ? n : 1);
	return x;
}

static int put_end(struct sp__group_results *r, uint32_t field, const struct sp__group_text *t)
{
	const char *p = sp__arena_at(&r->arena, t->at);
	struct sp__amount x;

	if (t->places == SP__PLACES_OF_TEXT)
		return put_text(r, field, p, t->bytes);
	if (!sp__amount_decode((const unsigned char *)p, t->bytes, &x))
		return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	x.places = t->places;
	return put_number(r, field, &x);
}

static int put_moments(struct sp__group_results *r, uint32_t field, enum sp__group_function f,
		       const struct sp__group_moments *m)
{
	/* Without pairs the members behind `pairs` are not there. */
	const struct sp__deviations d = sp__moments_deviations(m, reals_of(r, m->reals));
	double var, r2;

	if (f == SP__GROUP_VAR || f == SP__GROUP_STDDEV) {
		if (m->n < 2)
			return put_null(r, field);
		var = d.xx / (double)(m->n - 1);
		return put_real(r, field,
				f == SP__GROUP_VAR ? ldexp(var, d.exponent)
						   : ldexp(sqrt(var), d.exponent / 2));
	}
	/* NOLINTNEXTLINE(clang-diagnostic-float-equal): without deviations there is no line */
	if (m->n < 2 || d.xx == 0 || (f != SP__GROUP_SLOPE && d.yy == 0))
		return put_null(r, field);
	if (f == SP__GROUP_SLOPE)
		return put_real(r, field, d.xy / d.xx);
	r2 = d.xy / d.xx * (d.xy / d.yy);
	return put_real(r, field, f == SP__GROUP_R2 ? r2 : copysign(sqrt(r2), d.xy));
}

static int put_words(struct sp__group_results *r, uint32_t field, enum sp__group_function f,
		     const struct sp__group_argument *a)
{
	const struct sp__group_list *l = &r->lists[f == SP__GROUP_LIST ? a->rows : a->words];

	if (f == SP__GROUP_DISTINCT)
		return put_count(r, field, l->distinct);
	if (f == SP__GROUP_LIST)
		return put_text(r, field, l->joined.data, l->joined.bytes);
	if (sp__bytes_reserve(&r->text, l->mode.bytes, NULL))
		return no_memory(r);
	return put_text(r, field, r->text.data,
			(size_t)(sp__code_unescape(r->text.data, l->mode.data, l->mode.bytes) -
				 r->text.data));
}

/* Appends an aggregate of the open group. */
static int put_aggregate(struct sp__group_results *r, uint32_t number)
{
	const struct sp__group_aggregate *g = &r->spec->aggregates[number];
	const uint32_t field = r->spec->nkeys + number;
	const struct sp__group_argument *a;
	struct sp__amount x;
	uint64_t n;

	if (g->argument == UINT32_MAX)
		return put_count(r, field,
				 ((struct sp__grouped *)sp__group_result_part(r, 0))->records);
	a = &r->spec->arguments[g->argument];
	n = *(uint64_t *)sp__group_result_part(r, a->count);
	if (g->function == SP__GROUP_COUNT)
		return put_count(r, field, n);
	if (g->function == SP__GROUP_BIN)
		return put_count(r, field,
				 sp__counts_of(&r->arena, sp__group_result_part(r, a->counts),
					       (int32_t)g->part));
	if (g->function == SP__GROUP_DISTINCT ||
	    (n && (g->function == SP__GROUP_MODE || g->function == SP__GROUP_LIST)))
		return put_words(r, field, g->function, a);
	if (!n)
		return put_null(r, field);
	switch (g->function) {
	case SP__GROUP_SUM:
	case SP__GROUP_MEAN:
		x = sum_of(r, sp__group_result_part(r, a->sum), g->function == SP__GROUP_MEAN, n);
		return put_number(r, field, &x);
	case SP__GROUP_MIN:
		return put_end(r, field, sp__group_result_part(r, a->min));
	case SP__GROUP_MAX:
		return put_end(r, field, sp__group_result_part(r, a->max));
	case SP__GROUP_FIRST:
	case SP__GROUP_LAST: {
		const struct sp__group_text *t = sp__group_result_part(
			r, g->function == SP__GROUP_FIRST ? a->first : a->last);

		return put_text(r, field, sp__arena_at(&r->arena, t->at), t->bytes);
	}
	case SP__GROUP_ESTIMATE: {
		const struct sp__group_counts *c = sp__group_result_part(r, a->counts);

		x = sp__sketch_percentile(c, sp__counts_sort(&r->arena, c), n, g->part, g->whole);
		return put_number(r, field, &x);
	}
	case SP__GROUP_MEDIAN:
	case SP__GROUP_PERCENTILE:
		x = sp__amount_between(&r->ranks[number].low, &r->ranks[number].high,
				       r->ranks[number].part, g->whole);
		return put_number(r, field, &x);
	default:
		return put_moments(r, field, g->function, sp__group_result_part(r, a->moments));
	}
}

/* Appends a key that is a calculated number, from its code in r->text. */
static int put_calculated(struct sp__group_results *r, uint32_t i, size_t n)
{
	struct sp__amount x;

	if (r->spec->keys[i].reverse && n) {
		for (size_t k = 0; k < n; k++)
			r->text.data[k] = (char)~r->text.data[k];
		/* Without the end of the part. */
		n = (size_t)(sp__code_unescape(r->text.data, r->text.data, n - 1) - r->text.data);
	}
	if (!n)
		return put_null(r, i);
	if (!sp__amount_decode((const unsigned char *)r->text.data, n, &x))
		return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	x.places = sp__amount_places(&x);
	return put_number(r, i, &x);
}

/* Appends a key that is a value of JSON as it is written; elsewhere its text is used. */
int sp__group_member_put(struct sp__group_results *r, uint32_t i, const char *p, size_t n)
{
	struct sp__json_value v = { p, n, SP__JSON_NUMBER, true };
	size_t bytes;
	bool decode;
	int rc;

	if (*p == '"')
		v.kind = SP__JSON_TEXT;
	else if (*p == 'n')
		v.kind = SP__JSON_NULL;
	p = sp__json_slice(&v, &bytes, &decode);
	if (decode) {
		if (sp__bytes_reserve(&r->text, bytes, NULL))
			return no_memory(r);
		bytes = sp__json_text(&v, r->text.data, bytes);
		p = r->text.data;
	}
	r->value = (struct sp__slice){ v.p, v.n };
	rc = sp__group_field_put(r, i, p, bytes, v.kind != SP__JSON_TEXT);
	r->value.p = NULL;
	return rc;
}

/* Appends a key that is a text; in JSON the text that stands for no value is null. */
static int put_key_text(struct sp__group_results *r, uint32_t i, const char *p, size_t n)
{
	const struct sp__group_key *key = &r->spec->keys[i];
	const struct sp__slice text = { p, n };
	const bool names_column = r->spec->pivot && i == r->spec->nkeys - 1;

	if (key->member)
		return sp__group_member_put(r, i, p, n);
	if (r->json && !names_column && sp__group_is_null(r->in, key->column, &text))
		return put_null(r, i);
	return sp__group_field_put(r, i, p, n, key->number);
}

/* Appends a key that is what the bytes of the part are. */
static int put_part(struct sp__group_results *r, uint32_t i, const char *part, size_t bytes)
{
	size_t n;

	if (sp__bytes_reserve(&r->text, bytes + 1, NULL))
		return no_memory(r);
	n = (size_t)(sp__code_unescape(r->text.data, part, bytes) - r->text.data);
	return r->spec->keys[i].by_value ? put_calculated(r, i, n)
					 : put_key_text(r, i, r->text.data, n);
}

/* Appends the key: its texts, or what its bytes are. */
int sp__group_row_key(struct sp__group_results *r)
{
	const struct sp__group_spec *s = r->spec;
	const char *at = r->prefix.data, *end = at + r->prefix.bytes;
	uint32_t text = s->key_texts;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < s->nkeys; i++) {
		const char *stop = memchr(at, SP__CODE_END, (size_t)(end - at));

		if (s->keys[i].order) {
			const struct sp__group_text *t = sp__group_result_part(r, text);

			rc = put_key_text(r, i, sp__arena_at(&r->arena, t->at), t->bytes);
			text += SP__GROUP_TEXT_STEP;
		} else {
			rc = put_part(r, i, at, (size_t)(stop - at));
		}
		at = stop + 1;
	}
	return rc;
}

/* Sets where the values of the row are, now that they do not move. */
static void set_columns(struct sp__group_results *r)
{
	const char *at = r->values.data;

	for (uint32_t i = 0; (r->having || r->runs) && i < sp__group_named(r->spec); i++) {
		r->columns[i].p = at;
		at += r->columns[i].n;
	}
}

/* Sets *chosen to whether the condition is true for the row. */
static int choose(struct sp__group_results *r, bool *chosen)
{
	const struct sp__group_spec *s = r->spec;
	/* The text of --null is one of keys: a count can be the same text. */
	const struct sp__expr_record record = { .columns = r->columns };
	struct sp__expr_bad bad;
	int rc;

	for (uint32_t i = 0; i < s->nkeys; i++)
		if (sp__group_is_null(r->in, s->keys[i].column, &r->columns[i]))
			r->columns[i].n = 0;
	rc = sp__expr_choose(r->having, r->scratch, &record, chosen, &bad);
	if (rc == SP_EFORMAT)
		return sp__errf(r->err, rc, "group", NULL, -1,
				"--having: '%.*s' of the row '%.*s' is not %s; values in "
				"single quotes are compared as texts",
				(int)sp__min(bad.text.n, SHOWN), bad.text.p,
				(int)sp__min(r->row.bytes, SHOWN), r->row.data, bad.wanted);
	return rc ? no_memory(r) : 0;
}

int sp__group_row_values(struct sp__group_results *r)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < r->spec->naggregates; i++)
		rc = put_aggregate(r, i);
	return rc;
}

/* Gives the row to the sort of rows, behind what columns that depend on other rows need. */
static int sort_row(struct sp__group_results *r)
{
	struct sp__bytes *body = &r->body;

	body->bytes = 0;
	if ((r->runs && sp__group_runs_save(r->runs, body)) ||
	    sp__bytes_reserve(body, body->bytes + 2 * r->row.bytes, NULL))
		return no_memory(r);
	body->bytes =
		(size_t)(sp__code_escape(body->data + body->bytes, r->row.data, r->row.bytes) -
			 body->data);
	return sp__group_row_sort(r, sp__group_result_position(r), body);
}

int sp__group_row_write(struct sp__group_results *r)
{
	bool chosen = true;
	int rc;

	sp__bytes_empty(&r->row, NULL);
	r->values.bytes = 0;
	rc = sp__group_row_key(r);
	if (!rc)
		rc = sp__group_row_values(r);
	if (!rc)
		set_columns(r);
	if (!rc && r->runs && sp__group_runs_take(r->runs, r->columns))
		rc = no_memory(r);
	if (!rc && r->runs)
		sp__group_runs_total(r->runs);
	if (!rc && r->having)
		rc = choose(r, &chosen);
	if (rc || !chosen)
		return rc;
	return r->sorter ? sort_row(r) : sp__group_row_finish(r);
}
