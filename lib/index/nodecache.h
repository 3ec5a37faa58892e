/* SPDX-License-Identifier: MIT */
/*
 * Nodes of an index in memory.
 *
 * A frame holds one node.  It is pinned while somebody uses it or waits for it; of the others the
 * one not used for the longest time makes room, leaves before inner nodes.  A node that several
 * wait for is read once.
 *
 * With memory for the whole index each page has its own frame, and none makes room.  Then pages
 * are read in pieces, as soon as all pieces cost less than the pages that are still to be read
 * one by one: as many as keys are expected, or, if that is not known, as have been read.  The
 * other pages of a piece are checked when they are used.  A piece that cannot be read is given up,
 * and pieces with it: what is needed of it is read page by page.
 *
 * One thread uses a cache.
 */
#pragma once

#include "index/indexfile.h"
#include "datafile/requests.h"

struct sp__nodeframe {
	struct sp__request read;
	struct sp__node node;
	const uint8_t *page;
	uint64_t number;
	unsigned pins;
	bool reading;
	bool unchecked;		    /* read with another one */
	unsigned length;	    /* pages of the piece that begins here, while it is read */
	void *waiting;		    /* of those who use the cache: who waits for it */
	struct sp__nodeframe *same; /* hash */
	struct sp__nodeframe *older, *newer;
};

/* Frames by the time when they were unpinned. */
struct sp__unpinned {
	struct sp__nodeframe *oldest, *newest;
};

struct sp__nodecache {
	struct sp__io_owner owner; /* of all reads */
	const struct sp__index *index;
	struct sp__requests *reads;
	/* A read is done; code, of the first error, stays. */
	void (*arrived)(void *user, struct sp__nodeframe *f);
	void *user;
	int error;

	struct sp__nodeframe *frames, **heads;
	size_t nframes, used, nheads;
	bool whole;	 /* the index is not larger: frames are those of the pages, in order */
	uint64_t first;	 /* page */
	unsigned around; /* pages of a piece; 1: page by page */
	uint64_t gap_bytes, expected;
	uint8_t *memory;
	size_t frame_bytes, charged;
	struct sp__unpinned unpinned[2]; /* leaves, inner nodes */
	uint64_t hits, misses;		 /* misses: requests */
};

/*
 * Frames for up to so many bytes, charged to the budget, and no more than the index has pages.
 * gap_bytes: what costs as much to read as a request; 0: pages are read one by one.
 */
SP_MUST_CHECK int sp__nodecache_open(struct sp__nodecache *c, const struct sp__index *ix,
				     struct sp__requests *reads, uint64_t bytes,
				     uint64_t gap_bytes);
void sp__nodecache_close(struct sp__nodecache *c); /* accepts one all zero */

/*
 * Pins the node of a page.  SP_READY; SP_LATER: it is being read, arrived() is called when it is
 * there; an error.  At most nframes nodes may be pinned at once.
 */
SP_MUST_CHECK int sp__nodecache_pin(struct sp__nodecache *c, uint64_t page,
				    struct sp__nodeframe **f);
/* So many keys will be looked up from now on, at a guess. */
void sp__nodecache_expect(struct sp__nodecache *c, uint64_t keys);
void sp__nodecache_unpin(struct sp__nodecache *c, struct sp__nodeframe *f);
