/* SPDX-License-Identifier: MIT */
/*
 * Prints f64 and f32 with the fewest digits that give the number back.
 *
 * Among the texts with the fewest digits the one nearest to the number is printed; of two equally
 * near ones, the one with an even last digit.  The form is that of %g, with the precision that
 * suffices for all numbers of the type: 17 for f64, 9 for f32.  So 10^X or more is printed with an
 * exponent if X is the precision, and numbers below 10^-4 are, too: 0.1, 1e+22, 1e-05, 100000.
 * Neither zeros at the end of a fraction nor a point without a fraction are printed.  Zero keeps
 * its sign (-0), infinities are inf and -inf, and each NaN is nan.
 *
 * The text does not depend on the locale, and has no NUL.
 */
#pragma once

/* Bytes that must be available at p; the text has at most 24 of them. */
#define SP__SHORTEST_SPACE 32

/* Writes v at p.  Returns the end of the text; bytes behind it are overwritten, too. */
char *sp__shortest_f64(char *p, double v);
char *sp__shortest_f32(char *p, float v);
