/* SPDX-License-Identifier: MIT */
/* Decimal numbers: their limits, both ways between text and number, sums and quotients. */
#include <string.h>
#include "base/decimal.h"
#include "tap.h"

static bool parsed(const char *text, struct sp__decimal *d)
{
	return sp__decimal_parse(text, strlen(text), d);
}

static bool prints(const struct sp__decimal *d, const char *want)
{
	char text[SP__DECIMAL_TEXT];
	size_t n = sp__decimal_print(d, text);

	return n == strlen(want) && !memcmp(text, want, n);
}

static bool is_printed_as(const char *text, const char *want)
{
	struct sp__decimal d;

	return parsed(text, &d) && prints(&d, want);
}

static void check_limits(void)
{
	struct sp__decimal d, max;

	ok(!parsed("", &d) && !parsed(".", &d) && !parsed("-", &d) && !parsed("1e5", &d) &&
		   !parsed("1 ", &d) && !parsed("1.0000000000", &d) &&
		   !parsed("1000000000000000000000000000", &d) &&
		   !parsed("9999999999999999999999999999999999999999999", &d),
	   "only numbers of 9 places below 10^27 are accepted");
	ok(parsed("999999999999999999999999999.999999999", &max), "the largest is none too large");
	ok(parsed("0.000000001", &d) && !sp__decimal_add(&d, &max), "a sum of 10^27 is too large");
}

int main(void)
{
	struct sp__decimal d, quotient;

	check_limits();
	ok(is_printed_as("-0", "0") && is_printed_as("+1.", "1") &&
		   is_printed_as("-.50", "-0.50") && is_printed_as("007.000000001", "7.000000001"),
	   "a number is printed with the places of its text");
	ok(parsed("-1", &d) &&
		   (quotient = sp__decimal_divide(&d, 6, 6), prints(&quotient, "-0.166667")),
	   "a quotient is rounded to the places requested");
	ok(parsed("0.5", &d) && (quotient = sp__decimal_divide(&d, 1, 0), prints(&quotient, "1")),
	   "a half is rounded away from 0");
	return done();
}
