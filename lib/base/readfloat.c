/* SPDX-License-Identifier: MIT */
/*
 * Reads floating point numbers (readfloat.h).
 *
 * Algorithm: the number is m * 10^k with m < 2^64.  If m and 10^|k| are numbers of the type, one
 * multiplication or division rounds correctly.  Otherwise m is multiplied with the upper 128 bits
 * of 10^k.  The product is at most 2 units of its upper 128 bits too large, so it can be rounded
 * unless it lies that close to the middle of two numbers.  The rest is left to the C library:
 * products near a middle, more than 19 digits, results below the normal numbers.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/readfloat.h"
#include "base/tenpower.h"

#define DIGITS_MAX 19	    /* fit 64 bits */
#define EXPONENT_MAX 100000 /* larger ones are cut to it */
#define TENPOWER_MIN (-292)
#define TENPOWER_MAX 308

struct scanned {
	bool minus;
	bool cut; /* m lacks digits */
	uint64_t m;
	int k;
};

/* The format of a type: bits of the significand, and the greatest exponent of two. */
struct format {
	int bits, exponent_max;
	uint64_t exact_m;
	int exact_k; /* 10^k is a number of the type */
};

#define F64_BITS 53
#define F64_EXPONENT_MAX 1023
static const struct format f64_format = { F64_BITS, F64_EXPONENT_MAX, UINT64_C(1) << F64_BITS, 22 };
static const struct format f32_format = { 24, 127, UINT64_C(1) << 24, 10 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Appends digits to m, as long as they fit.  Returns the address after them. */
static const char *take_digits(const char *p, const char *end, struct scanned *s, unsigned *digits,
			       bool fraction)
{
	for (; p < end && is_digit(*p); p++) {
		if (*digits == DIGITS_MAX) {
			s->cut = s->cut || *p != '0';
			s->k += !fraction;
			continue;
		}
		s->m = s->m * 10 + (uint64_t)(*p - '0');
		*digits += s->m != 0;
		s->k -= fraction;
	}
	return p;
}

/* Takes the exponent.  False: it has no digits. */
static bool take_exponent(const char **p, const char *end, struct scanned *s)
{
	const char *begin;
	bool minus;
	int k = 0;

	++*p;
	minus = *p < end && **p == '-';
	if (*p < end && (**p == '-' || **p == '+'))
		++*p;
	for (begin = *p; *p < end && is_digit(**p); ++*p)
		if (k < EXPONENT_MAX)
			k = k * 10 + (**p - '0');
	s->k += minus ? -k : k;
	return *p > begin;
}

/* False: the text is not a number of digits. */
static bool scan(const char *p, const char *end, struct scanned *s)
{
	const char *begin = p, *point = end;
	unsigned digits = 0;

	p = take_digits(p, end, s, &digits, false);
	if (p < end && *p == '.') {
		point = p;
		p = take_digits(p + 1, end, s, &digits, true);
	}
	if (p == begin || (point == begin && p == begin + 1))
		return false;
	if (p < end && (*p == 'e' || *p == 'E') && !take_exponent(&p, end, s))
		return false;
	return p == end;
}

/* Packs a significand and the exponent of its highest bit.  Returns 0 or -ERANGE. */
static int pack(const struct format *f, uint64_t significand, int exponent, double *v)
{
	uint64_t bits;

	if (significand >> f->bits) {
		significand >>= 1;
		exponent++;
	}
	if (exponent > f->exponent_max)
		return -ERANGE;
	bits = (significand << (F64_BITS - f->bits)) & ((UINT64_C(1) << (F64_BITS - 1)) - 1);
	bits |= (uint64_t)(exponent + F64_EXPONENT_MAX) << (F64_BITS - 1);
	memcpy(v, &bits, sizeof(bits));
	return 0;
}

/* Returns 0, -ERANGE, or 1 if the product does not determine the number. */
static int multiply(const struct format *f, const struct scanned *s, double *v)
{
	int zeros = __builtin_clzll(s->m), shift, exponent;
	unsigned __int128 power = sp__tenpower(s->k), low, high, rest, half;
	uint64_t w = s->m << zeros;

	low = (unsigned __int128)w * (uint64_t)power;
	high = (unsigned __int128)w * (uint64_t)(power >> 64) + (uint64_t)(low >> 64);
	shift = !(high >> 127);
	high <<= shift;
	exponent = 64 + sp__log2_tenpower(s->k) - zeros - shift;
	half = (unsigned __int128)1 << (127 - f->bits);
	rest = high & (2 * half - 1);
	if (exponent <= -f->exponent_max || (rest + 2 >= half && rest <= half + 2))
		return 1;
	return pack(f, (uint64_t)(high >> (128 - f->bits)) + (rest > half), exponent, v);
}

/*
 * Multiplies m with 10^k, which are both numbers of the type, so that the result is rounded once.
 */
static double multiply_exact(const struct format *f, const struct scanned *s)
{
	static const double power[] = { 1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,
					1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	double by = power[abs(s->k)];

	if (f == &f64_format)
		return s->k < 0 ? (double)s->m / by : (double)s->m * by;
	return (double)(s->k < 0 ? (float)s->m / (float)by : (float)s->m * (float)by);
}

/* Computes the number without the C library.  Returns as multiply(). */
static int compute(const struct format *f, const struct scanned *s, double *v)
{
	if (s->cut)
		return 1;
	if (!s->m) {
		*v = 0;
		return 0;
	}
	if (s->m <= f->exact_m && abs(s->k) <= f->exact_k) {
		*v = multiply_exact(f, s);
		return 0;
	}
	return s->k < TENPOWER_MIN || s->k > TENPOWER_MAX ? 1 : multiply(f, s, v);
}

/* Converts a scanned text by the C library. */
static int convert(const struct format *f, const char *text, size_t n, double *v)
{
	char copy[SP__READFLOAT_MAX + 1];
	locale_t locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));

	memcpy(copy, text, n);
	copy[n] = '\0';
	*v = f == &f64_format ? strtod(copy, NULL) : (double)strtof(copy, NULL);
	uselocale(locale);
	return isinf(*v) ? -ERANGE : 0;
}

/* False: the text is neither infinite nor not a number. */
static bool take_special(const char *text, size_t n, double *v)
{
	bool nan = n == 3 && !strncasecmp(text, "nan", 3);

	*v = nan ? NAN : INFINITY;
	return nan || (n == 3 && !strncasecmp(text, "inf", 3)) ||
	       (n == 8 && !strncasecmp(text, "infinity", 8));
}

/* Reads a number of either type, which is also an f64. */
static int read_number(const struct format *f, const char *text, size_t n, double *v)
{
	struct scanned s = { .minus = n && *text == '-' };
	int rc;

	if (n > SP__READFLOAT_MAX)
		return -EINVAL;
	if (n && (*text == '-' || *text == '+')) {
		text++;
		n--;
	}
	if (!scan(text, text + n, &s)) {
		if (!take_special(text, n, v))
			return -EINVAL;
		rc = 0;
	} else {
		rc = compute(f, &s, v);
		if (rc > 0)
			rc = convert(f, text, n, v);
	}
	if (s.minus)
		*v = -*v;
	return rc;
}

int sp__read_f64(const char *text, size_t n, double *v)
{
	return read_number(&f64_format, text, n, v);
}

int sp__read_f32(const char *text, size_t n, float *v)
{
	double wide = 0;
	int rc = read_number(&f32_format, text, n, &wide);

	*v = (float)wide;
	return rc;
}
