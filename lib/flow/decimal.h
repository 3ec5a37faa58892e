/* SPDX-License-Identifier: MIT */
/*
 * Decimal numbers with at most 9 places, added exactly: units of 10^-9 in 128 bits, so that
 * sums of magnitudes up to 10^27 do not overflow.
 */
#ifndef SP__FLOW_DECIMAL_H
#define SP__FLOW_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#define SP__DECIMAL_PLACES 9
/* Room for a printed number. */
#define SP__DECIMAL_TEXT 48

__extension__ typedef __int128 sp__int128;

struct sp__decimal {
	sp__int128 units;
	unsigned places; /* of its text; of a sum: the maximum of its parts */
};

/* False: not a number, or one with too many digits. */
bool sp__decimal_parse(const char *text, size_t bytes, struct sp__decimal *d);
/* False: too large. */
bool sp__decimal_add(struct sp__decimal *sum, const struct sp__decimal *d);
/* Divided by n > 0, rounded half away from 0 to that many places. */
struct sp__decimal sp__decimal_divide(const struct sp__decimal *d, unsigned long long n,
				      unsigned places);
/* Returns the length; not terminated. */
size_t sp__decimal_print(const struct sp__decimal *d, char text[SP__DECIMAL_TEXT]);

#endif
