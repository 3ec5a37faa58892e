/* SPDX-License-Identifier: MIT */
/* Dictionaries of columns: against a list of words, limits, budgets, every failed charge. */
#include <string.h>
#include "base/rng.h"
#include "columns/dictionary.h"
#include "tap.h"

/* Word i of a test: of 0 to 40 bytes, some with equal beginnings and zero bytes. */
static size_t word_of(uint32_t i, char word[48])
{
	struct sp__rng rng = { i };
	size_t n = i ? sp__rng_below(&rng, 37) : 0;

	memset(word, 'a', 48);
	for (size_t k = 0; k < n; k++)
		word[k] = (char)(i % 3 ? 'a' : sp__rng_below(&rng, 256));
	if (!i)
		return 0;
	memcpy(word + n, &i, sizeof(i));
	return n + sizeof(i);
}

static void check_codes(void)
{
	struct sp__dictionary d = { 0 };
	bool good = !sp__dictionary_find(&d, "x", 1);
	char word[48];
	uint32_t code;
	size_t n;

	for (uint32_t i = 0; i < SP__DICT16_WORDS; i++) {
		n = word_of(i, word);
		good = good && !sp__dictionary_find(&d, word, n) &&
		       !sp__dictionary_add(&d, word, n, SP__DICT16_WORDS, &code) && code == i + 1 &&
		       sp__dictionary_find(&d, word, n) == code;
	}
	for (uint32_t i = 0; i < SP__DICT16_WORDS; i++) {
		struct sp__slice s = sp__dictionary_word(&d, i + 1);

		n = word_of(i, word);
		good = good && !sp__dictionary_add(&d, word, n, SP__DICT16_WORDS, &code) &&
		       code == i + 1 && s.n == n && !memcmp(s.p, word, n);
	}
	ok(good && d.n == SP__DICT16_WORDS, "words have codes in the order of their first use");
	ok(sp__dictionary_add(&d, "one more", 8, SP__DICT16_WORDS, &code) == -ENOSPC && !code &&
		   !sp__dictionary_find(&d, "one more", 8),
	   "a full dictionary refuses another word");
	sp__dictionary_free(&d);
	ok(!d.n && !sp__dictionary_find(&d, "", 0), "a freed dictionary is empty");
}

static void check_small(void)
{
	struct sp__dictionary d = { 0 };
	char word[48];
	uint32_t code;
	bool good = true;

	for (uint32_t i = 0; i < 300; i++) {
		int rc = sp__dictionary_add(&d, word, word_of(i, word), SP__DICT8_WORDS, &code);

		good = good && rc == (i < SP__DICT8_WORDS ? 0 : -ENOSPC);
	}
	ok(good && d.n == SP__DICT8_WORDS, "dict8 has 255 words");
	sp__dictionary_free(&d);
}

/* Adds 1000 words under a limit.  Returns the words until the limit is too small. */
static uint32_t words_within(uint64_t limit, bool *good)
{
	struct sp__budget budget;
	struct sp__dictionary d = { .budget = &budget };
	char word[48];
	uint32_t code, n = 0;
	int rc = 0;

	sp__budget_init(&budget, limit);
	while (n < 1000 && !rc) {
		rc = sp__dictionary_add(&d, word, word_of(n, word), SP__DICT16_WORDS, &code);
		n += !rc;
	}
	*good = *good && (!rc || rc == SP_EBUDGET) && d.n == n && budget.peak_bytes <= limit;
	for (uint32_t i = 0; i < n; i++)
		*good = *good && sp__dictionary_find(&d, word, word_of(i, word)) == i + 1;
	*good = *good && sp__dictionary_find(&d, word, word_of(n, word)) == 0;
	sp__dictionary_free(&d);
	*good = *good && budget.used_bytes == 0;
	return n;
}

int main(void)
{
	bool good = true;
	uint32_t before = 0;

	check_codes();
	check_small();
	for (uint64_t limit = 0; limit < 120000; limit += limit < 4000 ? 16 : 997) {
		uint32_t n = words_within(limit, &good);

		good = good && n >= before;
		before = n;
	}
	ok(good && before == 1000, "words are kept under each limit, and memory stays within it");
	return done();
}
