/* SPDX-License-Identifier: MIT */
/*
 * Spells words that look real, by rule: letters follow each other with the frequencies of a simple
 * table, sequences of consonants or vowels are short, and some words are Capitalised or in
 * CAPITALS.
 */
#pragma once

#include "gen/alphabet.h"

#define SP__SPELLING_STATES 9
#define SP__SPELLING_BITS 14

/* Alphabets of up to three letters at a time; number 0 begins a word. */
struct sp__spelling {
	struct sp__alphabet of[SP__SPELLING_STATES];
};

int sp__spelling_init(struct sp__spelling *s);
void sp__spelling_release(struct sp__spelling *s);

/* Writes a word of 2 .. SP__WORD_MAX letters, and up to 4 bytes past its end. */
#define SP__WORD_MAX 24
char *sp__spell(const struct sp__spelling *s, char *p, uint64_t x, uint64_t more);
