/* SPDX-License-Identifier: MIT */
/*
 * Elements as text: both ways, at the ends of each type, and in a locale with a decimal comma.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/cube.h>
#include "german.h"

static struct sp_cube_shape shape_of(enum sp_cube_type type)
{
	return (struct sp_cube_shape){ .type = type,
				       .element_bytes = type ? sp_cube_type_bytes(type) : 3 };
}

/* True if the text is an element that is printed as the other text. */
static bool both_ways(enum sp_cube_type type, const char *text, const char *want)
{
	struct sp_cube_shape s = shape_of(type);
	char got[SP_CUBE_VALUE_MAX + 6];
	uint8_t element[8];

	if (sp_cube_value_parse(&s, text, element))
		return !want;
	if (!want)
		return false;
	sp_cube_value_print(&s, element, got);
	if (strcmp(got, want))
		diag("%s became %s, not %s", text, got, want);
	return !strcmp(got, want);
}

static void names(void)
{
	bool agree = true;

	for (int type = SP_CUBE_I8; type <= SP_CUBE_F64; type++)
		agree = agree && sp_cube_type_bytes(type) * 8 ==
					 strtoul(sp_cube_type_name(type) + 1, NULL, 10);
	ok(agree && !strcmp(sp_cube_type_name(SP_CUBE_BYTES), "bytes") &&
		   !sp_cube_type_bytes(SP_CUBE_BYTES),
	   "the names of numbers have their bits");
}

static void integers(void)
{
	ok(both_ways(SP_CUBE_I8, "-128", "-128") && both_ways(SP_CUBE_I8, "127", "127") &&
		   both_ways(SP_CUBE_U64, "18446744073709551615", "18446744073709551615") &&
		   both_ways(SP_CUBE_I64, "-9223372036854775808", "-9223372036854775808"),
	   "the ends of integer types come back");
	ok(both_ways(SP_CUBE_U16, " \t+007", "7") && both_ways(SP_CUBE_I16, "-0", "0") &&
		   both_ways(SP_CUBE_I64, "-9223372036854775809", NULL) &&
		   both_ways(SP_CUBE_I64, "99999999999999999999999999999999999999999999", NULL) &&
		   both_ways(SP_CUBE_U32, "-0", NULL) && both_ways(SP_CUBE_I8, "-", NULL) &&
		   both_ways(SP_CUBE_I8, " ", NULL) && both_ways(SP_CUBE_I8, "0x1", NULL),
	   "blanks, a sign and zeros may precede a number");
	ok(both_ways(SP_CUBE_I8, "-129", NULL) && both_ways(SP_CUBE_I8, "128", NULL) &&
		   both_ways(SP_CUBE_U64, "18446744073709551616", NULL) &&
		   both_ways(SP_CUBE_U8, "-1", NULL) && both_ways(SP_CUBE_U8, "", NULL) &&
		   both_ways(SP_CUBE_I32, "5.0", NULL) && both_ways(SP_CUBE_I32, "5 ", NULL),
	   "numbers out of range, and texts after a number, are refused");
	ok(both_ways(SP_CUBE_BYTES, "00fF7a", "00ff7a") &&
		   both_ways(SP_CUBE_BYTES, "00ff7", NULL) &&
		   both_ways(SP_CUBE_BYTES, "00ff7a1", NULL),
	   "opaque elements are two digits for each byte");
}

static void reals(const char *where)
{
	ok(both_ways(SP_CUBE_F32, "0.1", "0.1") && both_ways(SP_CUBE_F64, "0.1", "0.1") &&
		   both_ways(SP_CUBE_F64, "-1.5e300", "-1.5e+300") &&
		   both_ways(SP_CUBE_F64, "-inf", "-inf") && both_ways(SP_CUBE_F32, "nan", "nan"),
	   "%s: reals have a point", where);
	/* just above the middle of two f32; as f64 it is the middle, which rounds down */
	ok(both_ways(SP_CUBE_F32, "1.00000017881393432617187501", "1.0000002") &&
		   both_ways(SP_CUBE_F32, "16777217.0000000001", "16777218"),
	   "%s: an f32 is rounded once", where);
	ok(both_ways(SP_CUBE_F32, "1,5", NULL) && both_ways(SP_CUBE_F64, "1.000.000", NULL) &&
		   both_ways(SP_CUBE_F32, "1e39", NULL) && both_ways(SP_CUBE_F64, "1e309", NULL),
	   "%s: a comma, a second point, and what is too large are refused", where);
}

static void german(void)
{
	char text[8];

	if (!german_set()) {
		skip("numbers in a locale with a decimal comma", "needs localedef and de_DE");
		return;
	}
	reals("de_DE");
	snprintf(text, sizeof(text), "%.1f", 0.5);
	ok(!strcmp(text, "0,5"), "the locale of the program stays");
}

int main(void)
{
	names();
	integers();
	reals("C");
	german();
	german_remove();
	return done();
}
