/* SPDX-License-Identifier: MIT */
/*
 * Simulates a page cache, and counts the requests of a sequence that reach the device behind it.
 *
 * Each cached page has a frame.  Frames are found by a hash of the page, and ordered by last use
 * (LRU: a list; OPT: a heap by next use).  Dirty frames are also in a list by the time when they
 * became dirty; writing a dirty page again keeps its position.  They are written in that order, or
 * in the order of a sweep.
 *
 * A page returned for writing is clean from then on, and a page returned for reading is present.
 * The caller keeps track of when the device has finished.
 *
 * Invariants: used <= capacity; the dirty list holds exactly the dirty frames, oldest first; hits +
 * misses = pages that the program requested.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "sim/pagecache.h"
#include "sim/pagecache_impl.h"
#include "trace/sequence.h"

#define PAGE_BYTES 4096u /* bytes of a page of a sequence */

/*
 * Replays the requests of a sequence without a clock; the lists of pages to move are ignored.  A
 * request is one access to all its pages; a write is assumed to fill its pages.
 */
static int replay(const struct sp_sequence *seq, uint64_t counted, uint32_t page_bytes,
		  const uint64_t *base, struct sp__pcache *pc)
{
	struct sp__pcache_work read = { 0 }, ahead = { 0 }, write = { 0 };
	struct sp__progress progress = sp__sequence_progress(seq);
	uint64_t all = sp__min(seq->n, counted);
	int rc = 0;

	for (size_t i = 0; i < all && rc == 0; i++) {
		const struct sp__seqreq *r = &seq->req[i];
		uint64_t page = base[r->volume] + sp__seqreq_page(r, page_bytes);
		size_t n = sp__seqreq_pages(r, page_bytes);

		sp__sequence_report(&progress, SP_SEQUENCE_PHASE_CACHE, i, i, all);
		rc = r->write ? sp__pcache_write(pc, 0, page, n, &write)
			      : sp__pcache_read(pc, page, n, &read, &ahead, &write);
		read.n = ahead.n = write.n = 0;
	}
	sp__pcache_work_release(&read);
	sp__pcache_work_release(&ahead);
	sp__pcache_work_release(&write);
	return rc;
}

static int take_stats(struct sp__pcache *pc, struct sp_sequence_transfers *t)
{
	struct sp__pcache_work left = { 0 };
	struct sp__pcache_stats s;
	int rc;

	sp__pcache_stats(pc, &s);
	rc = sp__pcache_sync(pc, &left);
	*t = (struct sp_sequence_transfers){
		.accesses = s.hits + s.misses,
		.hits = s.hits,
		.reads = s.reads,
		.writes = s.writes,
		.dropped = s.dropped,
		.dirty = left.n,
	};
	sp__pcache_work_release(&left);
	return rc;
}

int sp_sequence_transfers(const struct sp_sequence *seq, const struct sp_sequence_cache *cache,
			  struct sp_sequence_transfers *t, struct sp_errinfo *err)
{
	uint32_t page_bytes = cache->page_bytes ? cache->page_bytes : PAGE_BYTES;
	struct sp__pcache_opts opts = { .pages = cache->pages, .flush_on_evict = true };
	struct sp__seqpages future;
	struct sp__pcache *pc;
	int rc;

	if (!cache->pages)
		return sp__errf(err, -EINVAL, "cache", "", -1, "a cache has at least one page");
	if (sp__sequence_pages(seq, page_bytes, &future) < 0)
		return sp__err(err, -ENOMEM, "cache", "", -1);
	if (cache->policy == SP_SEQUENCE_OPT) {
		opts.policy = SP__PCACHE_OPT;
		opts.future = future.pages;
		opts.nfuture = future.n;
	}
	rc = sp__pcache_new(&pc, &opts, err);
	if (rc == 0) {
		rc = replay(seq, cache->counted ? cache->counted : UINT64_MAX, page_bytes,
			    future.base, pc);
		if (rc == 0)
			rc = take_stats(pc, t);
		sp__pcache_free(pc);
	}
	sp__sequence_pages_release(&future);
	return rc < 0 ? sp__err(err, rc, "cache", "", -1) : 0;
}

#define NONE SP__PCACHE_NONE

/*
 * Orders a sweep, which writes dirty pages in the order of their device pages and wraps around: by
 * the distance ahead of it, which wraps too.  The sweep only passes the first frame of its heap,
 * after that was removed.  So all distances shrink equally, and the heap stays valid.
 */
static bool ahead(const struct sp__pcache *pc, uint32_t a, uint32_t b)
{
	return pc->frame[a].page - pc->sweep_at < pc->frame[b].page - pc->sweep_at;
}

int sp__pcache_new(struct sp__pcache **out, const struct sp__pcache_opts *opts,
		   struct sp_errinfo *err)
{
	struct sp__pcache *pc;

	if (!opts->pages || opts->pages > SP__PCACHE_PAGES_MAX)
		return sp__errf(err, -EINVAL, "cache", "", -1,
				"a cache has between 1 and 2^30 pages, not %llu",
				(unsigned long long)opts->pages);
	pc = calloc(1, sizeof(*pc));
	if (!pc)
		return sp__err(err, -ENOMEM, "cache", "", -1);
	pc->opts = *opts;
	pc->unused = NONE;
	for (int list = 0; list < SP__FRAMELISTS; list++)
		pc->ends[list] = (struct sp__framelink){ NONE, NONE };
	pc->ahead_end = UINT64_MAX;
	pc->opt = (struct sp__frameheap){ .pc = pc,
					  .which = SP__FRAMEHEAP_OPT,
					  .before = sp__pcache_opt_before };
	pc->sweep =
		(struct sp__frameheap){ .pc = pc, .which = SP__FRAMEHEAP_SWEEP, .before = ahead };
	if (opts->policy == SP__PCACHE_OPT)
		pc->opts.readahead_pages = 0;
	else if (opts->readahead_pages > opts->pages / 2)
		pc->opts.readahead_pages = (uint32_t)(opts->pages / 2);
	if (pc->opts.readahead_pages)
		pc->stream = calloc(SP__PCACHE_STREAMS, sizeof(*pc->stream));
	if ((pc->opts.readahead_pages && !pc->stream) ||
	    (opts->policy == SP__PCACHE_OPT && sp__pcache_opt_open(pc) < 0)) {
		sp__pcache_free(pc);
		return sp__err(err, -ENOMEM, "cache", "", -1);
	}
	*out = pc;
	return 0;
}

void sp__pcache_free(struct sp__pcache *pc)
{
	if (!pc)
		return;
	free(pc->frame);
	sp__hashtable_close(&pc->pages);
	free(pc->opt.frames.item);
	free(pc->next_use);
	free(pc->stream);
	free(pc->sweep.frames.item);
	free(pc);
}

static int push(struct sp__pcache_work *w, uint64_t page)
{
	if (!SP__ARRAY_GROW(w->pages, w->cap, w->n + 1))
		return -ENOMEM;
	w->pages[w->n++] = page;
	return 0;
}

void sp__pcache_work_release(struct sp__pcache_work *w)
{
	free(w->pages);
	*w = (struct sp__pcache_work){ 0 };
}

/*
 * Returns the neighbours of a frame in a list.  NONE: the ends of the list; its `newer` is the
 * oldest frame.
 */
static struct sp__framelink *link_of(struct sp__pcache *pc, int list, uint32_t i)
{
	return i == NONE ? &pc->ends[list] : &pc->frame[i].link[list];
}

static void list_unlink(struct sp__pcache *pc, int list, uint32_t i)
{
	const struct sp__framelink *l = link_of(pc, list, i);

	link_of(pc, list, l->newer)->older = l->older;
	link_of(pc, list, l->older)->newer = l->newer;
}

static void list_append(struct sp__pcache *pc, int list, uint32_t i)
{
	struct sp__framelink *ends = link_of(pc, list, NONE);

	*link_of(pc, list, i) = (struct sp__framelink){ NONE, ends->older };
	link_of(pc, list, ends->older)->newer = i;
	ends->older = i;
}

static void dirty_append(struct sp__pcache *pc, uint32_t i, uint64_t now_ns)
{
	pc->frame[i].dirty = true;
	pc->frame[i].dirty_since = now_ns;
	list_append(pc, SP__FRAMELIST_DIRTY, i);
	pc->ndirty++;
	if (pc->opts.sweep)
		sp__frameheap_insert(&pc->sweep, i);
}

static void dirty_unlink(struct sp__pcache *pc, uint32_t i)
{
	pc->frame[i].dirty = false;
	list_unlink(pc, SP__FRAMELIST_DIRTY, i);
	pc->ndirty--;
	if (pc->opts.sweep)
		sp__frameheap_remove(&pc->sweep, i);
}

static void order_insert(struct sp__pcache *pc, uint32_t i)
{
	if (pc->opts.policy == SP__PCACHE_OPT)
		sp__frameheap_insert(&pc->opt, i);
	else
		list_append(pc, SP__FRAMELIST_LRU, i);
}

static void order_remove(struct sp__pcache *pc, uint32_t i)
{
	if (pc->opts.policy == SP__PCACHE_OPT)
		sp__frameheap_remove(&pc->opt, i);
	else
		list_unlink(pc, SP__FRAMELIST_LRU, i);
}

/* Updates the order after a use of a frame, or after it became clean. */
static void order_used(struct sp__pcache *pc, uint32_t i)
{
	if (pc->opts.policy == SP__PCACHE_OPT) {
		sp__frameheap_move(&pc->opt, i);
	} else if (pc->ends[SP__FRAMELIST_LRU].older != i) {
		list_unlink(pc, SP__FRAMELIST_LRU, i);
		list_append(pc, SP__FRAMELIST_LRU, i);
	}
}

/* Makes a dirty frame clean: puts its page on the list, unless it is dead. */
static int clean(struct sp__pcache *pc, uint32_t i, struct sp__pcache_work *write)
{
	bool dead = sp__pcache_opt_dead(pc, &pc->frame[i]);

	if (!dead && push(write, pc->frame[i].page) < 0)
		return -ENOMEM;
	dirty_unlink(pc, i);
	pc->stats.dropped += dead;
	pc->stats.writes += !dead;
	return 0;
}

/* Cleans the dirty frame that is next in the order of writing. */
static int flush(struct sp__pcache *pc, struct sp__pcache_work *write)
{
	uint32_t i =
		pc->opts.sweep ? pc->sweep.frames.item[0] : pc->ends[SP__FRAMELIST_DIRTY].newer;
	int rc = clean(pc, i, write);

	if (rc < 0)
		return rc;
	pc->sweep_at = pc->frame[i].page + 1;
	if (pc->opts.policy == SP__PCACHE_OPT)
		sp__frameheap_move(&pc->opt, i);
	return 0;
}

static int evict(struct sp__pcache *pc, struct sp__pcache_work *write)
{
	uint32_t i = pc->opts.policy == SP__PCACHE_OPT ? pc->opt.frames.item[0]
						       : pc->ends[SP__FRAMELIST_LRU].newer;

	if (pc->frame[i].dirty && clean(pc, i, write) < 0)
		return -ENOMEM;
	order_remove(pc, i);
	sp__pcache_give(pc, i);
	return 0;
}

static int insert(struct sp__pcache *pc, uint64_t page, uint64_t next_use, bool written,
		  struct sp__pcache_work *write, uint32_t *i)
{
	if (pc->used == pc->opts.pages && evict(pc, write) < 0)
		return -ENOMEM;
	if (sp__pcache_take(pc, page, i) < 0)
		return -ENOMEM;
	pc->frame[*i].next_use = next_use;
	pc->frame[*i].written = written;
	order_insert(pc, *i);
	return 0;
}

/* Accesses a page for the program; returns its frame, and whether it was cached. */
static int touch(struct sp__pcache *pc, uint64_t page, bool written, struct sp__pcache_work *write,
		 uint32_t *i, bool *hit)
{
	uint64_t next_use = pc->next_use ? sp__pcache_opt_step(pc) : 0;

	*i = sp__pcache_find(pc, page);
	*hit = *i != NONE;
	pc->stats.hits += *hit;
	pc->stats.misses += !*hit;
	if (!*hit)
		return insert(pc, page, next_use, written, write, i);
	pc->frame[*i].next_use = next_use;
	pc->frame[*i].written = written;
	order_used(pc, *i);
	return 0;
}

/* Reads [page, page + window) ahead, and marks its first page. */
static int read_ahead(struct sp__pcache *pc, uint64_t page, uint64_t window,
		      struct sp__pcache_work *ahead, struct sp__pcache_work *write)
{
	uint64_t end;
	uint32_t i;

	window = sp__min(window, pc->opts.readahead_pages);
	if (__builtin_add_overflow(page, window, &end) || end > pc->ahead_end)
		end = pc->ahead_end;
	for (uint64_t p = page; p < end; p++) {
		if (sp__pcache_find(pc, p) != NONE)
			continue;
		if (push(ahead, p) < 0 || insert(pc, p, 0, false, write, &i) < 0)
			return -ENOMEM;
		pc->stats.reads++;
	}
	i = sp__pcache_find(pc, page);
	if (page < end && i != NONE)
		pc->frame[i].window = (uint32_t)(end - page);
	return 0;
}

static uint64_t *stream_at(struct sp__pcache *pc, uint64_t page)
{
	return &pc->stream[sp__mix64(page) & (SP__PCACHE_STREAMS - 1)];
}

void sp__pcache_stream(struct sp__pcache *pc, uint64_t page)
{
	if (pc->stream)
		*stream_at(pc, page) = page + 1;
}

/* True if a read begins where an earlier one ended.  Remembers the end of the new read instead. */
static bool in_stream(struct sp__pcache *pc, uint64_t page, size_t n)
{
	bool found = pc->stream && *stream_at(pc, page) == page + 1;

	if (found)
		*stream_at(pc, page) = 0;
	sp__pcache_stream(pc, page + n);
	return found;
}

int sp__pcache_read(struct sp__pcache *pc, uint64_t page, size_t n, struct sp__pcache_work *read,
		    struct sp__pcache_work *ahead, struct sp__pcache_work *write)
{
	bool sequential = in_stream(pc, page, n), hit, missed = false;
	uint64_t next = page + n, window = sequential ? 2 * n : 0;
	bool reached = false;
	uint32_t i;

	for (uint64_t p = page; p < page + n; p++) {
		if (touch(pc, p, false, write, &i, &hit) < 0)
			return -ENOMEM;
		if (!hit && push(read, p) < 0)
			return -ENOMEM;
		pc->stats.reads += !hit;
		missed |= !hit;
		if (pc->frame[i].window) {
			reached = true;
			next = p + pc->frame[i].window;
			window = 2 * (uint64_t)pc->frame[i].window;
			pc->frame[i].window = 0;
		}
	}
	if (!window || !(missed || reached))
		return 0;
	return read_ahead(pc, next, window, ahead, write);
}

void sp__pcache_ahead_end(struct sp__pcache *pc, uint64_t page)
{
	pc->ahead_end = page;
}

static bool above(const struct sp__pcache *pc, unsigned percent)
{
	return (uint64_t)pc->ndirty * 100 > pc->opts.pages * percent;
}

/* True if a writer has to wait.  Pages already being written count too. */
static bool too_many(const struct sp__pcache *pc)
{
	return (pc->ndirty + pc->writing) * 100 > pc->opts.pages * pc->opts.sync_percent;
}

void sp__pcache_writing(struct sp__pcache *pc, int64_t pages)
{
	pc->writing += (uint64_t)pages;
}

int sp__pcache_write(struct sp__pcache *pc, uint64_t now_ns, uint64_t page, size_t n,
		     struct sp__pcache_work *write)
{
	uint32_t i;
	bool hit;

	for (uint64_t p = page; p < page + n; p++) {
		if (touch(pc, p, true, write, &i, &hit) < 0)
			return -ENOMEM;
		if (pc->frame[i].dirty)
			continue;
		dirty_append(pc, i, now_ns);
		if (pc->opts.policy == SP__PCACHE_OPT)
			sp__frameheap_move(&pc->opt, i);
	}
	if (pc->opts.flush_on_evict || !too_many(pc))
		return 0;
	do {
		if (flush(pc, write) < 0)
			return -ENOMEM;
	} while (above(pc, pc->opts.down_percent));
	return 0;
}

uint64_t sp__pcache_due_ns(const struct sp__pcache *pc)
{
	uint64_t due;

	if (pc->opts.flush_on_evict || !pc->ndirty)
		return UINT64_MAX;
	if (above(pc, pc->opts.async_percent))
		return 0;
	if (__builtin_add_overflow(pc->frame[pc->ends[SP__FRAMELIST_DIRTY].newer].dirty_since,
				   pc->opts.age_ns, &due))
		return UINT64_MAX;
	return due;
}

int sp__pcache_background(struct sp__pcache *pc, uint64_t now_ns, size_t max,
			  struct sp__pcache_work *write)
{
	size_t begin = write->n;

	while (pc->ndirty && write->n - begin < max && sp__pcache_due_ns(pc) <= now_ns)
		if (flush(pc, write) < 0)
			return -ENOMEM;
	return 0;
}

void sp__pcache_drop(struct sp__pcache *pc, uint64_t page, size_t n)
{
	for (uint64_t p = page; p < page + n; p++) {
		uint32_t i = sp__pcache_find(pc, p);

		if (i == NONE)
			continue;
		if (pc->frame[i].dirty) {
			dirty_unlink(pc, i);
			pc->stats.dropped++;
		}
		order_remove(pc, i);
		sp__pcache_give(pc, i);
	}
}

int sp__pcache_sync(struct sp__pcache *pc, struct sp__pcache_work *write)
{
	while (pc->ndirty)
		if (flush(pc, write) < 0)
			return -ENOMEM;
	return 0;
}

void sp__pcache_seek(struct sp__pcache *pc, uint64_t position)
{
	pc->position = position;
}

void **sp__pcache_tag(struct sp__pcache *pc, uint64_t page)
{
	uint32_t i = sp__pcache_find(pc, page);

	return i == NONE ? NULL : &pc->frame[i].tag;
}

void sp__pcache_stats(const struct sp__pcache *pc, struct sp__pcache_stats *s)
{
	*s = pc->stats;
}
