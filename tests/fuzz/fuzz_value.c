/* SPDX-License-Identifier: MIT */
/*
 * Values of tables.  The first line of the input is a type, the rest a text.  A value that is read
 * is written as a canonical text of the same value; a wider type is printed and parsed again, and
 * reads the text if it is not one of texts.
 */
#include <stdlib.h>
#include <string.h>
#include "rec/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = {
	"i8",  "u64",	"dec64(18)",  "dec8(1)", "f32",
	"f64", "date",	"time(3)",    "char(4)", "dict8",
	"\n",  "1e308", "2024-02-29", ".",	 "18446744073709551615",
	"nan", "-0",	" 12:34:56",  "T",	 NULL
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check_wider(const struct sp__value_type *t, const char *text, size_t n)
{
	struct sp__value_type wide = sp__value_type_wider(t, text, n), again;
	char name[SP__VALUE_TYPE_TEXT];
	uint8_t *value;

	require(!sp__value_type_parse(&again, name, sp__value_type_print(&wide, name)));
	require(sp__value_type_same(&wide, &again));
	if (wide.kind == 't' || wide.kind == 'w')
		return;
	value = malloc(wide.bytes);
	require(value && sp__value_read(&wide, text, n, value) == SP__VALUE_OK);
	free(value);
}

static void check(const struct sp__value_type *t, const char *text, size_t n)
{
	size_t space = t->bytes > SP__VALUE_SPACE ? t->bytes : SP__VALUE_SPACE;
	uint8_t *value = malloc(t->bytes), *again = malloc(t->bytes);
	char *written = malloc(space);
	bool canonical = true;

	require(value && again && written);
	if (sp__value_take(t, text, n, value, &canonical)) {
		check_wider(t, text, n);
	} else {
		size_t length = sp__value_write(t, value, written);

		require(canonical == (length == n && !memcmp(written, text, n)));
		canonical = true;
		require(!sp__value_take(t, written, length, again, &canonical) && canonical);
		require(!sp__value_compare(t, value, again));
		require(sp__value_check(t, value) == SP__VALUE_OK);
	}
	free(value);
	free(again);
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *text = (const char *)data, *rest = bytes ? memchr(text, '\n', bytes) : NULL;
	struct sp__value_type t;
	char *copy;
	size_t n;

	if (!rest || sp__value_type_parse(&t, text, (size_t)(rest - text)) || t.kind == 't' ||
	    t.kind == 'w')
		return 0;
	/* a copy of exactly this size, so that a sanitizer finds reads behind it */
	n = bytes - (size_t)(rest + 1 - text);
	copy = malloc(n ? n : 1);
	require(copy != NULL);
	memcpy(copy, rest + 1, n);
	check(&t, copy, n);
	free(copy);
	return 0;
}
