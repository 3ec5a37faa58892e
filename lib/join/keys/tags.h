/* SPDX-License-Identifier: MIT */
/*
 * Numbers records by suffixes.
 *
 * If the order of the inputs is needed later, a record passes the stages of a hash join with its
 * number in the input, its tag, appended before the terminator: seven bytes of seven bits, the
 * highest first, the top bit of each set.  So tags compare like the numbers, and contain no
 * terminator or quote.  The maximum is 2^49 records, over 5 * 10^14.
 */
#pragma once

#include "rec/fields.h"

#define SP__TAG_BYTES 7

static inline void sp__tag_set(char tag[SP__TAG_BYTES], uint64_t n)
{
	for (size_t i = SP__TAG_BYTES; i-- > 0; n >>= 7)
		tag[i] = (char)(0x80 | (n & 0x7f));
}

static inline int sp__tag_compare(const char *a, const char *b)
{
	return memcmp(a, b, SP__TAG_BYTES);
}
