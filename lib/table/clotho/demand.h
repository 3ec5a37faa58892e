/* SPDX-License-Identifier: MIT */
/*
 * Counts the bytes that reads of few records read themselves, since no frame had them.
 *
 * The counts are in a table of fixed size.  If another frame has a place in it, its count is
 * decreased, and it loses the place when the count is used up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SP__DEMANDS_MAX 4 /* of a frame */

struct sp__clotho_demand {
	uint64_t key;	       /* of the frame that would have the bytes */
	uint64_t bytes, since; /* since: lookups of the pool when it began */
};

struct sp__clotho_demands {
	struct sp__clotho_demand *list;
	uint64_t n; /* a power of two */
};

/* Makes the table for a pool of so many frames.  Returns 0 or -ENOMEM. */
int sp__demands_open(struct sp__clotho_demands *d, uint64_t frames);
void sp__demands_close(struct sp__clotho_demands *d);
/*
 * Adds bytes to the count of a frame, which begins again if it is older than `used`.  now: lookups
 * so far.  Returns true, and begins again, if the count reaches `wanted`.
 */
bool sp__demands_add(struct sp__clotho_demands *d, uint64_t key, uint64_t bytes, uint64_t wanted,
		     uint64_t used, uint64_t now);
