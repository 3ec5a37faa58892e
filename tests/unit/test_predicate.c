/* SPDX-License-Identifier: MIT */
/*
 * Predicates: cases with known answers, errors, and random predicates against comparisons of one
 * value at a time; bounds exclude nothing that is selected.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "columns/predicate.h"
#include "tap.h"

#define ROWS 3000

static const char *const types[] = { "i8",   "u8",   "i32",	"u64",	"dec64(2)", "f64",    "f32",
				     "date", "time", "char(3)", "text", "dict8",    "dec8(1)" };
#define COLUMNS (sizeof(types) / sizeof(*types))

static struct sp__schema schema;
static uint8_t data[COLUMNS][ROWS * 8];
static char texts[ROWS * 8];
static struct sp__vector vectors[COLUMNS];
static struct sp__rng rng;

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

static struct sp__value_type *type_of(uint32_t c)
{
	return &schema.columns[c].type;
}

/* Makes the columns a to m, of these types. */
static void make_schema(void)
{
	for (uint32_t i = 0; i < COLUMNS; i++) {
		struct sp__value_type t;
		const char name = (char)('a' + i);

		if (sp__value_type_parse(&t, types[i], strlen(types[i])) ||
		    sp__schema_add(&schema, &name, 1, &t))
			abort();
	}
	for (uint32_t w = 0; w < 9; w++) {
		char word[4];
		uint32_t code;

		snprintf(word, sizeof(word), "w%u", w);
		if (sp__dictionary_add(&schema.columns[11].words, word, 2, 255, &code))
			abort();
	}
}

/* Stores a value that is written as text; NULL: NULL. */
static void set(uint32_t c, uint32_t row, const char *text)
{
	const struct sp__value_type *t = type_of(c);
	uint8_t *at = data[c] + (size_t)row * t->bytes;
	uint32_t end, code;

	if (t->kind == 't') {
		memcpy(&end, row ? at - 4 : (const uint8_t *)"\0\0\0", 4);
		memcpy(texts + end, text ? text : "\xff", text ? strlen(text) : 1);
		end += text ? (uint32_t)strlen(text) : 1;
		memcpy(at, &end, 4);
	} else if (t->kind == 'w') {
		code = text ? sp__dictionary_find(&schema.columns[c].words, text, strlen(text)) : 0;
		*at = (uint8_t)code;
	} else if (!text) {
		sp__value_set_null(t, at);
	} else if (sp__value_read(t, text, strlen(text), at) != SP__VALUE_OK) {
		diag("%s is not a value of %s", text, types[c]);
		abort();
	}
	vectors[c] = (struct sp__vector){ .data = data[c], .stride = t->bytes, .text = texts };
}

/* Selects from rows and returns the rows as text, "0 2 5", or the error. */
static const char *selected(const char *text, uint32_t n)
{
	static char result[2 * SP_ERRINFO_TEXT_MAX];
	static uint32_t rows[ROWS];
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__predicate_scratch *scratch;
	struct sp__chosen_rows chosen = { .at = rows, .err = &err };
	struct sp__predicate *w;
	int rc = sp__predicate_parse(&w, text, &schema, &err);

	snprintf(result, sizeof(result), "%s", rc ? err.text : "");
	if (rc)
		return result;
	scratch = sp__predicate_scratch_new(w);
	rc = sp__predicate_select(w, scratch, &(struct sp__rows){ 0, n, vectors }, &chosen);
	for (uint32_t i = 0; !rc && i < chosen.n && strlen(result) < 500; i++)
		snprintf(result + strlen(result), 12, i ? " %u" : "%u", rows[i]);
	if (rc)
		snprintf(result, sizeof(result), "%s", err.text);
	sp__predicate_scratch_free(scratch);
	sp__predicate_free(w);
	return result;
}

static const struct {
	const char *text, *rows;
} cases[] = {
	{ "a = 1", "1" },
	{ "a < 300", "0 1 3 4" },
	{ "a > -300", "0 1 3 4" },
	{ "a != 1", "0 3 4" },
	{ "not a = 1", "0 3 4" },
	{ "a = 1.5", "" },
	{ "a != 1.5", "0 1 3 4" },
	{ "a < 1.5 and a >= -0.5", "1" },
	{ "-4 < a < 4", "1 4" },
	{ "4 > a > -4", "1 4" },
	{ "a is null", "2" },
	{ "a is not null", "0 1 3 4" },
	{ "a is null or a is not null", "0 1 2 3 4" },
	{ "a = 1 or not a = 1", "0 1 3 4" },
	{ "not (a = 1 and b = 200)", "0 1 3 4" },
	{ "a in (1, 3, -5)", "0 1 4" },
	{ "a not in (1, 3.5)", "0 3 4" },
	{ "b >= 200", "0 4" },
	{ "b > -1", "0 1 3 4" },
	{ "d > 18446744073709551613", "4" },
	{ "d = 1e3", "1" },
	{ "e = 12.5", "0" },
	{ "e > 12.499 and e < 12.501", "0" },
	{ "e < 1e30", "0 1 3 4" },
	{ "e in (12.5, 0.01)", "0 3" },
	{ "f < 0.25", "1" },
	{ "f > 1e308", "3 4" },
	{ "f = nan", "4" },
	{ "f >= inf", "3 4" },
	{ "f < 1e999", "0 1" },
	{ "f >= -1e999", "0 1 3 4" },
	{ "f in (1e999, 0.25)", "0" },
	{ "g = 0.1", "0" },
	{ "h >= '2024-02-29'", "0 3" },
	{ "h < 2024-02-29", "1 4" },
	{ "'2020-01-01' <= h", "0 3" },
	{ "i > '2024-01-01 00:00:00'", "0" },
	{ "i > '2024-01-01'", "0" },
	{ "j = 'ab'", "0" },
	{ "j ^= 'a'", "0 1" },
	{ "j > 'ab'", "1 3 4" },
	{ "k = ''", "1" },
	{ "k = 'it''s'", "3" },
	{ "k ^= ''", "0 1 3 4" },
	{ "k < 'c'", "0 1" },
	{ "l = 'w1'", "1" },
	{ "l in ('w1', 'w3', 'none')", "1 3" },
	{ "l > 'w1'", "3 4" },
	{ "l != 'none'", "0 1 3 4" },
	{ "a = b", "" },
	{ "a < b", "0 1 4" },
	{ "a < e", "0 4" },
	{ "m = e", "1" },
	{ "f < e", "0 1" },
	{ "j < k", "0 3" },
	{ "\"a\" = 1 AND NOT \"b\" IS NULL", "1" },
	{ "a = --1", "1" },
	{ "a = - -1 and $2 = 5", "1" },
	{ "a = +1", "1" },
	{ "a between -5 and 3", "0 1 4" },
	{ "a not between -4.5 and 3", "0 3" },
	{ "d between 18446744073709551613 and 18446744073709551614", "4" },
	{ "d between 18446744073709551611 and 18446744073709551613", "" },
	{ "2 between a and b", "0 1" },
	{ "f between -inf and 1", "0 1" },
	{ "f not in (nan, inf)", "0 1" },
	{ "a in (b, 127)", "3" },
	{ "127 in (b, a)", "3" },
	{ "i > 2024-01-01T12:00:00", "0" },
	{ "i > 2024-01-01T12:00:00.5Z", "0" },
	{ "j like 'ab%'", "0 1" },
	{ "j like 'ab'", "0" },
	{ "j not like '_'", "0 1" },
	{ "k like '%''%'", "3" },
	{ "k like ''", "1" },
	{ "k like '%'", "0 1 3 4" },
	{ "l like '_3'", "3" },
	{ "l not like '%0'", "1 3 4" },
	{ "h like '2%-02-%'", "0" },
	{ "a like '1%'", "1 3" },
	{ "a ^= '12'", "3" },
	{ "h ^= '1999'", "1" },
	{ "'abc' ^= j", "0 1" },
	{ "'abcd' ^= k", "0 1" },
	{ "a + 1 = 2", "1" },
	{ "a = 1 + 0", "1" },
	{ "a * 2 between 1 and b", "1 4" },
	{ "-a > 0", "0" },
	{ "e * 10 = 125", "0" },
	{ "g < g * 2", "0 1 3" },
	{ "a in (2 - 1, 3)", "1 4" },
	{ "a + b is null", "2" },
	{ "upper(l) = 'W1'", "1" },
	{ "length(k) > 1", "0 3" },
	{ "length(k) = 0", "1" },
	{ "k || j = 'abc'", "1" },
	{ "k || j = 'abcab'", "0" },
	{ "trim(k) = ''", "1" },
	{ "substr(k, 5) = ''", "0 1 3 4" },
	{ "replace(k, 'c', '') = ''", "1 4" },
	{ "coalesce(k, 'none') = 'none'", "2" },
	{ "coalesce(k, 'none') = ''", "1" },
	{ "year(h) = 2024 and hour(i) = 12", "0" },
	{ "if(a > 100, b, d) = 100 or if(a < 0, 'x', j) = 'x'", "0 3 4" },
	{ "if(i = '1970-01-01 00:00:00', 1, 0) = 1", "3" },
	{ "date(i) = h", "0 1" },
	{ "number(substr(l, 2)) > 2", "3 4" },
	{ "a is not null and not number(substr(l, 2)) > 2", "0 1" },
	/* What does not matter is not calculated. */
	{ "k = 'none' and number(k) > 1", "" },
	{ "k != 'none' or number(k) > 1 or k is null", "0 1 2 3 4" },
	{ "a = 1 and not (a < 5 or not number(l) = 1)", "" },
};

static const char *const rows[5][COLUMNS] = {
	{ "-5", "200", "1", "0", "12.50", "0.25", "0.1", "2024-02-29", "2024-02-29 12:00:00", "ab",
	  "abc", "w0", "-1.5" },
	{ "1", "5", "2", "1000", "-3.10", "-1e9", "1", "1999-12-31", "1999-12-31 23:59:59", "abc",
	  "", "w1", "-3.1" },
	{ 0 },
	{ "127", "100", "-7", "3", "0.01", "inf", "2", "2038-01-19", "1970-01-01", "b", "it's",
	  "w3", "0.0" },
	{ "3", "254", "9", "18446744073709551614", "100.00", "nan", "-3", "0001-01-01",
	  "2000-01-01 00:00:00", "x", "c", "w8", "9.9" },
};

static void known(void)
{
	for (uint32_t r = 0; r < 5; r++)
		for (uint32_t c = 0; c < COLUMNS; c++)
			set(c, r, rows[r][c]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got = selected(cases[i].text, 5);

		if (!ok(!strcmp(got, cases[i].rows), "%s", cases[i].text))
			diag("%s, not %s", got, cases[i].rows);
	}
}

/* A predicate, and a part of its message. */
static const char *const errors[][2] = {
	{ "", "at the end" },
	{ "a", "a comparison is missing, such as x > 3, at 'a', character 1" },
	{ "a + 1", "a comparison is missing, such as x > 3, at 'a + 1', character 1" },
	{ "a =", "at the end" },
	{ "a = x", "no column 'x'" },
	{ "\"nothing\" = 1", "no column 'nothing'" },
	{ "a = 1 b = 2", "at 'b = 2', character 7" },
	{ "(a = 1", ") is missing" },
	{ "a = 1)", "at ')'" },
	{ "a = 'x", "a quote is not closed" },
	{ "a = 'x'", "'x', character 5, is not a number" },
	{ "a = 1x", "'1x', character 5, is not a number" },
	{ "1 = 2", "one side must be a column" },
	{ "h = '2024-02-30'", "is not a date" },
	{ "h = a", "cannot be compared" },
	{ "j = 5", "write texts in single quotes; numbers need a column of numbers" },
	{ "l in (5)", "'5', character 7, is compared with a column of texts" },
	{ "j ^= 1", "write texts in single quotes" },
	{ "1 between 2 and a", "one side must be a column" },
	{ "if(1 = 1, 2, 3) = 2", "a column is missing in the condition at 'if(1" },
	{ "$14 = 1", "there is no column $14: the table has 13" },
	{ "$0 = 1", "columns count from $1" },
	{ "k + 1 = 2", "column 'k' has the type text, and a number is needed: number() converts" },
	{ "-h > 5", "column 'h' has the type date, and a number is needed" },
	{ "abs(l) = 2", "column 'l' has the type dict8, and a number is needed" },
	{ "k = a + 1", "column 'k' has the type text, and a number is needed" },
	{ "a + 1 in (2, 'x')", "a number is expected instead of a text at ''x'" },
	{ "a in ('x', 1 + 1)", "a number is expected instead of a text at ''x'" },
	{ "a + 1 = inf", "nan and inf are compared only with columns at 'inf', character 9" },
	{ "a + 1x = 2", "a number is expected at '1x = 2', character 5" },
	{ "month(a) = 2", "a date is expected instead of a number at 'a) = 2'" },
	{ "if(i = h, 1, 2) = 1", "columns 'i' and 'h' cannot be compared here" },
	{ "if(i = '2024-01-01', 1, 2) = 1", "'2024-01-01', character 8, is not written as column" },
	{ "upper(a, b) = 'A'", "an argument too many" },
	{ "uper(j) = 'A'", "there is no function 'uper' (the nearest is 'upper') in expressions" },
	{ "number(k) = 1", "record 0: 'abc' is not a number" },
	{ "a = 1 and not (a > 5 or not number(l) = 1)", "record 1: 'w1' is not a number" },
	{ "month(l) = 1", "record 0: 'w0' is not a date" },
	{ "f + 1 > 0", "record 4: 'nan' is not a number" },
	{ "a in ()", "is missing" },
	{ "a in (1", "a comma or ) is missing" },
	{ "a in (1, x)", "no column 'x'" },
	{ "a is 1", "'null' is missing" },
	{ "a not 1", "'in', 'like' or 'between' is missing" },
	{ "a = 1 and", "at the end" },
	{ "a # 1", "'and', 'or' or the end is expected at '# 1', character 3" },
};

static void refused(void)
{
	char deep[1000];

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		const char *got = selected(errors[i][0], 5);

		if (!ok(strstr(got, errors[i][1]) != NULL, "error of: %s", errors[i][0]))
			diag("%s", got);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	ok(strstr(selected(deep, 5), "more than 100 levels") != NULL, "deep nesting is refused");
}

/* Writes a random value of a column as text.  Returns false: NULL. */
static bool draw(uint32_t c, char text[32])
{
	const char kind = type_of(c)->kind;
	const uint64_t v = below(below(2) ? 20 : 120);

	if (kind == 'D' || kind == 'T')
		snprintf(text, 32, "2024-01-%02u", (unsigned)(1 + v % 28));
	else if (kind == 'd')
		snprintf(text, 32, "%s%u.%u", below(2) ? "-" : "", (unsigned)v % 12,
			 (unsigned)v % 10);
	else if (kind == 'f')
		snprintf(text, 32, "%g", (double)v / 8 - 5);
	else if (kind == 'c' || kind == 't')
		snprintf(text, 32, "%c%c", (int)('a' + v % 3), (int)('a' + v / 3 % 3));
	else if (kind == 'w')
		snprintf(text, 32, "w%u", (unsigned)v % 9);
	else
		snprintf(text, 32, "%s%u", kind == 'i' && below(2) ? "-" : "", (unsigned)v);
	return below(8) != 0;
}

enum { NEITHER, TRUE, FALSE };

/* Compares one value with a literal. */
static int truth(uint32_t c, uint32_t row, const char *sign, const char *literal)
{
	const struct sp__value_type *t = type_of(c);
	const uint8_t *at = data[c] + (size_t)row * t->bytes;
	struct sp__slice text = { 0 };
	uint8_t v[8] = { 0 };
	int order;

	if (t->kind == 't' ? sp__text_null(sp__vector_text(&vectors[c], row).p, 1)
			   : sp__value_null(t, at))
		return NEITHER;
	if (t->kind == 't')
		text = sp__vector_text(&vectors[c], row);
	else if (t->kind == 'w')
		text = sp__dictionary_word(&schema.columns[c].words, *at);
	if (text.p) {
		order = memcmp(text.p, literal, 2); /* all have two bytes */
	} else {
		if (sp__value_read(t, literal, strlen(literal), v) != SP__VALUE_OK)
			abort();
		order = sp__value_compare(t, at, v);
	}
	if (sign[0] == '=')
		return order == 0 ? TRUE : FALSE;
	if (sign[0] == '!')
		return order != 0 ? TRUE : FALSE;
	if (sign[0] == '<')
		return order < 0 || (sign[1] && !order) ? TRUE : FALSE;
	return order > 0 || (sign[1] && !order) ? TRUE : FALSE;
}

/* Makes a random predicate, and its truth for each row. */
static void make(char *text, size_t capacity, uint8_t *truths, unsigned depth)
{
	static const char *const signs[] = { "=", "!=", "<", "<=", ">", ">=" };
	static uint8_t more[4][ROWS];
	char a[2000], b[2000], value[32];
	const uint64_t kind = depth ? below(4) : 0;
	uint32_t c = (uint32_t)below(COLUMNS - 1);
	const char *sign = signs[below(6)];

	if (kind == 0) {
		const char *quote = strchr("ctwDT", type_of(c)->kind) ? "'" : "";

		(void)draw(c, value);
		snprintf(text, capacity, "%c %s %s%s%s", (int)('a' + c), sign, quote, value, quote);
		for (uint32_t i = 0; i < ROWS; i++)
			truths[i] = (uint8_t)truth(c, i, sign, value);
		return;
	}
	make(a, sizeof(a), truths, depth - 1);
	if (kind == 1) {
		snprintf(text, capacity, "not (%.900s)", a);
		for (uint32_t i = 0; i < ROWS; i++)
			truths[i] = truths[i] == TRUE ? FALSE : truths[i] == FALSE ? TRUE : NEITHER;
		return;
	}
	make(b, sizeof(b), more[depth], depth - 1);
	snprintf(text, capacity, "(%.900s) %s (%.900s)", a, kind == 2 ? "and" : "or", b);
	for (uint32_t i = 0; i < ROWS; i++) {
		const uint8_t x = truths[i], y = more[depth][i], first = kind == 2 ? FALSE : TRUE;

		truths[i] = x == first || y == first ? first
			    : x == NEITHER || y == NEITHER
				    ? NEITHER
				    : (uint8_t)(first == TRUE ? FALSE : TRUE);
	}
}

/* Sets the bounds of the first n rows. */
static void bound(uint8_t bounds[COLUMNS][16], const uint8_t *all[COLUMNS], uint32_t n)
{
	for (uint32_t c = 0; c < COLUMNS; c++) {
		const struct sp__value_type *t = type_of(c);
		bool any = false;

		all[c] = NULL;
		if (!sp__column_type_bounded(t))
			continue;
		all[c] = bounds[c];
		memset(bounds[c], 0, 16);
		sp__value_set_null(t, bounds[c]);
		sp__value_set_null(t, bounds[c] + 8);
		for (uint32_t i = 0; i < n; i++) {
			const uint8_t *at = data[c] + (size_t)i * t->bytes;

			if (sp__value_null(t, at))
				continue;
			if (!any || sp__value_compare(t, at, bounds[c]) < 0)
				memcpy(bounds[c], at, t->bytes);
			if (!any || sp__value_compare(t, at, bounds[c] + 8) > 0)
				memcpy(bounds[c] + 8, at, t->bytes);
			any = true;
		}
	}
}

/* True if a predicate selects from the first n rows those for which it is true. */
static bool holds(const char *text, const uint8_t *truths, uint32_t n, unsigned *excluded)
{
	static uint32_t rows_found[ROWS];
	uint8_t bounds[COLUMNS][16];
	const uint8_t *all[COLUMNS];
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__predicate_scratch *scratch;
	struct sp__predicate *w;
	struct sp__chosen_rows chosen = { .at = rows_found, .err = &err };
	uint32_t k = 0;
	bool same = true;

	if (sp__predicate_parse(&w, text, &schema, &err)) {
		diag("%s: %s", text, err.text);
		return false;
	}
	scratch = sp__predicate_scratch_new(w);
	same = !sp__predicate_select(w, scratch, &(struct sp__rows){ 0, n, vectors }, &chosen);
	for (uint32_t i = 0; i < n; i++)
		if (truths[i] == TRUE)
			same &= k < chosen.n && rows_found[k++] == i;
	same &= k == chosen.n;
	bound(bounds, all, n);
	if (sp__predicate_excludes(w, all)) {
		++*excluded;
		same &= !chosen.n;
	}
	sp__predicate_scratch_free(scratch);
	sp__predicate_free(w);
	if (!same)
		diag("%s: %u rows", text, chosen.n);
	return same;
}

static void random_ones(void)
{
	static uint8_t truths[ROWS];
	char text[4000], value[32];
	unsigned excluded = 0, bad = 0;

	rng = (struct sp__rng){ 7 };
	for (uint32_t r = 0; r < ROWS; r++)
		for (uint32_t c = 0; c < COLUMNS; c++)
			set(c, r, draw(c, value) ? value : NULL);
	for (unsigned i = 0; i < 600; i++) {
		make(text, sizeof(text), truths, 1 + (unsigned)below(3));
		bad += !holds(text, truths, i % 3 ? 1 + (uint32_t)below(20) : ROWS, &excluded);
	}
	ok(!bad, "random predicates select as comparisons of one value");
	ok(excluded > 5, "bounds exclude some of them (%u)", excluded);
}

int main(void)
{
	make_schema();
	known();
	refused();
	random_ones();
	sp__schema_free(&schema);
	return done();
}
