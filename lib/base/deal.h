/* SPDX-License-Identifier: MIT */
/*
 * Divides numbered items of work among threads: a thread that is free takes the next item.
 *
 * Items are begun in the order of their numbers.  After an error no further item is begun, so all
 * items before the one that failed are complete, and the error that is first in this order is the
 * result.
 *
 * Thread rule: fn is called by several threads concurrently, each time for another item.  `worker`
 * is below the number of threads, and no two threads have the same one at a time.  All that fn
 * wrote is visible to the caller after sp__deal() has returned.
 */
#pragma once

#include <spindle/error.h>

#define SP__DEAL_MAX 64u /* threads that one call uses */

/* Does the work of an item.  Returns 0, or an error that is recorded in err. */
typedef int sp__deal_fn(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err);

/*
 * Calls fn for the items 0 to items - 1, on the calling thread and on up to threads - 1 queued
 * tasks.  If there is no memory for tasks, the caller does all the work.  Returns 0, or the error
 * of the first item that failed, which err then describes.  err may be NULL.
 */
SP_MUST_CHECK int sp__deal(unsigned threads, uint64_t items, sp__deal_fn *fn, void *arg,
			   struct sp_errinfo *err);
