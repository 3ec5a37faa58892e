/* SPDX-License-Identifier: MIT */
/*
 * Makes keys of values (columnkey.h).
 *
 * A number is stored with its highest byte first.  Its highest bit is inverted if the type has a
 * sign; all bits of a negative floating point number are.  Values that are equal have equal keys:
 * -0 becomes 0, and each NaN becomes the one that follows all numbers.
 */
#include <endian.h>
#include "base/few.h"
#include "table/index/columnkey.h"
#include "table/schema/columntext.h"

#define F32_INFINITE 0x7F800000
#define F64_INFINITE 0x7FF0000000000000

static uint64_t float_key(uint64_t bits, uint32_t bytes)
{
	const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), size = bits & (sign - 1);

	if (size > (bytes == 4 ? F32_INFINITE : F64_INFINITE))
		return UINT64_MAX;
	return bits & sign && size ? ~bits : size | sign;
}

static struct sp__slice number_key(const struct sp__value_type *t, const uint8_t *value,
				   uint8_t space[SP__COLUMNKEY_SPACE])
{
	uint64_t bits = sp__load_few(value, t->bytes);

	if (t->kind == 'f')
		bits = float_key(bits, t->bytes);
	else if (t->kind != 'u')
		bits ^= UINT64_C(1) << (8 * t->bytes - 1);
	bits = htobe64(bits << (64 - 8 * t->bytes));
	memcpy(space, &bits, sizeof(bits));
	return (struct sp__slice){ (const char *)space, t->bytes };
}

struct sp__slice sp__columnkey(const struct sp__table_column *c, const struct sp__vector *v,
			       uint32_t i, uint8_t space[SP__COLUMNKEY_SPACE])
{
	static const struct sp__slice null = { NULL, 0 };
	const uint8_t *at = sp__vector_at(v, i);
	struct sp__slice s;

	if (!sp__type_is_text(&c->type))
		return sp__value_null(&c->type, at) ? null : number_key(&c->type, at, space);
	s = sp__column_text(c, v, i);
	return s.p ? s : null;
}

int sp__columnkey_of_text(const struct sp__table_column *c, const char *text, size_t n,
			  struct sp__bytes *b)
{
	const bool words = c->type.kind == 't' || c->type.kind == 'w';
	struct sp__slice key;
	uint8_t space[SP__COLUMNKEY_SPACE];

	if (words)
		return sp__text_null(text, n) ? 1 : sp__bytes_set(b, text, n, NULL);
	if (sp__bytes_reserve(b, c->type.bytes, NULL))
		return -ENOMEM;
	memset(b->data, 0, c->type.bytes);
	if (sp__value_read(&c->type, text, n, b->data) != SP__VALUE_OK)
		return 1;
	key = sp__columnkey(c, &(struct sp__vector){ .data = (uint8_t *)b->data }, 0, space);
	b->bytes = key.n;
	if (key.p == (const char *)space)
		memcpy(b->data, space, key.n);
	return key.p ? 0 : 1;
}
