/* SPDX-License-Identifier: MIT */
/*
 * Bisects n positions: a condition holds for the first ones and for no other.
 */
#pragma once

#include <stddef.h>

/*
 * Returns the number of positions where it holds. holds is an expression of the position i, a
 * size_t.
 */
#define SP__BISECT(n, i, holds)                                                                    \
	({                                                                                         \
		size_t sp__low = 0, sp__high = (n);                                                \
		while (sp__low < sp__high) {                                                       \
			size_t i = sp__low + (sp__high - sp__low) / 2;                             \
			if (holds)                                                                 \
				sp__low = i + 1;                                                   \
			else                                                                       \
				sp__high = i;                                                      \
		}                                                                                  \
		sp__low;                                                                           \
	})
