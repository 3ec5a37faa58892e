/* SPDX-License-Identifier: MIT */
/*
 * A predicate and its negation are never true for the same
 * record.
 */
#include <stdlib.h>
#include <string.h>
#include "columns/predicate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "a",    "b",  "\"c\"", "d",   "e",    "f",	"g", "not ",
				       "and ", "or", "in (",  ")",   "is ",  "null",	"'", "^=",
				       "<=",   "!=", "1e3",   "inf", "1970", "-01-01'", NULL };

#define COLUMNS 7
#define RECORDS 50

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void make_schema(struct sp__schema *s)
{
	static const char *const types[COLUMNS] = { "i16",     "f64",  "dec32(2)", "text",
						    "char(3)", "date", "dict8" };
	struct sp__value_type t;
	uint32_t code;

	for (uint32_t i = 0; i < COLUMNS; i++)
		require(!sp__value_type_parse(&t, types[i], strlen(types[i])) &&
			!sp__schema_add(s, &"abcdefg"[i], 1, &t));
	require(!sp__dictionary_add(&s->columns[6].words, "word", 4, 9, &code));
}

/* Adds 1 to passed[] of each record for which the predicate is true. */
static void count(const struct sp__schema *s, const char *text, unsigned *passed, int *rc)
{
	static uint8_t values[COLUMNS][RECORDS * 8], row[COLUMNS * 16];
	static const uint8_t *const bounds[COLUMNS] = { row,	  row + 16, row + 32, NULL,
							row + 48, row + 64, NULL };
	struct sp__predicate_scratch *scratch;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__vector vectors[COLUMNS];
	struct sp__rows rows = { 0, RECORDS, vectors };
	uint32_t selected[RECORDS], n;
	struct sp__chosen_rows chosen = { .at = selected, .err = &err };
	struct sp__predicate *w;
	int selecting;

	for (uint32_t c = 0; c < COLUMNS; c++)
		vectors[c] = (struct sp__vector){ values[c], 8, "texts", 0 };
	for (uint32_t i = 0; i < RECORDS * 8; i++)
		values[0][i] = values[1][i] = values[2][i] = values[4][i] = (uint8_t)(i * 37);
	for (uint32_t i = 0; i < RECORDS; i++) {
		values[3][8 * i] = (uint8_t)(i / 10);
		values[6][8 * i] = (uint8_t)(i % 3); /* 2: a code without a word */
	}
	*rc = sp__predicate_parse(&w, text, s, &err);
	require(!*rc || (*rc == SP_ESYNTAX && err.text[0]));
	if (*rc)
		return;
	scratch = sp__predicate_scratch_new(w);
	require(scratch != NULL);
	selecting = sp__predicate_select(w, scratch, &rows, &chosen);
	require(!selecting || (selecting == SP_EFORMAT && err.text[0]));
	n = selecting ? 0 : chosen.n;
	sp__predicate_scratch_free(scratch);
	require(n <= RECORDS);
	for (uint32_t i = 0; i < n; i++)
		passed[selected[i]]++;
	(void)sp__predicate_excludes(w, bounds);
	sp__predicate_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp__schema s = { 0 };
	unsigned passed[RECORDS] = { 0 };
	char *text = malloc(bytes + 1), *negation = malloc(bytes + 7);
	int rc, negated;

	require(text && negation);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	make_schema(&s);
	count(&s, text, passed, &rc);
	if (!rc) {
		memcpy(negation, "not (", 5);
		memcpy(negation + 5, text, strlen(text));
		strcpy(negation + 5 + strlen(text), ")");
		count(&s, negation, passed, &negated);
		for (unsigned i = 0; i < RECORDS; i++)
			require(passed[i] < 2);
	}
	sp__schema_free(&s);
	free(text);
	free(negation);
	return 0;
}
