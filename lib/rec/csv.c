/* SPDX-License-Identifier: MIT */
/*
 * Extracts keys of CSV records.
 *
 * The unquoted record defines all keys: its fields without their quotes, with the separator between
 * them.  In that text the positions of a key mean the same as for GNU sort with -t, with one
 * difference: the quotes, not the separators in the text, determine the end of a field.  So files
 * without quotes have GNU's keys, even if a character position lies after the end of its field.
 *
 * Nearly all keys are one whole field without quotes inside, and are used in the record.  Other
 * keys are unquoted from the first field that matters on, and the key is cut out of the result.
 */
#include <ctype.h>
#include <string.h>
#include "rec/csvblock.h"
#include "rec/keyset.h"
#include "rec/recfmt.h"

/* Returns the end of the quoted part that begins at p. */
static const char *quoted_end(const char *p, const char *end)
{
	for (p++; (p = sp__line_end(p, (size_t)(end - p), '"')); p++)
		if (p == end || *p != '"')
			return p;
	return end;
}

/* Returns the nth separator of the field that begins at p and those after it, n > 0, or end. */
static const char *nth_separator(const char *p, const char *end, char sep, size_t n)
{
	unsigned state = SP__CSV_START, bytes;
	uint64_t seps;

	for (; p < end; p += bytes) {
		bytes = sp__csv_separators(p, end, n > 4, sep, true, &state, &seps);
		for (; seps; seps &= seps - 1)
			if (!--n)
				return p + __builtin_ctzll(seps);
	}
	return end;
}

const char *sp__csv_field_end(const char *p, const char *end, char sep)
{
	if (p < end && *p == '"')
		p = quoted_end(p, end);
	return p < end && *p == sep ? p : sp__find_nth(p, end, sep, 1);
}

const char *sp__csv_field(const char *p, const char *end, char sep, size_t n)
{
	if (n)
		p = nth_separator(p, end, sep, n);
	return !n ? p : p == end ? NULL : p + 1;
}

static unsigned char *append(unsigned char *to, const char *from, const char *end)
{
	return (unsigned char *)memmove(to, from, (size_t)(end - from)) + (end - from);
}

unsigned char *sp__csv_unquote(const char *p, const char *end, unsigned char *out)
{
	const char *q;

	if (p < end && *p == '"') {
		for (p++; (q = sp__line_end(p, (size_t)(end - p), '"')); p = q + 1) {
			if (q == end || *q != '"') {
				out = append(out, p, q - 1);
				p = q;
				break;
			}
			out = append(out, p, q);
		}
	}
	return p < end ? append(out, p, end) : out;
}

char *sp__csv_put_quoted(char *to, const char *text, size_t n)
{
	*to++ = '"';
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			*to++ = '"';
		*to++ = text[i];
	}
	*to++ = '"';
	return to;
}

size_t sp__csv_quote(const char *text, size_t n, char sep, char *out)
{
	if (memchr(text, sep, n) || memchr(text, '"', n) || memchr(text, '\n', n) ||
	    memchr(text, '\r', n))
		return (size_t)(sp__csv_put_quoted(out, text, n) - out);
	memcpy(out, text, n);
	return n;
}

/* Appends the field [p, end) without its quotes; text has enough capacity. */
static void unquote(const char *p, const char *end, struct sp__keybuf *text)
{
	text->bytes = (size_t)(sp__csv_unquote(p, end, text->data + text->bytes) - text->data);
}

static size_t skip_blanks(const struct sp__keybuf *text, size_t at)
{
	while (at < text->bytes && (text->data[at] == '\n' || isblank(text->data[at])))
		at++;
	return at;
}

static size_t advance(const struct sp__keybuf *text, size_t at, size_t by)
{
	return text->bytes - at < by ? text->bytes : at + by;
}

/* Reduces text to the part between the ends of key k. */
static void cut(const struct sp_key *k, struct sp__keybuf *text, size_t begin, size_t end)
{
	if (k->skip_start_blanks)
		begin = skip_blanks(text, begin);
	begin = advance(text, begin, k->schar);
	if (k->eword == SP_KEY_NOEND) {
		end = text->bytes;
	} else if (k->echar) {
		if (k->skip_end_blanks)
			end = skip_blanks(text, end);
		end = advance(text, end, k->echar);
	}
	if (end < begin)
		end = begin;
	text->bytes = end - begin;
	memmove(text->data, text->data + begin, text->bytes);
}

static bool is_whole_field(const struct sp_key *k)
{
	return k->sword == k->eword && !k->schar && !k->echar && !k->skip_start_blanks;
}

/* Returns the end of the record's content, without a carriage return. */
static const char *content_end(const char *rec, size_t bytes)
{
	return rec + bytes - (bytes && rec[bytes - 1] == '\r');
}

bool sp__csv_slice(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		   const char **key, size_t *key_bytes)
{
	const char *end = content_end(rec, bytes), *p, *stop;

	if (!is_whole_field(k))
		return false;
	p = sp__csv_field(rec, end, sep, k->sword);
	*key = p ? p : rec;
	*key_bytes = 0;
	if (!p)
		return true;
	stop = sp__csv_field_end(p, end, sep);
	if (p < stop && *p == '"') {
		p++;
		stop--;
		if (p > stop || sp__line_end(p, (size_t)(stop - p + 1), '"') != stop + 1)
			return false;
	}
	*key = p;
	*key_bytes = (size_t)(stop - p);
	return true;
}

/*
 * Unquotes fields from the lower of sword and eword on, and notes where in text the field sword
 * begins, and where the field eword begins (echar set) or ends.
 */
int sp__csv_key(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		struct sp__keybuf *text)
{
	const char *end = content_end(rec, bytes);
	size_t f = k->eword < k->sword ? k->eword : k->sword;
	size_t key_begin = SIZE_MAX, key_end = SIZE_MAX;
	const char *p = sp__csv_field(rec, end, sep, f), *stop;

	text->bytes = 0;
	if (!p)
		return 0;
	if (sp__keybuf_reserve(text, (size_t)(end - p) + 1))
		return -ENOMEM;
	for (;; f++, p = stop + 1) {
		if (f == k->sword)
			key_begin = text->bytes;
		if (f == k->eword)
			key_end = text->bytes;
		stop = sp__csv_field_end(p, end, sep);
		unquote(p, stop, text);
		if (f == k->eword && !k->echar) {
			key_end = text->bytes;
			break;
		}
		if (stop == end)
			break;
		text->data[text->bytes++] = (unsigned char)sep;
	}
	if (key_begin == SIZE_MAX)
		key_begin = text->bytes;
	if (key_end == SIZE_MAX)
		key_end = text->bytes;
	cut(k, text, key_begin, key_end);
	return 0;
}
