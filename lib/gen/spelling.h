/* SPDX-License-Identifier: MIT */
/*
 * Spells words that look real, by rule: letters follow each other with the frequencies of a simple
 * table, sequences of consonants or vowels are short, and some words are Capitalised or in
 * CAPITALS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * An alphabet converts a point of [0, 2^64) to text that keeps its order.
 *
 * Algorithm: arithmetic decoding.  The alphabet divides the interval among symbols in byte order;
 * the width of a symbol is its frequency.  The symbol that contains x is written, x within it is
 * stretched to the whole interval, and the symbol's own next alphabet continues.  A uniform x
 * yields text with the frequencies of the alphabets. x < y never yields lines in the opposite
 * order, because END is the first symbol and no symbol is a prefix of another's text.
 *
 * Stretching opens gaps in x, which random bits fill, so text of any length stays random.  The bits
 * are narrower than the gap: order and difference of points survive.
 *
 * Widths are counted in slots of 2^-bits; finding the symbol is one look-up.
 */
#define SP__SYMBOL_MAX 16
#define SP__ALPHABET_END 255

struct sp__symbol {
	char text[SP__SYMBOL_MAX];
	uint64_t scale; /* factor of the stretching, in 2^-16 */
	uint16_t start; /* the first slot */
	uint8_t fill;	/* number of random bits */
	uint8_t bytes, next;
};

struct sp__alphabet {
	unsigned int bits;
	uint32_t symbols;
	struct sp__symbol *symbol;
	uint16_t *slot; /* 2^bits symbol numbers */
};

static inline const struct sp__symbol *sp__alphabet_slot(const struct sp__alphabet *a,
							 uint64_t slot)
{
	return &a->symbol[a->slot[slot]];
}

/* Reads one symbol off *x, refilling it from *more. */
static inline const struct sp__symbol *sp__alphabet_next(const struct sp__alphabet *a, uint64_t *x,
							 uint64_t *more)
{
	const struct sp__symbol *s = sp__alphabet_slot(a, *x >> (64 - a->bits));

	*x -= (uint64_t)s->start << (64 - a->bits);
	*x = (uint64_t)((unsigned __int128)*x * s->scale >> 16);
	*more = *more * 0xD1342543DE82EF95u + 0x9E3779B97F4A7C15u;
	*x += *more >> 40 & (((uint64_t)1 << s->fill) - 1);
	return s;
}
/*
 * Gives each of n symbols, whose text and next are set, a share of the slots in proportion to
 * weights, at least one slot.  A weight of 0 drops the symbol.  Takes over symbol, also after an
 * error.  Returns 0, -EINVAL or -ENOMEM.
 */
int sp__alphabet_init(struct sp__alphabet *a, unsigned int bits, struct sp__symbol *symbol,
		      const uint64_t *weights, uint32_t n);
void sp__alphabet_release(struct sp__alphabet *a);

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
