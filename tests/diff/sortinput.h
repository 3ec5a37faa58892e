/* SPDX-License-Identifier: MIT */
/*
 * The input of a sort in temporary space: records of four fields, as the case
 * wants them, long ones among them.
 *
 * A CSV record has newlines in quotes, which GNU sort does not know; in its
 * input each of them is NEWLINE, which compares with all other bytes there as a newline does.
 */
#ifndef DIFF_SORTINPUT_H
#define DIFF_SORTINPUT_H

#include "sortcase.h"

#define LARGE_MAX 6
#define POOL 4000
#define NEWLINE '\1'

struct large {
	size_t at, bytes;
};

static unsigned place_large(struct sort_case *c, struct large *list)
{
	static const unsigned percent[] = { 0, 50, 97 };
	unsigned n = is(c, LARGE, "none") ? 0 : is(c, LARGE, "several") ? LARGE_MAX : 1;

	for (unsigned i = 0; i < n; i++) {
		list[i].at = c->bytes / 100 * percent[c->pick.value[PLACE]];
		if (n == 1) {
			list[i].bytes = c->memory / strtoul(setting(c, LARGE) + 2, NULL, 10);
			continue;
		}
		/* From the place on, towards the end. */
		list[i].at += (c->bytes - list[i].at) / n * i;
		list[i].bytes = c->memory / (2 + draw(&c->rng, 31));
	}
	return n;
}

static void filling(struct text *t, struct sort_case *c, size_t bytes)
{
	size_t begin = t->bytes;
	bool words = draw(&c->rng, 2);

	while (t->bytes - begin < bytes) {
		if (words)
			word(t, WORD_LETTERS, &c->rng, c->eol);
		text_put(t, words ? " x" : "HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH", words ? 2 : 32);
	}
}

/* Field 1 to 3; `large` bytes are put into field 2, or not. */
static void put_keys(struct text *t, struct sort_case *c, size_t large)
{
	const char separator = c->csv ? ',' : ' ';
	char third[16];

	if (c->key->word == WORD_NATIONAL)
		word(t, WORD_NATIONAL, &c->rng, c->eol);
	else
		some_digits(t, &c->rng, 3);
	text_put(t, &separator, 1);
	word(t, c->key->word, &c->rng, c->eol);
	filling(t, c, large);
	text_put(t, &separator, 1);
	text_put(t, third, (size_t)sprintf(third, "w%u", draw(&c->rng, 200)));
	text_put(t, &separator, 1);
}

/* The last field: some text, and the number of the record, if it has one. */
static void put_rest(struct text *t, struct sort_case *c, uint64_t number, size_t large)
{
	static const char letters[] = "the quick brown fox jumps over the lazy dog and sleeps "
				      "until the morning, when all of it begins once more";
	static const char newline = NEWLINE;
	char digits[24];

	if (c->csv)
		text_puts(t, "\"");
	text_put(t, letters, draw(&c->rng, sizeof(letters)));
	if (c->csv && draw(&c->rng, 4) == 0)
		text_put(t, &newline, 1);
	filling(t, c, large);
	if (number)
		text_put(t, digits, (size_t)sprintf(digits, " %llu", (unsigned long long)number));
	if (c->csv)
		text_puts(t, "\"");
	text_put(t, &c->eol, 1);
}

static void make_input(struct sort_case *c, struct text *t)
{
	bool duplicates = is(c, ORDER, "duplicates"), numbered = !duplicates || draw(&c->rng, 2);
	struct text pool = { 0 };
	size_t starts[POOL + 1] = { 0 };
	struct large large[LARGE_MAX];
	unsigned nlarge = place_large(c, large), next = 0;
	/* All in one table, in some, or in none. */
	unsigned kinds = POOL / (draw(&c->rng, 2) ? 100 : 1 + 9 * draw(&c->rng, 2));

	for (unsigned i = 0; duplicates && i < kinds; i++) {
		put_keys(&pool, c, 0);
		starts[i + 1] = pool.bytes;
	}
	t->bytes = 0;
	for (uint64_t n = 1; t->bytes < c->bytes || next < nlarge; n++) {
		bool now = next < nlarge && t->bytes >= large[next].at;
		size_t bytes = now ? large[next++].bytes : 0;
		bool in_key = draw(&c->rng, 2);
		unsigned i = draw(&c->rng, kinds);

		if (duplicates && !now)
			text_put(t, pool.data + starts[i], starts[i + 1] - starts[i]);
		else
			put_keys(t, c, in_key ? bytes : 0);
		put_rest(t, c, numbered ? n : 0, in_key ? 0 : bytes);
	}
	avoid(t, c->key->word == WORD_NUMBER || c->key->word == WORD_HUMAN,
	      c->key->word == WORD_GENERAL, c->key->word == WORD_VERSION);
	free(pool.data);
}

#endif
