/* SPDX-License-Identifier: MIT */
/* Values of tables: names of types, the ends of each type, spellings, NULL, order. */
#include <math.h>
#include <string.h>
#include "rec/value.h"
#include "tap.h"

static struct sp__value_type type_of(const char *name)
{
	struct sp__value_type t = { 0 };

	if (sp__value_type_parse(&t, name, strlen(name)))
		diag("%s is not a type", name);
	return t;
}

/* True if the type has the bytes and decimals, and is printed again, as `printed` if given. */
static bool is_type(const char *name, char kind, unsigned bytes, unsigned decimals,
		    const char *printed)
{
	struct sp__value_type t = type_of(name);
	char text[SP__VALUE_TYPE_TEXT];
	size_t n = sp__value_type_print(&t, text);

	printed = printed ? printed : name;
	return t.kind == kind && t.bytes == bytes && t.decimals == decimals &&
	       n == strlen(printed) && !memcmp(text, printed, n);
}

static bool no_type(const char *name)
{
	struct sp__value_type t;

	return sp__value_type_parse(&t, name, strlen(name)) == SP_ESYNTAX;
}

static void types(void)
{
	ok(is_type("i8", 'i', 1, 0, NULL) && is_type("u64", 'u', 8, 0, NULL) &&
		   is_type("f32", 'f', 4, 0, NULL) && is_type("dec8(0)", 'd', 1, 0, NULL) &&
		   is_type("dec16(2)", 'd', 2, 2, NULL) &&
		   is_type("dec(18)", 'd', 8, 18, "dec64(18)") &&
		   is_type("date", 'D', 4, 0, NULL) && is_type("time", 'T', 8, 0, NULL) &&
		   is_type("time(0)", 'T', 8, 0, "time") && is_type("time(6)", 'T', 8, 6, NULL) &&
		   is_type("char(1)", 'c', 1, 0, NULL) &&
		   is_type("char(65528)", 'c', 65528, 0, NULL) &&
		   is_type("text", 't', 4, 0, NULL) && is_type("dict8", 'w', 1, 0, NULL) &&
		   is_type("dict16", 'w', 2, 0, NULL),
	   "types are parsed and printed");
	ok(no_type("") && no_type("i") && no_type("i9") && no_type("bytes") && no_type("I8") &&
		   no_type("dec8") && no_type("dec") && no_type("dec(19)") && no_type("dec(-1)") &&
		   no_type("dec(2") && no_type("dec(2))") && no_type("dec(02)") &&
		   no_type("dec()") && no_type("time(7)") && no_type("char") &&
		   no_type("char(0)") && no_type("char(65529)") && no_type("text(0)") &&
		   no_type("i8(1)") && no_type("char(18446744073709551617)") && no_type("i8 "),
	   "other texts are not types");
}

/* True if the type reads the text, and writes `want`; "" for want: the text itself. */
static bool reads(const char *type, const char *text, const char *want)
{
	struct sp__value_type t = type_of(type);
	char got[SP__VALUE_SPACE + 100];
	bool canonical = true, same = !*want || !strcmp(text, want);
	uint8_t v[100];
	size_t n;

	if (sp__value_take(&t, text, strlen(text), v, &canonical))
		return false;
	want = *want ? want : text;
	n = sp__value_write(&t, v, got);
	if (n != strlen(want) || memcmp(got, want, n) != 0 || canonical != same)
		diag("%s %s became %.*s (canonical %d)", type, text, (int)n, got, canonical);
	return n == strlen(want) && !memcmp(got, want, n) && canonical == same &&
	       !sp__value_null(&t, v) && sp__value_check(&t, v) == SP__VALUE_OK;
}

static enum sp__value_fit fit(const char *type, const char *text)
{
	struct sp__value_type t = type_of(type);
	uint8_t v[100];

	return sp__value_read(&t, text, strlen(text), v);
}

static bool malformed(const char *type, const char *text)
{
	return fit(type, text) == SP__VALUE_MALFORMED;
}

static bool out_of_range(const char *type, const char *text)
{
	return fit(type, text) == SP__VALUE_RANGE;
}

static bool reserved(const char *type, const char *text)
{
	return fit(type, text) == SP__VALUE_RESERVED;
}

static void integers(void)
{
	ok(reads("i8", "-127", "") && reads("i8", "127", "") && reads("u8", "254", "") &&
		   reads("i16", "-32767", "") && reads("u16", "65534", "") &&
		   reads("i32", "-2147483647", "") && reads("u32", "4294967294", "") &&
		   reads("i64", "-9223372036854775807", "") &&
		   reads("i64", "9223372036854775807", "") &&
		   reads("u64", "18446744073709551614", "") && reads("u64", "0", ""),
	   "the ends of integer types come back");
	ok(reserved("i8", "-128") && reserved("u8", "255") && reserved("i16", "-32768") &&
		   reserved("u16", "65535") && reserved("i32", "-2147483648") &&
		   reserved("u32", "4294967295") && reserved("i64", "-9223372036854775808") &&
		   reserved("u64", "18446744073709551615") && reserved("dec8(2)", "-1.28"),
	   "NULL of a type is not a value");
	ok(out_of_range("i8", "128") && out_of_range("i8", "-129") && out_of_range("u8", "256") &&
		   out_of_range("u8", "-1") && out_of_range("u8", "-255") &&
		   out_of_range("u64", "18446744073709551616") &&
		   out_of_range("i64", "9223372036854775808") &&
		   out_of_range("i64", "99999999999999999999999999999999") &&
		   out_of_range("i32", "1.5"),
	   "other numbers are out of range");
	ok(malformed("i8", "") && malformed("i8", "-") && malformed("i8", "+-1") &&
		   malformed("i8", "1 2") && malformed("i8", ".") && malformed("i8", "1e1") &&
		   malformed("i8", "0x1") && malformed("i8", "1:") && malformed("i8", "/1") &&
		   malformed("u64", "12345678 ,") && malformed("i8", "  "),
	   "other texts are malformed");
	ok(reads("i8", "+7", "7") && reads("i8", "007", "7") && reads("i8", "-0", "0") &&
		   reads("u8", "-0", "0") && reads("i8", " 7\t", "7") && reads("i8", "7.", "7") &&
		   reads("i8", "7.000000000000000000000000", "7") && reads("i8", "-.0", "0") &&
		   reads("u64", "00000000000000000000000000018446744073709551614",
			 "18446744073709551614"),
	   "other spellings are read, and reported");
}

static void decimals(void)
{
	ok(reads("dec16(2)", "12.50", "") && reads("dec16(2)", "-0.05", "") &&
		   reads("dec8(0)", "7", "") && reads("dec64(18)", "9.223372036854775807", "") &&
		   reads("dec64(18)", "-0.000000000000000001", "") &&
		   reads("dec32(9)", "0.000000001", "") && reads("dec16(2)", "-327.67", "") &&
		   reads("dec64(9)", "9223372036.854775807", ""),
	   "decimals come back");
	ok(reads("dec16(2)", "1.5", "1.50") && reads("dec16(2)", "1", "1.00") &&
		   reads("dec16(2)", ".5", "0.50") && reads("dec16(2)", "1.500", "1.50") &&
		   reads("dec16(2)", "01.50", "1.50") && reads("dec16(2)", "-0.00", "0.00") &&
		   reads("dec16(1)", "1.50000000000000000000000000", "1.5"),
	   "other spellings of decimals are read, and reported");
	ok(out_of_range("dec16(2)", "1.505") && out_of_range("dec16(2)", "327.68") &&
		   out_of_range("dec64(18)", "10") && malformed("dec16(2)", "1.5.0") &&
		   malformed("dec16(2)", "1,5"),
	   "more places or digits are out of range");
}

static bool wider(const char *type, const char *text, const char *want)
{
	struct sp__value_type t = type_of(type);
	struct sp__value_type to = sp__value_type_wider(&t, text, strlen(text));
	char got[SP__VALUE_TYPE_TEXT];
	size_t n = sp__value_type_print(&to, got);

	if (n != strlen(want) || memcmp(got, want, n) != 0)
		diag("%s and %s: %.*s", type, text, (int)n, got);
	return n == strlen(want) && !memcmp(got, want, n);
}

static void floats(void)
{
	uint32_t bits = 0x7FC04E55u;
	struct sp__value_type t = type_of("f32");

	ok(reads("f64", "0.1", "") && reads("f64", "1e+22", "") && reads("f64", "-0", "") &&
		   reads("f64", "inf", "") && reads("f32", "nan", "") &&
		   reads("f64", "1.7976931348623157e+308", "") && reads("f32", "16777218", ""),
	   "floats come back");
	ok(reads("f64", "1.50", "1.5") && reads("f64", " 1 ", "1") &&
		   reads("f64", "1e22", "1e+22") && reads("f32", "0.100000001", "0.1") &&
		   reads("f64", "+.5", "0.5"),
	   "other spellings of floats are read, and reported");
	ok(out_of_range("f64", "1e309") && out_of_range("f32", "-3.5e38") &&
		   wider("f32", "1e39", "f64"),
	   "floats that are too large are out of range");
	ok(malformed("f64", "") && malformed("f64", "0x1p3") && malformed("f64", "nan(1)") &&
		   malformed("f64", "1,5") && malformed("f64", "1e") && malformed("f64", "x"),
	   "other texts are not floats");
	ok(sp__value_check(&t, &bits) == SP__VALUE_RESERVED, "one NaN is reserved");
}

static void calendar(void)
{
	int32_t days = 2932897;
	struct sp__value_type t = type_of("date");

	ok(reads("date", "0000-01-01", "") && reads("date", "9999-12-31", "") &&
		   reads("time", "2001-09-09 01:46:40", "") &&
		   reads("time(2)", "2001-09-09 01:46:40.50", "") &&
		   reads("time(6)", "1969-12-31 23:59:59.999999", ""),
	   "dates and times come back");
	ok(reads("date", " 1970-01-02 ", "1970-01-02") &&
		   reads("time", "2001-09-09T01:46:40", "2001-09-09 01:46:40") &&
		   reads("time(1)", "2001-09-09", "2001-09-09 00:00:00.0") &&
		   reads("time(1)", "2001-09-09 01:46:40.500", "2001-09-09 01:46:40.5"),
	   "other spellings of dates and times are read, and reported");
	ok(malformed("date", "1970-02-29") && malformed("date", "1970-1-1") &&
		   malformed("date", "") && malformed("time", "2001-09-09T") &&
		   malformed("time", "2001-09-09x01:46:40") &&
		   out_of_range("time(1)", "2001-09-09 01:46:40.55"),
	   "other texts are not dates or times of the type");
	ok(sp__value_check(&t, &days) == SP__VALUE_RANGE, "days after 9999 are out of range");
}

static void texts(void)
{
	struct sp__value_type t = type_of("char(3)");
	uint8_t v[3];

	ok(reads("char(3)", "abc", "") && reads("char(3)", "", "") && reads("char(3)", " a", ""),
	   "a text of a given length comes back, with its blanks");
	ok(out_of_range("char(3)", "abcd") && reserved("char(3)", "\xFF") &&
		   sp__value_read(&t, "a\0", 2, v) == SP__VALUE_MALFORMED &&
		   sp__value_read(&t, "a\0b", 3, v) == SP__VALUE_OK,
	   "a text that is too long, NULL, or ends with a zero byte is refused");
	ok(sp__text_null("\xFFx", 2) && !sp__text_null("\xFF", 0) && !sp__text_null("x\xFF", 2),
	   "a text is NULL by its first byte");
}

static void nulls(void)
{
	static const char *const names[] = { "i8",    "u8",    "i16",	  "u16",     "i32",
					     "u32",   "i64",   "u64",	  "f32",     "f64",
					     "date",  "time",  "char(5)", "dec8(1)", "dec64(1)",
					     "dict8", "dict16" };
	bool good = true;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct sp__value_type t = type_of(names[i]);
		uint8_t v[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };

		good = good && !sp__value_null(&t, v);
		sp__value_set_null(&t, v);
		good = good && sp__value_null(&t, v) && v[t.bytes] == 1 &&
		       sp__value_check(&t, v) == SP__VALUE_RESERVED;
	}
	ok(good, "NULL of each type is found again, in its bytes");
}

static int compared(const char *type, const char *a, const char *b)
{
	struct sp__value_type t = type_of(type);
	uint8_t va[8] = { 0 }, vb[8] = { 0 };
	int d;

	if (sp__value_read(&t, a, strlen(a), va) || sp__value_read(&t, b, strlen(b), vb))
		return 9;
	d = sp__value_compare(&t, va, vb);
	return d && d != -sp__value_compare(&t, vb, va) ? 9 : (d > 0) - (d < 0);
}

static void order(void)
{
	ok(compared("i8", "-1", "1") < 0 && compared("u8", "200", "1") == 1 &&
		   compared("dec16(2)", "-1.5", "-1.50") == 0 &&
		   compared("u64", "18446744073709551614", "1") == 1 &&
		   compared("f64", "nan", "inf") == 1 && compared("f32", "nan", "nan") == 0 &&
		   compared("f64", "-0", "0") == 0 && compared("f32", "-inf", "-1") < 0 &&
		   compared("date", "1969-12-31", "1970-01-01") < 0 &&
		   compared("time", "1969-12-31", "1970-01-01") < 0 &&
		   compared("char(4)", "ab", "abc") < 0 && compared("char(4)", "\x80", "a") == 1,
	   "values have an order, NaN last");
}

static void widening(void)
{
	ok(wider("i8", "-128", "i16") && wider("i8", "70000", "i32") && wider("u8", "255", "u16") &&
		   wider("u8", "-1", "i16") && wider("u16", "-1", "i32") &&
		   wider("u64", "-1", "text") && wider("i64", "9223372036854775808", "text") &&
		   wider("u32", "-1", "i64"),
	   "a wider integer holds the values of both");
	ok(wider("i8", "1.5", "dec16(1)") && wider("dec8(1)", "1.25", "dec16(2)") &&
		   wider("dec8(1)", "12.8", "dec16(1)") && wider("i64", "1.5", "text") &&
		   wider("i32", "1e6", "f64") && wider("i64", "1e6", "text") &&
		   wider("f32", "x", "text") && wider("i8", "", "text"),
	   "a number with decimals needs dec, one with an exponent f64");
	ok(wider("date", "1970-01-01 00:00:00.5", "time(1)") &&
		   wider("time", "1970-01-01 00:00:00.123456", "time(6)") &&
		   wider("date", "x", "text") && wider("char(3)", "abcd", "char(4)") &&
		   wider("char(3)", "\xFF", "text") && wider("dict8", "x", "dict16") &&
		   wider("dict16", "x", "text"),
	   "dates become times, other texts text");
}

int main(void)
{
	types();
	integers();
	decimals();
	floats();
	calendar();
	texts();
	nulls();
	order();
	widening();
	return done();
}
