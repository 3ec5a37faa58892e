/* SPDX-License-Identifier: MIT */
/*
 * Expressions: cases with known results, no value, bad values and errors of the parser, and exact
 * arithmetic against 128-bit integers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/floats.h"
#include "base/rng.h"
#include "expr/expr.h"
#include "exprcases.h"
#include "tap.h"

#define PAIRS 200000

static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	if (!name && number <= COLUMNS) {
		*column = (uint32_t)number - 1;
		return 0;
	}
	for (uint32_t i = 0; name && i < COLUMNS; i++)
		if (strlen(names[i]) == bytes && !memcmp(names[i], name, bytes)) {
			*column = i;
			return 0;
		}
	if (name)
		return sp__invalid(arg, NULL, "no column '%.*s'", (int)bytes, name);
	return sp__invalid(arg, NULL, "no column $%llu", (unsigned long long)number);
}

static bool is_name(void *arg, const char *text, size_t bytes)
{
	uint32_t column;

	(void)arg;
	return !find(NULL, text, bytes, 0, &column);
}

/* Copies a field to memory of just its length, so that a sanitizer sees a read beyond it. */
static void split(const char *record, struct sp__slice *columns, char **copies)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		const size_t n = strcspn(record, "|");

		free(copies[i]);
		copies[i] = malloc(n + !n);
		if (!copies[i])
			abort();
		memcpy(copies[i], record, n);
		columns[i] = (struct sp__slice){ copies[i], n };
		record += n + (record[n] == '|');
	}
}

/* Evaluates twice, so that nothing is left of the first time. */
static char *evaluate(const struct sp__expr *e, const char *record)
{
	struct sp__expr_scratch *s = sp__expr_scratch_new(e);
	struct sp__slice columns[COLUMNS], text;
	const struct sp__expr_record r = { columns, "NA", 2 };
	struct sp__expr_bad bad;
	char *copies[COLUMNS] = { NULL }, *result = NULL;
	bool chosen;
	int rc;

	if (!s)
		abort();
	split("1|2|x|y|7|8", columns, copies);
	rc = sp__expr_text(e, s, &r, &text, &bad);
	split(record, columns, copies);
	rc = sp__expr_text(e, s, &r, &text, &bad);
	if (rc == SP_EFORMAT &&
	    asprintf(&result, "?'%.*s' is not %s", (int)bad.text.n, bad.text.p, bad.wanted) < 0)
		abort();
	if (!rc && text.p && !(result = strndup(text.p, text.n)))
		abort();
	if (!rc && sp__expr_is_truth(e) &&
	    (sp__expr_choose(e, s, &r, &chosen, &bad) ||
	     chosen != (result && !strcmp(result, "true"))))
		abort();
	for (unsigned i = 0; i < COLUMNS; i++)
		free(copies[i]);
	sp__expr_scratch_free(s);
	return result;
}

/* Returns what the row should have. */
static char *result_of(const struct row *row)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp__expr_names in = { .find = find, .is_name = is_name, .arg = &err };
	const char *at = row->expression;
	struct sp__expr *e;
	char *result = NULL;
	int rc = sp__expr_parse(&e, &at, &in, &err);

	if (rc || *at) {
		if (asprintf(&result, "!%s%s", rc ? err.text : "stops at ", rc ? "" : at) < 0)
			abort();
	} else {
		result = evaluate(e, row->record);
	}
	sp__expr_free(e);
	return result;
}

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		char *got = result_of(row);
		/* Of an error the row has the beginning. */
		const bool same =
			got && row->want
				? !strncmp(got, row->want, strlen(row->want) + (*row->want != '!'))
				: got == row->want;

		ok(same, "%s is %s", row->expression, row->want ? row->want : "no value");
		if (!same)
			diag("of '%s' it is %s", row->record, got ? got : "no value");
		free(got);
	}
}

/* Returns the expression text, of `open` n times, then middle, then `close` n times. */
static char *nested(const char *open, const char *middle, const char *close, unsigned n)
{
	char *text = malloc(n * (strlen(open) + strlen(close)) + strlen(middle) + 1), *p = text;

	if (!text)
		abort();
	for (unsigned i = 0; i < n; i++)
		p = stpcpy(p, open);
	p = stpcpy(p, middle);
	for (unsigned i = 0; i < n; i++)
		p = stpcpy(p, close);
	return text;
}

static void check_nested(const char *what, char *text, const char *begin)
{
	const struct row row = { text, "1|2|aaaa", NULL };
	char *got = result_of(&row);

	ok(got && !strncmp(got, begin, strlen(begin)), "%s", what);
	if (got && strncmp(got, begin, strlen(begin)) != 0)
		diag("it is %.200s", got);
	free(got);
	free(text);
}

#define SIXTEEN "aaaaaaaaaaaaaaaa"

static void test_limits(void)
{
	char *pattern;

	check_nested("90 levels of parentheses", nested("(", "a", ")", 90), "1");
	check_nested("200 levels are too many", nested("(", "a", ")", 200),
		     "!the expression has more than 100 levels");
	check_nested("and signs", nested("-", "a", "", 200),
		     "!the expression has more than 100 levels");
	check_nested("and words", nested("not ", "a = 1", "", 200),
		     "!the expression has more than 100 levels");
	check_nested("and operators", nested("", "a", "+a", 200),
		     "!the expression has more than 100 levels");
	check_nested("and functions", nested("abs(", "a", ")", 100000),
		     "!the expression has more than 100 levels");
	check_nested("99 summands", nested("", "a", "+a", 98), "99");
	check_nested("90 levels of conditions",
		     nested("if(a = 1 and b between 1 and 3,", "c", ",0)", 90), "aaaa");
	check_nested("100000 conditions", nested("", "a = 2", " or a = 1", 99999), "true");
	check_nested("but not 100001", nested("", "a = 2", " or a = 1", 100000),
		     "!at most 100000 values or conditions are possible here");
#ifdef __SANITIZE_ADDRESS__
	/* Its memmem() reads the whole text for each place that is found. */
	skip("texts that replace() makes are at most 16 MiB long",
	     "takes minutes with a sanitizer");
#else
	check_nested("texts that replace() makes are at most 16 MiB long",
		     nested("replace(", "c", ",'a','aaaa')", 40),
		     "?'aaaa' is not short enough: a text that is made has at most 16 MiB");
#endif
	pattern = nested("%a", "%b'", "", 2000);
	check_nested("a pattern of 2000 parts and a long text take little time",
		     nested("replace(replace(c, 'a', '" SIXTEEN "'), 'a', '" SIXTEEN "') like '",
			    pattern, "", 1),
		     "false");
	free(pattern);
}

/* Exact arithmetic. */

static struct sp__rng rng = { 7 };

/* Returns a number with at most `digits` digits, of which some are zeros at the end. */
static struct sp__amount random_amount(unsigned digits)
{
	struct sp__amount x;
	char text[64];
	uint64_t n = sp__rng_next(&rng) % 1000000000000000000u;
	unsigned places = (unsigned)(sp__rng_next(&rng) % (SP__DECIMAL_PLACES + 1));

	for (unsigned i = (unsigned)(sp__rng_next(&rng) % digits); i < 18; i++)
		n /= 10;
	snprintf(text, sizeof(text), "%s%llu.%0*llu", sp__rng_next(&rng) % 2 ? "-" : "",
		 (unsigned long long)(n / sp__powers_of_ten[places]), (int)places,
		 (unsigned long long)(n % sp__powers_of_ten[places]));
	if (!places)
		*strchr(text, '.') = '\0';
	if (!sp__amount_parse(text, strlen(text), &x) || x.is_real)
		abort();
	return x;
}

static bool is_real(const struct sp__amount *x, long double want)
{
	return x->is_real && fabsl(x->real - want) <= fabsl(want) * 0x1p-50L;
}

/* True if the number is units / 10^9: exactly, or nearly if it is too large. */
static bool is_units(const struct sp__amount *x, sp__int128 units)
{
	if (units < SP__UNITS_END && units > -SP__UNITS_END)
		return !x->is_real && x->units == units;
	return is_real(x, (long double)units / SP__UNITS);
}

/* True if the number is printed with all of its digits, and no others. */
static bool prints(const struct sp__amount *x)
{
	char text[SP__AMOUNT_TEXT + 1];
	const size_t n = sp__amount_print(x, text);
	struct sp__amount back;
	double real;

	if (n > SP__AMOUNT_TEXT || !sp__amount_parse(text, n, &back))
		return false;
	if (!x->is_real)
		return back.units == x->units && !back.is_real;
	return !sp__read_f64(text, n, &real) && real == x->real;
}

static bool check_quotient(const struct sp__amount *a, const struct sp__amount *b)
{
	const sp__int128 n = a->units * (sp__int128)SP__UNITS;
	struct sp__amount r;

	if (!b->units)
		return !sp__amount_divide(&r, a, b) && !sp__amount_modulo(&r, a, b);
	if (!sp__amount_divide(&r, a, b) || !prints(&r))
		return false;
	if (n % b->units ? !is_real(&r, (long double)a->units / (long double)b->units)
			 : !is_units(&r, n / b->units))
		return false;
	return sp__amount_modulo(&r, a, b) && prints(&r) && is_units(&r, a->units % b->units);
}

static bool check_rounding(const struct sp__amount *a)
{
	const int places = (int)(sp__rng_next(&rng) % (SP__DECIMAL_PLACES + 1));
	const sp__int128 step = (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - places];
	const struct sp__amount down = sp__amount_round(a, places, SP__ROUND_DOWN);
	const struct sp__amount up = sp__amount_round(a, places, SP__ROUND_UP);
	const struct sp__amount near = sp__amount_round(a, places, SP__ROUND_NEAREST);
	sp__int128 below = a->units - down.units, above = up.units - a->units, error;

	error = near.units - a->units;
	error = error < 0 ? -error : error;
	return below >= 0 && below < step && above >= 0 && above < step && down.units % step == 0 &&
	       up.units % step == 0 && (near.units == down.units || near.units == up.units) &&
	       (2 * error < step ||
		(2 * error == step && (near.units < 0) == (a->units < 0) &&
		 (near.units < 0 ? near.units <= a->units : near.units >= a->units))) &&
	       near.places == (unsigned)places && prints(&near);
}

static void test_arithmetic(void)
{
	unsigned wrong[4] = { 0 };

	for (int i = 0; i < PAIRS; i++) {
		const struct sp__amount a = random_amount(i % 2 ? 18 : 9), b = random_amount(9);
		struct sp__amount r;
		sp__int128 product;

		wrong[0] += !sp__amount_add(&r, &a, &b) || !is_units(&r, a.units + b.units) ||
			    !prints(&r);
		wrong[0] += !sp__amount_subtract(&r, &a, &b) || !is_units(&r, a.units - b.units) ||
			    !prints(&r);
		/* Of units of 27 and 18 digits some products do not fit. */
		if (!__builtin_mul_overflow(a.units, b.units, &product))
			wrong[1] +=
				!sp__amount_multiply(&r, &a, &b) ||
				!(product % SP__UNITS ? is_real(&r, (long double)product /
									    SP__UNITS / SP__UNITS)
						      : is_units(&r, product / SP__UNITS));
		wrong[2] += !check_quotient(&a, &b);
		wrong[3] += !check_rounding(&a);
	}
	ok(!wrong[0], "sums and differences are exact (%u)", wrong[0]);
	ok(!wrong[1], "products are exact if they have at most 9 decimal places (%u)", wrong[1]);
	ok(!wrong[2], "quotients are exact if they can be, and so are rests (%u)", wrong[2]);
	ok(!wrong[3], "numbers are rounded to the nearest one, down and up (%u)", wrong[3]);
}

int main(void)
{
	test_rows();
	test_limits();
	test_arithmetic();
	return done();
}
