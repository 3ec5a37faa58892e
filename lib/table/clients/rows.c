/* SPDX-License-Identifier: MIT */
/* Draws records, and makes values (rows.h). */
#include <stdio.h>
#include "base/minmax.h"
#include "table/clients/rows.h"

static uint64_t draw(const struct sp__client_rows *r, uint64_t records, struct sp__rng *rng)
{
	switch (r->kind) {
	case SP__ROWS_NURAND: /* TPC-C, clause 2.1.6, with C = 0 */
		return (sp__rng_below(rng, r->n + 1) | sp__rng_below(rng, records)) % records;
	case SP__ROWS_ZIPF:
		return sp__ranks_next(&r->ranks, rng);
	case SP__ROWS_LAST:
		return records - 1 - sp__rng_below(rng, sp__min(r->n, records));
	default:
		return sp__rng_below(rng, records);
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return SP__ORDER(*x, *y);
}

size_t sp__client_rows_draw(const struct sp__client_step *step, uint64_t records,
			    struct sp__rng *rng, uint64_t *rows)
{
	size_t n = 0;

	for (uint64_t i = 0; i < step->records; i++)
		rows[i] = draw(&step->rows, records, rng);
	qsort(rows, step->records, sizeof(*rows), by_number);
	for (uint64_t i = 0; i < step->records; i++)
		if (!n || rows[n - 1] != rows[i])
			rows[n++] = rows[i];
	return n;
}

/* Writes the low bytes of a number, little-endian. */
static void put(uint8_t *value, uint64_t number, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		value[i] = (uint8_t)(number >> 8 * i);
}

/* NULL is the least signed or the greatest unsigned integer, so numbers stay below 2^(bits-1). */
static uint64_t fit(uint64_t number, uint32_t bytes)
{
	return number % ((UINT64_C(1) << (8 * bytes - 1)) - 1);
}

void sp__client_value(const struct sp__table_column *column, uint64_t number, uint8_t *value)
{
	const struct sp__value_type *t = &column->type;
	const double real = (double)(number % (1u << 24));
	const float narrow = (float)real;
	char text[24];
	int n;

	switch (t->kind) {
	case 'f':
		memcpy(value, t->bytes == 4 ? (const void *)&narrow : &real, t->bytes);
		break;
	case 'c':
		n = snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
		memset(value, 0, t->bytes);
		memcpy(value, text, sp__min((size_t)n, t->bytes));
		break;
	case 'w':
		put(value, column->words.n ? 1 + number % column->words.n : 0, t->bytes);
		break;
	case 'D':
		put(value, number % 100000, t->bytes);
		break;
	case 'T':
		put(value, number % UINT64_C(1000000000000000), t->bytes);
		break;
	default:
		put(value, fit(number, t->bytes), t->bytes);
	}
}
