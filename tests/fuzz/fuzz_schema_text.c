/* SPDX-License-Identifier: MIT */
/*
 * Names and types of columns: what is accepted in either form is printed as lines that are
 * accepted, and printed in the same way.
 */
#include <stdlib.h>
#include <string.h>
#include "columns/schema_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "i8", ":", ",",	"\"",	"\n",	 " not null", "dec(",
				       ")",  "#", "18", "text", "dict8", "char(",     NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check_printed(const struct sp__schema *s)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes once = { 0 }, twice = { 0 };
	struct sp__schema back = { 0 };

	require(!sp__schema_lines_print(s, &once));
	require(!sp__schema_lines_parse(&back, once.data ? once.data : "", once.bytes, "", &err));
	require(back.n == s->n && !sp__schema_lines_print(&back, &twice));
	require(once.bytes == twice.bytes &&
		(!once.bytes || !memcmp(once.data, twice.data, once.bytes)));
	sp__bytes_release(&once, NULL);
	sp__bytes_release(&twice, NULL);
	sp__schema_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s = { 0 };
	char *text = malloc(bytes + 1);

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (!sp__schema_lines_parse(&s, text, bytes, "", &err))
		check_printed(&s);
	else
		require(err.code == SP_ESYNTAX && err.text[0]);
	sp__schema_free(&s);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (!sp__schema_list_parse(&s, text, &err))
		check_printed(&s);
	else
		require(err.code == SP_ESYNTAX && err.text[0]);
	sp__schema_free(&s);
	free(text);
	return 0;
}
