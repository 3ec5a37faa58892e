/* SPDX-License-Identifier: MIT */
/*
 * The shortest texts of f64 and f32: they convert back, no shorter one does, none is nearer.
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "base/floats.h"
#include "tap.h"

#define WORDS 24 /* of 64 bits; 2^1200 and 5^324 have fewer */

/* A number of one of the two types; for f32 the value is exact as double. */
struct number {
	double value;
	bool narrow;
};

static const char *print(struct number x, char *text)
{
	char *end =
		x.narrow ? sp__shortest_f32(text, (float)x.value) : sp__shortest_f64(text, x.value);

	*end = '\0';
	return text;
}

static bool comes_back(struct number x, const char *text)
{
	double back = x.narrow ? (double)strtof(text, NULL) : strtod(text, NULL);

	return back == x.value && signbit(back) == signbit(x.value);
}

/* Takes the significant digits of a text, and the exponent of the last one. */
static uint64_t digits_of(const char *text, int *exponent, int *count)
{
	uint64_t v = 0;
	int after = 0;
	bool point = false;

	for (text += *text == '-'; *text && *text != 'e'; text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		v = v * 10 + (uint64_t)(*text - '0');
		after += point;
	}
	*exponent = (*text ? atoi(text + 1) : 0) - after;
	for (; v && v % 10 == 0; v /= 10)
		++*exponent;
	*count = snprintf(NULL, 0, "%llu", (unsigned long long)v);
	return v;
}

/* True if a decimal of n digits that is next to x, on either side, converts back to x. */
static bool fits(struct number x, int n)
{
	char text[40];
	int exponent;
	uint64_t v;

	snprintf(text, sizeof(text), "%.*e", n - 1, fabs(x.value));
	exponent = atoi(strchr(text, 'e') + 1) - (n - 1);
	v = strtoull(text, NULL, 10);
	for (const char *p = text + 2; n > 1 && *p != 'e'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	for (uint64_t near = v - 1; near <= v + 1; near++) {
		snprintf(text, sizeof(text), "%s%llue%d", signbit(x.value) ? "-" : "",
			 (unsigned long long)near, exponent);
		if (comes_back(x, text))
			return true;
	}
	return false;
}

/*
 * The nearest text of that many digits is that of printf, unless this does not convert back, as
 * can occur below a power of two.  Then the text is that on the other side of x.
 */
static bool nearest(struct number x, uint64_t digits, int exponent, int n)
{
	char text[40];
	int other_exponent, other_count;
	uint64_t other;

	snprintf(text, sizeof(text), "%.*e", n - 1, x.value);
	other = digits_of(text, &other_exponent, &other_count);
	if (comes_back(x, text))
		return other == digits && other_exponent == exponent;
	for (; other_exponent > exponent; other_exponent--)
		other *= 10;
	return digits + 1 == other || digits == other + 1;
}

static bool right(struct number x)
{
	char text[SP__SHORTEST_SPACE];
	int exponent, n;
	uint64_t digits;
	bool good;

	print(x, text);
	if (x.value == 0 || !isfinite(x.value))
		return !strcmp(text, isnan(x.value)	? "nan"
				     : x.value == 0	? signbit(x.value) ? "-0" : "0"
				     : signbit(x.value) ? "-inf"
							: "inf");
	digits = digits_of(text, &exponent, &n);
	good = strlen(text) <= 24 && comes_back(x, text) && (n == 1 || !fits(x, n - 1)) &&
	       nearest(x, digits, exponent, n);
	if (!good)
		diag("%s: %.17g is printed as %s", x.narrow ? "f32" : "f64", x.value, text);
	return good;
}

static struct number wide(uint64_t bits)
{
	struct number x = { 0 };

	memcpy(&x.value, &bits, sizeof(x.value));
	return x;
}

static struct number narrow(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return (struct number){ (double)f, true };
}

static void random_bits(void)
{
	struct sp__rng r = { 34 };
	unsigned int wrong = 0;

	for (int i = 0; i < 200000; i++)
		wrong += !right(wide(sp__rng_next(&r)));
	ok(!wrong, "200,000 random f64 are printed with the fewest digits, the nearest ones");
	for (int i = 0; i < 200000; i++)
		wrong += !right(narrow((uint32_t)sp__rng_next(&r)));
	ok(!wrong, "200,000 random f32 are printed with the fewest digits, the nearest ones");
}

/* Every power of two, the numbers around it, and some with few bits. */
static void binary_edges(void)
{
	unsigned int wrong = 0;

	for (uint64_t e = 0; e < 2048; e++)
		for (uint64_t near = 0; near < 5; near++)
			wrong += !right(wide((e << 52) - 2 + near)) +
				 !right(wide(e << 52 | near << 50));
	for (unsigned int bit = 0; bit < 52; bit++)
		wrong += !right(wide((uint64_t)1 << bit)) + !right(wide(((uint64_t)1 << bit) - 1));
	ok(!wrong, "f64 around every power of two, the largest and the subnormal ones");
	for (uint32_t e = 0; e < 256; e++)
		for (uint32_t near = 0; near < 5; near++)
			wrong += !right(narrow((e << 23) - 2 + near)) +
				 !right(narrow(e << 23 | near << 21));
	for (uint32_t bits = 0; bits < 2000; bits++)
		wrong += !right(narrow(bits));
	ok(!wrong, "f32 around every power of two, the largest and the subnormal ones");
}

/* Numbers next to short decimals, and integers where two decimals are equally near. */
static void decimal_edges(void)
{
	unsigned int wrong = 0;
	char text[40];

	for (int k = -325; k < 310; k++)
		for (int digit = 1; digit < 100; digit += k >= 0 && k < 30 ? 1 : 7) {
			double v;

			snprintf(text, sizeof(text), "%de%d", digit, k);
			v = strtod(text, NULL);
			wrong += !right((struct number){ v, false }) +
				 !right((struct number){ nextafter(v, 0), false }) +
				 !right((struct number){ nextafter(v, 1e308), false }) +
				 !right((struct number){ (double)strtof(text, NULL), true });
		}
	ok(!wrong, "numbers at and next to decimals of one and two digits");
	for (uint64_t v = (uint64_t)1 << 53, i = 0; i < 2000; i++)
		wrong += !right((struct number){ (double)(v + 2 * i), false }) +
			 !right((struct number){ (double)(v * 4 + 8 * i), false }) +
			 !right((struct number){ (double)(v / 4 + i) + 0.5, false }) +
			 !right((struct number){ (double)(v / 8 + i) + 0.25, false }) +
			 !right((struct number){ (double)i, false });
	ok(!wrong, "integers, halves and quarters between which exact ties are");
}

static void forms(void)
{
	static const struct {
		struct number x;
		const char *want;
	} rows[] = {
		{ { 0.1, false }, "0.1" },
		{ { 0.1F, true }, "0.1" },
		{ { -1.5e300, false }, "-1.5e+300" },
		{ { 1e22, false }, "1e+22" },
		{ { 100000, false }, "100000" },
		{ { 1e16, false }, "10000000000000000" },
		{ { 99999999999999984.0, false }, "99999999999999980" },
		{ { 1e17, false }, "1e+17" },
		{ { 1e8F, true }, "100000000" },
		{ { 16777216, true }, "16777216" },
		{ { 1e9F, true }, "1e+09" },
		{ { 0.0001, false }, "0.0001" },
		{ { 0.00001234, false }, "1.234e-05" },
		{ { 0.00099999999999999998, false }, "0.001" },
		{ { 123.456, false }, "123.456" },
		{ { 5e-324, false }, "5e-324" },
		{ { 0x1.fffffffffffffp1023, false }, "1.7976931348623157e+308" },
		{ { 0x1p-1022, false }, "2.2250738585072014e-308" },
		{ { 0x1p-149, true }, "1e-45" },
		{ { 0x1.fffffep127, true }, "3.4028235e+38" },
		{ { 0x1p-44, false }, "5.684341886080802e-14" },
		{ { -0.0, false }, "-0" },
		{ { 0, true }, "0" },
		{ { -INFINITY, false }, "-inf" },
		{ { INFINITY, true }, "inf" },
		{ { NAN, false }, "nan" },
		{ { -NAN, true }, "nan" },
	};
	char text[SP__SHORTEST_SPACE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(!strcmp(print(rows[i].x, text), rows[i].want), "%s is printed as %s",
		   rows[i].want, text);
}

/* Multiplies or divides a number of WORDS words, least significant first, by 5. */
static void times_5(uint64_t *v)
{
	unsigned __int128 carry = 0;

	for (int i = 0; i < WORDS; i++) {
		carry += (unsigned __int128)v[i] * 5;
		v[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

/* Returns the remainder. */
static uint64_t by_5(uint64_t *v)
{
	uint64_t rest = 0;

	for (int i = WORDS; i-- > 0;) {
		unsigned __int128 u = (unsigned __int128)rest << 64 | v[i];

		v[i] = (uint64_t)(u / 5);
		rest = (uint64_t)(u % 5);
	}
	return rest;
}

/* Returns the 128 highest bits, and one more if others or the rest are not 0. */
static unsigned __int128 top(const uint64_t *v, bool rest)
{
	int i = WORDS - 1, zeros;
	unsigned __int128 high;

	for (; !v[i]; i--)
		;
	zeros = __builtin_clzll(v[i]);
	high = (unsigned __int128)v[i] << 64 | v[i - 1];
	if (zeros)
		high = high << zeros | v[i - 2] >> (64 - zeros);
	rest |= zeros ? v[i - 2] << zeros != 0 : v[i - 2] != 0;
	for (i -= 3; i >= 0; i--)
		rest |= v[i] != 0;
	return high + rest;
}

static void powers_of_ten(void)
{
	uint64_t up[WORDS] = { [4] = 1 }, down[WORDS] = { [WORDS - 1] = 1 };
	unsigned int wrong = 0;
	bool rest = false;

	for (int k = 0; k <= 324; k++, times_5(up))
		wrong += sp__tenpower(k) != top(up, false);
	for (int k = 0; k >= -292; k--) {
		wrong += sp__tenpower(k) != top(down, rest);
		rest |= by_5(down) != 0;
	}
	ok(!wrong, "powers of ten are those of exact arithmetic, rounded up");
}

int main(void)
{
	powers_of_ten();
	forms();
	binary_edges();
	decimal_edges();
	random_bits();
	return done();
}
