/* SPDX-License-Identifier: MIT */
/*
 * Keys, aggregates, conditions and orders of groups: what is accepted groups four records.  The
 * lines are a key, the aggregates, an order, a condition of records, and a condition of rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "group/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "count(",     "sum(",
				       "p99.9(",     "median(",
				       "~p1(",	     "hist(",
				       " to 9 by 3", "~median(",
				       "list(",	     "corr(",
				       "mode(",	     "first(",
				       "var(",	     ")",
				       ",",	     " as ",
				       "\"",	     "price",
				       "day",	     ":nr",
				       "2",	     "\n",
				       "key",	     "first\n",
				       "price * 2",  "substr(day, 1, 7)",
				       "if(",	     "$3",
				       " > 1",	     " as x:r",
				       "is null",    NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void group_records(const struct sp__group_spec *s)
{
	static const char records[] = "a,1.5,\"x, y\",1e300\n\n,,,\nb,2\n";
	struct sp__group_input in = { .spec = s,
				      .format = { .kind = SP_REC_CSV, .separator = ',' },
				      .skip_invalid = true };
	struct sp_batch from = { records, sizeof(records) - 1 }, partial;
	struct sp__group_worker w;
	uint64_t bytes = 0;
	int rc;

	sp__cut_init(&in.cut, ",", 1, true);
	require(!sp__group_worker_open(&w, &in, SP__GROUP_TABLE_MIN));
	while (from.bytes) {
		require(!sp__group_worker_take(&w, &from, 0, &partial));
		bytes += partial.bytes;
	}
	while ((rc = sp__group_worker_rest(&w, &partial)) == SP_READY)
		bytes += partial.bytes;
	require(rc == SP_END && w.records == 4 && (bytes || w.skipped + w.filtered == 4));
	sp__group_worker_close(&w);
}

static char *next_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	*rest = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char columns[4][8] = { "name", "price", "day", "a, b" };
	char *list[] = { columns[0], columns[1], columns[2], columns[3] };
	const struct sp__column_names names = { .names = list, .n = 4 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__group_words words = { .first_positions = true };
	struct sp__expr *having = NULL;
	struct sp__group_order order;
	struct sp__group_spec s;
	char *text = malloc(bytes + 1), *rest = text;
	const char *key, *how, *rows;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	key = next_line(&rest);
	words.keys = &key;
	words.nkeys = *key != 0;
	words.aggregates = next_line(&rest);
	how = next_line(&rest);
	words.where = next_line(&rest);
	words.where = *words.where ? words.where : NULL;
	rows = next_line(&rest);
	rc = sp__group_spec_parse(&s, &words, &names, &err);
	if (!rc) {
		group_records(&s);
		rc = sp__group_order_parse(&order, how, &s, &err);
	}
	if (!rc && *rows)
		rc = sp__group_having_parse(&having, rows, &s, &err);
	require(!rc || (rc == -EINVAL && err.code == -EINVAL && err.text[0]));
	sp__expr_free(having);
	sp__group_spec_free(&s);
	free(text);
	return 0;
}
