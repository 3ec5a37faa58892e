/* SPDX-License-Identifier: MIT */
/*
 * Reads literals of Python by recursive descent.
 *
 * Inside brackets a newline, a comment, and a backslash before a newline are blanks, as in
 * Python.  Outside of them blanks come first, if at all; whole blank lines and comments may
 * surround the dictionary.
 *
 * Not parsed: literals that a header of a .npy file does not need, such as floats, lists, bytes.
 */
#include <string.h>
#include "cube/input/literal.h"

#define DEPTH_MAX 100 /* brackets within brackets; the parser of Python stops at 200 */

struct reader {
	const char *at, *end;
	bool long_suffix;
	unsigned depth;
};

/* Returns the byte at a distance; after the end NUL, which no literal has. */
static char peek(const struct reader *r, size_t ahead)
{
	return ahead < (size_t)(r->end - r->at) ? r->at[ahead] : '\0';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

static void skip_comment(struct reader *r)
{
	while (peek(r, 0) && !is_newline(peek(r, 0)))
		r->at++;
}

/* Skips blanks inside brackets. */
static void skip_blanks(struct reader *r)
{
	for (;; r->at++) {
		if (peek(r, 0) == '#')
			skip_comment(r);
		if (peek(r, 0) == '\\' && is_newline(peek(r, 1)))
			r->at++;
		else if (!peek(r, 0) || !strchr(" \t\f\r\n", peek(r, 0)))
			return;
	}
}

/* Blanks at the start of a line; a form feed begins the line again.  True: the line has some. */
static bool skip_indent(struct reader *r)
{
	bool any = false;

	for (;; r->at++) {
		if (peek(r, 0) == '\\' && is_newline(peek(r, 1)))
			r->at++;
		else if (peek(r, 0) != ' ' && peek(r, 0) != '\t' && peek(r, 0) != '\f')
			return any;
		else
			any = peek(r, 0) != '\f';
	}
}

/* Blank lines and comments; the dictionary begins its line, unless that is the first one. */
static bool skip_before(struct reader *r)
{
	bool indented;

	while (peek(r, 0) == ' ' || peek(r, 0) == '\t')
		r->at++;
	for (;;) {
		indented = skip_indent(r);
		if (peek(r, 0) != '#' && !is_newline(peek(r, 0)))
			return !indented;
		skip_comment(r);
		if (peek(r, 0))
			r->at++;
	}
}

/* True if only blanks and comments follow. */
static bool at_end(struct reader *r)
{
	while (peek(r, 0) && strchr(" \t\f\r\n#", peek(r, 0))) {
		if (peek(r, 0) == '#')
			skip_comment(r);
		else
			r->at++;
	}
	return r->at == r->end;
}

static bool take(struct reader *r, char c)
{
	if (peek(r, 0) != c)
		return false;
	r->at++;
	return true;
}

static void keep(struct sp__literal *v, char c)
{
	if (v->bytes < sizeof(v->text))
		v->text[v->bytes] = c;
	v->bytes++;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : 99;
}

/* Parses a character by its number: n digits, or up to n octal ones. */
static bool coded(struct reader *r, struct sp__literal *v, int base, unsigned n)
{
	uint32_t code = 0;
	unsigned i = 0;

	for (; i < n && digit(peek(r, 0)) < base; i++)
		code = code * (uint32_t)base + (uint32_t)digit(*r->at++);
	/* No relevant text has characters other than ASCII. */
	keep(v, code < 0x80 ? (char)code : '\x80');
	return (base == 8 || i == n) && code <= 0x10ffff;
}

/* Parses an escape after a backslash in a string that is not raw. */
static bool escaped(struct reader *r, struct sp__literal *v)
{
	static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
	char c = peek(r, 0);
	const char *letter = c ? strchr(letters, c) : NULL;

	if (!c || c == 'N')
		return false;
	if (digit(c) < 8)
		return coded(r, v, 8, 3);
	r->at++;
	if (c == '\r' && peek(r, 0) == '\n')
		r->at++;
	if (c == 'x' || c == 'u' || c == 'U')
		return coded(r, v, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	if (letter) {
		keep(v, values[letter - letters]);
	} else if (!is_newline(c)) {
		keep(v, '\\');
		keep(v, c);
	}
	return true;
}

/* Parses a string from its quotes on; raw: a backslash is a character. */
static bool quoted(struct reader *r, bool raw, struct sp__literal *v)
{
	char quote = *r->at;
	size_t n = peek(r, 1) == quote && peek(r, 2) == quote ? 3 : 1;

	for (r->at += n; peek(r, 0);) {
		if (peek(r, 0) == quote &&
		    (n == 1 || (peek(r, 1) == quote && peek(r, 2) == quote))) {
			r->at += n;
			return true;
		}
		if (n == 1 && is_newline(peek(r, 0)))
			return false;
		if (peek(r, 0) != '\\') {
			keep(v, *r->at++);
		} else if (r->at++, raw) {
			keep(v, '\\');
			if (peek(r, 0))
				keep(v, *r->at++);
		} else if (!escaped(r, v)) {
			return false;
		}
	}
	return false;
}

/* Bytes of the prefix of a string and whether it is raw; -1: this is not a string. */
static int string_prefix(const struct reader *r, bool *raw)
{
	int n = peek(r, 0) && strchr("rRuU", peek(r, 0)) ? 1 : 0;

	*raw = n && (*r->at == 'r' || *r->at == 'R');
	return peek(r, (size_t)n) == '\'' || peek(r, (size_t)n) == '"' ? n : -1;
}

/* Parses consecutive strings, which are one. */
static bool read_string(struct reader *r, struct sp__literal *v)
{
	bool raw;
	int prefix;

	*v = (struct sp__literal){ .kind = SP__LITERAL_STRING };
	while ((prefix = string_prefix(r, &raw)) >= 0) {
		r->at += prefix;
		if (!quoted(r, raw, v))
			return false;
		skip_blanks(r);
	}
	return true;
}

/* Digits of a base, between which there may be single underscores. */
static bool read_digits(struct reader *r, int base, uint64_t *number)
{
	bool over = false, any = false;

	for (; digit(peek(r, 0)) < base; any = true) {
		over |= __builtin_mul_overflow(*number, (uint64_t)base, number) ||
			__builtin_add_overflow(*number, (uint64_t)digit(*r->at), number);
		r->at++;
		if (peek(r, 0) == '_' && digit(peek(r, 1)) < base)
			r->at++;
	}
	if (over)
		*number = UINT64_MAX;
	return any;
}

/* The suffixes of Python 2, in the line of the number. */
static bool skip_suffixes(struct reader *r)
{
	for (;; r->at++) {
		if (peek(r, 0) == '\\' && is_newline(peek(r, 1)))
			r->at++;
		else if (peek(r, 0) != ' ' && peek(r, 0) != '\t' && peek(r, 0) != '\f' &&
			 !(r->long_suffix && peek(r, 0) == 'L' && !is_word(peek(r, 1))))
			return !is_word(peek(r, 0)) && peek(r, 0) != '.';
	}
}

/* Parses digits and an optional suffix. */
static bool read_unsigned(struct reader *r, struct sp__literal *v)
{
	const char *first = r->at;
	char letter = peek(r, 0) == '0' ? (char)(peek(r, 1) | 0x20) : '\0';
	int base;

	base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
	if (base != 10) {
		r->at += 2;
		(void)take(r, '_');
	}
	if (!read_digits(r, base, &v->number) || (base == 10 && *first == '0' && v->number))
		return false;
	return skip_suffixes(r);
}

/* Parses a number; brackets can be between a sign and its number. */
static bool read_integer(struct reader *r, struct sp__literal *v)
{
	bool minus = peek(r, 0) == '-';
	unsigned brackets = 0;

	*v = (struct sp__literal){ .kind = SP__LITERAL_INTEGER };
	if (minus || peek(r, 0) == '+') {
		r->at++;
		for (skip_blanks(r); take(r, '('); skip_blanks(r))
			brackets++;
	}
	if (brackets > DEPTH_MAX || !read_unsigned(r, v))
		return false;
	for (; brackets; brackets--) {
		skip_blanks(r);
		if (!take(r, ')'))
			return false;
	}
	if (minus && v->number)
		v->number = UINT64_MAX;
	return true;
}

static bool read_bool(struct reader *r, struct sp__literal *v)
{
	size_t left = (size_t)(r->end - r->at);
	bool yes = left >= 4 && !memcmp(r->at, "True", 4);

	if (!yes && (left < 5 || memcmp(r->at, "False", 5) != 0))
		return false;
	*v = (struct sp__literal){ .kind = SP__LITERAL_BOOL, .number = yes };
	r->at += yes ? 4 : 5;
	return !is_word(peek(r, 0));
}

static bool read_value(struct reader *r, struct sp__literal *v);

/* Parses a value in brackets, or a tuple of numbers, after the opening bracket. */
static bool read_brackets(struct reader *r, struct sp__literal *v)
{
	struct sp__literal item;
	bool comma = false;

	*v = (struct sp__literal){ .kind = SP__LITERAL_TUPLE };
	for (skip_blanks(r); !take(r, ')'); skip_blanks(r)) {
		if ((v->nitems && !comma) || !read_value(r, &item))
			return false;
		skip_blanks(r);
		comma = take(r, ',');
		skip_blanks(r);
		if (!v->nitems && !comma) {
			*v = item;
			return take(r, ')');
		}
		if (item.kind != SP__LITERAL_INTEGER && item.kind != SP__LITERAL_BOOL)
			return false;
		if (v->nitems < SP__LITERAL_ITEMS_MAX)
			v->items[v->nitems] = item.number;
		v->nitems++;
	}
	return true;
}

static bool read_value(struct reader *r, struct sp__literal *v)
{
	char c = peek(r, 0);
	bool raw, right;

	if (string_prefix(r, &raw) >= 0)
		return read_string(r, v);
	if (c == 'T' || c == 'F')
		return read_bool(r, v);
	if (c != '(')
		return read_integer(r, v);
	r->at++;
	if (++r->depth > DEPTH_MAX)
		return false;
	right = read_brackets(r, v);
	r->depth--;
	return right;
}

/* Parses the entries and the closing bracket. */
static bool read_entries(struct reader *r, sp__literal_entry entry, void *arg)
{
	struct sp__literal key, value;
	bool comma = true;

	for (skip_blanks(r); !take(r, '}'); skip_blanks(r)) {
		if (!comma || !read_value(r, &key))
			return false;
		skip_blanks(r);
		if (!take(r, ':'))
			return false;
		skip_blanks(r);
		if (!read_value(r, &value) || !entry(arg, &key, &value))
			return false;
		skip_blanks(r);
		comma = take(r, ',');
	}
	return true;
}

bool sp__literal_dict(const char *text, size_t bytes, bool long_suffix, sp__literal_entry entry,
		      void *arg)
{
	struct reader r = { .at = text, .end = text + bytes, .long_suffix = long_suffix };
	unsigned brackets = 0;

	if (memchr(text, '\0', bytes) || !skip_before(&r))
		return false;
	for (; take(&r, '('); brackets++)
		skip_blanks(&r);
	if (brackets > DEPTH_MAX || !take(&r, '{') || !read_entries(&r, entry, arg))
		return false;
	for (; brackets; brackets--) {
		skip_blanks(&r);
		if (!take(&r, ')'))
			return false;
	}
	return at_end(&r);
}
