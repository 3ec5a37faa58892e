/* SPDX-License-Identifier: MIT */
/*
 * Takes the values of records of fixed length: the columns one behind the other, as they are
 * stored.
 */
#include <string.h>
#include "base/minmax.h"
#include "rec/value_impl.h"
#include "table/input/textchunk.h"
#include "table/values/strided.h"

#define HAS(type)                                                                                  \
	for (uint32_t i = 0; i < n; i++) {                                                         \
		type v;                                                                            \
		memcpy(&v, values + (size_t)i * sizeof(v), sizeof(v));                             \
		found |= v == (type)bits;                                                          \
	}                                                                                          \
	break

/* True if one of the values has the bits of NULL, the only ones that a number must not have. */
static bool has_null(const struct sp__value_type *t, const uint8_t *values, uint32_t n)
{
	uint64_t bits = sp__value_null_bits(t);
	bool found = false;

	switch (t->bytes) {
	case 1:
		HAS(uint8_t);
	case 2:
		HAS(uint16_t);
	case 4:
		HAS(uint32_t);
	default:
		HAS(uint64_t);
	}
	return found;
}

static bool is_number(const struct sp__value_type *t)
{
	return t->kind == 'i' || t->kind == 'u' || t->kind == 'd' || t->kind == 'f';
}

/* Notes the first wrong value of a column, unless an earlier record has one. */
static void check(struct sp__textchunk *c, uint32_t column, uint32_t n)
{
	const struct sp__value_type *t = &c->opts->schema->columns[column].type;
	const uint8_t *v = c->columns[column].values;

	if (is_number(t) && !has_null(t, v, n))
		return;
	for (uint32_t i = 0; i < n; i++, v += t->bytes) {
		enum sp__value_fit fit = sp__value_check(t, v);

		if (fit == SP__VALUE_OK)
			continue;
		if (!c->error.fault || c->error.record > c->first + i)
			c->error = (struct sp__textchunk_error){ .fault = SP__TEXTCHUNK_VALUE,
								 .fit = fit,
								 .record = c->first + i,
								 .column = column };
		return;
	}
}

bool sp__textchunk_take_fixed(struct sp__textchunk *c)
{
	const struct sp__table_schema *s = c->opts->schema;
	const uint32_t bytes = c->opts->record_bytes;
	uint32_t n = (uint32_t)sp__min((c->bytes - c->at) / bytes, c->opts->max_records);
	const uint8_t *from = (const uint8_t *)c->text + c->at;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t width = s->columns[i].type.bytes;

		sp__strided_copy(c->columns[i].values, width, from, bytes, width, n);
		check(c, i, n);
		from += width;
	}
	if (c->error.fault)
		return false;
	c->records = n;
	c->at += n * bytes;
	return c->at < c->bytes;
}
