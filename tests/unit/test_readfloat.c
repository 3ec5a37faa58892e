/* SPDX-License-Identifier: MIT */
/*
 * Reading floating point numbers: the bits that strtod() and strtof() give, for texts of random
 * numbers with any number of digits, for texts near the middle of two numbers, and at all edges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/floats.h"
#include "base/rng.h"
#include "tap.h"

static unsigned wrong;

static bool same_f64(const char *text)
{
	double want = strtod(text, NULL), got = 0;
	int rc = sp__read_f64(text, strlen(text), &got);

	return isinf(want) ? rc == -ERANGE : !rc && !memcmp(&want, &got, sizeof(want));
}

static bool same_f32(const char *text)
{
	float want = strtof(text, NULL), got = 0;
	int rc = sp__read_f32(text, strlen(text), &got);

	return isinf(want) ? rc == -ERANGE : !rc && !memcmp(&want, &got, sizeof(want));
}

static void compare(const char *text)
{
	if (same_f64(text) && same_f32(text))
		return;
	if (!wrong++)
		diag("%s is read differently", text);
}

static double random_f64(struct sp__rng *rng)
{
	uint64_t bits = sp__rng_next(rng);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? v : 1;
}

static float random_f32(struct sp__rng *rng)
{
	uint32_t bits = (uint32_t)sp__rng_next(rng);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? v : 1;
}

static void check_random(void)
{
	struct sp__rng rng = { 53 };
	char text[64];

	for (int i = 0; i < 200000; i++) {
		int digits = 1 + (int)sp__rng_below(&rng, 20);

		snprintf(text, sizeof(text), "%.*g", digits, random_f64(&rng));
		compare(text);
		snprintf(text, sizeof(text), "%.*e", digits, (double)random_f32(&rng));
		compare(text);
		snprintf(text, sizeof(text), "%.*f", digits,
			 (double)(sp__rng_next(&rng) >> 11) / 0x1p53 *
				 (double)sp__rng_below(&rng, 1000));
		compare(text);
		snprintf(text, sizeof(text), "%llue%d", (unsigned long long)sp__rng_next(&rng),
			 (int)sp__rng_below(&rng, 700) - 350);
		compare(text);
	}
	ok(!wrong, "random numbers are read as the C library does");
}

/* The middle of two numbers is exact with enough digits; 17 and 19 digits lie next to it. */
static void check_middles(void)
{
	struct sp__rng rng = { 54 };
	char text[1100];

	wrong = 0;
	for (int i = 0; i < 20000; i++) {
		float f = ldexpf((float)(sp__rng_below(&rng, 1 << 24)), (int)(i % 60) - 30);
		double middle = ((double)f + (double)nextafterf(f, INFINITY)) / 2;

		snprintf(text, sizeof(text), "%.*g", 15 + i % 40, middle);
		compare(text);
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)(sp__rng_next(&rng) | UINT64_C(1) << 63) >>
				 sp__rng_below(&rng, 12));
		compare(text);
	}
	ok(!wrong, "numbers near the middle of two others are read as the C library does");
}

static void check_edges(void)
{
	static const char *const texts[] = {
		"0",
		"-0",
		"+0",
		"0.0",
		"00",
		"1",
		"-1",
		"1.",
		".5",
		"+.5",
		"5e0",
		"5E+00",
		"1e22",
		"1e23",
		"123456789012345678901234567890",
		"0.000000000000000000000000000000000001",
		"9007199254740993",
		"9007199254740992",
		"9007199254740991",
		"1.7976931348623157e308",
		"1.7976931348623158e308",
		"1.7976931348623159e308",
		"2.2250738585072014e-308",
		"2.2250738585072011e-308",
		"4.9e-324",
		"2.4e-324",
		"2.5e-324",
		"1e-400",
		"1e400",
		"-1e309",
		"3.4028235e38",
		"3.4028236e38",
		"1.17549435e-38",
		"1.4e-45",
		"7e-46",
		"1e99999999999999999999",
		"1e-99999999999999999999",
		"0e99999999999999999999",
		"1.00000017881393432617187499",
		"1.00000017881393432617187500",
		"1.00000017881393432617187501",
		"16777217",
		"16777219",
		"8388608.5",
		"1e10",
		"1e11",
		"10000000000000000000000000000000000000000e-40",
		"0.30000000000000004",
	};
	char text[1100];

	wrong = 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		compare(texts[i]);
	for (int k = -360; k <= 330; k++)
		for (int m = 1; m < 10; m++) {
			snprintf(text, sizeof(text), "%de%d", m, k);
			compare(text);
		}
	memset(text, '0', sizeof(text));
	memcpy(text, "0.", 2);
	strcpy(text + 1000, "123e1000");
	compare(text);
	memset(text, '7', 1000);
	strcpy(text + 1000, "e-1000");
	compare(text);
	ok(!wrong, "edges are read as the C library does");
}

static bool refused(const char *text)
{
	double wide;
	float narrow;

	return sp__read_f64(text, strlen(text), &wide) == -EINVAL &&
	       sp__read_f32(text, strlen(text), &narrow) == -EINVAL;
}

static bool special(const char *text, double want)
{
	double wide = 0;
	float narrow = 0;

	return !sp__read_f64(text, strlen(text), &wide) &&
	       !sp__read_f32(text, strlen(text), &narrow) &&
	       (isnan(want) ? isnan(wide) && isnan(narrow)
			    : wide == want && (double)narrow == want);
}

int main(void)
{
	char text[1100];

	check_random();
	check_middles();
	check_edges();
	ok(special("inf", INFINITY) && special("-Infinity", -INFINITY) && special("NaN", NAN) &&
		   special("+INF", INFINITY) && special("-nan", NAN),
	   "infinities and NaN are read");
	ok(refused("") && refused("-") && refused(".") && refused("+.") && refused("e5") &&
		   refused(".e5") && refused("1e") && refused("1e+") && refused("1 ") &&
		   refused(" 1") && refused("1,5") && refused("1.5.") && refused("0x1p3") &&
		   refused("infinit") && refused("nan(1)") && refused("--1") && refused("1e5.5"),
	   "other texts are refused");
	memset(text, '1', sizeof(text));
	ok(sp__read_f64(text, SP__READFLOAT_MAX, &(double){ 0 }) == -ERANGE &&
		   sp__read_f64(text, SP__READFLOAT_MAX + 1, &(double){ 0 }) == -EINVAL,
	   "the length of a text is limited");
	return done();
}
