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

struct sp__location_slot;

struct sp__locations {
	uint64_t n; /* with multiplicity */
	struct sp__location_slot *slots;
	size_t nslots, nused; /* nslots: a power of 2 */
};

SP_MUST_CHECK int sp__locations_open(struct sp__locations *p); /* 0 or -ENOMEM */
void sp__locations_close(struct sp__locations *p);	       /* accepts one filled with zeros */
/* 0, or -ENOMEM: the set is unchanged. */
SP_MUST_CHECK int sp__locations_add(struct sp__locations *p, unsigned dev, uint64_t sector);
/* Removes one request.  False: the location has none. */
bool sp__locations_take(struct sp__locations *p, unsigned dev, uint64_t sector);
void sp__locations_clear(struct sp__locations *p);
