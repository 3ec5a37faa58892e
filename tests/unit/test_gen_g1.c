/* SPDX-License-Identifier: MIT */
/*
 * The table G1: form and distributions of its columns, missing values, the text of v3.
 *
 * Chi-square is within 4 standard deviations of its mean.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gencase.h"
#include "tap.h"

#define ROWS 40000
#define GROUPS 20
#define COLUMNS 9
#define PERCENT 7
#define MAX_VALUES (ROWS / GROUPS) /* of id3 and id6 */

static const char header[] = "id1,id2,id3,id4,id5,id6,v1,v2,v3\n";
static const uint32_t values[COLUMNS] = { GROUPS,     GROUPS, MAX_VALUES, GROUPS, GROUPS,
					  MAX_VALUES, 5,      15,	  100 };

struct table {
	struct data data;
	/* Of each column: rows of each value from 1 on; [0]: rows without a value.  v3: its whole
	 * number, plus 1. */
	uint32_t count[COLUMNS][MAX_VALUES + 1];
	uint32_t both[GROUPS * GROUPS]; /* rows of each pair of id1 and id5 */
	uint32_t bad;			/* fields of another form */
	uint32_t pairs;			/* rows with neither v1 nor v2 */
};

/* Writes the text of v3 by other means: the fewest digits, an exponent only if it is shorter. */
static void text_of(char *text, size_t bytes, long millionths)
{
	double value = (double)millionths / 1e6;
	int digits = 0;
	char exponent[32];

	snprintf(text, bytes, "%.6f", value);
	while (text[strlen(text) - 1] == '0')
		text[strlen(text) - 1] = '\0';
	if (text[strlen(text) - 1] == '.')
		text[strlen(text) - 1] = '\0';
	do
		snprintf(exponent, sizeof(exponent), "%.*e", digits++, value);
	while (fabs(strtod(exponent, NULL) - value) > 1e-9);
	if (millionths && strlen(exponent) < strlen(text))
		snprintf(text, bytes, "%s", exponent);
}

static bool form_of(const char *field, int column, uint32_t value)
{
	char text[32];

	if (column == COLUMNS - 1)
		text_of(text, sizeof(text), lround(strtod(field, NULL) * 1e6));
	else
		snprintf(text, sizeof(text), "%s%0*u", column < 3 ? "id" : "",
			 column > 2    ? 1
			 : column == 2 ? 10
				       : 3,
			 value);
	return !strcmp(field, text);
}

static uint32_t number(const char *field, int column)
{
	if (!*field)
		return 0;
	if (column == COLUMNS - 1)
		return (uint32_t)strtod(field, NULL) + 1;
	return (uint32_t)strtoul(field + (column < 3 ? 2 : 0), NULL, 10);
}

static void count_row(struct table *t, char *line)
{
	uint32_t row[COLUMNS];

	for (int i = 0; i < COLUMNS; i++) {
		char *field = strsep(&line, ",");

		row[i] = field ? number(field, i) : 0;
		if (!field || row[i] > values[i] || (*field && !form_of(field, i, row[i])))
			t->bad++;
		else
			t->count[i][row[i]]++;
	}
	t->bad += line != NULL;
	if (row[0] && row[4])
		t->both[(row[0] - 1) * GROUPS + row[4] - 1]++;
	t->pairs += !row[6] && !row[7];
}

static struct table *table(uint32_t missing)
{
	struct table *t = calloc(1, sizeof(*t));
	struct sp_gen_opts o = of(SP_GEN_G1);
	char *rest, *line;

	o.records = ROWS;
	o.groups = GROUPS;
	o.missing = missing;
	if (!t)
		abort();
	t->data = generate(o);
	t->data.bytes[t->data.n - 1] = '\0';
	rest = t->data.bytes + sizeof(header) - 1;
	t->bad = memcmp(t->data.bytes, header, sizeof(header) - 1) != 0;
	while ((line = strsep(&rest, "\n")))
		count_row(t, line);
	return t;
}

static void release(struct table *t)
{
	free(t->data.bytes);
	free(t);
}

/* Chi-square of equal shares. */
static bool even(const uint32_t *count, size_t classes)
{
	double total = 0, chi = 0, expected, free_classes = (double)classes - 1;

	for (size_t i = 0; i < classes; i++)
		total += count[i];
	expected = total / (double)classes;
	for (size_t i = 0; i < classes; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	diag("chi-square %g, expected %g", chi, free_classes);
	return fabs(chi - free_classes) <= 4 * sqrt(2 * free_classes);
}

static void complete(void)
{
	struct table *t = table(0);
	uint32_t gaps = 0;

	ok(t->data.records == ROWS && !t->bad, "a header and all rows, in the form of the columns");
	for (int i = 0; i < COLUMNS; i++) {
		gaps += t->count[i][0];
		ok(even(t->count[i] + 1, values[i]), "column %d is uniform from 1 to %u", i + 1,
		   values[i]);
	}
	ok(even(t->both, (size_t)GROUPS * GROUPS), "id1 and id5 are independent");
	ok(!gaps, "no value is missing");
	release(t);
}

static void incomplete(void)
{
	struct table *t = table(PERCENT), *all = table(0);
	double pairs = ROWS * PERCENT * PERCENT / 1e4;

	ok(t->data.records == ROWS && !t->bad, "with missing values: the same form");
	for (int i = 0; i < 6; i++) {
		uint32_t absent = 0, others = 0;

		for (uint32_t v = 1; v <= values[i]; v++) {
			absent += !t->count[i][v];
			others += t->count[i][v] && t->count[i][v] != all->count[i][v];
		}
		ok(absent == values[i] * PERCENT / 100 && !others,
		   "id%d: %u values are missing in all rows, the others in none", i + 1, absent);
	}
	for (int i = 6; i < COLUMNS; i++)
		ok(t->count[i][0] == ROWS * PERCENT / 100, "v%d: a share of the rows", i - 5);
	diag("%u rows without v1 and v2, expected %g", t->pairs, pairs);
	ok(fabs(t->pairs - pairs) <= 4 * sqrt(pairs), "v1 and v2 lose their values independently");
	release(all);
	release(t);
}

/* Row 198 of seed 475 has "5e-04", row 66 of seed 356 "1.1e-05", row 378 of seed 2636 "2e-05". */
static void exponents(void)
{
	static const struct {
		uint64_t seed;
		const char *end;
	} cases[] = { { 475, ",5e-04\n" }, { 356, ",1.1e-05\n" }, { 2636, ",2e-05\n" }, { 0, "" } };

	for (int i = 0; cases[i].seed; i++) {
		struct sp_gen_opts o = of(SP_GEN_G1);
		struct data d;

		o.seed = cases[i].seed;
		o.records = 2000;
		d = generate(o);
		d.bytes[d.n - 1] = '\0';
		ok(strstr(d.bytes, cases[i].end) != NULL, "v3 of few millionths: %.*s",
		   (int)strlen(cases[i].end) - 2, cases[i].end + 1);
		free(d.bytes);
	}
}

static bool refused(uint64_t records, uint64_t groups, uint32_t missing)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_gen_opts o = of(SP_GEN_G1);
	struct sp_gen *g = NULL;
	int rc;

	o.records = records;
	o.groups = groups;
	o.missing = missing;
	rc = sp_gen_new(&g, &o, &err);
	sp_gen_free(g);
	return rc == -EINVAL && err.text[0];
}

static void limits(void)
{
	const uint64_t max = INT32_MAX;

	ok(refused(100, 0, 0) && refused(100, 101, 0) && !refused(100, 100, 0),
	   "groups are from 1 to the rows");
	ok(refused(max + 1, max + 1, 0) && refused(max + 1, 1, 0) && !refused(max * max, max, 99),
	   "columns have at most 2147483647 values");
	ok(refused(100, 1, 100), "at most 99 percent are missing");
}

int main(void)
{
	complete();
	incomplete();
	exponents();
	limits();
	return done();
}
