/* SPDX-License-Identifier: MIT */
/*
 * Aggregates: over random records and selections, divided among states, against naive loops over
 * plain copies of the values; messages.
 */
#include "columns/aggregates_impl.h"
#include "plainrows.h"

#define STATES 3

/* Records of a case. */
static uint32_t chosen[RECORDS];
static uint32_t n_chosen;

static char expected[400];

/* Prints units / divisor with so many decimals, rounded half away from zero, digit by digit. */
static void print_quotient(sp__int128 units, sp__int128 divisor, unsigned places)
{
	char digits[100];
	const bool minus = units < 0;
	sp__int128 rest = (minus ? -units : units) % divisor;
	sp__int128 whole = (minus ? -units : units) / divisor;
	int n = (int)sizeof(digits), i, carry;
	bool any = false;

	digits[--n] = 0;
	for (unsigned k = 0; k < places; k++, rest %= divisor) {
		rest *= 10;
		digits[n - (int)places + (int)k] = (char)('0' + (int)(rest / divisor));
	}
	carry = 2 * rest >= divisor;
	n -= (int)places;
	for (i = n + (int)places - 1; carry && i >= n; i--) {
		carry = digits[i] == '9';
		digits[i] = carry ? '0' : (char)(digits[i] + 1);
	}
	whole += carry;
	if (places)
		digits[--n] = '.';
	do
		digits[--n] = (char)('0' + (int)(whole % 10));
	while (whole /= 10);
	for (const char *p = digits + n; *p; p++)
		any |= *p != '.' && *p != '0';
	snprintf(expected, sizeof(expected), "%s%s", minus && any ? "-" : "", digits + n);
}

static void print_value(const struct sp__value_type *t, const struct plain *p)
{
	char text[SP__VALUE_SPACE];
	uint8_t value[8] = { 0 };
	int64_t v;
	size_t n;

	if (is_text(t)) {
		strcpy(expected, p->text);
		return;
	}
	if (t->kind == 'D' || t->kind == 'T') {
		v = (int64_t)(p->number / (t->kind == 'D' ? 86400000000 : 1));
		memcpy(value, &v, t->bytes);
		n = sp__value_write(t, value, text);
		memcpy(expected, text, n);
		expected[n] = 0;
	} else if (p->number == NOT_A_NUMBER) {
		strcpy(expected, "nan");
	} else if (p->number == INFINITE || p->number == -INFINITE) {
		strcpy(expected, p->number < 0 ? "-inf" : "inf");
	} else if (t->kind == 'f') {
		snprintf(expected, sizeof(expected), "%.17g", (double)p->number / UNITS);
	} else {
		sp__int128 scale = 1;

		for (unsigned k = 0; k < t->decimals; k++)
			scale *= 10;
		print_quotient(p->number * scale / UNITS, scale, t->decimals);
	}
}

static int order_of(const struct plain *a, const struct plain *b, bool is_texts)
{
	if (is_texts)
		return strcmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

/* Sets expected to min or max; "NULL" if there are no values. */
static void expect_end(uint32_t c, bool max)
{
	const struct sp__value_type *t = &schema.columns[c].type;
	const struct plain *end = NULL;

	for (uint32_t i = 0; i < n_chosen; i++) {
		const struct plain *p = &plain[c][chosen[i]];
		int order = end && !p->null ? order_of(p, end, is_text(t)) : 0;

		if (!p->null && (!end || (max ? order > 0 : order < 0)))
			end = p;
	}
	strcpy(expected, "NULL");
	if (end)
		print_value(t, end);
}

/* sum, avg of integers, decimals, and of floats with few digits. */
static void expect_sum(uint32_t c, bool avg)
{
	const struct sp__value_type *t = &schema.columns[c].type;
	sp__int128 sum = 0, scale = 1;
	uint64_t n = 0, nans = 0, plus = 0, minus = 0;

	for (uint32_t i = 0; i < n_chosen; i++) {
		const struct plain *p = &plain[c][chosen[i]];

		if (p->null)
			continue;
		n++;
		nans += p->number == NOT_A_NUMBER;
		plus += p->number == INFINITE;
		minus += p->number == -INFINITE;
		if (p->number < INFINITE && p->number > -INFINITE)
			sum += p->number;
	}
	for (unsigned k = 0; k < t->decimals; k++)
		scale *= 10;
	if (!n)
		strcpy(expected, "NULL");
	else if (nans || (plus && minus))
		strcpy(expected, "nan");
	else if (plus || minus)
		strcpy(expected, plus ? "inf" : "-inf");
	else if (t->kind == 'f')
		snprintf(expected, sizeof(expected), "%.17g",
			 (double)(sum / (UNITS / 8)) / 8 / (avg ? (double)n : 1));
	else
		print_quotient(sum * scale / UNITS, scale * (avg ? (sp__int128)n : 1),
			       t->decimals + (avg ? 6 : 0));
}

static void expect_count(int c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_chosen; i++)
		n += c < 0 || !plain[c][chosen[i]].null;
	snprintf(expected, sizeof(expected), "%u", n);
}

static unsigned wrong;

static void check(const struct sp__aggregates_state *s, uint32_t i, bool of_texts, bool is_real)
{
	struct sp__bytes text = { 0 };
	bool is_null, is_text_result, same;

	if (sp__aggregates_result(s, i, &text, &is_null, &is_text_result) ||
	    sp__bytes_append(&text, is_null ? "NULL" : "", is_null ? 5 : 1, NULL))
		abort();
	same = !strcmp(text.data, expected) && is_text_result == of_texts;
	if (is_real && !is_null && strtod(text.data, NULL) == strtod(expected, NULL))
		same = true;
	if (!same && !wrong++)
		diag("%s: '%s' instead of '%s'", sp__aggregates_name(s->aggregates, i), text.data,
		     expected);
	sp__bytes_release(&text, NULL);
}

static struct sp__aggregates_state *aggregate(const struct sp__aggregates *a)
{
	struct sp__rows rows = { 0, RECORDS, vectors };
	struct sp__aggregates_state *s[STATES];
	uint32_t part[RECORDS], to = 0;

	for (unsigned k = 0; k < STATES; k++)
		if (!(s[k] = sp__aggregates_state_new(a)))
			abort();
	for (uint32_t i = 0; i < n_chosen; i += to) { /* portions to random states */
		to = (uint32_t)(1 + below(n_chosen - i));
		memcpy(part, chosen + i, to * sizeof(*part));
		if (sp__aggregates_add(s[below(STATES)], &rows,
				       n_chosen == RECORDS && to == RECORDS ? NULL : part, to,
				       NULL))
			abort();
	}
	for (unsigned k = 1; k < STATES; k++) {
		if (sp__aggregates_merge(s[0], s[k], NULL))
			abort();
		sp__aggregates_state_free(s[k]);
	}
	return s[0];
}

static void choose(unsigned round)
{
	const uint64_t one_of = 1 + below(round % 5 ? 20 : 1000);

	n_chosen = 0;
	for (uint32_t i = 0; i < RECORDS; i++)
		if (round % 7 == 0 || !below(one_of))
			chosen[n_chosen++] = i;
}

/* All functions of one column; the order of the functions is random. */
static void check_column(uint32_t c)
{
	static const char *const functions[] = { "count", "min", "max", "sum", "avg" };
	const struct sp__value_type *t = &schema.columns[c].type;
	const unsigned n = strchr("iudf", t->kind) ? 5 : 3, first = (unsigned)below(n);
	struct sp__aggregates *a;
	struct sp__aggregates_state *s;
	char text[300];
	size_t length = (size_t)snprintf(text, sizeof(text), "COUNT( )");

	for (unsigned k = 0; k < n; k++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   k % 2 ? ", %s(\"c%u\")" : ",%s ( c%u )",
					   functions[(first + k) % n], c);
	if (sp__aggregates_parse(&a, text, &schema, NULL) || sp__aggregates_n(a) != n + 1)
		abort();
	s = aggregate(a);
	expect_count(-1);
	check(s, 0, false, false);
	for (unsigned k = 0; k < n; k++) {
		const char *f = functions[(first + k) % n];

		if (*f == 'c')
			expect_count((int)c);
		else if (*f == 'm')
			expect_end(c, f[1] == 'a');
		else
			expect_sum(c, *f == 'a');
		check(s, k + 1, *f == 'm' && is_text(t), *f != 'c' && t->kind == 'f');
	}
	sp__aggregates_state_free(s);
	sp__aggregates_free(a);
}

static void random_records(void)
{
	for (unsigned round = 0; round < 60 && !wrong; round++) {
		if (round % 4 == 0)
			make_records(round % 20 == 0 ? 100 : round % 3 * 20);
		choose(round);
		for (uint32_t c = 0; c < COLUMNS; c++)
			check_column(c);
	}
	ok(!wrong, "aggregates of random records are those of naive loops, in any division");
}

static bool refused(const char *text, const char *message)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__aggregates *a;
	int rc = sp__aggregates_parse(&a, text, &schema, &err);

	if (rc == SP_ESYNTAX && strstr(err.text, message))
		return true;
	diag("%s: %d %s", text, rc, err.text);
	sp__aggregates_free(a);
	return false;
}

static void messages(void)
{
	ok(refused("", "a function is expected: count, sum, avg, min or max") &&
		   refused("averge(c1)",
			   "there is no function 'averge'; the nearest name is 'avg'") &&
		   refused("sum(c99)", "the table has no column 'c99'; the nearest name is") &&
		   refused("sum()", "character 5 of 'sum()': a column is expected") &&
		   refused("avg(c16)",
			   "avg needs a column of numbers, but the type of 'c16' is text") &&
		   refused("sum(c10)", "the type of 'c10' is date") &&
		   refused("count", "character 6 of 'count': '(' is expected after a function") &&
		   refused("count(c1", "character 9 of 'count(c1': ')' is expected") &&
		   refused("count() sum(c1)", "',' is expected between functions") &&
		   refused("count(),", "a function is expected") &&
		   refused("min(\"c1)", "the double quote is not closed"),
	   "messages name the place, the function, the column and its type");
}

int main(void)
{
	rng = (struct sp__rng){ 11 };
	make_schema();
	make_records(10);
	messages();
	random_records();
	sp__schema_free(&schema);
	return done();
}
