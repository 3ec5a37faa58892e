/* SPDX-License-Identifier: MIT */
/*
 * Space in one temporary file, in units.  Units given back are given out
 * again lowest address first; only when there are none the file grows.
 */
#ifndef SP__SPILL_SPACE_H
#define SP__SPILL_SPACE_H

#include <stdint.h>

struct sp__space {
	uint64_t end;	   /* units the file has had so far */
	uint64_t used;	   /* units in use */
	uint64_t peak;	   /* most in use at a time */
	uint64_t recycled; /* units given out a second time */
	uint64_t nfree;
	uint64_t lowest; /* no free unit below */
	uint64_t *map;	 /* bit set: free */
	uint64_t map_words;
};

void sp__space_release(struct sp__space *s);
/*
 * Up to want units in one piece; *unit is the first.  Returns how many (> 0),
 * taking free units before growing the file.
 */
uint32_t sp__space_take(struct sp__space *s, uint32_t want, uint64_t *unit);
/* The same at the end of the file, all in one piece, whatever is free. */
uint32_t sp__space_extend(struct sp__space *s, uint32_t want, uint64_t *unit);
/* Marks a unit free for reuse; 0 or -ENOMEM (it is then lost, no more). */
int sp__space_give(struct sp__space *s, uint64_t unit);
/* A unit that is not used any more and not to be reused. */
void sp__space_drop(struct sp__space *s, uint64_t units);

#endif
