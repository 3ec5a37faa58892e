/* SPDX-License-Identifier: MIT */
/*
 * Counts the requests of a sequence (trace/sequence.h) that reach the device behind a page cache.
 *
 * The sequence is replayed against the cache of sim/pagecache.h, without a clock.  A request is one
 * access to all its pages; a write is assumed to fill its pages.
 */
#include "base/err.h"
#include "sim/pagecache.h"
#include "trace/sequence.h"

#define PAGE_BYTES 4096u

/* Replays the requests; the lists of pages to move are ignored. */
static int replay(const struct sp_sequence *seq, uint64_t counted, uint32_t page_bytes,
		  const uint64_t *base, struct sp__pcache *pc)
{
	struct sp__pcache_work read = { 0 }, ahead = { 0 }, write = { 0 };
	int rc = 0;

	for (size_t i = 0; i < seq->n && i < counted && rc == 0; i++) {
		const struct sp__seqreq *r = &seq->req[i];
		uint64_t page = base[r->volume] + sp__seqreq_page(r, page_bytes);
		size_t n = sp__seqreq_pages(r, page_bytes);

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
