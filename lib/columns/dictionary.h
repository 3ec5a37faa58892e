/* SPDX-License-Identifier: MIT */
/*
 * The distinct texts of a column of type dict8 or dict16.  Text k, counted from 1 in the order in
 * which they were added, has code k.
 *
 * Thread rule: while a thread adds, no other thread uses the dictionary.
 */
#pragma once

#include <spindle/error.h>
#include "base/mem.h"
#include "rec/fields.h"

#define SP__DICT8_WORDS 255
#define SP__DICT16_WORDS 65535

/* Zeroed: no words. */
struct sp__dictionary {
	struct sp__budget *budget; /* budget of its memory; NULL: not charged */
	uint32_t n;
	uint32_t slots; /* slots of the hash table, a power of two; 0: no memory yet */
	uint32_t ends_max, chars_max;	     /* capacity */
	const struct sp__key_secret *secret; /* secret of the hashes */
	bool strong;			     /* the strong hash is used */
	uint32_t *ends;			     /* ends[k - 1]: end of word k in chars */
	uint32_t *table; /* upper half: of the hash; lower half: code, 0: empty */
	char *chars;
};

/*
 * Adds a word unless it is there.  Returns 0 and the code; -ENOSPC: there are max_words words, or
 * 4 GiB of text; SP_EBUDGET: the budget's limit is too small; -ENOMEM.
 */
SP_MUST_CHECK int sp__dictionary_add(struct sp__dictionary *d, const char *word, size_t n,
				     uint32_t max_words, uint32_t *code);
/* Returns the code of the word; 0: it is not there. */
uint32_t sp__dictionary_find(const struct sp__dictionary *d, const char *word, size_t n);
/* Frees the memory and credits the budget, which stays. */
void sp__dictionary_free(struct sp__dictionary *d);

/* Returns the bytes of all words. */
static inline uint32_t sp__dictionary_bytes(const struct sp__dictionary *d)
{
	return d->n ? d->ends[d->n - 1] : 0;
}

/* Returns the word of a code from 1 to n, until the next word is added. */
static inline struct sp__slice sp__dictionary_word(const struct sp__dictionary *d, uint32_t code)
{
	uint32_t begin = code > 1 ? d->ends[code - 2] : 0;

	return (struct sp__slice){ d->chars + begin, d->ends[code - 1] - begin };
}
