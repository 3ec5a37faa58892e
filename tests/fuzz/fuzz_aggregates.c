/* SPDX-License-Identifier: MIT */
/* Lists of aggregates: what is accepted has results, of no records and of one. */
#include <stdlib.h>
#include <string.h>
#include "columns/aggregates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "count(", "sum(", "avg(", "min(", "max(", ")",
				       ",",	 "\"",	 "a",	 "b",	 " c",	 NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check_results(const struct sp__aggregates *a)
{
	static const uint8_t values[8] = { 1 };
	static const struct sp__vector vectors[3] = { { values, 8, NULL, 0 },
						      { values, 8, NULL, 0 },
						      { values, 8, "t", 0 } };
	const struct sp__rows rows = { 0, 1, vectors };
	struct sp__aggregates_state *s = sp__aggregates_state_new(a);
	struct sp__bytes text = { 0 };
	bool is_null, is_text;

	require(s && sp__aggregates_n(a));
	for (unsigned records = 0; records < 2; records++) {
		for (uint32_t i = 0; i < sp__aggregates_n(a); i++) {
			text.bytes = 0;
			require(!sp__aggregates_result(s, i, &text, &is_null, &is_text));
			require(is_null == !text.bytes && strlen(sp__aggregates_name(a, i)) > 4);
			require(!is_null || !records);
		}
		require(!sp__aggregates_add(s, &rows, NULL, 1, NULL));
	}
	sp__bytes_release(&text, NULL);
	sp__aggregates_state_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const types[] = { "dec64(2)", "f64", "text" };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s = { 0 };
	struct sp__aggregates *a;
	struct sp__value_type t;
	char *text = malloc(bytes + 1);

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	for (unsigned i = 0; i < 3; i++)
		require(!sp__value_type_parse(&t, types[i], strlen(types[i])) &&
			!sp__schema_add(&s, &"abc"[i], 1, &t));
	if (!sp__aggregates_parse(&a, text, &s, &err))
		check_results(a);
	else
		require(err.code == SP_ESYNTAX && err.text[0] && !a);
	sp__aggregates_free(a);
	sp__schema_free(&s);
	free(text);
	return 0;
}
