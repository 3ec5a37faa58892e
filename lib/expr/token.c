/* SPDX-License-Identifier: MIT */
/* Tokens of expressions (token.h). */
#include <string.h>
#include <strings.h>
#include "base/err.h"
#include "base/minmax.h"
#include "expr/token.h"

#define SHOWN 40 /* bytes of the user's text in a message */

size_t sp__unquote(const char *from, char *to, size_t *n)
{
	const char quote = *from, *at = from + 1;
	char *end = to;

	for (; *at && (*at != quote || at[1] == quote); *end++ = *at++)
		at += *at == quote;
	*n = (size_t)(end - to);
	return *at ? (size_t)(at + 1 - from) : 0;
}

int sp__token_fail_at(const struct sp__tokens *t, size_t at, const char *reason)
{
	const char *rest = t->begin + at;
	const size_t n = strlen(rest);

	if (!n)
		return sp__invalid(t->err, NULL, "%s at the end of '%.*s'", reason, SHOWN,
				   t->begin);
	return sp__invalid(t->err, NULL, "%s at '%.*s%s', character %zu of '%.*s%s'", reason,
			   (int)sp__min(n, SHOWN), rest, n > SHOWN ? "..." : "", at + 1, SHOWN,
			   t->begin, strlen(t->begin) > SHOWN ? "..." : "");
}

int sp__token_fail(const struct sp__tokens *t, const char *reason)
{
	return sp__token_fail_at(t, (size_t)(t->token - t->begin), reason);
}

/* Tokens. */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool continues(char c)
{
	return is_letter(c) || is_digit(c);
}

/* Takes a text or name in quotes. */
static int take_quoted(struct sp__tokens *t)
{
	const size_t bytes = sp__unquote(t->at, t->word, &t->word_bytes);

	t->kind = *t->at == '"' ? SP__TOKEN_NAME : SP__TOKEN_TEXT;
	t->at += bytes;
	return bytes ? 0 : sp__token_fail(t, "a quote is not closed");
}

/* Returns the length of a date at the text: 2024-05-31, 2024-05-31T12:30:00; or 0. */
static size_t date_bytes(const char *text)
{
	static const char form[] = "0000-00-00";
	size_t n = 0;

	while (form[n] && (form[n] == '-' ? text[n] == '-' : is_digit(text[n])))
		n++;
	if (!form[n] && text[n] == 'T' && is_digit(text[n + 1])) {
		n += 1 + strspn(text + n + 1, "0123456789:.");
		n += text[n] == 'Z';
		return continues(text[n]) ? 0 : n;
	}
	return form[n] || continues(text[n]) ? 0 : n;
}

/* True if the text begins with a path to a member of JSON: .a, ."odd name" or .[0]. */
static bool begins_path(const char *p)
{
	return *p == '.' && (is_letter(p[1]) || p[1] == '"' || p[1] == '[');
}

/* Returns true if the text is an exponent, and so the end of a number, as in 1.e5. */
static bool is_exponent(const char *p)
{
	if (*p != 'e' && *p != 'E')
		return false;
	p += 1 + (p[1] == '-' || p[1] == '+');
	if (!is_digit(*p))
		return false;
	p += strspn(p, "0123456789");
	return !continues(*p) && !begins_path(p);
}

/* True if the text begins with the number of a file and a path in its records: 1.a */
static bool begins_file(const char *p)
{
	return is_digit(*p) && begins_path(p + 1) && !is_exponent(p + 2);
}

/* Takes a path as it is written, with the number of a file before it. */
static int take_path(struct sp__tokens *t)
{
	t->kind = SP__TOKEN_NAME;
	t->at += *t->at != '.';
	while (begins_path(t->at) || *t->at == '[') {
		t->at += *t->at == '.' && t->at[1] != '[';
		if (*t->at == '"')
			for (t->at++; *t->at && *t->at != '"'; t->at++)
				t->at += t->at[0] == '\\' && t->at[1];
		else if (*t->at == '[' || *t->at == '.')
			t->at += strcspn(t->at, "]");
		if (*t->at == '"' || *t->at == ']')
			t->at++;
		while (continues(*t->at))
			t->at++;
	}
	t->word_bytes = (size_t)(t->at - t->token);
	memcpy(t->word, t->token, t->word_bytes);
	return 0;
}

/* Takes a number; a date without quotes is a text. */
static void take_number(struct sp__tokens *t)
{
	const size_t date = date_bytes(t->at);

	t->kind = SP__TOKEN_NUMBER;
	if (date) {
		t->kind = SP__TOKEN_TEXT;
		memcpy(t->word, t->at, date);
		t->word_bytes = date;
		t->at += date;
		return;
	}
	while (continues(*t->at) || *t->at == '.') {
		const bool exponent = *t->at == 'e' || *t->at == 'E';

		t->at++;
		if (exponent && (*t->at == '-' || *t->at == '+') && is_digit(t->at[1]))
			t->at++;
	}
}

static void take_sign(struct sp__tokens *t)
{
	static const char *const signs[] = { "!=", "<>", "<=", ">=", "^=", "==", "||" };

	t->kind = SP__TOKEN_SIGN;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strncmp(t->at, signs[i], 2)) {
			t->at += 2;
			return;
		}
	t->at++;
}

int sp__token_next(struct sp__tokens *t)
{
	t->at += strspn(t->at, SP__TOKEN_BLANKS);
	t->kind = SP__TOKEN_END;
	t->token = t->at;
	t->bytes = 0;
	if (!*t->at)
		return 0;
	if (*t->at == '"' || *t->at == '\'')
		return take_quoted(t);
	if (begins_path(t->at) || begins_file(t->at))
		return take_path(t);
	if (is_digit(*t->at) || (*t->at == '.' && is_digit(t->at[1]))) {
		take_number(t);
	} else if (*t->at == '$' && is_digit(t->at[1])) {
		t->kind = SP__TOKEN_COLUMN;
		for (t->at++; is_digit(*t->at); t->at++)
			;
	} else if (is_letter(*t->at)) {
		t->kind = SP__TOKEN_WORD;
		while (continues(*t->at) || (*t->at == '.' && continues(t->at[1])))
			t->at++;
	} else {
		take_sign(t);
	}
	t->bytes = (size_t)(t->at - t->token);
	return 0;
}

bool sp__token_is_sign(const struct sp__tokens *t, const char *sign)
{
	return t->kind == SP__TOKEN_SIGN && t->bytes == strlen(sign) &&
	       !memcmp(t->token, sign, t->bytes);
}

bool sp__token_is_word(const struct sp__tokens *t, const char *word)
{
	return t->kind == SP__TOKEN_WORD && t->bytes == strlen(word) &&
	       !strncasecmp(t->token, word, t->bytes);
}
