/* SPDX-License-Identifier: MIT */
/*
 * Types of columns: numbers in several spellings; the first type of a list that every field
 * allows, as a naive search finds it; dictionaries and their memory.
 */
#include <string.h>
#include "base/rng.h"
#include "columns/infer.h"
#include "rec/value.h"
#include "tap.h"

#define FIELDS_MAX 400
#define FIELD_BYTES 40
#define MEMORY (1u << 20)

struct fields {
	unsigned n;
	char text[FIELDS_MAX][FIELD_BYTES];
	size_t bytes[FIELDS_MAX];
};

static const struct sp__value_type text_type = { 't', 0, 4 };

static void add_field(struct fields *f, const char *text)
{
	f->bytes[f->n] = strlen(text);
	memcpy(f->text[f->n++], text, strlen(text) + 1);
}

static bool exact; /* types must give the fields back */

/* Infers from fields [from, to), which are not quoted. */
static bool infer(struct sp__inference *inf, const struct fields *f, unsigned from, unsigned to)
{
	if (sp__inference_init(inf, 1, MEMORY, NULL))
		return false;
	inf->exact = exact;
	for (; from < to; from++) {
		struct sp__slice field = { f->text[from], f->bytes[from] };

		if (field.n && sp__inference_add(inf, 0, &field))
			return false;
	}
	return true;
}

static struct sp__value_type type_whole(const struct fields *f)
{
	struct sp__inference inf;
	struct sp__value_type t = { 0 };

	if (infer(&inf, f, 0, f->n))
		t = sp__inference_type(&inf, 0, true, NULL);
	sp__inference_free(&inf);
	return t;
}

/* True if the type of fields that a blank separates is `want`. */
static bool becomes(const char *list, const char *want)
{
	struct fields f = { 0 };
	char copy[400], *rest = copy, *field, got[SP__VALUE_TYPE_TEXT];
	struct sp__value_type t;
	size_t n;

	strcpy(copy, list);
	while ((field = strsep(&rest, "|")))
		add_field(&f, field);
	t = type_whole(&f);
	n = sp__value_type_print(&t, got);
	if (n != strlen(want) || memcmp(got, want, n) != 0)
		diag("%s is %.*s, not %s", list, (int)n, got, want);
	return n == strlen(want) && !memcmp(got, want, n);
}

/* The fields come back as they are. */
static void check_exact(void)
{
	exact = true;
	ok(becomes("1|-127|127", "i8") && becomes("0|254", "u8") && becomes("255", "i16") &&
		   becomes("-128", "i16") && becomes("-1|128", "i16") && becomes("65534", "u16") &&
		   becomes("65535", "i32") && becomes("4294967294", "u32") &&
		   becomes("9223372036854775807|-1", "i64") &&
		   becomes("18446744073709551614", "u64") &&
		   becomes("18446744073709551614|-1", "text") &&
		   becomes("18446744073709551615|1", "text"),
	   "integers have the narrowest type without NULL");
	ok(becomes("1.5|-0.1", "dec8(1)") && becomes("12.50|1.00", "dec16(2)") &&
		   becomes("1.28", "dec16(2)") && becomes("0.000000000000000001", "dec8(18)") &&
		   becomes("1.5|1", "f64") && becomes("1.5|1.25", "f64") &&
		   becomes("1.5|1.50", "text") && becomes("0.5|1e+22", "f64") &&
		   becomes("0.00001|0.1", "text") && becomes("1e-05|0.1", "f64"),
	   "decimals are dec with one number of places, else f64 if it gives the bytes");
	ok(becomes("007|1", "text") && becomes("+1|1", "text") && becomes("-0|1", "f64") &&
		   becomes("-0.0|1", "text") && becomes("1 |1", "text") &&
		   becomes("1.|1", "text") && becomes(".5|1", "text") && becomes("1e3|1", "text") &&
		   becomes("nan|1", "f64"),
	   "a number that is spelled otherwise makes a column text");
	ok(becomes("1970-01-01|2024-02-29", "date") && becomes("2023-02-29", "char(10)") &&
		   becomes("1970-01-01 00:00:00", "time") &&
		   becomes("1970-01-01 00:00:00.25|2000-01-01 00:00:00.00", "time(2)") &&
		   becomes("1970-01-01 00:00:00.5|2000-01-01 00:00:00", "text") &&
		   becomes("1970-01-01|1970-01-01 00:00:00", "text"),
	   "dates and times");
	ok(becomes("ab|cd|ef", "char(2)") && becomes("ab|c", "text") && becomes("", "text") &&
		   becomes("||5|", "i8") && becomes("a|a|a|a", "dict8") &&
		   becomes("a|a|a|bb|a|a|a|bb", "dict8") && becomes("a|a|a|bb|a|a|bb", "text"),
	   "texts are words that occur four times, chars of one length, or text");
	exact = false;
}

static enum sp__infer_note note_of(const char *list)
{
	struct fields f = { 0 };
	char copy[400], *rest = copy, *field;
	enum sp__infer_note note = SP__INFER_GIVEN;
	struct sp__inference inf;

	strcpy(copy, list);
	while ((field = strsep(&rest, "|")))
		add_field(&f, field);
	if (infer(&inf, &f, 0, f.n))
		(void)sp__inference_type(&inf, 0, true, &note);
	sp__inference_free(&inf);
	return note;
}

/* Values are those of the fields, in any spelling. */
static void check_spellings(void)
{
	ok(becomes("10.0|9.25", "f64") && becomes("1e-7|1.0", "f64") && becomes("1E5|2", "f64") &&
		   becomes("1.5|1.50", "f64") && becomes("1.5|1.25", "f64") &&
		   becomes("NaN|1.5", "f64") && becomes("0.10000000000000001|0.25", "f64"),
	   "numbers in several spellings are f64");
	ok(becomes("+5|3", "i8") && becomes(" 5|6", "i8") && becomes("5.|6", "i8") &&
		   becomes(".5|1.5", "dec8(1)") && becomes("+9007199254740993|1", "i64"),
	   "with one number of places they are exact");
	ok(becomes("9007199254740993|1.5", "dec64(1)") &&
		   becomes("123456789.123456789|-1.25|3", "dec64(9)") &&
		   becomes("0.123456789012345678|7.5", "dec64(18)"),
	   "numbers that f64 would round are decimals with all places");
	ok(becomes("3.14159265358979323846|1.5", "text") && becomes("1e400|1.5", "text") &&
		   becomes("18446744073709551615|1", "text") &&
		   becomes("9223372036854775807|1.5", "text") &&
		   note_of("3.14159265358979323846|1.5") == SP__INFER_TOO_LONG &&
		   note_of("18446744073709551615|1") == SP__INFER_TOO_LONG,
	   "numbers that no type holds are text, which is said");
	ok(becomes("007|012", "char(3)") && becomes("007|1", "i8") &&
		   becomes("00.5|01.5", "dec8(1)") && note_of("007|012") == SP__INFER_CANONICAL &&
		   note_of("007|1") == SP__INFER_RESPELLED,
	   "digits of one length that begin with zeros are texts");
	ok(becomes("1970-01-01 00:00:00.5|2000-01-01 00:00:00", "time(1)") &&
		   becomes("1970-01-01|1970-01-01 00:00:00", "time") &&
		   note_of("1970-01-01|1970-01-01 00:00:00") == SP__INFER_RESPELLED,
	   "dates and times together are times with the most decimals");
	ok(becomes("NaN|Inf|NAN", "char(3)") && becomes("1|xy", "text") &&
		   note_of("1|x") == SP__INFER_CANONICAL && note_of("1|2") == SP__INFER_CANONICAL,
	   "words are not numbers");
}

/* A random field of one of several forms. */
static void random_field(struct sp__rng *rng, unsigned form, char text[FIELD_BYTES])
{
	static const uint64_t limits[] = { 127,	       128,	  254,		 255,
					   32767,      65534,	  65535,	 2147483647,
					   4294967294, INT64_MAX, UINT64_MAX - 1 };
	uint64_t v = limits[sp__rng_below(rng, sizeof(limits) / sizeof(*limits))];
	const char *sign = sp__rng_below(rng, 4) ? "" : "-";
	unsigned places = form % 5 + 1;

	v = sp__rng_below(rng, 8) ? sp__rng_below(rng, v) : v;
	if (form < 4)
		snprintf(text, FIELD_BYTES, "%s%llu", form < 2 ? sign : "", (unsigned long long)v);
	else if (form < 10)
		snprintf(text, FIELD_BYTES, "%s%llu.%0*u", sign,
			 (unsigned long long)v % (form < 7 ? 100 : 1000000), (int)places,
			 (unsigned)sp__rng_below(rng, 10));
	else if (form < 12)
		snprintf(text, FIELD_BYTES, "%.*g", 3 + (int)sp__rng_below(rng, 15),
			 (double)sp__rng_next(rng) / 1e10);
	else if (form < 14)
		snprintf(text, FIELD_BYTES, "20%02u-%02u-%02u", (unsigned)sp__rng_below(rng, 100),
			 1 + (unsigned)sp__rng_below(rng, 12),
			 1 + (unsigned)sp__rng_below(rng, form == 12 ? 28 : 31));
	else if (form < 16)
		snprintf(text, FIELD_BYTES, "2024-02-%02u 12:34:56.%0*u",
			 1 + (unsigned)sp__rng_below(rng, 29), (int)places, 7u);
	else
		snprintf(text, FIELD_BYTES, "w%llu", (unsigned long long)sp__rng_below(rng, v));
}

static void random_fields(struct sp__rng *rng, struct fields *f)
{
	unsigned form = (unsigned)sp__rng_below(rng, 18), n = 1 + (unsigned)sp__rng_below(rng, 60);
	char text[FIELD_BYTES];

	f->n = 0;
	while (f->n < n) {
		random_field(rng, sp__rng_below(rng, 40) ? form : (unsigned)sp__rng_below(rng, 18),
			     text);
		add_field(f, sp__rng_below(rng, 10) ? text : "");
	}
}

/* True if each field that is not NULL is a canonical value of the type. */
static bool all_are(const struct fields *f, const struct sp__value_type *t)
{
	uint8_t value[FIELD_BYTES];
	bool canonical = true;

	for (unsigned i = 0; i < f->n; i++)
		if (f->bytes[i] &&
		    (sp__value_take(t, f->text[i], f->bytes[i], value, &canonical) || !canonical))
			return false;
	return true;
}

/* Finds the type of numbers, dates and times by trying all; text: none of them. */
static struct sp__value_type tried(const struct fields *f)
{
	static const char *const names[] = { "i8",  "u8",  "i16", "u16",  "i32",  "u32",
					     "i64", "u64", "dec", "date", "time", "f64" };
	unsigned values = 0;

	for (unsigned i = 0; i < f->n; i++)
		values += f->bytes[i] != 0;
	for (unsigned k = 0; values && k < sizeof(names) / sizeof(*names); k++) {
		bool many = names[k][0] == 'd' && names[k][1] == 'e', time = names[k][0] == 't';
		struct sp__value_type t;

		for (unsigned bytes = 1; many && bytes <= 8; bytes *= 2)
			for (uint8_t places = 1; places <= SP__DEC_PLACES; places++) {
				t = (struct sp__value_type){ 'd', places, bytes };
				if (all_are(f, &t))
					return t;
			}
		if (many || sp__value_type_parse(&t, names[k], strlen(names[k])))
			continue;
		for (t.decimals = 0; t.decimals <= (time ? 6 : 0); t.decimals++)
			if (all_are(f, &t))
				return t;
	}
	return text_type;
}

static bool is_text(const struct sp__value_type *t)
{
	return t->kind == 't' || t->kind == 'c' || t->kind == 'w';
}

static void check_random(void)
{
	struct sp__rng rng = { 34 };
	static struct fields f;
	unsigned wrong = 0, texts = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct sp__value_type want, got;

		random_fields(&rng, &f);
		want = tried(&f);
		got = type_whole(&f);
		texts += is_text(&got);
		if (is_text(&want) ? is_text(&got) : sp__value_type_same(&want, &got))
			continue;
		wrong++;
		diag("case %u: %c%u(%u), not %c%u(%u)", i, got.kind, got.bytes, got.decimals,
		     want.kind, want.bytes, want.decimals);
	}
	ok(!wrong, "the type is the first that all fields allow");
	ok(texts > 200 && texts < 3800, "of the random columns some are text");
}

/* Returns the type of a column with these words, four times each. */
static struct sp__value_type type_of_words(unsigned words, bool whole, uint64_t memory,
					   struct sp__budget *budget)
{
	struct sp__inference inf;
	struct sp__value_type t = { 0 };
	char text[16];
	bool good = !sp__inference_init(&inf, 1, memory, budget);

	for (unsigned i = 0; good && i < 4 * words; i++) {
		snprintf(text, sizeof(text), "word%u", i % words);
		good = !sp__inference_add(&inf, 0, &(struct sp__slice){ text, strlen(text) });
	}
	if (good)
		t = sp__inference_type(&inf, 0, whole, NULL);
	sp__inference_free(&inf);
	return t;
}

static void check_words(void)
{
	struct sp__budget budget;
	struct sp__inference inf;
	struct sp__value_type t;

	sp__budget_init(&budget, 100 << 20);
	ok(type_of_words(255, true, MEMORY, NULL).bytes == 1 &&
		   type_of_words(256, true, MEMORY, NULL).bytes == 2 &&
		   type_of_words(127, false, MEMORY, NULL).bytes == 1 &&
		   type_of_words(128, false, MEMORY, NULL).bytes == 2 &&
		   type_of_words(65535, true, 4 * MEMORY, &budget).bytes == 2 &&
		   type_of_words(65536, true, 4 * MEMORY, &budget).kind == 't' &&
		   type_of_words(32768, false, 4 * MEMORY, &budget).kind == 't',
	   "words fit into dict8 or dict16; a sample leaves half of the codes");
	ok(type_of_words(5000, true, MEMORY / 16, &budget).kind == 't' && !budget.used_bytes,
	   "words that need too much memory become text, and release theirs");
	sp__budget_init(&budget, 10000);
	ok(type_of_words(5000, true, MEMORY, &budget).kind == 't' && !budget.used_bytes &&
		   budget.peak_bytes <= 10000,
	   "words become text if the budget is exhausted");
	if (sp__inference_init(&inf, 1, MEMORY, NULL) ||
	    sp__inference_add(&inf, 0, &(struct sp__slice){ "1", 1 }) ||
	    sp__inference_add(&inf, 0, &(struct sp__slice){ "", 0 }))
		return;
	t = sp__inference_type(&inf, 0, true, NULL);
	ok(t.kind == 't', "an empty field that is not NULL is a text");
	sp__inference_free(&inf);
}

int main(void)
{
	check_exact();
	check_spellings();
	exact = true;
	check_random();
	exact = false;
	check_words();
	return done();
}
