/* SPDX-License-Identifier: MIT */
/*
 * Simulates a page cache: decides which accesses of a program reach the device.
 *
 * It only does bookkeeping: it knows page numbers of the device and the clock, but not the device's
 * timing.  Each call returns the pages that must be moved now; sp__pcache_background() returns
 * those that could be written in the background.  The machine (machine.h) makes block requests of
 * them and reports when they are done.
 *
 * OPT uses positions: the i-th page access of the program is taken for the i-th of the recorded
 * sequence, whatever its page number.  Only the next access of that page matters, and whether it is
 * a read.  The sequence can number pages in any way, as long as the numbers are unique.  Under OPT
 * there is no read-ahead.
 *
 * Read-ahead follows streams of device pages.  A read that begins where an earlier one ended brings
 * in the window that follows, of twice its size.  Reaching a window brings in the next one, of
 * twice the size, up to the limit.
 *
 * Time per page access: O(1) under LRU, O(log n) under OPT.  Memory: 72 bytes per cached page, up
 * to 88 with OPT and a sweep, at most twice that since the arrays grow by doubling; 8 bytes per
 * page of the future.
 *
 * Thread rule: one thread.
 *
 * Source: Wang & Cherniack 2006, sections 2 and 4 (LRU and OPT; asynchronous write-back above one
 * threshold of dirty pages, synchronous above another down to a third, age of dirty pages).
 */
#pragma once

#include <spindle/error.h>

#define SP__PCACHE_PAGES_MAX (UINT64_C(1) << 30)

enum sp__pcache_policy { SP__PCACHE_LRU, SP__PCACHE_OPT };

struct sp__pcache_opts {
	uint64_t pages; /* capacity, 1 to SP__PCACHE_PAGES_MAX */
	enum sp__pcache_policy policy;
	bool flush_on_evict;	/* dirty pages are only written when evicted, or by a sync */
	unsigned async_percent; /* dirty pages above which the background writes (30) */
	unsigned sync_percent;	/* dirty or being written, above which a writer waits (60) ... */
	unsigned down_percent;	/* ... until at most these are dirty (20) */
	uint64_t age_ns;	/* pages dirty for longer are written in the background (3 s) */
	bool sweep; /* pages are written in the order of their numbers, not oldest first */
	uint32_t readahead_pages; /* maximum read ahead of a sequential reader; 0: none */
	/*
	 * OPT: for each access in order, all its pages in order, in the form of trace/sequence.h.
	 */
	const uint64_t *future;
	size_t nfuture;
	/*
	 * OPT: a page whose last access is a write is needed after the sequence (an output file),
	 * so it is written when evicted.  Otherwise a page that is never accessed again is dropped
	 * even if dirty.
	 */
	bool keep_written;
};

struct sp__pcache_stats {
	uint64_t hits, misses;
	uint64_t reads, writes; /* pages read from and written to the device: transfers */
	uint64_t dropped;	/* dirty pages whose contents were no longer needed */
};

/* Pages to move, in the order found; adjacent ones can be combined to one request. */
struct sp__pcache_work {
	uint64_t *pages;
	size_t n, cap;
};

struct sp__pcache;

/* Makes a cache.  Returns 0, -ENOMEM, or -EINVAL for a capacity out of range. */
SP_MUST_CHECK int sp__pcache_new(struct sp__pcache **pc, const struct sp__pcache_opts *opts,
				 struct sp_errinfo *err);
void sp__pcache_free(struct sp__pcache *pc); /* accepts NULL */

/*
 * Reads pages [page, page + n) for the program, as one access.  Appends to lists: read: pages that
 * must come from the device before the program can continue; ahead: pages read ahead, for which it
 * does not wait; write: evicted dirty pages, to be written before their replacements are read.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__pcache_read(struct sp__pcache *pc, uint64_t page, size_t n,
				  struct sp__pcache_work *read, struct sp__pcache_work *ahead,
				  struct sp__pcache_work *write);
/* Ends the read-ahead of the following reads before this page (the end of a file's region). */
void sp__pcache_ahead_end(struct sp__pcache *pc, uint64_t page);
/* Marks this page as the continuation of a stream (a file's next region). */
void sp__pcache_stream(struct sp__pcache *pc, uint64_t page);
/*
 * Writes whole pages for the program.  Appends to write: evictions, and the pages of a synchronous
 * flush.  The program waits for them.
 */
SP_MUST_CHECK int sp__pcache_write(struct sp__pcache *pc, uint64_t now_ns, uint64_t page, size_t n,
				   struct sp__pcache_work *write);
/* Reports that this many pages have begun (+) or finished (-) being written. */
void sp__pcache_writing(struct sp__pcache *pc, int64_t pages);
/*
 * Returns the pages that the background should write now (async threshold, age), in their order, at
 * most max.
 */
SP_MUST_CHECK int sp__pcache_background(struct sp__pcache *pc, uint64_t now_ns, size_t max,
					struct sp__pcache_work *write);
/* Returns when background work will next be due by age if no access comes; UINT64_MAX: never. */
uint64_t sp__pcache_due_ns(const struct sp__pcache *pc);
/* Drops these pages, even if dirty: their blocks have been freed. */
void sp__pcache_drop(struct sp__pcache *pc, uint64_t page, size_t n);
/* Returns all dirty pages, in their order, to be written by a sync. */
SP_MUST_CHECK int sp__pcache_sync(struct sp__pcache *pc, struct sp__pcache_work *write);
/* OPT: sets the position of the next page accessed in the future; nfuture: not in the future. */
void sp__pcache_seek(struct sp__pcache *pc, uint64_t position);
/*
 * Returns the caller's pointer for a cached page, initially NULL; returns NULL if the page is not
 * cached.  It is lost with the page.  Valid until the next call.
 */
void **sp__pcache_tag(struct sp__pcache *pc, uint64_t page);
void sp__pcache_stats(const struct sp__pcache *pc, struct sp__pcache_stats *s);
void sp__pcache_work_release(struct sp__pcache_work *w);
