/* SPDX-License-Identifier: MIT */
/*
 * A multiset of locations on devices with outstanding requests; several requests can have the same
 * location.
 *
 * A set is for one thread at a time.  Its memory grows with the number of locations, and does not
 * shrink until the set is closed.
 */
#pragma once

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
/* Removes one request.  False: the location has none. */
bool sp__places_take(struct sp__places *p, unsigned dev, uint64_t sector);
void sp__places_clear(struct sp__places *p);
