/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the page cache share: frames and their lists.
 */
#ifndef SP__SIM_PAGECACHE_IMPL_H
#define SP__SIM_PAGECACHE_IMPL_H

#include "base/heap.h"
#include "sim/pagecache.h"

#define SP__PCACHE_NONE UINT32_MAX /* no frame */
#define SP__PCACHE_STREAMS 1024	   /* ends of reads that are remembered; a power of 2 */

enum { SP__FRAMEHEAP_OPT, SP__FRAMEHEAP_SWEEP, SP__FRAMEHEAPS };

/* Lists: of all by use, of the dirty ones by the time that they became so. */
enum { SP__FRAMELIST_LRU, SP__FRAMELIST_DIRTY, SP__FRAMELISTS };

/* Neighbours of a frame; those of the frame before and after all are the ends of a list. */
struct sp__framelink {
	uint32_t newer, older;
};

struct sp__frame {
	uint64_t page;
	uint64_t next_use;    /* OPT: position of the next access, or why none counts */
	uint64_t dirty_since; /* ns */
	void *tag;	      /* the caller's */
	struct sp__framelink link[SP__FRAMELISTS]; /* the free frames are linked by older of LRU */
	uint32_t place[SP__FRAMEHEAPS];		   /* in each heap that it is in */
	uint32_t window; /* > 0: first page of a read-ahead window of this many pages */
	bool dirty;
	bool written; /* its last access was a write */
};

struct sp__pcache;

struct sp__frameheap {
	struct sp__heap frames; /* the first is before all others */
	struct sp__pcache *pc;
	unsigned which; /* of the frames' places */
	bool (*before)(const struct sp__pcache *pc, uint32_t a, uint32_t b);
};

struct sp__pcache {
	struct sp__pcache_opts opts;
	struct sp__pcache_stats stats;
	struct sp__frame *frame;
	uint32_t nframes, cap, used;		   /* ever taken, allocated, holding a page now */
	uint32_t unused;			   /* frames that were freed */
	uint32_t *slot;				   /* hash of pages: frame + 1, 0: none */
	uint32_t nslots;			   /* a power of 2, at least 2 * cap */
	struct sp__framelink ends[SP__FRAMELISTS]; /* newer: the oldest; older: the newest */
	uint32_t ndirty;
	struct sp__frameheap sweep; /* under a sweep: dirty frames, the next one ahead on top */
	uint64_t sweep_at;	    /* the page where it stands */
	uint64_t writing; /* pages that have been handed out to be written and are not yet */
	/* OPT */
	struct sp__frameheap opt; /* used frames, the first to be evicted on top */
	uint64_t *next_use;	  /* of each position of the future */
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
/* Does frame a go before frame b? */
bool sp__pcache_opt_before(const struct sp__pcache *pc, uint32_t a, uint32_t b);
/* Takes one position of the future: when its page is accessed next. */
uint64_t sp__pcache_opt_step(struct sp__pcache *pc);
/* Its contents will not be read again. */
bool sp__pcache_opt_dead(const struct sp__pcache *pc, const struct sp__frame *f);

/* Frames by page, and their memory. */
uint32_t sp__pcache_find(const struct sp__pcache *pc, uint64_t page);
/* A frame for a page that is not there; there must be room. 0 or -ENOMEM. */
SP_MUST_CHECK int sp__pcache_take(struct sp__pcache *pc, uint64_t page, uint32_t *f);
/* The frame is free again. */
void sp__pcache_give(struct sp__pcache *pc, uint32_t f);

#endif
