/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/keyset.h"
#include "tap.h"

static struct sp__keybuf text;

/* Escaped for a TAP line. */
static const char *shown(const char *s, size_t n, char to[64])
{
	snprintf(to, 64, "%.*s", (int)n, s);
	for (char *p = to; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = *p == '\n' ? '~' : '^';
	return to;
}

static void key_is(const struct sp_key *k, const char *rec, const char *want)
{
	int rc = sp__csv_key(k, ',', rec, strlen(rec), &text);
	char record[64], key[64];

	if (!ok(rc == 0 && text.bytes == strlen(want) &&
			(!*want || !memcmp(text.data, want, text.bytes)),
		"the key of '%s' is '%s'", shown(rec, strlen(rec), record),
		shown(want, strlen(want), key)))
		diag("got '%s'", shown((char *)text.data, text.bytes, key));
}

static void single_fields(void)
{
	struct sp_key k = { .sword = 1, .eword = 1 };

	key_is(&k, "a,b,c", "b");
	key_is(&k, "a,\"b,\"\"x\"\"\",c", "b,\"x\"");
	key_is(&k, "\"a,\n\",\"\",c", "");
	key_is(&k, "a,b\r", "b");
	key_is(&k, "a,\"b\"\r", "b");
	key_is(&k, "a,\"b\"tail\"\",c", "btail\"\"");
	key_is(&k, "a,5\" disk,c", "5\" disk");
	key_is(&k, "a,\"\"\"\"", "\"");
	key_is(&k, "a,\"open, end", "open, end");
	key_is(&k, "a,\"open\"\"", "open\"");
	key_is(&k, "alone", "");
	key_is(&k, "", "");
	key_is(&k, "a,", "");
}

static void several_fields(void)
{
	struct sp_key k = { .sword = 1, .eword = 2 };

	key_is(&k, "a,b,c,d", "b,c");
	key_is(&k, "a,\"b,b\",\"c\",d", "b,b,c");
	key_is(&k, "a,b", "b");
	k.eword = SP_KEY_NOEND;
	key_is(&k, "a,b,\"c\n\",d\r", "b,c\n,d");
	k.eword = 0;
	key_is(&k, "a,b,c", "");
}

static void positions(void)
{
	struct sp_key k = { .sword = 1, .schar = 2, .eword = 1 };

	key_is(&k, "a,\"bcd\"\"e\",f", "d\"e");
	key_is(&k, "a,b,f", "");
	k.echar = 3;
	key_is(&k, "a,\"bcde\",f", "d");
	k.schar = 0;
	key_is(&k, "a,\"b\",fgh", "b,f");
	k.sword = 2, k.eword = 1, k.echar = 4;
	key_is(&k, "a,b,fgh", "fg");
	k = (struct sp_key){ .sword = 1, .eword = 1, .skip_start_blanks = true };
	key_is(&k, "a,\"  b \",c", "b ");
	k.echar = 1, k.skip_end_blanks = true;
	key_is(&k, "a,\"  bcd\",c", "b");
}

/* GNU sort's positions in a record without quotes, by its manual. */
static size_t position(const char *s, size_t n, size_t word, size_t chars, bool behind)
{
	size_t i = 0;

	for (; word && i < n; i++)
		word -= s[i] == ',';
	if (word)
		return n;
	if (behind)
		while (i < n && s[i] != ',')
			i++;
	return n - i < chars ? n : i + chars;
}

static void unquoted_like_lines(void)
{
	struct sp__rng rng = { 3 };
	bool good = true;
	char rec[32];

	for (int i = 0; i < 100000; i++) {
		struct sp_key k = { .sword = sp__rng_below(&rng, 5),
				    .schar = sp__rng_below(&rng, 4),
				    .eword = sp__rng_below(&rng, 5),
				    .echar = sp__rng_below(&rng, 4) };
		size_t n = sp__rng_below(&rng, sizeof(rec)), begin, end;

		for (size_t j = 0; j < n; j++)
			rec[j] = ",,abcdefg"[sp__rng_below(&rng, 9)];
		begin = position(rec, n, k.sword, k.schar, false);
		end = position(rec, n, k.eword, k.echar, !k.echar);
		if (end < begin)
			end = begin;
		good &= !sp__csv_key(&k, ',', rec, n, &text) && text.bytes == end - begin &&
			(end == begin || !memcmp(text.data, rec + begin, end - begin));
	}
	ok(good, "without quotes keys are those of lines with a separator");
}

/* Finds the start of field n byte by byte: NULL if there are fewer. */
static const char *nth_field(const char *at, const char *end, size_t n)
{
	bool quoted = at < end && *at == '"', begins = true;

	for (; n && at < end; at++) {
		if (quoted && !begins && *at == '"') {
			if (at + 1 < end && at[1] == '"')
				at++;
			else
				quoted = false;
		} else if (!quoted && *at == ',') {
			n--;
			quoted = at + 1 < end && at[1] == '"';
			begins = true;
			continue;
		}
		begins = false;
	}
	return n ? NULL : at;
}

static void fields_are_found(void)
{
	struct sp__rng rng = { 5 };
	bool begins = true, ends = true;
	char rec[80];

	for (int i = 0; i < 200000; i++) {
		size_t bytes = sp__rng_below(&rng, sizeof(rec)), n = sp__rng_below(&rng, 12);
		const char *end = rec + bytes, *want, *next;

		for (size_t j = 0; j < bytes; j++)
			rec[j] = ",,\"\"abcdefghi"[sp__rng_below(&rng, i % 2 ? 13 : 5)];
		want = nth_field(rec, end, n);
		begins &= sp__csv_field(rec, end, ',', n) == want;
		next = want ? nth_field(want, end, 1) : NULL;
		ends &= !want || sp__csv_field_end(want, end, ',') == (next ? next - 1 : end);
	}
	ok(begins, "fields begin where a walk from byte to byte finds them");
	ok(ends, "and end there, too");
}

int main(void)
{
	fields_are_found();
	single_fields();
	several_fields();
	positions();
	unquoted_like_lines();
	free(text.data);
	return done();
}
