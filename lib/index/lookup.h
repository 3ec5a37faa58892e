/* SPDX-License-Identifier: MIT */
/*
 * Lookups of many keys at once.
 *
 * sp__lookup_put() begins a lookup: it walks down the nodes that are in memory; the first one
 * that is missing is read, and the lookup goes on when it has arrived.  sp__lookup_get() returns
 * what is found, in the order in which lookups finish or, ordered, in that of the puts.  So up
 * to max reads are outstanding at once, all of them on one queue (datafile/requests.h), which
 * the owner may use for reads of its own.
 *
 * A lookup that says SP_LATER has registered the wait of that queue.  After an error all calls
 * return it.  One thread uses a lookup.  Source: Iyengar et al. 2008, section 6 (index lookup).
 */
#pragma once

#include "flow/iter.h"
#include "index/indexfile.h"
#include "datafile/requests.h"

struct sp__lookup_opts {
	const struct sp__index *index;
	struct sp__requests *reads; /* max of its depth are for this */
	struct sp__waits *waits;
	unsigned max;	    /* keys outstanding; fewer if the memory has fewer pages */
	uint64_t bytes;	    /* of memory for nodes */
	uint64_t gap_bytes; /* what costs as much to read as a request; 0: nodes are read alone */
	bool ordered;
};

/* Where a record is in the source, without its terminator. */
struct sp__keymatch {
	uint64_t offset;
	uint64_t bytes;
};

/* What one page has for one key. */
struct sp__found {
	uint64_t tag;			    /* of the put */
	const struct sp__keymatch *matches; /* in the order of the source, until the next get */
	size_t n;
	bool last;     /* that was all; otherwise a later get has more for the tag */
	uint64_t leaf; /* the page, in which the key is or would be */
};

struct sp__lookup;

SP_MUST_CHECK int sp__lookup_open(struct sp__lookup **lookup, const struct sp__lookup_opts *opts);
/* The reads must have been closed, so that none is outstanding.  Accepts NULL. */
void sp__lookup_close(struct sp__lookup *l);

/* So many keys will be put from now on, at a guess. */
void sp__lookup_expect(struct sp__lookup *l, uint64_t keys);
/* May another key be put? */
bool sp__lookup_has_space(const struct sp__lookup *l);
/*
 * Begins to look for a normalised key (indexkey.h), which is copied.  SP_ESTATE: there is no
 * room.  Its reads are submitted by the next get.
 */
SP_MUST_CHECK int sp__lookup_put(struct sp__lookup *l, const void *key, size_t bytes, uint64_t tag);
/*
 * SP_READY: found, which may have no matches; SP_LATER: all wait; SP_END: nothing is outstanding,
 * and there is room.  What was found occupies its place until the next get.
 */
SP_MUST_CHECK int sp__lookup_get(struct sp__lookup *l, struct sp__found *found);

/* Pages that were in memory, or on the way there; requests for the others. */
void sp__lookup_counts(const struct sp__lookup *l, uint64_t *hits, uint64_t *misses);
