/* SPDX-License-Identifier: MIT */
/*
 * Parsing records: random fields of all types, in lines and CSV, against sp__value_take() field by
 * field; errors name the first wrong record; fixed records.
 */
#include <string.h>
#include "base/rng.h"
#include "columns/textchunk.h"
#include "tap.h"

#define COLUMNS_MAX 8
#define RECORDS_MAX 400
#define FIELD_MAX 24

static const char *const type_names[] = { "i8",	      "i16",	  "i32",    "i64",	"u8",
					  "u16",      "u32",	  "u64",    "f64",	"date",
					  "char(3)",  "time",	  "text",   "dec8(1)",	"dict8",
					  "dec32(3)", "dec64(2)", "dict16", "dec64(12)" };
#define TYPES (sizeof(type_names) / sizeof(*type_names))

struct field {
	char text[FIELD_MAX];
	uint32_t n;
	bool quoted;
};

struct input {
	struct sp__schema schema;
	struct sp__textchunk_opts opts;
	struct sp__budget budget;
	struct field fields[RECORDS_MAX][COLUMNS_MAX];
	uint32_t records;
	char text[RECORDS_MAX * COLUMNS_MAX * 2 * FIELD_MAX];
	uint32_t bytes;
};

static struct sp__rng rng;
static struct input in;

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* Texts with quotes, separators and newlines only in CSV. */
static void random_text(struct field *f, bool csv)
{
	static const char of[] = "ab cdefgh0123\",\n";

	f->n = (uint32_t)below(10);
	for (uint32_t i = 0; i < f->n; i++)
		f->text[i] = of[below(csv ? 16 : 13)];
}

static void random_field(struct field *f, const struct sp__value_type *t, bool csv)
{
	uint8_t value[8];
	uint64_t v = sp__rng_next(&rng) >> below(64);
	double number = (double)(int64_t)v / 128;

	f->quoted = false;
	if (t->kind == 't' || t->kind == 'w') {
		random_text(f, csv);
		if (t->kind == 'w' && f->n > 1) /* at most 255 words */
			f->n = 1 + (f->text[0] == 'a');
	} else if (t->kind == 'c') {
		f->n = (uint32_t)below(4);
		memcpy(f->text, "xyz", 3);
	} else {
		if (t->kind == 'D' || t->kind == 'T')
			v %= 100000;
		memcpy(value, t->kind == 'f' ? (void *)&number : (void *)&v, 8);
		if (sp__value_null(t, value))
			value[0] ^= 1;
		f->n = (uint32_t)sp__value_write(t, value, in.text); /* then copied */
		memcpy(f->text, in.text, f->n);
	}
	if (!below(9))
		f->n = 0;
	f->quoted =
		csv && ((t->kind == 't' && !f->n && below(2)) || memchr(f->text, ',', f->n) ||
			memchr(f->text, '"', f->n) || memchr(f->text, '\n', f->n) || !below(20));
}

static char *put_field(char *to, const struct field *f)
{
	if (!f->quoted) {
		memcpy(to, f->text, f->n);
		return to + f->n;
	}
	*to++ = '"';
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->text[i] == '"')
			*to++ = '"';
		*to++ = f->text[i];
	}
	*to++ = '"';
	return to;
}

/* Makes a schema, records, and their text. */
static void make(bool csv)
{
	uint32_t n = (uint32_t)(1 + below(COLUMNS_MAX));
	bool trailing = below(3) == 0;
	char name[8], *to;

	in.schema = (struct sp__schema){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		const char *type = type_names[below(TYPES)];
		struct sp__value_type t;

		snprintf(name, sizeof(name), "c%u", i);
		if (sp__value_type_parse(&t, type, strlen(type)) ||
		    sp__schema_add(&in.schema, name, strlen(name), &t))
			abort();
	}
	in.schema.style.cr = csv && below(2);
	in.records = (uint32_t)(1 + below(RECORDS_MAX - 1));
	for (uint32_t r = 0; r < in.records; r++)
		for (uint32_t i = 0; i < n; i++)
			random_field(&in.fields[r][i], &in.schema.columns[i].type, csv);
	to = in.text;
	for (uint32_t r = 0; r < in.records; r++) {
		for (uint32_t i = 0; i < n; i++) {
			to = put_field(to, &in.fields[r][i]);
			if (i + 1 < n || trailing)
				*to++ = ',';
		}
		if (in.schema.style.cr)
			*to++ = '\r';
		*to++ = '\n';
	}
	in.bytes = (uint32_t)(to - in.text);
	in.opts = (struct sp__textchunk_opts){ .schema = &in.schema,
					       .fields = { ',', csv, n + trailing },
					       .max_records = (uint32_t)(1 + below(RECORDS_MAX)),
					       .text_bytes = in.bytes,
					       .budget = &in.budget };
}

/* True if a field stands for no value: an empty one in quotes is a text, or no number. */
static bool is_null(const struct field *f, const struct sp__value_type *t)
{
	const bool text = t->kind == 't' || t->kind == 'w' || t->kind == 'c';

	return !f->n && !(f->quoted && text);
}

/* True if value i of a column is that of the field. */
static bool same_value(const struct sp__textchunk *c, uint32_t column, uint32_t i,
		       const struct field *f)
{
	const struct sp__value_type *t = &in.schema.columns[column].type;
	const struct sp__column_values *v = &c->values[column];
	uint8_t want[8] = { 0 };
	struct sp__slice word;
	uint32_t code = 0;

	if (t->kind == 't') {
		if (is_null(f, t))
			return v->refs[i].bytes == SP__TEXT_REF_NULL;
		return v->refs[i].bytes == f->n && !memcmp(v->base + v->refs[i].at, f->text, f->n);
	}
	if (is_null(f, t))
		return sp__value_null(t, v->values + (size_t)i * t->bytes);
	if (t->kind == 'w') {
		memcpy(&code, v->values + (size_t)i * t->bytes, t->bytes);
		word = sp__dictionary_word(&in.schema.columns[column].words, code);
		return word.n == f->n && !memcmp(word.p, f->text, f->n);
	}
	if (sp__value_read(t, f->text, f->n, want))
		return false;
	return !memcmp(want, v->values + (size_t)i * t->bytes, t->bytes);
}

/* Parses the text; returns the number of wrong values; *records: that were parsed. */
static uint64_t parse(struct sp__textchunk *c, uint32_t *records)
{
	uint64_t wrong = 0;
	bool more = true;

	*records = 0;
	memcpy(c->text, in.text, in.bytes);
	sp__textchunk_begin(c, in.bytes);
	while (more) {
		more = sp__textchunk_parse(c);
		wrong += c->first != *records || sp__textchunk_add_words(c, &in.schema);
		sp__textchunk_map_words(c);
		for (uint32_t i = 0; i < c->records; i++, ++*records)
			for (uint32_t k = 0; k < in.schema.n; k++)
				wrong += !same_value(c, k, i, &in.fields[*records][k]);
	}
	return wrong;
}

/* A field that no value of its type has ends the text there. */
static bool impossible(const struct field *f, const struct sp__value_type *t)
{
	uint8_t value[8];

	if (t->kind == 't' || t->kind == 'w' || is_null(f, t))
		return false;
	return sp__value_read(t, f->text, f->n, value) != SP__VALUE_OK;
}

static void check_random(bool csv, const char *what)
{
	uint64_t wrong = 0, errors = 0, found = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct sp__textchunk c;
		uint32_t records, first = 0;

		make(csv);
		for (; first < in.records; first++) {
			uint32_t k = 0;

			while (k < in.schema.n &&
			       !impossible(&in.fields[first][k], &in.schema.columns[k].type))
				k++;
			if (k < in.schema.n)
				break;
		}
		if (sp__textchunk_open(&c, &in.opts))
			abort();
		wrong += parse(&c, &records);
		found += first < in.records;
		errors += c.error.fault !=
			  (first < in.records ? SP__TEXTCHUNK_VALUE : SP__TEXTCHUNK_SOUND);
		if (c.error.fault)
			errors += c.error.record != first || records > first;
		else
			errors += records != in.records;
		sp__textchunk_close(&c);
		sp__schema_free(&in.schema);
	}
	ok(!wrong, "%s: values are those of sp__value_take()", what);
	ok(!errors, "%s: a field that does not fit, in %u texts, is found in the first record",
	   what, (unsigned)found);
}

/* Parses a text of two columns, i32 and text; the caller closes the chunk. */
static void parse_text(struct sp__textchunk *c, const char *text, bool csv, uint32_t fields)
{
	const struct sp__value_type i32 = sp__value_types[SP__VALUE_I32], t = { 't', 0, 4 };

	in.schema = (struct sp__schema){ 0 };
	if (sp__schema_add(&in.schema, "a", 1, &i32) || sp__schema_add(&in.schema, "b", 1, &t))
		abort();
	in.bytes = (uint32_t)strlen(text);
	in.opts = (struct sp__textchunk_opts){ .schema = &in.schema,
					       .fields = { ',', csv, fields },
					       .max_records = 100,
					       .text_bytes = in.bytes,
					       .budget = &in.budget };
	if (sp__textchunk_open(c, &in.opts))
		abort();
	memcpy(c->text, text, in.bytes);
	sp__textchunk_begin(c, in.bytes);
	(void)sp__textchunk_parse(c);
}

struct wrong_text {
	const char *text;
	bool csv;
	uint32_t fields; /* of a record */
	enum sp__textchunk_fault fault;
	uint32_t record, found;
	uint64_t line;
	const char *what;
};

static void check_faults(void)
{
	static const struct wrong_text texts[] = {
		{ "1,a\n2\n", false, 2, SP__TEXTCHUNK_FIELDS, 1, 1, 1, "too few fields" },
		{ "1,a\n2,b,c\n", false, 2, SP__TEXTCHUNK_FIELDS, 1, 3, 1, "too many fields" },
		{ "1,a,\n2,b,c\n", false, 3, SP__TEXTCHUNK_FIELDS, 1, 3, 1,
		  "a field after the trailing separator" },
		{ "1,\"a\n\"\nx,b\n", true, 2, SP__TEXTCHUNK_VALUE, 1, 0, 2,
		  "a wrong value after a text of two lines" },
		{ "1,\xFF\n", false, 2, SP__TEXTCHUNK_VALUE, 0, 0, 0, "a text like NULL" },
		{ "-2147483648,\n", false, 2, SP__TEXTCHUNK_VALUE, 0, 0, 0, "a number like NULL" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct wrong_text *t = &texts[i];
		struct sp__textchunk c;

		parse_text(&c, t->text, t->csv, t->fields);
		ok(c.error.fault == t->fault && c.error.record == t->record &&
			   c.error.fields == t->found && c.error.line == t->line,
		   "error: %s", t->what);
		sp__textchunk_close(&c);
		sp__schema_free(&in.schema);
	}
}

static void check_styles(void)
{
	static const struct {
		const char *text;
		bool csv, exact;
	} texts[] = {
		{ "1,a\n-5,\n", false, true },	{ "01,a\n", false, false },
		{ "+1,a\n", false, false },	{ "-0,a\n", false, false },
		{ "1,a\"b\n", false, true },	{ "1,a\"b\n", true, false },
		{ "1,\"a,b\"\n", true, true },	{ "1,\"ab\"\n", true, false },
		{ "\"1\",ab\n", true, false },	{ "1,\"\"\n", true, true },
		{ "1,ab\r\n", true, false },	{ "1,a\rb\n", true, false },
		{ "1,\"a\rb\"\n", true, true },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sp__textchunk c;

		parse_text(&c, texts[i].text, texts[i].csv, 2);
		wrong += c.error.fault != 0 || (c.inexact || c.other_ends) == texts[i].exact;
		sp__textchunk_close(&c);
		sp__schema_free(&in.schema);
	}
	ok(!wrong, "other spellings than those of the style are noticed");
}

int main(void)
{
	rng.state = 34;
	sp__budget_init(&in.budget, 1 << 30);
	check_random(false, "lines");
	check_random(true, "CSV");
	check_faults();
	check_styles();
	return done();
}
