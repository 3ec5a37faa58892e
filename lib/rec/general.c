/* SPDX-License-Identifier: MIT */
/*
 * Encodes general numbers (-g): the value that strtold() reads, in the order: not a number, NaN,
 * -infinity to +infinity.
 *
 * The value's bits, most significant first, have the order of the values if the sign bit is
 * inverted, or, if it is set, all bits.  Even -infinity does not begin with three zero bytes.  So
 * these and a fourth byte encode the rest: 0 for a text that is not a number, 1 for a NaN.  The
 * bytes of a NaN follow in memory order, because GNU sort compares two of them so.
 *
 * strtold() is slow and needs a NUL.  A plain decimal number of up to 19 digits is one exactly
 * stored integer divided by another, so one division gives the same correctly rounded value.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "rec/keyset.h"

/* Storage of the text of a number in a long double. */
#if LDBL_MANT_DIG == 64
#define VALUE_BYTES 10
#else
#define VALUE_BYTES ((int)sizeof(long double))
#endif

enum { NO_NUMBER, NOT_A_NUMBER, NUMBER };

#define STACK_TEXT 512

static inline bool alnum(char c)
{
	return sp__digit(c) || (unsigned)(c | 0x20) - 'a' < 26;
}

/* Reads a plain decimal number; false: the text is not one. */
static bool plain_decimal(const struct sp_keyset *ks, const char *s, const char *lim,
			  long double *value)
{
	static const long double pow10[] = {
		1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,	 1e7L,	1e8L,  1e9L,
		1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
	};
	size_t digits = 0, point = 0;
	bool negative = s < lim && *s == '-', seen_point = false;
	uint64_t v = 0;

	for (s += negative; s < lim; s++) {
		if (sp__digit(*s)) {
			v = v * 10 + (uint64_t)(*s - '0');
			digits++;
			point += seen_point;
		} else if ((unsigned char)*s == ks->numfmt.strtold_point && !seen_point) {
			seen_point = true;
		} else if (alnum(*s) || *s == '.' || (*s & 0x80)) {
			return false;
		} else {
			break;
		}
	}
	if (!digits || digits > 19)
		return false;
	*value = (long double)v / pow10[point];
	if (negative)
		*value = -*value;
	return true;
}

/* Returns the maximum number of bytes that can be part of a number. */
static size_t span(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] == ' ' || (s[i] >= '\t' && s[i] <= '\r')))
		i++;
	while (i < n && (alnum(s[i]) || (s[i] & 0x80) || (s[i] && strchr("+-.,()_'", s[i]))))
		i++;
	return i;
}

size_t sp__general_value(const char *s, size_t n, long double *value)
{
	char stack[STACK_TEXT], *text = stack, *end;
	size_t used;

	n = span(s, n);
	if (n >= sizeof(stack)) {
		text = sp__block_resize(NULL, 0, n + 1);
		if (!text) {
			/* Digits this far from the beginning rarely change the value. */
			text = stack;
			n = sizeof(stack) - 1;
		}
	}
	memcpy(text, s, n);
	text[n] = '\0';
	*value = strtold(text, &end);
	used = (size_t)(end - text);
	if (text != stack)
		(void)sp__block_resize(text, n + 1, 0);
	return used;
}

static int classify(const char *s, size_t n, long double *value)
{
	if (!sp__general_value(s, n, value))
		return NO_NUMBER;
	return isnan(*value) ? NOT_A_NUMBER : NUMBER;
}

unsigned char *sp__general_encode(const struct sp_keyset *ks, const char *s, size_t n,
				  unsigned char *out)
{
	unsigned char raw[sizeof(long double)];
	const char *p = s, *lim = s + n;
	long double value;
	unsigned char flip;
	int class = NUMBER;

	while (p < lim && *p == ' ')
		p++;
	if (LDBL_MANT_DIG < 64 || !plain_decimal(ks, p, lim, &value))
		class = classify(s, n, &value);
	if (class != NUMBER) {
		memset(out, 0, 3);
		out[3] = (unsigned char)class;
		if (class == NO_NUMBER)
			return out + 4;
		memcpy(out + 4, &value, VALUE_BYTES);
		return out + 4 + VALUE_BYTES;
	}
	if (value == 0)
		value = 0; /* without the sign */
	memcpy(raw, &value, sizeof(raw));
	flip = signbit(value) ? 0xFF : 0;
	for (int i = 0; i < VALUE_BYTES; i++)
		out[i] = raw[SP__LITTLE_ENDIAN ? VALUE_BYTES - 1 - i : i] ^ flip;
	if (!flip)
		out[0] |= 0x80;
	return out + VALUE_BYTES;
}

int sp__general_compare(const char *a, size_t an, const char *b, size_t bn)
{
	long double va, vb;
	int ca = classify(a, an, &va), cb = classify(b, bn, &vb);

	if (ca != cb || ca == NO_NUMBER)
		return ca - cb;
	if (ca == NOT_A_NUMBER)
		return memcmp(&va, &vb, VALUE_BYTES);
	return (va > vb) - (va < vb);
}
