/* SPDX-License-Identifier: MIT */
/*
 * A multiset of places on devices where requests are outstanding; several requests may have
 * the same place.
 *
 * One thread at a time.  Memory grows with the number of places and never shrinks until the
 * set is closed.
 */
#ifndef SP__OBSERVE_PLACES_H
#define SP__OBSERVE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>

struct sp__place_slot;

struct sp__places {
	uint64_t n; /* with multiplicity */
	struct sp__place_slot *slots;
	size_t nslots, nused; /* nslots: a power of 2 */
};

SP_MUST_CHECK int sp__places_open(struct sp__places *p); /* 0 or -ENOMEM */
void sp__places_close(struct sp__places *p);		 /* accepts one filled with zeros */
/* 0, or -ENOMEM: the set is unchanged. */
SP_MUST_CHECK int sp__places_add(struct sp__places *p, unsigned dev, uint64_t sector);
/* Removes one; false: there is none. */
bool sp__places_take(struct sp__places *p, unsigned dev, uint64_t sector);
void sp__places_clear(struct sp__places *p);

#endif
