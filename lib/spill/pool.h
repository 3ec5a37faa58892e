/* SPDX-License-Identifier: MIT */
/*
 * The page pool of one merge: pages of runs are read into it as a plan says,
 * handed to the merge in each run's order, and taken back.
 *
 * The plan (sort/readplan.h) is known here only as three functions.  Whenever
 * a page becomes free the plan is asked for clusters until it has none; each
 * cluster is submitted as one indivisible batch.  Where the store places runs
 * by the device's tracks, clusters gather while the device is busy, and all
 * that are pending when it has nothing left to do go as one batch, in the
 * order of their places (Shao 2008, section 6.2.2).
 *
 * A page is verified against its checksum when the merge first sees it, and
 * its space on disk is given back then.  A compressed page is unpacked into a page that
 * the pool has to spare, and what it was read into is to spare for the next one.
 */
#ifndef SP__SPILL_POOL_H
#define SP__SPILL_POOL_H

#include "spill/store.h"

struct sp__poolplan {
	void *plan;
	unsigned (*next)(void *plan, unsigned free_pages, unsigned *run);
	void (*consumed)(void *plan, unsigned run);
	unsigned largest; /* no answer of next() is larger */
};

struct sp__pool;

/* What one pool needs for unpacking pages, whatever it reads: a page more and a codec. */
size_t sp__pool_unpacking(enum sp_spill_compression codec, uint32_t page_bytes);
/* Memory beside the pages themselves, that included, for the budget. */
size_t sp__pool_memory(const struct sp__spill *spill, size_t nruns, unsigned npages);

/*
 * mem: npages pages, page-aligned.  The runs and the plan stay the caller's.
 * Reading begins at once.
 */
SP_MUST_CHECK int sp__pool_open(struct sp__pool **pool, struct sp__spill *spill,
				struct sp__run *const *runs, size_t nruns, void *mem,
				unsigned npages, const struct sp__poolplan *plan);
void sp__pool_close(struct sp__pool *pool); /* waits for reads; accepts NULL */

/*
 * The run's next page: SP_READY with its payload, valid until released;
 * SP_END; SP_LATER if !wait and it is not there yet; or an error.  At most
 * one page of a run is out at a time.
 */
SP_MUST_CHECK int sp__pool_get(struct sp__pool *pool, size_t run, bool wait, const char **data,
			       size_t *bytes);
/* The page got last is not needed any more; starts what can be read now. */
SP_MUST_CHECK int sp__pool_release(struct sp__pool *pool, size_t run);

#endif
