/* SPDX-License-Identifier: MIT */
/*
 * Where in each run a merge is: the offsets from which it can go on.
 */
#pragma once

#include <spindle/batch.h>
#include "sort/tree/merge.h"

/* Of each cursor of a merge, the offset in its run of the record that it is at. */
struct sp__run_offsets {
	uint64_t *at;
	unsigned last; /* the cursor of the record that the merge is at, */
	size_t bytes;  /* which is to be passed: its bytes in the run */
};

/* The record that the merge is at has been passed. */
static inline void sp__run_offsets_pass(struct sp__run_offsets *p)
{
	p->at[p->last] += p->bytes;
	p->bytes = 0;
}

/* The merge's next() has returned rc. */
static inline void sp__run_offsets_step(struct sp__run_offsets *p, const struct sp__merge *m,
					int rc)
{
	const struct sp__cursor *c = sp__merge_current(m);

	if (rc != SP_READY && rc != SP_END)
		return;
	sp__run_offsets_pass(p);
	if (rc == SP_END)
		return;
	p->last = (unsigned)(c - m->cursors);
	p->bytes = m->bytes + c->head;
}
