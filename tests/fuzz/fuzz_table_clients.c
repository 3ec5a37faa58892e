/* SPDX-License-Identifier: MIT */
/*
 * The workload of clients: a line that is accepted has numbers in range, names columns of fixed
 * width, and draws records of its table.
 */
#include <stdlib.h>
#include <string.h>
#include "table/clients/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "client ", "think 1ms",	 "scan ",  "get ", "update ",
				       "insert ", "delete ",	 "index ", "t.",   "u.",
				       "a1",	  "\"b \"\"c\"", "*",	   "same", "uniform",
				       "nurand ", "zipf ",	 "last ",  "; ",   "7 ",
				       "#",	  NULL };

#define RECORDS 1000

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check_step(const struct sp__client_step *s, unsigned ntables)
{
	static uint64_t rows[SP__STEP_RECORDS_MAX];
	struct sp__rng rng = { 1 };
	size_t n;

	require(s->kind <= SP__STEP_DELETE && s->table < ntables && s->index_reads <= 16);
	require((s->kind <= SP__STEP_UPDATE) == (s->columns != NULL));
	require(s->kind == SP__STEP_SCAN || (s->records && s->records <= SP__STEP_RECORDS_MAX));
	require(s->rows.kind != SP__ROWS_LAST || s->rows.n <= RECORDS);
	if (s->kind == SP__STEP_SCAN || s->kind == SP__STEP_INSERT || s->rows.kind == SP__ROWS_SAME)
		return;
	n = sp__client_rows_draw(s, RECORDS, &rng, rows);
	require(n && n <= s->records && rows[n - 1] < RECORDS);
}

static void check(const struct sp__client_script *s, unsigned ntables)
{
	require(s->clients <= SP__CLIENTS_MAX);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->kinds[i].n; k++) {
			const struct sp__client_line *l = &s->kinds[i].lines[k];

			require(l->n && l->text && l->weight > 0);
			for (size_t j = 0; j < l->n; j++)
				check_step(&l->steps[j], ntables);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const names[] = { "a1", "b \"c" };
	const unsigned ntables = bytes % 2 + 1;
	struct sp__client_table_name tables[2];
	struct sp__schema schema = { 0 };
	struct sp__client_script s = { 0 };
	char *text = malloc(bytes + 1), *save = NULL;
	int rc = 0;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	for (unsigned i = 0; i < 2; i++) {
		require(!sp__schema_add(&schema, names[i], strlen(names[i]),
					&sp__value_types[SP__VALUE_I32]));
		tables[i] = (struct sp__client_table_name){ i ? "u" : "t", &schema, RECORDS };
	}
	for (char *line = strtok_r(text, "\n", &save); !rc && line;
	     line = strtok_r(NULL, "\n", &save))
		rc = sp__client_script_add(&s, line, tables, ntables, NULL);
	check(&s, ntables);
	sp__client_script_free(&s);
	sp__schema_free(&schema);
	free(text);
	return 0;
}
