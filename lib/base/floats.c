/* SPDX-License-Identifier: MIT */
/*
 * Prints f64 and f32 with the fewest digits that give the number back, and reads them.
 *
 * Source of printing: Raffaello Giulietti, The Schubfach way to render doubles, 2020.
 *
 * Algorithm of printing: a number is c * 2^q, and all real numbers between the middles to its two
 * neighbours round to it; the middles themselves do if c is even.  The largest k is taken for which
 * 10^k is at most the width of this interval.  Then the interval holds a multiple of 10^k, and at
 * most one multiple of 10^(k + 1), which has fewer digits.  So at most four decimals are
 * candidates: the multiples of 10^(k + 1) and of 10^k next to the number, below and above.  They
 * are compared in units of 10^k / 4.  The number and both middles, in these units, are rounded to
 * odd: a fraction is replaced by a last bit of 1.  Comparisons with even integers, such as
 * candidates and the middles of two candidates, give the same result as before rounding.  The paper
 * proves that 10^-k with 126 bits suffices for this; sp__tenpower() has 128.
 *
 * Algorithm of reading: the number is m * 10^k with m < 2^64.  If m and 10^|k| are numbers of the
 * type, one multiplication or division rounds correctly.  Otherwise m is multiplied with the upper
 * 128 bits of 10^k.  The product is at most 2 units of its upper 128 bits too large, so it can be
 * rounded unless it lies that close to the middle of two numbers.  The rest is left to the C
 * library: products near a middle, more than 19 digits, results below the normal numbers.
 */
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/floats.h"
#include "base/put.h"

/*
 * 10^k = 10^(27 i) * 10^j with 0 <= j < 27.  Two small tables hold the powers of 10^27 with 192
 * bits, rounded down, and the powers of 5 up to 5^26, which are exact in 64 bits.  The error of
 * their product is below 2^64 units of its 256 bits.  So the upper 128 bits are exact unless the
 * lower 128 are almost all ones; test_shortest.c shows by long division that this does not occur
 * for -292 <= k <= 324.
 *
 * Rejected: a table of all powers (10 KiB), of which data of many magnitudes would fill the cache.
 */
unsigned __int128 sp__tenpower(int k)
{
	static const struct {
		uint64_t high, mid, low;
	} tens[] = {
		/* 10^(27 i) for i = -11 .. 12, the highest bit set */
		{ 0xA76C582338ED2621u, 0xAF2AF2B80AF6F24Eu, 0x657C8F4D43323A36u },
		{ 0x873E4F75E2224E68u, 0x5A7744A6E804A291u, 0xCC35EDDFCF0996D7u },
		{ 0xDA7F5BF590966848u, 0xAF39A475506A899Eu, 0xA30294CC2934E662u },
		{ 0xB080392CC4349DECu, 0xBD8D794D96AACFB3u, 0xFE13A5C86AF64418u },
		{ 0x8E938662882AF53Eu, 0x547EB47B7282EE9Cu, 0x41B0230E1421487Du },
		{ 0xE65829B3046B0AFAu, 0x0CB4A5A3112A5112u, 0xA3B561B1CB208396u },
		{ 0xBA121A4650E4DDEBu, 0x92F34D62616CE413u, 0x21A0183E10583CD3u },
		{ 0x964E858C91BA2655u, 0x3A6A07F8D510F86Fu, 0xE9082F25E9C5E9ECu },
		{ 0xF2D56790AB41C2A2u, 0xFAE27299423FB9C3u, 0x3695DAD7E8858901u },
		{ 0xC428D05AA4751E4Cu, 0xAA97E14C3C26B886u, 0x96842DC95323F5A8u },
		{ 0x9E74D1B791E07E48u, 0x775EA264CF55347Du, 0xCA49F1C05120C9C7u },
		{ 0x8000000000000000u, 0x0000000000000000u, 0x0000000000000000u },
		{ 0xCECB8F27F4200F3Au, 0x0000000000000000u, 0x0000000000000000u },
		{ 0xA70C3C40A64E6C51u, 0x999090B65F67D924u, 0x0000000000000000u },
		{ 0x86F0AC99B4E8DAFDu, 0x69A028BB3DED71A3u, 0xDF9F915627C04E28u },
		{ 0xDA01EE641A708DE9u, 0xE80E6F4820CC9495u, 0xD74BAAD03BC1D8D3u },
		{ 0xB01AE745B101E9E4u, 0x5EC05DCFF72E7F8Fu, 0xC04C79FFE324301Fu },
		{ 0x8E41ADE9FBEBC27Du, 0x14588F13BE847307u, 0x23BD6A2059C002F5u },
		{ 0xE5D3EF282A242E81u, 0x8F1668C8A86DA5FAu, 0xF0B5CCF5176ECC7Cu },
		{ 0xB9A74A0637CE2EE1u, 0x6D953E2BD7173692u, 0x88EFB0037AC08BDEu },
		{ 0x95F83D0A1FB69CD9u, 0x4ABDAF101564F98Eu, 0x0D5A4AF7B3A98E47u },
		{ 0xF24A01A73CF2DCCFu, 0xBC633B39673C8CECu, 0x3D9C44CD2F36917Cu },
		{ 0xC3B8358109E84F07u, 0x0A862F80EC4700C8u, 0x02606EA01029DC37u },
		{ 0x9E19DB92B4E31BA9u, 0x6C07A2C26A8346D1u, 0x4944D9F52CD0DEC2u },
	};
	static const uint64_t fives[] = {
		/* 5^j, shifted so that the highest bit is set */
		0x8000000000000000u, 0xA000000000000000u, 0xC800000000000000u, 0xFA00000000000000u,
		0x9C40000000000000u, 0xC350000000000000u, 0xF424000000000000u, 0x9896800000000000u,
		0xBEBC200000000000u, 0xEE6B280000000000u, 0x9502F90000000000u, 0xBA43B74000000000u,
		0xE8D4A51000000000u, 0x9184E72A00000000u, 0xB5E620F480000000u, 0xE35FA931A0000000u,
		0x8E1BC9BF04000000u, 0xB1A2BC2EC5000000u, 0xDE0B6B3A76400000u, 0x8AC7230489E80000u,
		0xAD78EBC5AC620000u, 0xD8D726B7177A8000u, 0x878678326EAC9000u, 0xA968163F0A57B400u,
		0xD3C21BCECCEDA100u, 0x84595161401484A0u, 0xA56FA5B99019A5C8u,
	};
	unsigned int i = (unsigned int)(k + 297) / 27, j = (unsigned int)(k + 297) % 27;
	unsigned __int128 low = (unsigned __int128)tens[i].low * fives[j];
	unsigned __int128 mid = (unsigned __int128)tens[i].mid * fives[j] + (uint64_t)(low >> 64);
	unsigned __int128 high = (unsigned __int128)tens[i].high * fives[j] + (uint64_t)(mid >> 64);

	if (!(high >> 127)) {
		high = high << 1 | (uint64_t)mid >> 63;
		mid <<= 1;
	}
	return high + (((uint64_t)mid | (uint64_t)low) != 0);
}

#define DIGITS 17 /* maximum number of digits */

/* A positive number as c * 2^q. */
struct binary {
	uint64_t c;
	int q;
	bool near_below; /* the neighbour below is only half as far as the one above */
};

/* Returns c * power / 2^128, rounded to odd. */
static uint64_t scale(unsigned __int128 power, uint64_t c)
{
	unsigned __int128 low = (unsigned __int128)(uint64_t)power * c;
	unsigned __int128 v = (power >> 64) * c + (uint64_t)(low >> 64);

	/* power is too large by less than 1, c below 2^60: a fraction of 0 stays 0 in 64 bits */
	return (uint64_t)(v >> 64) | ((uint64_t)v != 0);
}

/* Returns the digits of the shortest decimal nearest to b as an integer, in units of 10^*k. */
static uint64_t shortest(struct binary b, int *k)
{
	/* floor(log10(2^q)), or of 3/4 * 2^q */
	int unit = (b.q * 1262611 - (b.near_below ? 524029 : 0)) >> 22;
	int shift = b.q + sp__log2_tenpower(-unit) + 1;
	unsigned __int128 power = sp__tenpower(-unit);
	uint64_t middle_below = scale(power, (4 * b.c - 2 + b.near_below) << shift);
	uint64_t v = scale(power, 4 * b.c << shift);
	uint64_t middle_above = scale(power, (4 * b.c + 2) << shift);
	uint64_t odd = b.c & 1; /* then the middles are not inside */
	uint64_t below = v / 4, tens = below / 10;
	bool lower, upper;

	*k = unit + 1;
	lower = middle_below + odd <= 40 * tens;
	upper = 40 * (tens + 1) + odd <= middle_above;
	if (lower != upper)
		return tens + upper;
	*k = unit;
	lower = middle_below + odd <= 4 * below;
	upper = 4 * (below + 1) + odd <= middle_above;
	if (lower != upper)
		return below + upper;
	return below + (v + (below & 1) > 4 * below + 2);
}

static const uint64_t power_of_10[] = { 1,
					10,
					100,
					1000,
					10000,
					100000,
					1000000,
					10000000,
					100000000,
					1000000000,
					10000000000,
					100000000000,
					1000000000000,
					10000000000000,
					100000000000000,
					1000000000000000,
					10000000000000000,
					100000000000000000 };

/* Returns the number of digits of v, 0 < v <= 10^17. */
static int length(uint64_t v)
{
	int n = (64 - __builtin_clzll(v)) * 1233 >> 12;

	return n + (v >= power_of_10[n]);
}

/*
 * Writes v as DIGITS digits, first digit first, with zeros at the end; v has n digits.  Returns the
 * number of digits without these zeros.
 */
static int put_significant(char *p, uint64_t v, int n)
{
	uint64_t high, low;
	uint32_t first;

	v = n > DIGITS ? v / 10 : v * power_of_10[DIGITS - n];
	first = (uint32_t)(v / power_of_10[16]);
	v -= first * power_of_10[16];
	high = sp__digits8((uint32_t)(v / power_of_10[8]));
	low = sp__digits8((uint32_t)(v % power_of_10[8]));
	p[0] = (char)('0' + first);
	sp__put_word(sp__put_word(p + 1, high | SP__ZEROS), low | SP__ZEROS);
	if (low)
		return 17 - __builtin_clzll(low) / 8;
	return high ? 9 - __builtin_clzll(high) / 8 : 1;
}

static char *put_exponent(char *p, int x)
{
	uint32_t size = (uint32_t)(x < 0 ? -x : x);

	*p++ = 'e';
	*p++ = x < 0 ? '-' : '+';
	return sp__put_digits(p, size, size < 100 ? 2 : 3);
}

/* Writes a positive number; precision: the exponent from which on an exponent is printed. */
static char *put_positive(char *p, struct binary b, int precision)
{
	char digits[24];
	int k, n, x;
	uint64_t v = shortest(b, &k);

	n = length(v);
	x = k + n - 1; /* exponent of the first digit */
	n = put_significant(digits, v, n);
	if (x < -4 || x >= precision) {
		p[0] = digits[0];
		p[1] = '.';
		memcpy(p + 2, digits + 1, DIGITS - 1);
		return put_exponent(p + (n > 1 ? n + 1 : 1), x);
	}
	if (x < 0) {
		memcpy(p, "0.000", 5);
		memcpy(p + 1 - x, digits, DIGITS);
		return p + 1 - x + n;
	}
	memcpy(p, digits, DIGITS);
	if (n <= x + 1)
		return p + x + 1;
	p[x + 1] = '.';
	memcpy(p + x + 2, digits + x + 1, (size_t)(n - x - 1));
	return p + n + 1;
}

/* Writes a number that is negative, zero, infinite or not a number as far as it differs. */
static char *put(char *p, bool negative, uint64_t fraction, int exponent, int fraction_bits)
{
	int bias = fraction_bits == 52 ? 1023 : 127;
	uint64_t implied = (uint64_t)1 << fraction_bits;
	struct binary b;

	if (exponent > 2 * bias && fraction)
		negative = false;
	*p = '-';
	p += negative;
	if (exponent > 2 * bias) {
		memcpy(p, fraction ? "nan" : "inf", 3);
		return p + 3;
	}
	if (!exponent && !fraction) {
		*p = '0';
		return p + 1;
	}
	b.c = exponent ? implied | fraction : fraction;
	b.q = (exponent ? exponent : 1) - bias - fraction_bits;
	b.near_below = !fraction && exponent > 1;
	return put_positive(p, b, fraction_bits == 52 ? 17 : 9);
}

char *sp__shortest_f64(char *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return put(p, bits >> 63, bits & (((uint64_t)1 << 52) - 1), bits >> 52 & 2047, 52);
}

char *sp__shortest_f32(char *p, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return put(p, bits >> 31, bits & ((1u << 23) - 1), bits >> 23 & 255, 23);
}

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
