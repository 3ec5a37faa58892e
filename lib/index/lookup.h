/* SPDX-License-Identifier: MIT */
/*
 * Looks up many keys concurrently.
 *
 * sp__lookup_put() begins a lookup.  It descends through the nodes that are in memory.  The first
 * missing node is read, and the lookup continues when it has arrived.  sp__lookup_get() returns
 * matches, in the order in which lookups finish or, if ordered, in the order of the puts.  So up to
 * max reads are outstanding, all on one queue (cells/requests.h), which the owner can use for
 * its own reads.
 *
 * A lookup that returns SP_LATER has registered the wait of that queue.  After an error all calls
 * return it.
 *
 * Thread rule: one thread at a time.  Source: Iyengar et al. 2008, section 6 (index lookup).
 */
#pragma once

#include "cells/requests.h"
#include "flow/iter.h"
#include "index/indexfile.h"

struct sp__lookup_opts {
	const struct sp__index *index;
	struct sp__requests *reads; /* max of its depth belong to the lookup */
	struct sp__waits *waits;
	unsigned max;	    /* outstanding keys; fewer if fewer pages fit into memory */
	uint64_t bytes;	    /* memory for nodes */
	uint64_t gap_bytes; /* bytes that cost as much as a request; 0: nodes are read alone */
	bool ordered;
	bool sums; /* set the sums of keys in matches */
};

/* The location of a record in the source, without its terminator. */
struct sp__keymatch {
	uint64_t offset;
	uint64_t bytes;
	uint64_t key_sum; /* checksum of the normalised key, if it is wanted */
};

/* The matches of one key in one page. */
struct sp__found {
	uint64_t tag;			    /* tag of the put */
	const struct sp__keymatch *matches; /* in the order of the source, until the next get */
	size_t n;
	bool last;	       /* true: no more matches of the key follow */
	uint64_t leaf;	       /* the page where the key is or would be */
	unsigned below, count; /* entries of this page: with smaller keys, and all */
};

struct sp__lookup;

SP_MUST_CHECK int sp__lookup_open(struct sp__lookup **lookup, const struct sp__lookup_opts *opts);
/* Called after the reads have been closed, so that none is outstanding.  Accepts NULL. */
void sp__lookup_close(struct sp__lookup *l);

/* Sets the estimated number of keys that will still be put. */
void sp__lookup_expect(struct sp__lookup *l, uint64_t keys);
/* True if another key may be put. */
bool sp__lookup_has_space(const struct sp__lookup *l);
/*
 * Begins the lookup of a normalised key (indexkey.h), which is copied; the next get submits its
 * reads.  Returns 0, or an error: SP_ESTATE: no space.
 */
SP_MUST_CHECK int sp__lookup_put(struct sp__lookup *l, const void *key, size_t bytes, uint64_t tag);
/*
 * Returns SP_READY with the result of one key, possibly without matches; SP_LATER: all lookups
 * wait; SP_END: none is outstanding; or an error.  A result keeps its slot until the next get.
 */
SP_MUST_CHECK int sp__lookup_get(struct sp__lookup *l, struct sp__found *found);

/* Counts pages found in memory or already being read, and requests for the others. */
void sp__lookup_counts(const struct sp__lookup *l, uint64_t *hits, uint64_t *misses);
