/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of texts and numbers in JSON, 16 bytes at a time.  The bytes up to `reach`, which
 * is `end` or behind it, can be loaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__
/* Bytes that are a quote, a backslash or a control character. */
static inline __m128i sp__json_text_ends(__m128i chunk)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i control = _mm_set1_epi8(0x1F);

	return _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, slash)),
		_mm_cmpeq_epi8(_mm_min_epu8(chunk, control), chunk));
}
#endif

/*
 * Returns the first quote, backslash or control character, or end; *high: bytes above 127 were
 * seen, maybe behind it.
 */
static inline const char *sp__json_plain_end(const char *p, const char *end, const char *reach,
					     bool *high)
{
#ifdef __SSE2__
	unsigned above = 0;

	for (; p < end && reach - p >= 16; p += 16) {
		const __m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)p);
		const unsigned hits = (unsigned)_mm_movemask_epi8(sp__json_text_ends(chunk));

		above |= (unsigned)_mm_movemask_epi8(chunk);
		if (hits) {
			*high |= above != 0;
			p += __builtin_ctz(hits);
			return p < end ? p : end;
		}
	}
	*high |= above != 0;
	if (p > end)
		return end;
#endif
	for (; p < end && *p != '"' && *p != '\\' && (unsigned char)*p > 0x1F; p++)
		*high |= (unsigned char)*p > 127;
	return p;
}

#ifdef __SSE2__
/*
 * Returns the end of a text that begins at p, behind its quote; NULL: it has an escape, a control
 * character or, with `ascii`, a byte above 127, or it is not known.
 */
static inline const char *sp__json_plain_text_end(const char *p, const char *end, const char *reach,
						  bool ascii)
{
	for (; reach - p >= 16 && p < end; p += 16) {
		const __m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)p);
		const unsigned hits = (unsigned)_mm_movemask_epi8(sp__json_text_ends(chunk));

		if (ascii && _mm_movemask_epi8(chunk))
			return NULL;
		if (hits) {
			p += __builtin_ctz(hits);
			return p < end && *p == '"' ? p + 1 : NULL;
		}
	}
	return NULL;
}

/*
 * Returns the end of a number of at most 15 bytes without an exponent; NULL: it is another one, or
 * not a number.
 */
static inline const char *sp__json_short_number_end(const char *p, const char *end,
						    const char *reach)
{
	unsigned others, whole, decimals;
	__m128i chunk;

	p += *p == '-';
	if (reach - p < 16)
		return NULL;
	chunk = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
	others = ~(unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_min_epu8(chunk, _mm_set1_epi8(9)), chunk));
	whole = (unsigned)__builtin_ctz(others);
	if (!whole || whole > 15 || (*p == '0' && whole > 1))
		return NULL;
	p += whole;
	if (*p == '.') {
		decimals = (unsigned)__builtin_ctz(others >> (whole + 1));
		if (!decimals || whole + decimals > 14)
			return NULL;
		p += decimals + 1;
	}
	return p <= end && (*p | 32) != 'e' ? p : NULL;
}
#else
static inline const char *sp__json_plain_text_end(const char *p, const char *end, const char *reach,
						  bool ascii)
{
	(void)p;
	(void)end;
	(void)reach;
	(void)ascii;
	return NULL;
}

static inline const char *sp__json_short_number_end(const char *p, const char *end,
						    const char *reach)
{
	(void)p;
	(void)end;
	(void)reach;
	return NULL;
}
#endif
