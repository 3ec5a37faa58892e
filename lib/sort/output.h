/* SPDX-License-Identifier: MIT */
/*
 * Output: records of the final merge on their way to sp_sort_get() (output.c).
 *
 * Owner: the merging thread.  With threads that is the background task, which holds `busy`
 * while it merges; the ring is shared as described in ring.h.
 */
#ifndef SP__SORT_OUTPUT_H
#define SP__SORT_OUTPUT_H

#include <pthread.h>
#include <spindle/sort.h>
#include "sort/group.h"
#include "base/ring.h"

struct sp__output {
	struct sp__ring ring;	/* from the final merge to get() */
	size_t buffer_bytes;	/* of one of its buffers */
	bool threaded;		/* the final merge runs in the task */
	pthread_mutex_t busy;	/* when threaded: held by the task while it merges */
	struct sp__group group; /* --count: the one whose number is still unknown */
	bool group_due;		/* it begins with the merge's current record, not held yet */
};

SP_MUST_CHECK int sp__output_start(struct sp_sort *s);
SP_MUST_CHECK int sp__output_get(struct sp_sort *s, struct sp_batch *batch);
SP_MUST_CHECK int sp__output_wait(struct sp_sort *s);
/* The next record that the final merge gives, as sp__ring_source; where there is no thread. */
SP_MUST_CHECK int sp__output_next(void *sort, bool wait, const char **data, size_t *bytes);
/* Stops the merge at any point; afterwards nothing runs in the background. */
void sp__output_stop(struct sp_sort *s);
void sp__output_close(struct sp_sort *s);

#endif
