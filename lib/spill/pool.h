/* SPDX-License-Identifier: MIT */
/*
 * Reads the pages of runs for one merge in the order of a plan, and pins them for the merge in each
 * run's order.
 *
 * Whenever a page becomes free, the pool requests clusters from the plan until the plan has none.
 * Each cluster is submitted as one indivisible batch.  If the store places runs by the device's
 * tracks, clusters gather while the device is busy.  When it becomes idle, all pending clusters go
 * as one batch, in the order of their offsets along the path (Shao 2008, section 6.2.2).
 *
 * When the merge gets a page, the pool verifies its checksum and frees its space on disk.  A
 * compressed page is unpacked into a spare page of the pool, and the page into which it was read
 * becomes the spare one.
 */
#pragma once

#include "spill/store.h"

/* The plan (sort/plan/readplan.h), opaque to the pool. */
struct sp__readplan;
struct sp__poolplan {
	struct sp__readplan *plan;
	unsigned (*next)(struct sp__readplan *plan, unsigned free_pages, unsigned *run);
	void (*consumed)(struct sp__readplan *plan, unsigned run);
	unsigned largest; /* the largest cluster that next() returns */
};

struct sp__pool;

/* Returns the memory for unpacking: one more page and a codec. */
size_t sp__pool_unpacking(enum sp_spill_compression codec, uint32_t page_bytes);
/* Returns the memory in addition to the pages, unpacking included, for the budget. */
size_t sp__pool_memory(const struct sp__spill *spill, size_t nruns, unsigned npages);

/*
 * Opens a pool and begins reading immediately.  mem: npages pages, page-aligned; NULL if the store
 * is hollow.  The caller keeps the runs and the plan.  spans: the bytes to read of each run, if
 * checksums cover a single page and the store keeps the space; the plan counts the pages of the
 * spans.  NULL: all bytes.
 */
SP_MUST_CHECK int sp__pool_open(struct sp__pool **pool, struct sp__spill *spill,
				struct sp__run *const *runs, const struct sp__run_span *spans,
				size_t nruns, void *mem, unsigned npages,
				const struct sp__poolplan *plan);
void sp__pool_close(struct sp__pool *pool); /* waits for reads; accepts NULL */
/* True if all pages are in memory or have been pinned: the store is not read any more. */
bool sp__pool_has_all(struct sp__pool *pool);

/*
 * Returns the run's next page: SP_READY with its payload within the span, valid until released;
 * SP_END; SP_LATER if !wait and it has not arrived yet; or an error.  At most one page of a run is
 * pinned at a time.
 */
SP_MUST_CHECK int sp__pool_get(struct sp__pool *pool, size_t run, bool wait, const char **data,
			       size_t *bytes);
/* Releases the page returned last, and starts the reads that are now possible. */
SP_MUST_CHECK int sp__pool_release(struct sp__pool *pool, size_t run);
