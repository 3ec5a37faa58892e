/* SPDX-License-Identifier: MIT */
/*
 * Finds, adds and checks columns.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/edits.h"
#include "table/schema/schema.h"

void sp__table_schema_free(struct sp__table_schema *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->columns[i].name);
		sp__dictionary_free(&s->columns[i].words);
		free(s->columns[i].arrow);
	}
	free(s->columns);
	free(s->style.null_text);
	*s = (struct sp__table_schema){ 0 };
}

int sp__table_schema_add(struct sp__table_schema *s, const char *name, size_t n,
			 const struct sp__value_type *type)
{
	char *copy;

	if (s->n == SP__COLUMNS_MAX || n > SP__COLUMN_NAME_MAX)
		return -E2BIG;
	copy = strndup(name, n);
	if (!copy || !SP__ARRAY_GROW_BY_ONE(s->columns, s->n)) {
		free(copy);
		return -ENOMEM;
	}
	s->columns[s->n++] = (struct sp__table_column){ .name = copy, .type = *type };
	return 0;
}

int sp__table_schema_find(const struct sp__table_schema *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strlen(s->columns[i].name) == n && !memcmp(s->columns[i].name, name, n))
			return (int)i;
	return -1;
}

const char *sp__table_schema_nearest(const struct sp__table_schema *s, const char *name, size_t n)
{
	const char *nearest = NULL;
	unsigned fewest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const char *other = s->columns[i].name;
		unsigned edits = sp__edits(name, n, other, strlen(other));

		if (!nearest || edits < fewest) {
			nearest = other;
			fewest = edits;
		}
	}
	return nearest;
}

/* Names of columns, sorted; of equal names the number of the column decides. */
static int by_name(const void *a, const void *b)
{
	const struct sp__table_column *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x > *y) - (*x < *y);
}

int sp__table_schema_repeated(const struct sp__table_schema *s)
{
	const struct sp__table_column *sorted[SP__COLUMNS_MAX], *first = NULL;

	for (uint32_t i = 0; i < s->n; i++)
		sorted[i] = &s->columns[i];
	qsort(sorted, s->n, sizeof(*sorted), by_name);
	for (uint32_t i = 1; i < s->n; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name) && (!first || sorted[i] < first))
			first = sorted[i];
	return first ? (int)(first - s->columns) : -1;
}

static bool is_word(uint32_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

bool sp__table_type_possible(const struct sp__value_type *type)
{
	if (type->decimals > (type->kind == 'd' ? SP__DEC_PLACES : type->kind == 'T' ? 6 : 0))
		return false;
	switch (type->kind) {
	case 'i':
	case 'u':
	case 'd':
		return is_word(type->bytes);
	case 'f':
		return type->bytes == 4 || type->bytes == 8;
	case 'D':
	case 't':
		return type->bytes == 4;
	case 'T':
		return type->bytes == 8;
	case 'c':
		return type->bytes > 0 && type->bytes <= SP__CHAR_MAX;
	case 'w':
		return type->bytes == 1 || type->bytes == 2;
	default:
		return false;
	}
}

bool sp__table_type_bounded(const struct sp__value_type *type)
{
	return type->kind != 't' && type->kind != 'w' && type->bytes <= 8;
}

double sp__table_column_printed_bytes(const struct sp__table_column *c)
{
	const struct sp__value_type *type = &c->type;

	switch (type->kind) {
	case 'f':
		return type->bytes == 8 ? 19 : 10;
	case 'D':
		return 11;
	case 'T':
		return 20 + type->decimals;
	case 'c':
		return type->bytes + 1;
	case 't':
		return 1;
	case 'w':
		return c->words.n ? 1 + sp__dictionary_bytes(&c->words) / (double)c->words.n : 8;
	default: /* two digits for each byte */
		return 2 * type->bytes + 2;
	}
}

double sp__table_printed_bytes(const struct sp__table_schema *s, const bool *columns)
{
	double bytes = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (columns[i])
			bytes += sp__table_column_printed_bytes(&s->columns[i]);
	return bytes;
}
