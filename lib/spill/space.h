/* SPDX-License-Identifier: MIT */
/*
 * Allocates space in one temporary file, in units.  Free units are reused lowest address first; the
 * file grows only when there are none.
 */
#pragma once

#include <stdint.h>

struct sp__space {
	uint64_t end;	   /* size of the file in units */
	uint64_t used;	   /* units in use */
	uint64_t recycled; /* units allocated a second time */
	uint64_t nfree;
	uint64_t lowest; /* no free unit below */
	uint64_t *map;	 /* bit set: free */
	uint64_t map_words;
};

void sp__space_release(struct sp__space *s);
/*
 * Allocates up to want contiguous units; *unit is the first.  Returns their number (> 0).  Uses
 * free units before it grows the file.
 */
uint32_t sp__space_take(struct sp__space *s, uint32_t want, uint64_t *unit);
/* Allocates all units, contiguous, at the end of the file, even if others are free. */
uint32_t sp__space_extend(struct sp__space *s, uint32_t want, uint64_t *unit);
/* Marks a unit free for reuse; 0 or -ENOMEM (then only this unit is lost). */
int sp__space_give(struct sp__space *s, uint64_t unit);
/* Drops units that are no longer used and will not be reused. */
void sp__space_drop(struct sp__space *s, uint64_t units);
