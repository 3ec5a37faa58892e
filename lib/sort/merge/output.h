/* SPDX-License-Identifier: MIT */
/*
 * Output: records of the final merge on their way to sp_sort_get() (output.c), or into ranges of a
 * file, with checkpoints (ranges.c).
 *
 * Writers.  Only output.c writes struct sp__output, in the merging thread.  With threads that is
 * the background task, which holds `busy` while it merges; the ring is shared as described in
 * base/ring.h.
 */
#pragma once

#include <pthread.h>
#include "base/ring.h"
#include "sort/merge/group.h"
#include "sort/merge/merging.h"
#include "sort/merge/write_parts.h"

struct sp__output {
	struct sp__merging *merging;
	struct sp__task task;	/* the final merge */
	struct sp__ring ring;	/* from the final merge to get() */
	bool threaded;		/* the final merge runs in the task */
	pthread_mutex_t busy;	/* when threaded: held by the task while it merges */
	struct sp__group group; /* --count: the one whose number is still unknown */
	bool group_due;		/* it begins with the merge's current record, not held yet */
};

SP_MUST_CHECK int sp__output_start(struct sp__output *output);
SP_MUST_CHECK int sp__output_get(struct sp__output *output, struct sp_batch *batch);
SP_MUST_CHECK int sp__output_wait(struct sp__output *output);
/* The next record that the final merge gives, as sp__ring_source; where there is no thread. */
SP_MUST_CHECK int sp__output_next(void *output, bool wait, const char **data, size_t *bytes);
/* Stops the merge at any point; afterwards nothing runs in the background. */
void sp__output_stop(struct sp__output *output);
/* After stop(). */
void sp__output_close(struct sp__output *output);

/* ranges.c: what sp__parts_write() does, with checkpoints; always possible. */
SP_MUST_CHECK int sp__ranges_write(struct sp__output *output, struct sp__parts_out *out);
