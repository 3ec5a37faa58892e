/* SPDX-License-Identifier: MIT */
/*
 * A simulated page cache: which accesses of a program reach the device.
 *
 * Pure bookkeeping: it knows page numbers of the device and the clock, not the
 * device's timing.  Each call returns what must be moved now, and what could be
 * written in the background; the machine (machine.h) turns it into block
 * requests and reports when they are done.
 *
 * OPT goes by position: the i-th page access of the program is taken for the
 * i-th of the recorded sequence, whatever its page number, and what matters is
 * when that page is accessed again, and whether it is read then.  The sequence may
 * number pages in any way as long as it is unique.  Under OPT nothing is read ahead.
 *
 * Read-ahead follows streams of device pages: a read that begins where an
 * earlier one ended brings in the window that follows, of twice its size; reaching
 * a window brings in the next one, of twice the size, up to the limit.
 *
 * One thread.  Each page accessed costs O(1) under LRU, O(log n) under OPT;
 * memory 72 bytes for each cached page, up to 88 with OPT and a sweep, at most twice that since
 * the arrays grow by doubling; 8 for each page of the future.
 *
 * Source: Wang & Cherniack 2006, sections 2 and 4 (LRU and OPT; asynchronous
 * write-back above one threshold of dirty pages, synchronous above another
 * down to a third, age of dirty pages).
 */
#ifndef SP__SIM_PAGECACHE_H
#define SP__SIM_PAGECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

#define SP__PCACHE_PAGES_MAX (UINT64_C(1) << 30)

enum sp__pcache_policy { SP__PCACHE_LRU, SP__PCACHE_OPT };

struct sp__pcache_opts {
	uint64_t pages; /* capacity, 1 to SP__PCACHE_PAGES_MAX */
	enum sp__pcache_policy policy;
	bool flush_on_evict;	/* dirty pages are written only when evicted, or by a sync */
	unsigned async_percent; /* dirty pages above which the background writes (30) */
	unsigned sync_percent;	/* dirty or being written: above which a writer waits (60) ... */
	unsigned down_percent;	/* ... until no more than this are dirty (20) */
	uint64_t age_ns;	/* dirty for longer: written in the background (3 s) */
	bool sweep; /* pages are written in the order of their places, not oldest first */
	uint32_t readahead_pages; /* most read ahead of a sequential reader; 0: none */
	/* OPT: for each access in order, all its pages in order, as in trace/sequence.h. */
	const uint64_t *future;
	size_t nfuture;
	/*
	 * OPT: a page whose last access is a write is needed after the sequence
	 * (an output file), so it is written when evicted.
	 * Otherwise a page that never comes again is dropped even if dirty.
	 */
	bool keep_written;
};

struct sp__pcache_stats {
	uint64_t hits, misses;
	uint64_t reads, writes; /* pages moved from and to the device: transfers */
	uint64_t dropped;	/* dirty pages whose contents were no longer needed */
};

/* Pages to move, in the order found; adjacent ones may be one request. */
struct sp__pcache_work {
	uint64_t *pages;
	size_t n, cap;
};

struct sp__pcache;

/* -ENOMEM, or -EINVAL for a capacity out of range. */
SP_MUST_CHECK int sp__pcache_new(struct sp__pcache **pc, const struct sp__pcache_opts *opts,
				 struct sp_errinfo *err);
void sp__pcache_free(struct sp__pcache *pc); /* accepts NULL */

/*
 * The program reads pages [page, page + n), as one access.  read:
 * pages that must come from the device before it can go on; ahead: those read
 * ahead, for which it does not wait; write: evicted dirty pages, to be written
 * before what replaces them is read.  Lists are appended to.  0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__pcache_read(struct sp__pcache *pc, uint64_t page, size_t n,
				  struct sp__pcache_work *read, struct sp__pcache_work *ahead,
				  struct sp__pcache_work *write);
/* Nothing from this page on is read ahead by the reads that follow (the end of a file's region). */
void sp__pcache_ahead_end(struct sp__pcache *pc, uint64_t page);
/* A read that begins with this page goes on where an earlier one ended (a file's next region). */
void sp__pcache_stream(struct sp__pcache *pc, uint64_t page);
/*
 * The program writes whole pages.  write: evictions, and what a synchronous
 * flush demands: the program waits for them.
 */
SP_MUST_CHECK int sp__pcache_write(struct sp__pcache *pc, uint64_t now_ns, uint64_t page, size_t n,
				   struct sp__pcache_work *write);
/* This many pages have begun (+) or finished (-) being written. */
void sp__pcache_writing(struct sp__pcache *pc, int64_t pages);
/* What the background should write now (async threshold, age): in their order, at most max. */
SP_MUST_CHECK int sp__pcache_background(struct sp__pcache *pc, uint64_t now_ns, size_t max,
					struct sp__pcache_work *write);
/* When background work will next be due by age if nothing happens; UINT64_MAX: never. */
uint64_t sp__pcache_due_ns(const struct sp__pcache *pc);
/* Drops these pages, even dirty ones: their blocks have been freed. */
void sp__pcache_drop(struct sp__pcache *pc, uint64_t page, size_t n);
/* Everything dirty, in its order, to be written (a sync). */
SP_MUST_CHECK int sp__pcache_sync(struct sp__pcache *pc, struct sp__pcache_work *write);
/* OPT: the next page accessed is taken for this one of the future; nfuture: for none of it. */
void sp__pcache_seek(struct sp__pcache *pc, uint64_t position);
/*
 * The caller's pointer for a cached page, initially NULL; returns NULL if the page
 * is not cached.  It is lost with the page.  Valid until the next call.
 */
void **sp__pcache_tag(struct sp__pcache *pc, uint64_t page);
void sp__pcache_stats(const struct sp__pcache *pc, struct sp__pcache_stats *s);
void sp__pcache_work_release(struct sp__pcache_work *w);

#endif
