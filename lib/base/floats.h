/* SPDX-License-Identifier: MIT */
/*
 * Prints f64 and f32 as decimal text, and reads them from it, independent of the locale.
 *
 * A number is printed with the fewest digits that give it back.  Among the texts with the fewest
 * digits the one nearest to the number is printed; of two equally near ones, the one with an even
 * last digit.  The form is that of %g, with the precision that suffices for all numbers of the
 * type: 17 for f64, 9 for f32.  So 10^X or more is printed with an exponent if X is the precision,
 * and numbers below 10^-4 are, too: 0.1, 1e+22, 1e-05, 100000.  Neither zeros at the end of a
 * fraction nor a point without a fraction are printed.  Zero keeps its sign (-0), infinities are
 * inf and -inf, and each NaN is nan.
 *
 * The text has no NUL.
 *
 * A text to be read has the form
 *
 *	[+-] DIGITS [. DIGITS] [e [+-] DIGITS]	or	[+-] inf | infinity | nan
 *
 * in either case, and a point needs digits on one side.  The number is rounded correctly; one too
 * close to zero becomes zero.
 */
#pragma once

#include <spindle/error.h>

/* Bytes that must be available at p; the text has at most 24 of them. */
#define SP__SHORTEST_SPACE 32

/* Writes v at p.  Returns the end of the text; bytes behind it are overwritten, too. */
char *sp__shortest_f64(char *p, double v);
char *sp__shortest_f32(char *p, float v);

#define SP__READFLOAT_MAX 1023 /* maximum bytes of a text */

/* Returns 0; -EINVAL: another text, or too long; -ERANGE: the number is too large. */
SP_MUST_CHECK int sp__read_f64(const char *text, size_t n, double *v);
SP_MUST_CHECK int sp__read_f32(const char *text, size_t n, float *v);

/* Returns floor(log2(10^k)) for -330 <= k <= 330. */
static inline int sp__log2_tenpower(int k)
{
	return (k * 217706) >> 16;
}

/*
 * Returns the power of ten for -297 <= k <= 350, with 128 significant bits, rounded up: the least
 * integer that is at least 10^k * 2^(127 - floor(log2(10^k))).
 */
unsigned __int128 sp__tenpower(int k);
