/* SPDX-License-Identifier: MIT */
/*
 * Encodes dates and times of ISO 8601 (SP_KEY_TIME).
 *
 * A date is the time at its midnight.  A time is eight bytes, most significant first: microseconds
 * from the earliest one on, plus 1 << 56, so that the first byte is not zero.  Any other text is
 * one zero byte.
 */
#include <string.h>
#include "rec/calendar.h"
#include "rec/keyset.h"
#include "rec/value.h"

#define FIRST_VALUE (UINT64_C(1) << 56)

bool sp__moment_read(const char *s, size_t n, int64_t *us)
{
	static const struct sp__value_type time = { 'T', SP__TIME_DECIMALS, sizeof(*us) };

	n = sp__trim(&s, n);
	return sp__value_read(&time, s, n, us) == SP__VALUE_OK;
}

unsigned char *sp__moment_encode(const char *s, size_t n, unsigned char *out)
{
	uint64_t value;
	int64_t us;

	if (!sp__moment_read(s, n, &us)) {
		*out = 0;
		return out + 1;
	}
	value = __builtin_bswap64((uint64_t)(us - SP__TIME_MIN) + FIRST_VALUE);
	memcpy(out, &value, SP__MOMENT_BYTES);
	return out + SP__MOMENT_BYTES;
}

int sp__moment_compare(const char *a, size_t an, const char *b, size_t bn)
{
	int64_t ua = INT64_MIN, ub = INT64_MIN;

	(void)sp__moment_read(a, an, &ua);
	(void)sp__moment_read(b, bn, &ub);
	return (ua > ub) - (ua < ub);
}
