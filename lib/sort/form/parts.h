/* SPDX-License-Identifier: MIT */
/*
 * Declares run formation by several threads (parts.c), which read inputs in parts (flow/parts.h),
 * or take blocks of records that another thread has read (flow/blocks.h).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "flow/blocks.h"
#include "flow/parts.h"
#include "sort/form/forming.h"

/* Returns the length of the parts, in which inputs of this length are to be opened. */
uint64_t sp__form_part_bytes(const struct sp__forming *forming, uint64_t input_bytes);
/* Returns the chunks of each thread's stream of parts. */
struct sp__chunks_plan sp__form_part_chunks(const struct sp__forming *forming);
/* True if runs can be formed from parts: by load, sort, store, merged lazily, on real files. */
bool sp__form_by_parts(const struct sp__forming *forming);
/*
 * True if they can be formed from blocks after sp__form_put() of some records: in addition, nothing
 * has been stored, and the order of equal records does not matter.
 */
bool sp__form_by_blocks(struct sp__forming *forming);

struct sp__form_source {
	struct sp__parts *parts; /* or NULL: */
	struct sp__iter scan;
	struct sp__waits *waits;
	uint64_t input_bytes; /* 0: unknown */
	/*
	 * Called in this thread after each of its parts or blocks, with the bytes taken so far; or
	 * NULL.
	 */
	void (*tell)(void *arg, uint64_t bytes);
	/* sp__sort_encode_fn (sort.h); NULL: the records of the parts are those of the sort. */
	int (*encode)(void *arg, unsigned worker, struct sp__part *part, struct sp_batch *from,
		      struct sp_batch *records);
	void *arg;
};

/*
 * Forms runs of all records of the source, instead of sp__form_put().  Returns 0; SP__MISCUT
 * if the inputs must be read in order by a new sort; SP_EUNSUP if the system refuses a thread, and
 * nothing has changed; or the error of the first part that has one.
 */
SP_MUST_CHECK int sp__form_parts(struct sp__forming *forming, const struct sp__form_source *source);
