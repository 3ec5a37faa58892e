/* SPDX-License-Identifier: MIT */
/*
 * Records parsed by a chunk have the fields that a search record by record and field by field
 * finds, and a chunk stops at the first record with another number of fields, or another error.
 */
#include <stdlib.h>
#include <string.h>
#include "columns/textchunk.h"
#include "rec/key.h"
#include "rec/recfmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { ",",  "\n", "\"",  "\"\"", "\r\n", "1,a\n", "-2147483648",
				       "12", "7,", ",\"", "\",",  "\xFF", "0",	   NULL };

#define TEXT_MAX 4096

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* Returns the number of fields of a record; the second one is copied without its quotes. */
static uint32_t find_fields(const char *p, const char *end, bool csv, char *second, size_t *n)
{
	const char *stop;

	for (uint32_t fields = 1;; fields++, p = stop + 1) {
		const char *cut;

		stop = csv ? sp__csv_field_end(p, end, ',') : sp__find_byte(p, end, ',');
		cut = stop - (csv && stop == end && stop > p && stop[-1] == '\r');

		if (fields == 2 && csv)
			*n = (size_t)((char *)sp__csv_unquote(p, cut, (unsigned char *)second) -
				      second);
		else if (fields == 2)
			memcpy(second, p, *n = (size_t)(cut - p));
		if (stop == end)
			return fields;
	}
}

/* Compares the texts of the records that were parsed with those of the text. */
static void compare(const struct sp__textchunk *c, const char *text, const char *end, bool csv)
{
	const struct sp_recfmt f = { .kind = csv ? SP_REC_CSV : SP_REC_LINE,
				     .eol = '\n',
				     .separator = ',' };
	const struct sp__text_ref *refs = c->values[1].refs;
	char second[TEXT_MAX];
	size_t n = 0;

	for (uint32_t i = 0; i < c->records; i++) {
		const char *next = sp__rec_end(&f, text, (size_t)(end - text));

		require(next && find_fields(text, next - 1, csv, second, &n) == 2);
		if (refs[i].bytes == SP__TEXT_REF_NULL)
			require(!n);
		else
			require(refs[i].bytes == n &&
				!memcmp(c->values[1].base + refs[i].at, second, n));
		text = next;
	}
	for (uint32_t i = c->records; c->error.fault && i < c->error.record; i++)
		text = sp__rec_end(&f, text, (size_t)(end - text));
	if (!c->error.fault)
		require(text == end);
	else if (c->error.fault == SP__TEXTCHUNK_FIELDS)
		require(find_fields(text,
				    (const char *)sp__rec_end(&f, text, (size_t)(end - text)) - 1,
				    csv, second, &n) != 2);
}

/* Parses the whole records of a text. */
static void parse(const char *text, uint32_t bytes, bool csv)
{
	const struct sp__value_type types[] = { { 'i', 0, 4 }, { 't', 0, 4 } };
	struct sp__schema s = { .style.separator = ',' };
	struct sp__budget budget;
	struct sp__textchunk_opts o = { .schema = &s,
					.fields = { ',', csv, 2 },
					.max_records = bytes + 1,
					.text_bytes = bytes,
					.budget = &budget };
	struct sp__textchunk c;

	sp__budget_init(&budget, 1 << 20);
	require(!sp__schema_add(&s, "a", 1, &types[0]) && !sp__schema_add(&s, "b", 1, &types[1]) &&
		!sp__textchunk_open(&c, &o));
	memcpy(c.text, text, bytes);
	sp__textchunk_begin(&c, bytes);
	require(!sp__textchunk_parse(&c));
	if (c.error.fault != SP__TEXTCHUNK_VALUE)
		compare(&c, text, text + bytes, csv);
	sp__textchunk_close(&c);
	sp__schema_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct sp_recfmt csv = { .kind = SP_REC_CSV, .eol = '\n', .separator = ',' };
	static char text[TEXT_MAX];
	const char *end = text, *next;

	if (bytes > TEXT_MAX)
		return 0;
	memcpy(text, data, bytes);
	next = memrchr(text, '\n', bytes);
	if (next)
		parse(text, (uint32_t)(next + 1 - text), false);
	while ((next = sp__rec_end(&csv, end, (size_t)(text + bytes - end))))
		end = next;
	if (end > text)
		parse(text, (uint32_t)(end - text), true);
	return 0;
}
