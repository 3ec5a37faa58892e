/* SPDX-License-Identifier: MIT */
/*
 * Queries of a table's workload: a query that is accepted has counts and shares in range, and its
 * text gives the same query again.
 */
#include <stdlib.h>
#include <string.h>
#include "columns/schema_text.h"
#include "table/cost/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "scan ",	  "get ", "update ",	 "append ",
				       " where ", "a1,",  "\"b \"\"c\"", "*",
				       "1%",	  "7 ",	  "#",		 NULL };

#define COLUMNS 3

static void require(bool cond)
{
	if (!cond)
		abort();
}

static bool same_set(const bool *a, const bool *b)
{
	return !a || !b ? a == b : !memcmp(a, b, COLUMNS * sizeof(*a));
}

static void check(const struct sp__table_query *q, const struct sp__table_query *again)
{
	require(q->kind <= SP__QUERY_APPEND && q->weight > 0 && q->weight < 1e100);
	require(q->share >= 0 && q->share <= 1 && q->records <= SP__WORKLOAD_RECORDS_MAX);
	require(q->kind == SP__QUERY_SCAN || q->records > 0);
	require((q->kind == SP__QUERY_APPEND) == !q->columns);
	require(again->kind == q->kind && again->records == q->records);
	require(same_set(q->columns, again->columns) && same_set(q->where, again->where));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const names[COLUMNS] = { "a1", "b \"c", "d" };
	struct sp__schema schema = { 0 };
	struct sp__table_workload w = { 0 };
	char *text = malloc(bytes + 1);

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	for (unsigned i = 0; i < COLUMNS; i++)
		require(!sp__schema_add(&schema, names[i], strlen(names[i]),
					&sp__value_types[SP__VALUE_I32]));
	if (!sp__table_workload_add(&w, text, &schema, NULL)) {
		require(!sp__table_workload_add(&w, w.queries[0].text, &schema, NULL));
		check(&w.queries[0], &w.queries[1]);
	}
	sp__table_workload_free(&w);
	sp__schema_free(&schema);
	free(text);
	return 0;
}
