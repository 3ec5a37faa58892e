/* SPDX-License-Identifier: MIT */
/*
 * Implements OPT (Belady): evicts the page whose next access is latest.
 *
 * Algorithm.  The future is scanned once, from its end, to find for each position the position of
 * the next access to the same page.  Cached pages are in a heap by it, the latest on top.  Pages
 * that are never accessed again are evicted first: those that can be dropped before those that must
 * be written.  Among equal ones the lowest page number is first, so that the result is
 * deterministic.  A page that is overwritten before it is read counts as one that is never accessed
 * again and can be dropped: it need not be read again.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "sim/pagecache_impl.h"
#include "trace/sequence.h"

/* Codes for no position: never accessed again; overwritten at the next access. */
#define NEVER UINT64_MAX
#define OVERWRITTEN (NEVER - 1)

/* Sets next_use[i] to the position after i of the next access to the page of future[i]. */
int sp__pcache_opt_open(struct sp__pcache *pc)
{
	size_t n = pc->opts.nfuture, nslots = 1;
	const uint64_t *future = pc->opts.future;
	uint64_t *last; /* position + 1 of the last access to a page, by its hash */

	while (nslots < 2 * n)
		nslots *= 2;
	pc->next_use = calloc(n ? n : 1, sizeof(*pc->next_use));
	last = calloc(nslots, sizeof(*last));
	if (!pc->next_use || !last) {
		free(last);
		return -ENOMEM;
	}
	for (size_t i = n; i-- > 0;) {
		uint64_t page = future[i] & ~SP__SEQPAGE_WRITE;
		size_t s = sp__mix64(page) & (nslots - 1);

		while (last[s] && (future[last[s] - 1] & ~SP__SEQPAGE_WRITE) != page)
			s = (s + 1) & (nslots - 1);
		if (!last[s])
			pc->next_use[i] = NEVER;
		else if (future[last[s] - 1] & SP__SEQPAGE_WRITE)
			pc->next_use[i] = OVERWRITTEN;
		else
			pc->next_use[i] = last[s] - 1;
		last[s] = i + 1;
	}
	free(last);
	return 0;
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
