/* SPDX-License-Identifier: MIT */
/*
 * Keeps the frames of the page cache, the hash that finds them, and heaps of them; implements OPT.
 *
 * Frames and hash grow by doubling until the capacity is reached, so that a large cache of which
 * little is used costs little.  Each frame knows its index in each heap, so it can be moved or
 * removed.
 *
 * OPT (Belady) evicts the page whose next access is latest.  The future is scanned once, from its
 * end, to find for each position the position of the next access to the same page.  Cached pages
 * are in a heap by it, the latest on top.  Pages that are never accessed again are evicted first:
 * those that can be dropped before those that must be written.  Among equal ones the lowest page
 * number is first, so that the result is deterministic.  A page that is overwritten before it is
 * read counts as one that is never accessed again and can be dropped: it need not be read again.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/rng.h"
#include "sim/pagecache_impl.h"
#include "trace/sequence.h"

/* Codes for no position: never accessed again; overwritten at the next access. */
#define NEVER UINT64_MAX
#define OVERWRITTEN (NEVER - 1)

/* Sets next_use[i] to the position after i of the next access to the page of future[i]. */
int sp__pcache_opt_open(struct sp__pcache *pc)
{
	const size_t n = pc->opts.nfuture;
	const uint64_t *future = pc->opts.future;
	struct sp__hashtable last = { 0 }; /* position + 1 of the last access to each page */
	size_t pages = 0;
	int rc = n < UINT32_MAX ? 0 : -ENOMEM;

	pc->next_use = calloc(n ? n : 1, sizeof(*pc->next_use));
	if (!pc->next_use)
		return -ENOMEM;
	for (size_t i = n; !rc && i-- > 0;) {
		const uint64_t page = future[i] & ~SP__SEQPAGE_WRITE, hash = sp__mix64(page);
		uint64_t *slot;

		if (sp__hashtable_is_full(&last, pages) && (rc = sp__hashtable_grow(&last)))
			break;
		slot = SP__HASHTABLE_FIND(&last, hash, number,
					  (future[number - 1] & ~SP__SEQPAGE_WRITE) == page);
		pages += !*slot;
		if (!*slot)
			pc->next_use[i] = NEVER;
		else if (future[(uint32_t)*slot - 1] & SP__SEQPAGE_WRITE)
			pc->next_use[i] = OVERWRITTEN;
		else
			pc->next_use[i] = (uint32_t)*slot - 1;
		sp__hashtable_fill(slot, hash, (uint32_t)i + 1);
	}
	sp__hashtable_close(&last);
	return rc;
}

uint64_t sp__pcache_opt_step(struct sp__pcache *pc)
{
	uint64_t i = pc->position++;

	return i < pc->opts.nfuture ? pc->next_use[i] : NEVER;
}

bool sp__pcache_opt_dead(const struct sp__pcache *pc, const struct sp__frame *f)
{
	if (pc->opts.policy != SP__PCACHE_OPT || f->next_use < OVERWRITTEN)
		return false;
	return f->next_use == OVERWRITTEN || !(pc->opts.keep_written && f->written);
}

static uint64_t key(const struct sp__pcache *pc, const struct sp__frame *f)
{
	if (f->next_use < OVERWRITTEN)
		return f->next_use;
	return !f->dirty || sp__pcache_opt_dead(pc, f) ? NEVER : NEVER - 1;
}

bool sp__pcache_opt_before(const struct sp__pcache *pc, uint32_t a, uint32_t b)
{
	const struct sp__frame *fa = &pc->frame[a], *fb = &pc->frame[b];
	uint64_t ka = key(pc, fa), kb = key(pc, fb);

	return ka != kb ? ka > kb : fa->page < fb->page;
}

static inline uint64_t *slot_of(const struct sp__pcache *pc, uint64_t page)
{
	const uint64_t hash = sp__mix64(page);

	return SP__HASHTABLE_FIND(&pc->pages, hash, number, pc->frame[number - 1].page == page);
}

uint32_t sp__pcache_find(const struct sp__pcache *pc, uint64_t page)
{
	return pc->pages.nslots ? (uint32_t)*slot_of(pc, page) - 1 : SP__PCACHE_NONE;
}

/* Grows the frames; all are in use. */
static int grow(struct sp__pcache *pc)
{
	uint32_t cap = pc->cap ? 2 * pc->cap : 64;

	if (!SP__ARRAY_RESIZE(pc->frame, cap) ||
	    (pc->opts.policy == SP__PCACHE_OPT && !SP__ARRAY_RESIZE(pc->opt.frames.item, cap)) ||
	    (pc->opts.sweep && !SP__ARRAY_RESIZE(pc->sweep.frames.item, cap)))
		return -ENOMEM;
	pc->cap = cap;
	return 0;
}

int sp__pcache_take(struct sp__pcache *pc, uint64_t page, uint32_t *f)
{
	if (sp__hashtable_is_full(&pc->pages, pc->used) && sp__hashtable_grow(&pc->pages))
		return -ENOMEM;
	if (pc->unused != SP__PCACHE_NONE) {
		*f = pc->unused;
		pc->unused = pc->frame[*f].link[SP__FRAMELIST_LRU].older;
	} else {
		if (pc->nframes == pc->cap && grow(pc) < 0)
			return -ENOMEM;
		*f = pc->nframes++;
	}
	pc->frame[*f] = (struct sp__frame){ .page = page };
	sp__hashtable_put(&pc->pages, sp__mix64(page), *f + 1);
	pc->used++;
	return 0;
}

void sp__pcache_give(struct sp__pcache *pc, uint32_t f)
{
	sp__hashtable_remove(&pc->pages, slot_of(pc, pc->frame[f].page));
	pc->frame[f].link[SP__FRAMELIST_LRU].older = pc->unused;
	pc->unused = f;
	pc->used--;
}

static bool before(void *frameheap, uint64_t a, uint64_t b)
{
	const struct sp__frameheap *h = frameheap;

	return h->before(h->pc, (uint32_t)a, (uint32_t)b);
}

static uint32_t *place_of(struct sp__frameheap *h, uint64_t f)
{
	return &h->pc->frame[f].place[h->which];
}

static void moved(void *frameheap, uint64_t f, size_t place)
{
	*place_of(frameheap, f) = (uint32_t)place;
}

void sp__frameheap_insert(struct sp__frameheap *h, uint32_t f)
{
	sp__heap_push(&h->frames, f, before, moved, h);
}

void sp__frameheap_remove(struct sp__frameheap *h, uint32_t f)
{
	(void)sp__heap_take(&h->frames, *place_of(h, f), before, moved, h);
}

void sp__frameheap_move(struct sp__frameheap *h, uint32_t f)
{
	sp__heap_settle(&h->frames, *place_of(h, f), f, before, moved, h);
}
