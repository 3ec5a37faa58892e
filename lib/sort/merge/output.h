/* SPDX-License-Identifier: MIT */
/*
 * Declares the output: records of the final merge on their way to sp_sort_get() (output.c).
 *
 * Writers: only output.c writes struct sp__output, in the merging thread.  With threads this is the
 * background task, which holds `busy` while it merges; the ring is shared as described in
 * base/ring.h.
 */
#pragma once

#include <pthread.h>
#include "base/ring.h"
#include "sort/merge/merging.h"

struct sp__output {
	struct sp__merging *merging;
	struct sp__task task; /* the final merge */
	struct sp__ring ring; /* from the final merge to get() */
	bool threaded;	      /* the final merge runs in the task */
	pthread_mutex_t busy; /* if threaded: held by the task while it merges */
};

SP_MUST_CHECK int sp__output_start(struct sp__output *output);
SP_MUST_CHECK int sp__output_get(struct sp__output *output, struct sp_batch *batch);
SP_MUST_CHECK int sp__output_wait(struct sp__output *output);
/* Stops the merge at any point; afterwards no background work is left. */
void sp__output_stop(struct sp__output *output);
