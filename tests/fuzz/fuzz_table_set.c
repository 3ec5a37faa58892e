/* SPDX-License-Identifier: MIT */
/*
 * The lists of columns and literals of an update: whatever the text, each value that is taken is
 * one of its column's type.
 */
#include <stdlib.h>
#include <string.h>
#include "table/change/newvalues.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const char *const types[] = { "i8", "dec16(2)", "char(3)", "text", "dict8", "time(3)" };
#define N (sizeof(types) / sizeof(*types))

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void check(const struct sp__new_values *v, const struct sp__tablefile *f)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct sp__column *c = &f->schema.columns[v->columns[i].column];
		const uint8_t *value = v->row + v->columns[i].at;
		struct sp__new_text t;
		bool null = !v->texts[i];

		if (c->type.kind == 't') {
			memcpy(&t, value, sizeof(t));
			require(t.bytes <= v->max_text && sp__text_null(t.text, t.bytes) == null);
			require(null || (t.bytes == strlen(v->texts[i]) &&
					 !memcmp(t.text, v->texts[i], t.bytes)));
		} else if (c->type.kind == 'w') {
			require(null ? !value[0] : value[0] <= c->words.n && value[0]);
		} else {
			require(sp__value_null(&c->type, value) == null);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp__tablefile f = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__new_values v = { 0 };
	char *text = calloc(bytes + 1, 1), name[] = "a";
	const char *set;
	int rc;

	require(text);
	memcpy(text, data, bytes);
	set = text;
	for (uint32_t i = 0; i < N; i++, name[0]++) {
		struct sp__value_type type;

		require(!sp__value_type_parse(&type, types[i], strlen(types[i])));
		require(!sp__schema_add(&f.schema, name, 1, &type));
	}
	rc = sp__new_values_parse(&v, &f, &set, 1, &err);
	require(rc ? err.code != 0 : v.n > 0);
	if (!rc)
		check(&v, &f);
	sp__new_values_free(&v);
	sp__schema_free(&f.schema);
	free(text);
	return 0;
}
