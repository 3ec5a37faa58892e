/* SPDX-License-Identifier: MIT */
/*
 * Computes bounds: a loop for each type, without a branch per value.
 */
#include <endian.h>
#include <math.h>
#include <string.h>
#include "base/few.h"
#include "table/write/bounds.h"

/*
 * A loop over integers from `least` to `greatest`, of which one is NULL.  An end of the bounds that
 * NULL would become takes the other one in its place; the other end is NULL only without values.
 */
#define INTEGERS(name, type, null, least, greatest, for_min, for_max, end)                         \
	static void name(struct sp__bounds *b, const uint8_t *v, size_t n)                         \
	{                                                                                          \
		type min, max, x, low, high;                                                       \
		memcpy(&min, b->min, sizeof(min));                                                 \
		memcpy(&max, b->max, sizeof(max));                                                 \
		if (min == (null)) {                                                               \
			min = (greatest);                                                          \
			max = (least);                                                             \
		}                                                                                  \
		for (size_t i = 0; i < n; i++) {                                                   \
			memcpy(&x, v + i * sizeof(x), sizeof(x));                                  \
			low = (for_min);                                                           \
			high = (for_max);                                                          \
			min = low < min ? low : min;                                               \
			max = high > max ? high : max;                                             \
		}                                                                                  \
		if ((end) == (null))                                                               \
			min = max = (null);                                                        \
		memcpy(b->min, &min, sizeof(min));                                                 \
		memcpy(b->max, &max, sizeof(max));                                                 \
	}

#define SIGNED(bits)                                                                               \
	INTEGERS(add_i##bits, int##bits##_t, INT##bits##_MIN, INT##bits##_MIN, INT##bits##_MAX,    \
		 x == INT##bits##_MIN ? INT##bits##_MAX : x, x, max)
#define UNSIGNED(bits)                                                                             \
	INTEGERS(add_u##bits, uint##bits##_t, UINT##bits##_MAX, 0, UINT##bits##_MAX, x,            \
		 x == UINT##bits##_MAX ? (uint##bits##_t)0 : x, min)

SIGNED(8)
SIGNED(16)
SIGNED(32)
SIGNED(64)
UNSIGNED(8)
UNSIGNED(16)
UNSIGNED(32)
UNSIGNED(64)

/* A loop over floats.  Bounds of NaN alone are both NaN. */
#define FLOATS(name, type, t)                                                                      \
	static void name(struct sp__bounds *b, const uint8_t *v, size_t n)                         \
	{                                                                                          \
		type min = (type)INFINITY, max = (type)-INFINITY, x;                               \
		bool any = !sp__value_null(t, b->min), numbers = false, nan = false;               \
		if (any) {                                                                         \
			memcpy(&min, b->min, sizeof(min));                                         \
			memcpy(&max, b->max, sizeof(max));                                         \
			nan = isnan(max);                                                          \
			numbers = !isnan(min);                                                     \
			min = numbers ? min : (type)INFINITY;                                      \
			max = nan ? (type)-INFINITY : max;                                         \
		}                                                                                  \
		for (size_t i = 0; i < n; i++) {                                                   \
			memcpy(&x, v + i * sizeof(x), sizeof(x));                                  \
			if (__builtin_expect(isnan(x), 0)) {                                       \
				nan |= !sp__value_null(t, &x);                                     \
				continue;                                                          \
			}                                                                          \
			numbers = true;                                                            \
			min = x < min ? x : min;                                                   \
			max = x > max ? x : max;                                                   \
		}                                                                                  \
		if (!numbers && !nan)                                                              \
			return;                                                                    \
		min = numbers ? min : (type)NAN;                                                   \
		max = nan ? (type)NAN : max;                                                       \
		memcpy(b->min, &min, sizeof(min));                                                 \
		memcpy(b->max, &max, sizeof(max));                                                 \
	}

FLOATS(add_f32, float, &sp__value_types[SP__VALUE_F32])
FLOATS(add_f64, double, &sp__value_types[SP__VALUE_F64])

/* Texts of at most 8 bytes compare as big-endian numbers. */
static void add_texts(struct sp__bounds *b, const uint8_t *v, size_t n, uint32_t bytes)
{
	bool any = !sp__text_null(b->min, SP__BOUND_BYTES);

	for (size_t i = 0; i < n; i++, v += bytes) {
		uint64_t x = htobe64(sp__load_few(v, bytes));

		if (sp__text_null(v, bytes))
			continue;
		if (!any || x < htobe64(sp__load_few(b->min, SP__BOUND_BYTES)))
			memcpy(b->min, v, bytes);
		if (!any || x > htobe64(sp__load_few(b->max, SP__BOUND_BYTES)))
			memcpy(b->max, v, bytes);
		any = true;
	}
}

void sp__bounds_begin(struct sp__bounds *b, const struct sp__value_type *type)
{
	*b = (struct sp__bounds){ 0 };
	sp__value_set_null(type, b->min);
	sp__value_set_null(type, b->max);
}

void sp__bounds_add(struct sp__bounds *b, const struct sp__value_type *type, const void *values,
		    size_t n)
{
	static void (*const add_signed[])(struct sp__bounds *, const uint8_t *,
					  size_t) = { add_i8, add_i16, add_i32, add_i64 };
	static void (*const add_unsigned[])(struct sp__bounds *, const uint8_t *,
					    size_t) = { add_u8, add_u16, add_u32, add_u64 };
	const int width = __builtin_ctz(type->bytes);

	if (type->kind == 'c')
		add_texts(b, values, n, type->bytes);
	else if (type->kind == 'f')
		(type->bytes == sizeof(float) ? add_f32 : add_f64)(b, values, n);
	else
		(type->kind == 'u' ? add_unsigned : add_signed)[width](b, values, n);
}
