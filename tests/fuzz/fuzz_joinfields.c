/* SPDX-License-Identifier: MIT */
/*
 * Lines cut into fields: cutting all and finding one agree, fields lie in their
 * line, and with separators between them they are the line again.  The first
 * byte of the input chooses how lines are cut.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "rec/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void find_agrees(const struct sp__cut *cut, const char *line, size_t n,
			const struct sp__fields *f)
{
	struct sp__slice one;

	for (size_t k = 0; k < f->n && k < 100; k++) {
		require(sp__field_find(cut, line, n, k, &one));
		require(one.p == f->at[k].p && one.n == f->at[k].n);
	}
	require(!sp__field_find(cut, line, n, f->n, &one) && one.p == sp__no_field && !one.n);
}

static void lies_within(const struct sp__cut *cut, const char *line, size_t n,
			const struct sp__fields *f)
{
	const char *at = line;

	for (size_t k = 0; k < f->n; k++) {
		require(f->at[k].p >= at && f->at[k].p + f->at[k].n <= line + n);
		if (cut->kind != SP__CUT_BLANKS && k) {
			require(f->at[k].p == at + cut->sep_bytes);
			require(!memcmp(at, cut->sep, cut->sep_bytes));
		}
		at = f->at[k].p + f->at[k].n;
	}
	require(cut->kind == SP__CUT_BLANKS || !f->n || at == line + sp__line_trim(cut, line, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const separators[] = { ",", NULL, "\n", "\303\227", "ab", "," };
	struct sp__fields f = { 0 };
	struct sp__cut cut;
	unsigned kind;
	char *line;
	size_t n;

	if (!bytes)
		return 0;
	kind = data[0] % 6;
	n = bytes - 1;
	sp__cut_init(&cut, separators[kind], separators[kind] ? strlen(separators[kind]) : 0,
		     kind == 5);
	/* In memory of its own, so that a sanitizer sees its ends. */
	line = malloc(n + !n);
	require(line != NULL);
	memcpy(line, data + 1, n);
	require(sp__fields_split(&cut, line, n, &f) == 0);
	require(n || !f.n);
	lies_within(&cut, line, n, &f);
	find_agrees(&cut, line, n, &f);
	free(f.at);
	free(line);
	return 0;
}
