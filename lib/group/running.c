/* SPDX-License-Identifier: MIT */
/*
 * Adds counts and sums of rows (running.h).
 *
 * Values are the texts of the result, so a total is that of what is shown.
 */
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/running.h"
#include "group/total.h"

#define PERCENT 100
#define PERCENT_PLACES 6 /* as of a mean */

/* A sum of numbers, exact as those of a group. */
struct total {
	sp__int128 units;
	unsigned places;
	bool is_real;
	struct sp__exactsum reals;
};

struct run {
	const struct sp__group_running *spec;
	struct sp__bytes value; /* of the row, as text */
	struct total all, passed;
};

struct sp__group_runs {
	uint32_t n, first; /* first: the number of the first column */
	struct run run[];
};

struct sp__group_runs *sp__group_runs_new(const struct sp__group_spec *s)
{
	struct sp__group_runs *runs = calloc(1, sizeof(*runs) + s->nrunning * sizeof(runs->run[0]));

	if (!runs)
		return NULL;
	runs->n = s->nrunning;
	runs->first = sp__group_named(s);
	for (uint32_t i = 0; i < s->nrunning; i++) {
		runs->run[i].spec = &s->running[i];
		/* A value of no bytes has an address, too. */
		if (sp__bytes_reserve(&runs->run[i].value, SP__AMOUNT_TEXT, NULL)) {
			sp__group_runs_free(runs);
			return NULL;
		}
	}
	return runs;
}

void sp__group_runs_free(struct sp__group_runs *runs)
{
	for (uint32_t i = 0; runs && i < runs->n; i++)
		sp__bytes_release(&runs->run[i].value, NULL);
	free(runs);
}

int sp__group_runs_take(struct sp__group_runs *runs, const struct sp__slice *columns)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < runs->n; i++) {
		const struct sp__slice *value = &columns[runs->run[i].spec->of];

		rc = sp__bytes_set(&runs->run[i].value, value->p, value->n, NULL);
	}
	return rc;
}

/* No value adds nothing.  A sum can have more digits than a number of records, or be NaN. */
static void add(struct total *t, const struct sp__bytes *value)
{
	struct sp__decimal d;
	struct sp__amount x;

	if (!value->bytes)
		return;
	if (sp__decimal_parse(value->data, value->bytes, &d)) {
		t->units += d.units;
		t->places = sp__max(t->places, d.places);
		if (sp__units_are_large(t->units)) {
			sp__units_relieve(&t->units, &t->reals);
			t->is_real = true;
		}
		return;
	}
	if (!sp__amount_parse(value->data, value->bytes, &x))
		x.real = NAN;
	sp__exactsum_add(&t->reals, x.real);
	t->is_real = true;
}

/* x->units can be above those of a number of a record. */
static struct sp__amount amount(const struct total *t)
{
	return (struct sp__amount){ .units = t->units,
				    .places = t->places,
				    .is_real = t->is_real,
				    .real = t->is_real ? sp__units_divide(t->units, &t->reals, 1)
						       : 0 };
}

/* Rounds to f64 what is too large for calculations with exact numbers. */
static struct sp__amount limited(struct sp__amount x)
{
	if (!x.is_real && (x.units >= SP__UNITS_END || x.units <= -SP__UNITS_END))
		x = (struct sp__amount){ .is_real = true, .real = sp__amount_f64(&x) };
	return x;
}

void sp__group_runs_total(struct sp__group_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++)
		if (runs->run[i].spec->percent)
			add(&runs->run[i].all, &runs->run[i].value);
}

int sp__group_runs_save(const struct sp__group_runs *runs, struct sp__bytes *body)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < runs->n; i++)
		rc = sp__code_put_part(body, runs->run[i].value.data, runs->run[i].value.bytes);
	return rc;
}

const char *sp__group_runs_restore(struct sp__group_runs *runs, const char *at, const char *stop)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		struct sp__bytes *value = &runs->run[i].value;
		const char *end = memchr(at, SP__CODE_END, (size_t)(stop - at));

		if (sp__bytes_reserve(value, (size_t)(end - at) + 1, NULL))
			return NULL;
		value->bytes = (size_t)(sp__code_unescape(value->data, at, (size_t)(end - at)) -
					value->data);
		at = end + 1;
	}
	return at;
}

/* Sets x to its share of the total.  False: the total is 0. */
static bool share(struct sp__amount *x, const struct total *all)
{
	const struct sp__amount hundred = sp__amount_of(PERCENT), total = limited(amount(all));

	*x = limited(*x);
	if (!sp__amount_multiply(x, x, &hundred) || !sp__amount_divide(x, x, &total))
		return false;
	*x = sp__amount_round(x, PERCENT_PLACES, SP__ROUND_NEAREST);
	return true;
}

/* Sets x to the value of a column.  False: there is none. */
static bool calculate(struct run *run, struct sp__amount *x)
{
	if (run->spec->cumulative) {
		add(&run->passed, &run->value);
		*x = amount(&run->passed);
	} else if (!sp__amount_parse(run->value.data, run->value.bytes, x)) {
		return false;
	}
	return !run->spec->percent || share(x, &run->all);
}

int sp__group_runs_put(struct sp__group_results *r)
{
	struct sp__group_runs *runs = r->runs;
	char text[SP__AMOUNT_TEXT];
	struct sp__amount x;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < runs->n; i++) {
		const bool is = calculate(&runs->run[i], &x);

		rc = sp__group_field_put(r, runs->first + i, text,
					 is ? sp__amount_print(&x, text) : 0, true);
	}
	return rc;
}
