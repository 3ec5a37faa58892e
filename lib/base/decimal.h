/* SPDX-License-Identifier: MIT */
/*
 * Adds decimal numbers with at most 9 decimal places exactly: in units of 10^-9 in 128 bits, so
 * sums of magnitudes up to 10^27 do not overflow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SP__DECIMAL_PLACES 9
/* Maximum bytes of a printed number. */
#define SP__DECIMAL_TEXT 48

__extension__ typedef __int128 sp__int128;

struct sp__decimal {
	sp__int128 units;
	unsigned places; /* decimal places of its text; of a sum: the maximum of the summands */
};

/* False: the text is not a number, or has too many digits. */
bool sp__decimal_parse(const char *text, size_t bytes, struct sp__decimal *d);
/* False: the sum is too large. */
bool sp__decimal_add(struct sp__decimal *sum, const struct sp__decimal *d);
/* Divides by n > 0 and rounds half away from 0 to the given decimal places. */
struct sp__decimal sp__decimal_divide(const struct sp__decimal *d, unsigned long long n,
				      unsigned places);
/* Returns the length; the text is not terminated. */
size_t sp__decimal_print(const struct sp__decimal *d, char text[SP__DECIMAL_TEXT]);
