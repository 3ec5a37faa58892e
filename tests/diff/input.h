/* SPDX-License-Identifier: MIT */
/*
 * Random input for the comparison with GNU sort: lines of many kinds, chosen
 * to be awkward for one ordering option or another.
 */
#ifndef DIFF_INPUT_H
#define DIFF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"

struct text {
	char *data;
	size_t bytes, capacity;
};

enum word_kind {
	WORD_MIXED, /* another kind for each word */
	WORD_LETTERS,
	WORD_NATIONAL,
	WORD_NUMBER,
	WORD_GENERAL,
	WORD_HUMAN,
	WORD_MONTH,
	WORD_VERSION,
	WORD_BLANK,
	WORD_BYTES,
	WORD_KINDS
};

struct input_shape {
	enum word_kind kind;
	unsigned words;	   /* at most, in a line */
	size_t bytes;	   /* about, of the whole */
	unsigned distinct; /* number of different lines; 0: each is new */
	size_t long_bytes; /* some lines are about so long; 0: none */
	char separator;	   /* between words */
	char eol;
	bool no_final_eol;
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const plain_words[] = {
	"a",	 "A",
	"ab",	 "aB",
	"AB",	 "abc",
	"zebra", "Zebra",
	"co-op", "coop",
	"co op", "resume",
	"x",	 "y'all",
	"yall",	 "_",
	"-",	 "a-b",
	"a.b",	 "b",
	"B",	 "bb",
	"Bbb",	 "chata",
	"cizi",	 "hrad",
	"",	 "the",
	"The",	 "THE",
	"'tis",	 "(a)",
	"[a]",	 "a/b",
	"#a",	 "$5",
	"+a",	 "aaaaaaaaaaaaaaaaaaaaaaaa",
};

static const char *const national[] = {
	"é",   "e",	"è",	"É",	    "ê",     "résumé", "resumé",    "résume",
	"ä",   "Ä",	"ae",	"æ",	    "Æ",     "ß",      "ss",	    "SS",
	"öl",  "Öl",	"oel",	"über",	    "žlutý", "zluty",  "Žlutý",	    "čáp",
	"cap", "chléb", "hrad", "řeka",	    "reka",  "ñ",      "n\xcc\x83", "e\xcc\x81",
	"ı",   "İ",	"i",	"I",	    "日本",  "日",     "ก",	    "เก",
	"–",   "—",	"…",	"\xc2\xa0", "😀",     "ﬁ",      "Ⅳ",	    "\xc2\xad",
	"å",   "aa",	"\xe9", "\xff\xfe", "\xc3",  "ø",      "Ø",	    "dz",
	"dž",  "cs",	"ccs",	"gy",
};

static const char *const months[] = {
	"jan",	"JAN", "Feb", "february",    "mar",    "MARCH",	    "apr", "may",
	"June", "jul", "aug", "Sept",	     "sep",    "oct",	    "Nov", "december",
	"de",	"ja",  "mai", "M\xc3\xa4rz", "led",    "\xc3\xban", "Okt", " dec",
	"juno", "",    "x",   "Jan1",	     "jan-02", "mayo",
};

static const char *const versions[] = {
	"1",	       "1.0",
	"1.00",	       "1.1",
	"1.10",	       "1.9",
	"01.9",	       "a1",
	"a01",	       "a001",
	"a-1",	       "1~",
	"1~rc1",       "1.0~",
	"1.0.tar.gz",  "1.0.1.tar.gz",
	".",	       "..",
	".a",	       ".b~",
	"a.b",	       "foo-1.tgz",
	"foo-1.2.tgz", "foo.c",
	"foo.c~",      "foo",
	"foo1.c",      "foo2.c",
	"foo10.c",     "999999999999999999999",
	"9",	       "10",
	"abc.x.~1~",   "000",
	"0",	       "",
	"a.gz",	       "a.2.gz",
	"a b",	       "A",
	"1.a",	       "1.A",
};

static const char *const generals[] = {
	"nan",
	"NaN",
	"-nan",
	"inf",
	"-inf",
	"INF",
	"infinity",
	"1e3",
	"1E3",
	"1e",
	"1e+",
	"0x10",
	"-0x1p3",
	"1e400",
	"-1e400",
	"1e-400",
	"1e5000",
	"0.1",
	".1",
	"-.1",
	"1.",
	"+1",
	"+-1",
	"1e1000",
	"0",
	"-0",
	"0.0",
	"abc",
	"",
	"1_0",
	"1,5",
	"1.5",
	"100000000000000000001",
	"100000000000000000002",
	"0x",
	"1e-5",
	"0.00001",
	"nan(12)",
	"in",
	"i",
};

/* Not R and Q: GNU sort knows them from 9.2 on. */
static const char suffixes[] = "KMGTPEZYkmgt";

static void text_put(struct text *t, const void *data, size_t bytes)
{
	if (t->capacity - t->bytes < bytes) {
		t->capacity = (t->bytes + bytes) * 2;
		t->data = realloc(t->data, t->capacity);
		if (!t->data)
			abort();
	}
	if (bytes)
		memcpy(t->data + t->bytes, data, bytes);
	t->bytes += bytes;
}

static void text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

static unsigned draw(struct sp__rng *rng, unsigned n)
{
	return (unsigned)sp__rng_below(rng, n);
}

static void some_digits(struct text *t, struct sp__rng *rng, unsigned max)
{
	for (unsigned n = draw(rng, max + 1); n; n--)
		text_put(t, &"0123456789"[draw(rng, 10)], 1);
}

static void number(struct text *t, struct sp__rng *rng)
{
	static const char *const points[] = { ".", ",", ".", "" };

	for (unsigned n = draw(rng, 8) ? 0 : draw(rng, 3); n; n--)
		text_put(t, " ", 1);
	if (draw(rng, 3) == 0)
		text_put(t, draw(rng, 8) ? "-" : "+", 1);
	if (draw(rng, 6) == 0)
		text_put(t, "000", 1 + draw(rng, 3));
	some_digits(t, rng, draw(rng, 10) ? 4 : 40);
	if (draw(rng, 8) == 0) {
		text_put(t, draw(rng, 2) ? "," : ".", 1);
		some_digits(t, rng, 3);
	}
	if (draw(rng, 3) == 0) {
		text_puts(t, points[draw(rng, 4)]);
		some_digits(t, rng, draw(rng, 10) ? 3 : 40);
		if (draw(rng, 3) == 0)
			text_put(t, "000", 1 + draw(rng, 3));
	}
}

static void letter_word(struct text *t, struct sp__rng *rng)
{
	unsigned n = 1 + draw(rng, 3);

	if (draw(rng, 3) == 0) {
		for (n = draw(rng, 12); n; n--)
			text_put(t, &"abcdexyzABCZ"[draw(rng, 12)], 1);
		return;
	}
	for (; n; n--)
		text_puts(t, plain_words[draw(rng, COUNT(plain_words))]);
}

static void byte_word(struct text *t, struct sp__rng *rng, char eol)
{
	static const unsigned char edges[] = { 0, 1, 9, 11, 31, 32, 127, 128, 160, 254, 255, '\n' };

	for (unsigned n = draw(rng, 12); n; n--) {
		unsigned char c = draw(rng, 2) ? edges[draw(rng, COUNT(edges))]
					       : (unsigned char)draw(rng, 256);

		if (c != (unsigned char)eol)
			text_put(t, &c, 1);
	}
}

static void word(struct text *t, enum word_kind kind, struct sp__rng *rng, char eol)
{
	static const char *const blanks[] = { " ", "  ", "\t", " \t ", "\v", "\r", "" };

	if (kind == WORD_MIXED)
		kind = (enum word_kind)(1 + draw(rng, WORD_KINDS - 1));
	switch (kind) {
	case WORD_NATIONAL:
		for (unsigned n = 1 + draw(rng, 4); n; n--)
			text_puts(t, draw(rng, 3) ? national[draw(rng, COUNT(national))]
						  : plain_words[draw(rng, COUNT(plain_words))]);
		break;
	case WORD_NUMBER:
		number(t, rng);
		break;
	case WORD_GENERAL:
		if (draw(rng, 2))
			number(t, rng);
		else
			text_puts(t, generals[draw(rng, COUNT(generals))]);
		break;
	case WORD_HUMAN:
		number(t, rng);
		if (draw(rng, 4))
			text_put(t, &suffixes[draw(rng, sizeof(suffixes) - 1)], 1);
		if (draw(rng, 6) == 0)
			text_puts(t, draw(rng, 2) ? "i" : "B");
		break;
	case WORD_MONTH:
		text_puts(t, months[draw(rng, COUNT(months))]);
		break;
	case WORD_VERSION:
		text_puts(t, versions[draw(rng, COUNT(versions))]);
		if (draw(rng, 4) == 0)
			text_puts(t, versions[draw(rng, COUNT(versions))]);
		break;
	case WORD_BLANK:
		text_puts(t, blanks[draw(rng, COUNT(blanks))]);
		letter_word(t, rng);
		text_puts(t, blanks[draw(rng, COUNT(blanks))]);
		break;
	case WORD_BYTES:
		byte_word(t, rng, eol);
		break;
	default:
		letter_word(t, rng);
	}
}

static void line(struct text *t, const struct input_shape *s, struct sp__rng *rng)
{
	unsigned words = s->words ? draw(rng, s->words + 1) : 0;
	size_t begin = t->bytes;

	for (unsigned i = 0; i < words; i++) {
		if (i)
			text_put(t, &s->separator, 1);
		word(t, s->kind, rng, s->eol);
	}
	while (s->long_bytes && t->bytes - begin < s->long_bytes)
		word(t, s->kind, rng, s->eol);
	/* No word may hold the terminator, whatever list it is from. */
	for (char *p = t->data + begin; t->bytes > begin && p < t->data + t->bytes; p++)
		if (*p == s->eol)
			*p = '.';
	text_put(t, &s->eol, 1);
}

__attribute__((unused)) static void input_make(struct text *t, const struct input_shape *shape,
					       struct sp__rng *rng)
{
	struct input_shape plain = *shape;
	struct text pool = { 0 };
	size_t *starts = calloc(shape->distinct + 1, sizeof(*starts));

	plain.long_bytes = 0;
	if (!starts)
		abort();
	for (unsigned i = 0; i < shape->distinct; i++) {
		line(&pool, &plain, rng);
		starts[i + 1] = pool.bytes;
	}
	t->bytes = 0;
	while (t->bytes < shape->bytes) {
		unsigned i = shape->distinct ? draw(rng, shape->distinct) : 0;

		if (shape->distinct && draw(rng, 10))
			text_put(t, pool.data + starts[i], starts[i + 1] - starts[i]);
		else
			line(t, shape->long_bytes && draw(rng, 10) == 0 ? shape : &plain, rng);
	}
	if (t->bytes && shape->no_final_eol)
		t->bytes--;
	free(starts);
	free(pool.data);
}

#endif
