/* SPDX-License-Identifier: MIT */
/*
 * Expressions: what is accepted has a value, or a bad one, for five records.  The first line is the
 * expression, the second one the last record, with '|' between its fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "expr/expr.h"

#define COLUMNS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = {
	"a",	    "b",	"$3",	  "sum(x)",    " and ",	   " or ",    "not ",  " = ",
	" < ",	    "^=",	" like ", " in (",     " is null", "between", "if(",   "substr(",
	"replace(", "round(",	"floor(", "coalesce(", "length(",  "month(",  "hour(", "second(",
	"date(",    "upper(",	"trim(",  "number(",   "abs(",	   "||",      " % ",   " / ",
	")",	    ",",	"'a%_'",  "'\\'",      "-",	   "1e300",   "0.5",   "2024-05-31",
	"\xc3\xa9", "\xf0\x9f", "\n",	  "|",	       NULL
};

static const char *const records[] = {
	"|||",
	"1|2.50|x|2024-05-31",
	"-0.000000001|1e300|\xc3\xa9\xff%_\\|2024-05-31T12:30:59.25+02:00",
	"999999999999999999|inf|NA|1969-12-31 23:59",
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* Is a function of sp__expr_names. */
static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	*column = name ? (uint32_t)(unsigned char)(*name - 'a') : (uint32_t)sp__min(number - 1, 99);
	if (name && bytes == 6 && !memcmp(name, "sum(x)", bytes))
		*column = 3;
	else if (name && bytes != 1)
		*column = COLUMNS;
	return *column < COLUMNS ? 0 : sp__invalid(arg, NULL, "there is no such column");
}

static bool is_name(void *arg, const char *text, size_t bytes)
{
	(void)arg;
	return bytes == 6 && !memcmp(text, "sum(x)", bytes);
}

/* Gives each field memory of just its length, so that a sanitizer sees a read beyond it. */
static void split(const char *record, struct sp__slice *columns, char **memory)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		const size_t n = strcspn(record, "|");

		memory[i] = malloc(n + !n);
		require(memory[i]);
		memcpy(memory[i], record, n);
		columns[i] = (struct sp__slice){ memory[i], n };
		record += n + (record[n] == '|');
	}
}

static void evaluate(const struct sp__expr *e, struct sp__expr_scratch *s, const char *text)
{
	struct sp__slice columns[COLUMNS], result;
	const struct sp__expr_record r = { columns, "NA", 2 };
	struct sp__expr_bad bad = { 0 };
	char *memory[COLUMNS];
	bool chosen;
	int rc;

	split(text, columns, memory);
	rc = sp__expr_text(e, s, &r, &result, &bad);
	require(!rc || (rc == SP_EFORMAT && bad.wanted && bad.text.n));
	/* Each byte is there. */
	for (size_t i = 0; !rc && i < result.n; i++)
		require(result.p[i] == *(const volatile char *)(result.p + i));
	require(!result.n || result.p);
	if (sp__expr_is_truth(e)) {
		require(rc == sp__expr_choose(e, s, &r, &chosen, &bad));
		require(rc || chosen == (result.n == strlen("true")));
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		free(memory[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp__expr_names names = { .find = find, .is_name = is_name, .arg = &err };
	char *text = malloc(bytes + 1), *record;
	struct sp__expr_scratch *s;
	struct sp__expr *e;
	const char *at = text;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	record = strchr(text, '\n');
	if (record)
		*record++ = '\0';
	rc = sp__expr_parse(&e, &at, &names, &err);
	require(!rc || (rc == -EINVAL && err.code == -EINVAL && err.text[0] && !e));
	require(at >= text && at <= text + strlen(text));
	if (!rc) {
		s = sp__expr_scratch_new(e);
		require(s);
		for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
			evaluate(e, s, records[i]);
		if (record)
			evaluate(e, s, record);
		sp__expr_scratch_free(s);
	}
	sp__expr_free(e);
	free(text);
	return 0;
}
