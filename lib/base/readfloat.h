/* SPDX-License-Identifier: MIT */
/*
 * Reads f64 and f32 from decimal text, correctly rounded, independent of the locale.  The text has
 * the form
 *
 *	[+-] DIGITS [. DIGITS] [e [+-] DIGITS]	or	[+-] inf | infinity | nan
 *
 * in either case, and a point needs digits on one side.  A number too close to zero becomes zero.
 */
#pragma once

#include <spindle/error.h>

#define SP__READFLOAT_MAX 1023 /* maximum bytes of a text */

/* Returns 0; -EINVAL: another text, or too long; -ERANGE: the number is too large. */
SP_MUST_CHECK int sp__read_f64(const char *text, size_t n, double *v);
SP_MUST_CHECK int sp__read_f32(const char *text, size_t n, float *v);
