/* SPDX-License-Identifier: MIT */
/*
 * Nodes of an index in memory.
 *
 * A frame holds one node.  It is pinned while somebody uses it or waits for it; of the others the
 * one not used for the longest time makes room, leaves before inner nodes.  A node that several
 * wait for is read once.
 *
 * One thread uses a cache.
 */
#ifndef SP__INDEX_NODECACHE_H
#define SP__INDEX_NODECACHE_H

#include "index/indexfile.h"
#include "index/reads.h"

struct sp__nodeframe {
	struct sp__read read;
	struct sp__node node;
	const uint8_t *page;
	uint64_t number;
	unsigned pins;
	bool reading;
	void *waiting;		    /* of those who use the cache: who waits for it */
	struct sp__nodeframe *same; /* hash */
	struct sp__nodeframe *older, *newer;
};

/* Frames by the time when they were unpinned. */
struct sp__unpinned {
	struct sp__nodeframe *oldest, *newest;
};

struct sp__nodecache {
	const struct sp__index *index;
	struct sp__reads *reads;
	/* A read is done; code, of the first error, stays. */
	void (*arrived)(void *owner, struct sp__nodeframe *f);
	void *owner;
	int error;

	struct sp__nodeframe *frames, **heads;
	size_t nframes, used, nheads;
	uint8_t *memory;
	size_t frame_bytes, charged;
	struct sp__unpinned unpinned[2]; /* leaves, inner nodes */
	uint64_t hits, misses;
};

/* Frames for up to so many bytes, charged to the budget, and no more than the index has pages. */
SP_MUST_CHECK int sp__nodecache_open(struct sp__nodecache *c, const struct sp__index *ix,
				     struct sp__reads *reads, uint64_t bytes);
void sp__nodecache_close(struct sp__nodecache *c); /* accepts one all zero */

/*
 * Pins the node of a page.  SP_READY; SP_LATER: it is being read, arrived() is called when it is
 * there; an error.  At most nframes nodes may be pinned at once.
 */
SP_MUST_CHECK int sp__nodecache_pin(struct sp__nodecache *c, uint64_t page,
				    struct sp__nodeframe **f);
void sp__nodecache_unpin(struct sp__nodecache *c, struct sp__nodeframe *f);

#endif
