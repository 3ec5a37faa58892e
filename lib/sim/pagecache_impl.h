/* SPDX-License-Identifier: MIT */
/*
 * Declares the state that the parts of the page cache share: frames and their lists.
 */
#pragma once

#include "base/array.h"
#include "base/hashtable.h"
#include "sim/pagecache.h"

#define SP__PCACHE_NONE UINT32_MAX /* no frame */
#define SP__PCACHE_STREAMS 1024	   /* remembered ends of reads; a power of 2 */

enum { SP__FRAMEHEAP_OPT, SP__FRAMEHEAP_SWEEP, SP__FRAMEHEAPS };

/* Lists: all frames by use, dirty frames by the time when they became dirty. */
enum { SP__FRAMELIST_LRU, SP__FRAMELIST_DIRTY, SP__FRAMELISTS };

/*
 * Neighbours of a frame.  The ends of a list are the neighbours of an imaginary frame before and
 * after it.
 */
struct sp__framelink {
	uint32_t newer, older;
};

struct sp__frame {
	uint64_t page;
	uint64_t next_use;    /* OPT: position of the next access, or a code for none */
	uint64_t dirty_since; /* ns */
	void *tag;	      /* the caller's */
	struct sp__framelink link[SP__FRAMELISTS]; /* the free frames are linked by older of LRU */
	uint32_t place[SP__FRAMEHEAPS];		   /* index in each heap that has it */
	uint32_t window; /* > 0: first page of a read-ahead window of this many pages */
	bool dirty;
	bool written; /* its last access was a write */
};

struct sp__pcache;

struct sp__frameheap {
	struct sp__heap frames; /* the top precedes all others */
	struct sp__pcache *pc;
	unsigned which; /* index of this heap in the frames' places */
	bool (*before)(const struct sp__pcache *pc, uint32_t a, uint32_t b);
};

struct sp__pcache {
	struct sp__pcache_opts opts;
	struct sp__pcache_stats stats;
	struct sp__frame *frame;
	uint32_t nframes, cap, used;		   /* ever taken, allocated, holding a page now */
	uint32_t unused;			   /* frames that were freed */
	struct sp__hashtable pages;		   /* frame + 1 of each page */
	struct sp__framelink ends[SP__FRAMELISTS]; /* newer: the oldest; older: the newest */
	uint32_t ndirty;
	struct sp__frameheap sweep; /* dirty frames in sweep order, the next on top */
	uint64_t sweep_at;	    /* page that the sweep has reached */
	uint64_t writing;	    /* pages returned for writing and not written yet */
	/* OPT */
	struct sp__frameheap opt; /* used frames, the first to be evicted on top */
	uint64_t *next_use;	  /* next use of the page at each position of the future */
	uint64_t position;
	/* Read-ahead */
	uint64_t *stream; /* end of an earlier read + 1, by its hash */
	uint64_t ahead_end;
};

void sp__frameheap_insert(struct sp__frameheap *h, uint32_t f);
void sp__frameheap_remove(struct sp__frameheap *h, uint32_t f);
/* Restores the order after the key of f has changed. */
void sp__frameheap_move(struct sp__frameheap *h, uint32_t f);

SP_MUST_CHECK int sp__pcache_opt_open(struct sp__pcache *pc);
/* True if frame a precedes frame b. */
bool sp__pcache_opt_before(const struct sp__pcache *pc, uint32_t a, uint32_t b);
/* Advances by one position of the future; returns when its page is accessed next. */
uint64_t sp__pcache_opt_step(struct sp__pcache *pc);
/* True if the contents of f will not be read again. */
bool sp__pcache_opt_dead(const struct sp__pcache *pc, const struct sp__frame *f);

/* Finds the frame of a page. */
uint32_t sp__pcache_find(const struct sp__pcache *pc, uint64_t page);
/*
 * Takes a frame for a page that is not cached; used is below the capacity.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__pcache_take(struct sp__pcache *pc, uint64_t page, uint32_t *f);
/* Frees a frame. */
void sp__pcache_give(struct sp__pcache *pc, uint32_t f);
