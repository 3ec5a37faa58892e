/* SPDX-License-Identifier: MIT */
/*
 * Caches nodes of an index.
 *
 * A frame holds one node.  It is pinned while a lookup uses it or waits for it.  Of the other
 * frames the least recently unpinned one is reused, leaves before inner nodes.  A node that several
 * lookups wait for is read once.
 *
 * With memory for the whole index each page has its own frame, and none is reused.  Pages are then
 * read in chunks as soon as all chunks cost less than the pages that are still to be read one by
 * one.  Their number is the number of expected keys, or of the pages read so far if that is larger.
 * The other pages of a chunk are checked when they are used.  If a chunk cannot be read, chunks
 * end, and the pages of it that are needed are read one by one.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <sys/queue.h>
#include "cells/requests.h"
#include "index/indexfile.h"

struct sp__nodeframe {
	struct sp__request read;
	struct sp__node node;
	const uint8_t *page;
	uint64_t number;
	unsigned pins;
	bool reading;
	bool unchecked;			 /* read in a chunk, not checked yet */
	unsigned length;		 /* pages of the chunk that begins here, while it is read */
	void *waiting;			 /* list of the user: lookups that wait for it */
	SLIST_ENTRY(sp__nodeframe) same; /* hash */
	TAILQ_ENTRY(sp__nodeframe) link;
};

SLIST_HEAD(sp__nodehead, sp__nodeframe);
TAILQ_HEAD(sp__unpinned, sp__nodeframe); /* in the order in which they were unpinned */

struct sp__nodecache {
	struct sp__io_owner owner; /* receives the completions of all reads */
	const struct sp__index *index;
	struct sp__requests *reads;
	/* Called when a node has been read; the first error is in `error`. */
	void (*arrived)(void *user, struct sp__nodeframe *f);
	void *user;
	int error;

	struct sp__nodeframe *frames;
	struct sp__nodehead *heads;
	size_t nframes, used, nheads;
	bool whole;	      /* the whole index fits: each page has its frame, in order */
	uint64_t first;	      /* first page of the tree */
	unsigned chunk_pages; /* 1: page by page */
	uint64_t gap_bytes, expected;
	uint8_t *memory;
	size_t frame_bytes, charged;
	struct sp__unpinned unpinned[2]; /* leaves, inner nodes */
	uint64_t hits, misses;		 /* misses: requests */
};

/*
 * Allocates frames for up to `bytes` bytes, charged to the budget, at most one per page of the
 * index. gap_bytes: bytes that cost as much as a request; 0: pages are read one by one.
 */
SP_MUST_CHECK int sp__nodecache_open(struct sp__nodecache *c, const struct sp__index *ix,
				     struct sp__requests *reads, uint64_t bytes,
				     uint64_t gap_bytes);
void sp__nodecache_close(struct sp__nodecache *c); /* accepts a struct that is all zero */

/*
 * Pins the node of a page.  Returns SP_READY; SP_LATER: it is being read, and arrived() will be
 * called; or an error.  At most nframes nodes may be pinned at a time.
 */
SP_MUST_CHECK int sp__nodecache_pin(struct sp__nodecache *c, uint64_t page,
				    struct sp__nodeframe **f);
/* Sets the estimated number of keys that will still be looked up. */
void sp__nodecache_expect(struct sp__nodecache *c, uint64_t keys);
void sp__nodecache_unpin(struct sp__nodecache *c, struct sp__nodeframe *f);
/* Records the error of a page that cannot be used: reason or, if that is NULL, code. */
int sp__index_page_err(const struct sp__index *ix, int code, uint64_t page, const char *reason);
