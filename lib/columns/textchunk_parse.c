/* SPDX-License-Identifier: MIT */
/*
 * Parses chunks: the ends of the fields of many records, then column by column their values.
 *
 * Each kind of type has a loop of its own, whose common form is inlined (each()).  Numbers of up to
 * 16 digits are converted 8 digits at a time; other values, and those that are not canonical, by
 * sp__value_take().
 */
#include <string.h>
#include "base/minmax.h"
#include "columns/vector.h"
#include "columns/textchunk.h"
#include "rec/numeral.h"
#include "rec/recfmt.h"
#include "rec/value.h"

/* Records of fixed length: the columns one behind the other, as they are stored. */

#define HAS(type)                                                                                  \
	for (uint32_t i = 0; i < n; i++) {                                                         \
		type v;                                                                            \
		memcpy(&v, values + (size_t)i * sizeof(v), sizeof(v));                             \
		found |= v == (type)bits;                                                          \
	}                                                                                          \
	break

/* True if one of the values has the bits of NULL, the only ones that a number must not have. */
static bool has_null(const struct sp__value_type *t, const uint8_t *values, uint32_t n)
{
	uint64_t bits = sp__value_null_bits(t);
	bool found = false;

	switch (t->bytes) {
	case 1:
		HAS(uint8_t);
	case 2:
		HAS(uint16_t);
	case 4:
		HAS(uint32_t);
	default:
		HAS(uint64_t);
	}
	return found;
}

static bool is_number(const struct sp__value_type *t)
{
	return t->kind == 'i' || t->kind == 'u' || t->kind == 'd' || t->kind == 'f';
}

/* Notes the first wrong value of a column, unless an earlier record has one. */
static void check(struct sp__textchunk *c, uint32_t column, uint32_t n)
{
	const struct sp__value_type *t = &c->opts->schema->columns[column].type;
	const uint8_t *v = c->columns[column].values;

	if (is_number(t) && !has_null(t, v, n))
		return;
	for (uint32_t i = 0; i < n; i++, v += t->bytes) {
		enum sp__value_fit fit = sp__value_check(t, v);

		if (fit == SP__VALUE_OK)
			continue;
		if (!c->error.fault || c->error.record > c->first + i)
			c->error = (struct sp__textchunk_error){ .fault = SP__TEXTCHUNK_VALUE,
								 .fit = fit,
								 .record = c->first + i,
								 .column = column };
		return;
	}
}

/* Takes the values of a chunk of records of fixed length. */
static bool take_fixed(struct sp__textchunk *c)
{
	const struct sp__schema *s = c->opts->schema;
	const uint32_t bytes = c->opts->record_bytes;
	uint32_t n = (uint32_t)sp__min((c->bytes - c->at) / bytes, c->opts->max_records);
	const uint8_t *from = (const uint8_t *)c->text + c->at;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t width = s->columns[i].type.bytes;

		sp__strided_copy(c->columns[i].values, width, from, bytes, width, n);
		check(c, i, n);
		from += width;
	}
	if (c->error.fault)
		return false;
	c->records = n;
	c->at += n * bytes;
	return c->at < c->bytes;
}

/* A column of a block: consecutive records whose field ends are known. */
struct block {
	struct sp__textchunk *chunk;
	const struct sp__value_type *type;
	struct sp__textchunk_column *to;
	uint32_t column, records;
	uint64_t reserved; /* bits of NULL */
	uint64_t power;	   /* 10 ^ decimals */
	const char *null_text;
	size_t null_bytes;
	bool null_quoted; /* NULL is in quotes */
	enum sp__textchunk_check check;
	enum sp__textchunk_fault fault; /* fault of a value that is refused */
	bool canonical;			/* quotes are those of the style */
	bool respelled;
	int rc; /* error of a dictionary */
};

typedef enum sp__value_fit (*take_fn)(struct block *b, const char *p, uint32_t n, uint8_t *to);

/* Notes an error of a block's record, unless an earlier record has one. */
static void note(struct block *b, enum sp__textchunk_fault fault, enum sp__value_fit fit,
		 uint32_t i, const char *text, uint32_t bytes)
{
	struct sp__textchunk *c = b->chunk;
	uint32_t record = c->first + c->records + i;

	if (c->error.fault && c->error.record <= record)
		return;
	c->error = (struct sp__textchunk_error){ .fault = fault,
						 .fit = fit,
						 .rc = b->rc,
						 .record = record,
						 .column = b->column,
						 .text = text,
						 .bytes = bytes };
}

/* Removes the quotes of a field in its place; what is left over becomes quotes. */
static uint32_t unquote(char *p, uint32_t n)
{
	const char *to = (char *)sp__csv_unquote(p, p + n, (unsigned char *)p);
	const uint32_t bytes = (uint32_t)(to - p);

	memset(p + bytes, '"', n - bytes);
	return bytes;
}

/* True if a field must have quotes. */
static bool needs_quotes(const struct block *b, const char *p, uint32_t n)
{
	return (!b->null_quoted && n == b->null_bytes && !memcmp(p, b->null_text, n)) ||
	       memchr(p, b->chunk->opts->fields.separator, n) || memchr(p, '"', n) ||
	       memchr(p, '\n', n) || memchr(p, '\r', n);
}

/* True if the schema's style writes this field with or without quotes, as it was read. */
static bool same_quotes(const struct block *b, const char *p, uint32_t n, bool quoted, bool is_text)
{
	enum sp__columns_quoting quoting = b->chunk->opts->schema->style.quoting;

	if (!n && b->null_quoted)
		return !quoted;
	if (quoting == SP__QUOTES_ALL || (quoting == SP__QUOTES_TEXT && is_text))
		return quoted;
	if (!quoted)
		return !is_text || !memchr(p, '\r', n);
	return is_text && needs_quotes(b, p, n);
}

/* Returns the fault of a value that was not taken. */
static enum sp__textchunk_fault fault_of(const struct block *b)
{
	if (b->fault)
		return b->fault;
	return b->rc == -ENOSPC ? SP__TEXTCHUNK_WORDS : SP__TEXTCHUNK_VALUE;
}

/* Takes NULL.  False: the column must not have it. */
static inline bool take_null(struct block *b, uint32_t i, const char *p, uint32_t n, uint8_t *to)
{
	if (b->chunk->opts->schema->columns[b->column].not_null) {
		note(b, SP__TEXTCHUNK_NULL, SP__VALUE_OK, i, p, n);
		return false;
	}
	if (b->type->kind == 't')
		((struct sp__text_ref *)(void *)to)->bytes = SP__TEXT_REF_NULL;
	else
		sp__value_set_null(b->type, to);
	return true;
}

/* Takes the fields of a column of JSON, by a function for its kind. */
static inline __attribute__((always_inline)) void each_member(struct block *b, bool is_text,
							      take_fn take)
{
	struct sp__textchunk *c = b->chunk;
	const uint32_t width =
		is_text && b->type->kind == 't' ? sizeof(struct sp__text_ref) : b->type->bytes;
	const struct sp__text_ref *ref = c->refs + b->column;
	uint8_t *to = b->to->values + (size_t)c->records * width;

	for (uint32_t i = 0; i < b->records; i++, ref += c->opts->fields.fields, to += width) {
		const char *p = c->text + ref->at;
		enum sp__value_fit fit;

		if (ref->bytes == SP__TEXT_REF_NULL) {
			if (!take_null(b, i, c->text, 0, to))
				return;
			continue;
		}
		fit = take(b, p, ref->bytes, to);
		if (__builtin_expect(fit != SP__VALUE_OK, 0)) {
			note(b, fault_of(b), fit, i, p, ref->bytes);
			return;
		}
	}
}

/* Takes the fields of a column, by a function for its kind. */
static inline __attribute__((always_inline)) void each(struct block *b, bool csv, bool is_text,
						       take_fn take)
{
	struct sp__textchunk *c = b->chunk;
	const struct sp__fieldends_opts *o = &c->opts->fields;
	const bool last = b->column + 1 == o->fields; /* no empty field is behind it */
	const bool cut_cr = last && (csv || c->opts->schema->style.cr);
	const bool not_null = c->opts->schema->columns[b->column].not_null;
	const uint32_t width =
		is_text && b->type->kind == 't' ? sizeof(struct sp__text_ref) : b->type->bytes;
	const uint32_t *ends = c->ends.ends + b->column;
	uint8_t *to = b->to->values + (size_t)c->records * width;

	for (uint32_t i = 0; i < b->records; i++, ends += o->fields, to += width) {
		uint32_t begin = ends[0] + 1, n = ends[1] - begin;
		char *p = c->text + begin;
		enum sp__value_fit fit;
		bool quoted = false;

		if (cut_cr && n && p[n - 1] == '\r')
			n--;
		if (csv && n && *p == '"') {
			b->canonical &= p[n - 1] == '"'; /* else text follows the quotes */
			n = unquote(p, n);
			quoted = true;
		}
		if (n == b->null_bytes && (quoted == b->null_quoted || !is_text) &&
		    !memcmp(p, b->null_text, n)) {
			if (quoted != b->null_quoted) {
				b->respelled = true;
				if (b->check == SP__CHECK_EXACT) {
					note(b, SP__TEXTCHUNK_SPELLING, SP__VALUE_OK, i, p, n);
					return;
				}
			}
			if (!(not_null && is_text && !n)) {
				if (!take_null(b, i, p, n, to))
					return;
				continue;
			}
		}
		if (csv)
			b->canonical &= same_quotes(b, p, n, quoted, is_text);
		fit = take(b, p, n, to);
		if (__builtin_expect(fit != SP__VALUE_OK, 0)) {
			note(b, fault_of(b), fit, i, p, n);
			return;
		}
	}
}

/* Converts n digits, 1 to 16, of which 8 can be read.  False: a byte is not a digit. */
static inline bool digits(const char *p, uint32_t n, uint64_t *v)
{
	uint64_t word;

	memcpy(&word, p, 8);
	word = le64toh(word);
	if (n <= 8) {
		*v = sp__numeral_word(word, n);
		return sp__numeral_digits(word) >= n;
	}
	*v = sp__numeral_word(word, 8);
	if (sp__numeral_digits(word) < 8)
		return false;
	memcpy(&word, p + n - 8, 8);
	word = le64toh(word);
	if (sp__numeral_digits(word) < 8)
		return false;
	*v = *v * sp__value_power(n - 8) + sp__numeral_word(word, 8) % sp__value_power(n - 8);
	return true;
}

/* Checks a value that is spelled in another way than it is written. */
static enum sp__value_fit check_spelling(struct block *b, const char *p, uint32_t n)
{
	if (b->check >= SP__CHECK_CANONICAL)
		b->fault = SP__TEXTCHUNK_SPELLING;
	else if (b->check == SP__CHECK_VALUE && b->type->kind == 'f' && !sp__value_f64_holds(p, n))
		b->fault = SP__TEXTCHUNK_ROUNDED;
	return b->fault ? SP__VALUE_MALFORMED : SP__VALUE_OK;
}

static enum sp__value_fit take_value(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	bool canonical = true;
	enum sp__value_fit fit = sp__value_take(b->type, p, n, to, &canonical);

	if (canonical || fit != SP__VALUE_OK)
		return fit;
	b->respelled = true;
	return check_spelling(b, p, n);
}

static enum sp__value_fit take_integer(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	const bool minus = *p == '-';
	const uint32_t count = n - minus;
	uint64_t v;

	p += minus;
	if (count - 1 < 16 && (*p != '0' || (count == 1 && !minus)) && digits(p, count, &v) &&
	    v < b->reserved && !(minus && b->type->kind == 'u')) {
		sp__value_put(to, minus ? -v : v, b->type->bytes);
		return SP__VALUE_OK;
	}
	return take_value(b, p - minus, n, to);
}

static enum sp__value_fit take_decimal(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	const uint32_t places = b->type->decimals;
	const bool minus = *p == '-';
	const uint32_t whole = n - minus - 1 - places;
	uint64_t v, rest;

	p += minus;
	/* With 16 digits at most, nothing overflows. */
	if (whole - 1 < 8 && places - 1 < 8 && p[whole] == '.' && (*p != '0' || whole == 1) &&
	    digits(p, whole, &v) && digits(p + whole + 1, places, &rest)) {
		v = v * b->power + rest;
		if (v < b->reserved && (v || !minus)) {
			sp__value_put(to, minus ? -v : v, b->type->bytes);
			return SP__VALUE_OK;
		}
	}
	return take_value(b, p - minus, n, to);
}

static enum sp__value_fit take_text(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	struct sp__text_ref ref = { (uint32_t)(p - b->chunk->text), n };

	memcpy(to, &ref, sizeof(ref));
	return sp__text_null(p, n) ? SP__VALUE_RESERVED : SP__VALUE_OK;
}

/* Refuses the first value of a column of which nothing is known, except an empty text. */
static enum sp__value_fit take_unseen(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	if (!n)
		return take_text(b, p, n, to);
	b->fault = SP__TEXTCHUNK_UNSEEN;
	return SP__VALUE_MALFORMED;
}

static enum sp__value_fit take_word(struct block *b, const char *p, uint32_t n, uint8_t *to)
{
	const uint32_t max = b->type->bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS;
	uint32_t code = sp__dictionary_find(&b->to->words, p, n);

	if (!code)
		b->rc = sp__dictionary_add(&b->to->words, p, n, max, &code);
	if (b->rc)
		return SP__VALUE_RANGE;
	sp__value_put(to, code, b->type->bytes);
	return SP__VALUE_OK;
}

/* The three forms of a loop: a field of CSV can have quotes. */
#define LOOP(name, is_text, take)                                                                  \
	static void name(struct block *b)                                                          \
	{                                                                                          \
		if (b->chunk->opts->members)                                                       \
			each_member(b, is_text, take);                                             \
		else if (b->chunk->opts->fields.csv)                                               \
			each(b, true, is_text, take);                                              \
		else                                                                               \
			each(b, false, is_text, take);                                             \
	}

LOOP(parse_integers, false, take_integer)
LOOP(parse_decimals, false, take_decimal)
LOOP(parse_texts, true, take_text)
LOOP(parse_unseen, true, take_unseen)
LOOP(parse_words, true, take_word)
LOOP(parse_chars, true, take_value)
LOOP(parse_others, false, take_value)

static void parse_column(struct sp__textchunk *c, uint32_t column, uint32_t records)
{
	const struct sp__schema *s = c->opts->schema;
	const struct sp__value_type *t = &s->columns[column].type;
	struct block b = { .chunk = c,
			   .type = t,
			   .to = &c->columns[column],
			   .column = column,
			   .records = records,
			   .null_text = s->style.null_text ? s->style.null_text : "",
			   .check = c->opts->checks ? c->opts->checks[column] : SP__CHECK_NONE,
			   .canonical = true };

	if (c->opts->fields.csv && !strcmp(b.null_text, SP__NULL_QUOTED)) {
		b.null_quoted = true;
		b.null_text = "";
	}
	b.null_bytes = strlen(b.null_text);
	switch (t->kind) {
	case 'i':
	case 'u':
	case 'd':
		b.reserved = sp__value_null_bits(t);
		b.power = sp__value_power(t->decimals);
		(t->decimals ? parse_decimals : parse_integers)(&b);
		break;
	case 't':
		(b.check == SP__CHECK_UNSEEN ? parse_unseen : parse_texts)(&b);
		break;
	case 'w':
		parse_words(&b);
		break;
	case 'c':
		parse_chars(&b);
		break;
	default:
		parse_others(&b);
	}
	c->columns[column].respelled |= b.respelled;
	c->inexact |= !b.canonical || b.respelled || c->opts->members;
}

/* Counts the lines before an error. */
static void locate(struct sp__textchunk *c)
{
	struct sp__textchunk_error *e = &c->error;
	uint32_t i = e->record - c->first - c->records;
	uint32_t begin = c->ends.ends[(size_t)i * c->opts->fields.fields] + 1;

	e->line = sp__count_lines(c->text, begin);
}

/* Checks what follows the last column of each record: an empty field, a carriage return. */
static void check_ends(struct sp__textchunk *c, uint32_t records)
{
	const struct sp__schema *s = c->opts->schema;
	const uint32_t fields = c->opts->fields.fields;
	const uint32_t *ends = c->ends.ends;
	struct block b = { .chunk = c, .column = s->n };

	if (!c->opts->fields.csv && !s->style.cr && fields == s->n)
		return;
	for (uint32_t i = 0; i < records; i++, ends += fields) {
		uint32_t begin = ends[fields - 1] + 1, end = ends[fields];
		bool cr = end > begin && c->text[end - 1] == '\r';

		if (c->opts->fields.csv || s->style.cr) {
			c->last_other = cr != s->style.cr;
			c->other_ends += c->last_other;
			end -= cr;
		}
		if (fields > s->n && end != begin) {
			note(&b, SP__TEXTCHUNK_FIELDS, SP__VALUE_OK, i, c->text + begin,
			     end - begin);
			c->error.fields = fields;
			return;
		}
	}
}

/* True if the text continues after these records. */
static bool parse_block(struct sp__textchunk *c)
{
	const struct sp__fieldends_opts *o = &c->opts->fields;
	uint32_t records;

	sp__fieldends_find(&c->ends, o, c->text, c->at, c->bytes);
	records = (uint32_t)sp__min(c->ends.records, c->opts->max_records - c->records);
	for (uint32_t i = 0; c->begins && i < records; i++)
		c->begins[c->records + i] = c->ends.ends[(size_t)i * o->fields] + 1;
	check_ends(c, records);
	for (uint32_t k = 0; k < c->opts->schema->n; k++)
		parse_column(c, k, records);
	if (!c->error.fault && records == c->ends.records && c->ends.wrong)
		c->error = (struct sp__textchunk_error){ .fault = SP__TEXTCHUNK_FIELDS,
							 .record = c->first + c->records + records,
							 .fields = c->ends.wrong };
	if (c->error.fault) {
		locate(c);
		c->records = c->error.record - c->first; /* the records before it are sound */
		return false;
	}
	c->inexact |= c->ends.quotes;
	c->records += records;
	c->at = c->ends.ends[(size_t)records * o->fields] + 1;
	return c->at < c->bytes;
}

/* Parses further records of JSON.  True if the text continues after them. */
static bool parse_members(struct sp__textchunk *c)
{
	struct sp__textchunk_error *e = &c->error;
	uint32_t records;
	int rc;

	records = sp__textchunk_read_members(c, &rc);
	for (uint32_t k = 0; k < c->opts->schema->n; k++)
		parse_column(c, k, records);
	if (e->fault)
		e->line = c->begins[e->record - c->first];
	else if (rc)
		*e = (struct sp__textchunk_error){ .fault = SP__TEXTCHUNK_MEMBER,
						   .rc = rc == SP_EFORMAT ? 0 : rc,
						   .record = c->first + c->records + records,
						   .line = c->line,
						   .member = c->reader.error };
	if (e->fault) {
		c->records = e->record - c->first;
		return false;
	}
	c->records += records;
	return c->at < c->bytes;
}

bool sp__textchunk_parse(struct sp__textchunk *c)
{
	bool more = c->at < c->bytes && !c->error.fault;

	c->first += c->records;
	c->records = 0;
	if (more && c->opts->record_bytes)
		return take_fixed(c);
	while (more && c->records < c->opts->max_records)
		more = c->opts->members ? parse_members(c) : parse_block(c);
	if (c->at == c->bytes)
		c->lines = c->opts->members	 ? c->line
			   : c->opts->fields.csv ? sp__count_lines(c->text, c->bytes)
						 : c->first + c->records;
	return more;
}
