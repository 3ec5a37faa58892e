/* SPDX-License-Identifier: MIT */
/*
 * Finds the separators and newlines of CSV that are not inside quotes, 16 or 64 bytes at a time.
 *
 * A quote opens quotes only at the start of a field; elsewhere it is text, also after a closing
 * quote ("a"b is the text ab, as for other readers).  '\r' has no meaning here.
 *
 * States: SP__CSV_START, a quote opens quotes: at the start of a field, and after a quote inside
 * quotes, where a second quote makes the first one text; SP__CSV_PLAIN, a quote is text;
 * SP__CSV_INSIDE, inside quotes.
 *
 * Algorithm: comparisons give masks of quotes, separators and newlines.  If each quote changed
 * between inside and outside, the prefix XOR of the quotes would be the mask of the bytes inside.
 * This is so until the first quote that opens quotes, by that mask, in the state SP__CSV_PLAIN.
 * That quote is text, as all to the end of its field: their bits are cleared, and the mask is
 * computed again.
 */
#pragma once

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "base/few.h"

enum { SP__CSV_START, SP__CSV_PLAIN, SP__CSV_INSIDE };

#define SP__CSV_BLOCK 64

struct sp__csvbytes {
#ifdef __SSE2__
	__m128i v[SP__CSV_BLOCK / 16];
#else
	char v[SP__CSV_BLOCK];
#endif
};

#ifdef __SSE2__
/* Loads fewer than 16 bytes. */
static inline __m128i sp__csv_load_few(const char *p, size_t n)
{
	uint64_t high = 0;

	if (n > 8)
		high = sp__load_few(p + n - 8, 8) >> 8 * (16 - n);
	return _mm_set_epi64x((long long)high, (long long)sp__load_few(p, n));
}

static inline __m128i sp__csv_load_16(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Loads n bytes, or `width` if there are more. */
static inline __attribute__((always_inline)) struct sp__csvbytes
sp__csv_load(const char *p, size_t n, unsigned width)
{
	char copy[SP__CSV_BLOCK];

	if (width == 16)
		return (struct sp__csvbytes){ { __builtin_expect(n >= 16, 1)
							? sp__csv_load_16(p)
							: sp__csv_load_few(p, n) } };
	if (__builtin_expect(n < SP__CSV_BLOCK, 0)) {
		memset(copy, 0, sizeof(copy));
		p = memcpy(copy, p, n);
	}
	return (struct sp__csvbytes){ { sp__csv_load_16(p), sp__csv_load_16(p + 16),
					sp__csv_load_16(p + 32), sp__csv_load_16(p + 48) } };
}

static inline uint64_t sp__csv_equal_16(__m128i bytes, __m128i want)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, want));
}

static inline __attribute__((always_inline)) uint64_t sp__csv_equal(const struct sp__csvbytes *b,
								    unsigned width, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	uint64_t mask = sp__csv_equal_16(b->v[0], want);

	if (width == 16)
		return mask;
	return mask | sp__csv_equal_16(b->v[1], want) << 16 |
	       sp__csv_equal_16(b->v[2], want) << 32 | sp__csv_equal_16(b->v[3], want) << 48;
}
#else
static inline struct sp__csvbytes sp__csv_load(const char *p, size_t n, unsigned width)
{
	struct sp__csvbytes b = { { 0 } };

	memcpy(b.v, p, n < width ? n : width);
	return b;
}

static inline uint64_t sp__csv_equal(const struct sp__csvbytes *b, unsigned width, char c)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < width; i++)
		mask |= (uint64_t)(b->v[i] == c) << i;
	return mask;
}
#endif

/* Bit i is that of byte i. */
struct sp__csvblock {
	uint64_t separators, newlines; /* outside quotes */
	uint64_t quotes;
	uint64_t closes; /* quotes that close quotes, unless a quote follows */
	uint64_t texts;	 /* quotes that are text of a field without quotes */
};

/* Returns the state after a byte outside quotes that is not a quote. */
static inline unsigned sp__csv_state_after(const char *p, char separator, bool newlines)
{
	return *p == separator || (newlines && *p == '\n') ? SP__CSV_START : SP__CSV_PLAIN;
}

/* Sets bit i to the parity of bits 0 to i. */
static inline uint64_t sp__csv_prefix_xor(uint64_t x)
{
	x ^= x << 1;
	x ^= x << 2;
	x ^= x << 4;
	x ^= x << 8;
	x ^= x << 16;
	return x ^ x << 32;
}

/* Clears the separators and newlines inside quotes.  Returns the state after n bytes. */
static inline unsigned sp__csv_apply_quotes(struct sp__csvblock *b, size_t n, unsigned state)
{
	const uint64_t starts = (b->separators | b->newlines) << 1 | (state == SP__CSV_START);
	const uint64_t before = state == SP__CSV_INSIDE ? UINT64_MAX : 0;
	uint64_t quotes = b->quotes, inside, text, next;

	for (;;) {
		inside = sp__csv_prefix_xor(quotes) ^ before;
		b->closes = quotes & ~inside;
		text = quotes & inside & ~(starts | b->closes << 1);
		if (__builtin_expect(!text, 1))
			break;
		text &= -text;
		next = starts & -text;
		quotes &= (text - 1) | ~((next & -next) - 1);
	}
	b->texts = b->quotes ^ quotes;
	b->separators &= ~inside;
	b->newlines &= ~inside;
	if (inside >> 63)
		return SP__CSV_INSIDE;
	return (b->separators | b->newlines | b->closes) >> (n - 1) & 1 ? SP__CSV_START
									: SP__CSV_PLAIN;
}

/*
 * Finds the separators and newlines in n bytes, n > 0, or in `width`, which is 16 or 64, if there
 * are more.  Updates *state.  Without `newlines`, a newline is a byte as any other; without `csv`,
 * a quote.
 */
static inline __attribute__((always_inline)) struct sp__csvblock
sp__csv_block(const char *p, size_t n, unsigned width, char separator, bool newlines, bool csv,
	      unsigned *state)
{
	const struct sp__csvbytes bytes = sp__csv_load(p, n, width);
	const uint64_t used = n < width ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	struct sp__csvblock b = { 0 };

	if (csv)
		b.quotes = sp__csv_equal(&bytes, width, '"') & used;
	if (!b.quotes && *state == SP__CSV_INSIDE)
		return b;
	b.separators = sp__csv_equal(&bytes, width, separator) & used;
	if (newlines)
		b.newlines = sp__csv_equal(&bytes, width, '\n') & used;
	if (b.quotes)
		*state = sp__csv_apply_quotes(&b, n < width ? n : width, *state);
	else
		*state = sp__csv_state_after(p + (n < width ? n : width) - 1, separator, newlines);
	return b;
}

/*
 * Finds the separators in up to 16 bytes, or 64 if `wide` and there are so many.  Returns the
 * number of bytes.
 */
static inline __attribute__((always_inline)) unsigned
sp__csv_separators(const char *p, const char *end, bool wide, char separator, bool csv,
		   unsigned *state, uint64_t *separators)
{
	const size_t n = (size_t)(end - p);

	if (wide && n >= SP__CSV_BLOCK) {
		*separators =
			sp__csv_block(p, SP__CSV_BLOCK, SP__CSV_BLOCK, separator, false, csv, state)
				.separators;
		return SP__CSV_BLOCK;
	}
	*separators = sp__csv_block(p, n, 16, separator, false, csv, state).separators;
	return n < 16 ? (unsigned)n : 16;
}
