/* SPDX-License-Identifier: MIT */
/*
 * Escapes bytes that must not reach a terminal: a name can hold sequences that change its title,
 * its colours, or the input.
 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
#include <spindle/error.h>
#include "base/printable.h"

/*
 * Returns the bytes of the UTF-8 character at p, or 0 if there is none or it is a control
 * character.
 */
static size_t utf8_character(const unsigned char *p, size_t left)
{
	static const unsigned first[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
	unsigned code;

	if (n <= 1)
		return n && *p >= ' ' && *p != 0x7F;
	if (n > left || *p >= 0xF5)
		return 0;
	code = *p & 0x7Fu >> n;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3F);
	}
	if (code < first[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || code < 0xA0)
		return 0;
	return n;
}

/*
 * Returns the bytes of the printable character of the locale at p, or 0 if there is none.  Keeps
 * errno.
 */
static size_t locale_character(const char *p, size_t left)
{
	mbstate_t state = { 0 };
	int reason = errno;
	wchar_t wc;
	size_t n = mbrtowc(&wc, p, left, &state);

	errno = reason;
	return n > 0 && n <= left && iswprint((wint_t)wc) ? n : 0;
}

/* Writes C's escape of a byte; returns its length. */
static size_t escape(unsigned char byte, char to[4])
{
	static const char from[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
	const char *p = byte ? strchr(from, byte) : NULL;

	to[0] = '\\';
	if (p) {
		to[1] = letters[p - from];
		return 2;
	}
	to[1] = (char)('0' + (byte >> 6));
	to[2] = (char)('0' + (byte >> 3 & 7));
	to[3] = (char)('0' + (byte & 7));
	return 4;
}

size_t sp_printable(char *to, size_t capacity, const char *text, unsigned flags)
{
	size_t left = strlen(text), length = 0, n, from;
	char escaped[4];

	for (; left > 0; text += from, left -= from) {
		const char *shown = text;

		n = flags & SP_PRINTABLE_UTF8 ? utf8_character((const unsigned char *)text, left)
					      : locale_character(text, left);
		from = n ? n : 1;
		if (!n) {
			n = escape((unsigned char)*text, escaped);
			shown = escaped;
		} else if (*text == '\\' && !(flags & SP_PRINTABLE_ESCAPED)) {
			shown = "\\\\";
			n = 2;
		}
		/* A byte that belongs to no character. */
		if (length + n < capacity)
			memcpy(to + length, shown, n);
		else if (length < capacity)
			capacity = length + 1;
		length += n;
	}
	if (capacity)
		to[length < capacity ? length : capacity - 1] = '\0';
	return length;
}

int sp__json_write(const char *bytes, size_t n, void *file)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + n;

	for (; p < end; p++)
		if (*p == 0x7F)
			fputs("\\u007f", file);
		else if (*p == 0xC2 && p + 1 < end && p[1] < 0xA0)
			fprintf(file, "\\u%04x", *++p);
		else
			putc(*p, file);
	return ferror((FILE *)file) ? -1 : 0;
}
