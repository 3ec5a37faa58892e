/* SPDX-License-Identifier: MIT */
/*
 * Stores values (store.h).
 *
 * Bits of bool are spread, floats of 2 bytes and integers extended, decimals have 4 to 32 bytes,
 * and times are in units of a second.
 */
#include <math.h>
#include "base/decimal.h"
#include "rec/value_impl.h"
#include "table/arrow/arrays.h"
#include "table/arrow/store.h"

#define DAY_MS 86400000

/* Returns a float of 2 bytes: a sign, 5 bits of exponent, 10 of the fraction. */
static float half(uint16_t bits)
{
	const int exponent = bits >> 10 & 31, fraction = bits & 1023;
	float v = exponent == 31 ? (fraction ? NAN : INFINITY)
		  : exponent	 ? (float)ldexp(fraction + 1024, exponent - 25)
				 : (float)ldexp(fraction, -24);

	return bits >> 15 ? -v : v;
}

/* A NaN that stands for NULL becomes another one. */
static bool store_float(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
			uint8_t *to)
{
	static const uint64_t nan64 = UINT64_C(0x7FF8) << 48;
	static const uint32_t nan32 = 0x7FC00000;
	const char *from = (const char *)a->buffers[1] + i * f->bytes;
	float v;

	if (f->form == SP__ARROW_HALF) {
		v = half((uint16_t)sp__arrow_integer(a->buffers[1], i, 2, true));
		memcpy(to, &v, sizeof(v));
	} else {
		memcpy(to, from, f->bytes);
	}
	if (sp__value_null(&f->type, to))
		memcpy(to, f->type.bytes == 8 ? (const void *)&nan64 : &nan32, f->type.bytes);
	return true;
}

/* Returns false if the number has more than 128 bits. */
static bool read_wide(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
		      sp__int128 *v)
{
	const char *from = (const char *)a->buffers[1] + i * f->bytes;
	int64_t high[2];

	if (f->bytes <= 8) {
		*v = sp__arrow_integer(a->buffers[1], i, f->bytes, false);
		return true;
	}
	memcpy(v, from, sizeof(*v));
	if (f->bytes == 16)
		return true;
	memcpy(high, from + sizeof(*v), sizeof(high));
	return high[0] == (*v < 0 ? -1 : 0) && high[1] == high[0];
}

static bool store_decimal(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
			  uint8_t *to)
{
	sp__int128 v;

	if (!read_wide(f, a, i, &v))
		return false;
	for (int power = f->power; v && power > 0; power--)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	for (int power = f->power; v && power < 0; power++) {
		if (v % 10)
			return false;
		v /= 10;
	}
	sp__value_put(to, (uint64_t)v, f->type.bytes);
	return sp__value_signed(&f->type, to) == v && !sp__value_null(&f->type, to);
}

static bool store_time(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
		       uint8_t *to)
{
	int64_t v = sp__arrow_integer(a->buffers[1], i, 8, false);

	if (v % (int64_t)f->divide || __builtin_mul_overflow(v, (int64_t)f->multiply, &v))
		return false;
	v /= (int64_t)f->divide;
	memcpy(to, &v, sizeof(v));
	return sp__value_check(&f->type, to) == SP__VALUE_OK;
}

bool sp__arrow_store(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
		     uint8_t *to)
{
	const struct sp__value_type *t = &f->type;
	int64_t v;

	if (t->kind == 'f')
		return store_float(f, a, i, to);
	if (f->form == SP__ARROW_DECIMAL)
		return store_decimal(f, a, i, to);
	if (f->form == SP__ARROW_TIME)
		return store_time(f, a, i, to);
	if (f->form == SP__ARROW_BITS) {
		*to = ((const uint8_t *)a->buffers[1])[i / 8] >> i % 8 & 1;
		return true;
	}
	v = sp__arrow_integer(a->buffers[1], i, f->bytes, t->kind == 'u');
	if (f->form == SP__ARROW_DAYS_MS) {
		if (v % DAY_MS || v / DAY_MS != (int32_t)(v / DAY_MS))
			return false;
		v /= DAY_MS;
	}
	sp__value_put(to, (uint64_t)v, t->bytes);
	return sp__value_check(t, to) == SP__VALUE_OK;
}
