/* SPDX-License-Identifier: MIT */
/*
 * Quotes names for messages.
 *
 * Assumptions: the output is byte for byte that of GNU's tools for the same argument, in
 * single-byte and multibyte locales.  Both ways iterate over the characters of the locale; bytes
 * that are not a character, or not printable, become octal escapes.
 */
#include <langinfo.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>
#include "msg.h"

/* bytes of the longest form of a byte: '\'' closed, escaped, opened again */
#define WORST 10

#define SLOTS 8

struct out {
	char *text;
	size_t len;
};

static struct out new_out(size_t bytes)
{
	static char *slot[SLOTS];
	static unsigned next;
	char **mine = &slot[next++ % SLOTS];

	*mine = must_alloc(*mine, bytes, 1);
	return (struct out){ *mine, 0 };
}

static void put(struct out *out, const char *bytes, size_t n)
{
	memcpy(out->text + out->len, bytes, n);
	out->len += n;
}

static void puts_out(struct out *out, const char *text)
{
	put(out, text, strlen(text));
}

static void put_octal(struct out *out, unsigned char c)
{
	char esc[4] = { '\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
			(char)('0' + (c & 7)) };

	put(out, esc, 4);
}

/*
 * Returns the bytes of the character at p, and whether it is printable.  Preserves errno, since
 * names are quoted while messages are composed.
 */
static size_t character(const char *p, size_t left, mbstate_t *state, bool *printable)
{
	int reason = errno;
	wchar_t wc;
	size_t n = mbrtowc(&wc, p, left, state);

	errno = reason;
	if (n == (size_t)-2) {
		*printable = false;
		return left;
	}
	if (n == (size_t)-1 || n == 0) {
		memset(state, 0, sizeof(*state));
		*printable = false;
		return 1;
	}
	*printable = iswprint((wint_t)wc);
	return n;
}

/* Writes C's escape for each byte that is not printable: a letter, or octal digits. */
static void put_escaped(struct out *out, const char *text, size_t n)
{
	static const char from[] = "\a\b\f\n\r\t\v", to[] = "abfnrtv";
	const char *p = n == 1 && *text ? strchr(from, *text) : NULL;

	if (p) {
		char esc[2] = { '\\', to[p - from] };

		put(out, esc, 2);
		return;
	}
	for (size_t i = 0; i < n; i++)
		put_octal(out, (unsigned char)text[i]);
}

static bool utf8_locale(void)
{
	return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Quotes text between marks; escapes a closing mark in the text. */
static const char *escaped(const char *text, const char *open, const char *close)
{
	size_t left = strlen(text), close_len = strlen(close), n;
	struct out out = new_out((left + 2) * WORST);
	mbstate_t state = { 0 };
	bool printable;

	puts_out(&out, open);
	for (; left > 0; text += n, left -= n) {
		n = character(text, left, &state, &printable);
		if (!printable) {
			put_escaped(&out, text, n);
		} else {
			if (*text == '\\' || (n == close_len && !memcmp(text, close, n)))
				put(&out, "\\", 1);
			put(&out, text, n);
		}
	}
	puts_out(&out, close);
	out.text[out.len] = '\0';
	return out.text;
}

const char *quote(const char *text)
{
	return utf8_locale() ? escaped(text, "\342\200\230", "\342\200\231")
			     : escaped(text, "'", "'");
}

static const char *printable(const char *text, unsigned flags)
{
	size_t bytes = sp_printable(NULL, 0, text, flags) + 1;
	struct out out = new_out(bytes);

	sp_printable(out.text, bytes, text, flags);
	return out.text;
}

const char *quote_bare(const char *text)
{
	return printable(text, 0);
}

const char *quote_plain(const char *text)
{
	return printable(text, SP_PRINTABLE_ESCAPED);
}

struct shell_needs {
	bool quotes;  /* a character is special to a shell */
	bool single;  /* contains a single quotation mark */
	bool doubles; /* no character is special inside "" */
};

static void inspect_byte(char c, bool first, bool colon, struct shell_needs *needs)
{
	if (c == '\'') {
		needs->quotes = needs->single = true;
	} else if (c == ':' && colon) {
		needs->quotes = true;
	} else if (strchr("!\"$&()*;<=>?[\\^`|", c)) {
		needs->quotes = true;
		needs->doubles = false;
	} else if (c == ' ' || (first && (c == '#' || c == '~'))) {
		needs->quotes = true;
	} else if (strchr("#~{}", c)) {
		needs->doubles = false;
	}
}

static struct shell_needs inspect(const char *text, bool colon)
{
	struct shell_needs needs = { .quotes = !*text, .doubles = true };
	bool lone_brace = (text[0] == '{' || text[0] == '}') && !text[1];
	size_t left = strlen(text), n;
	mbstate_t state = { 0 };
	const char *p;
	bool printable;

	needs.quotes |= lone_brace;
	for (p = text; left > 0; p += n, left -= n) {
		n = character(p, left, &state, &printable);
		if (!printable) {
			needs.quotes = true;
			needs.doubles = false;
		} else if (n == 1) {
			inspect_byte(*p, p == text, colon, &needs);
		}
	}
	return needs;
}

/* Quotes as 'text', with unprintable characters as $'\n'. */
static const char *single_quoted(const char *text)
{
	size_t left = strlen(text), n;
	struct out out = new_out((left + 2) * WORST);
	mbstate_t state = { 0 };
	bool printable, escaping = false;

	put(&out, "'", 1);
	for (; left > 0; text += n, left -= n) {
		n = character(text, left, &state, &printable);
		if (!printable && !escaping)
			puts_out(&out, "'$'");
		if (printable && escaping && *text != '\'')
			puts_out(&out, "''");
		if (printable && *text == '\'') {
			puts_out(&out, "'\\''");
		} else if (printable) {
			put(&out, text, n);
		} else {
			put_escaped(&out, text, n);
		}
		escaping = !printable;
	}
	put(&out, "'", 1);
	out.text[out.len] = '\0';
	return out.text;
}

static const char *double_quoted(const char *text)
{
	struct out out = new_out(strlen(text) + 3);

	put(&out, "\"", 1);
	puts_out(&out, text);
	put(&out, "\"", 2);
	return out.text;
}

const char *quote_file_always(const char *name)
{
	struct shell_needs needs = inspect(name, false);

	return needs.single && needs.doubles ? double_quoted(name) : single_quoted(name);
}

const char *quote_file(const char *name)
{
	return inspect(name, true).quotes ? quote_file_always(name) : name;
}
