/* SPDX-License-Identifier: MIT */
/*
 * Declares the state of a sort: that of its inner rooms, and that of the public functions (sort.c).
 * Only the shell sees it.
 *
 * Threads: the background task forming.task forms runs.  The caller joins it before it uses the
 * state of a room.  Then it starts the final merge, which runs in the task output.task if there are
 * threads.
 */
#pragma once

#include "flow/iter.h"
#include "sort/merge/merging.h"
#include "sort/sort.h"

enum sp__sort_state {
	SP__SORT_FORMING,   /* put() is allowed */
	SP__SORT_FINISHING, /* after finish(); the last run is being sorted */
	SP__SORT_OUTPUT,    /* get() returns records */
	SP__SORT_DONE,	    /* the end, or an error */
};

struct sp_sort {
	struct sp__sort_shared shared;
	struct sp__spilled spilled;
	struct sp__forming forming;
	struct sp__merging merging;
	struct sp__output output;

	enum sp__sort_state state;
	int error;		/* the first one; later calls return it */
	bool reported_later;	/* put() or get() has returned SP_LATER since the last wait() */
	struct sp__waiter wait; /* operator.c: for the pending put() or get() */
};

/* Does the work of sp_sort_stats(), with or without the counters of the device. */
void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_counters);
/* Called after finish(): waits until runs are formed, and performs all merges except the last. */
SP_MUST_CHECK int sp__sort_reduce(struct sp_sort *s);
/* Called if the whole result was returned by other means than get(): the checks at the end. */
SP_MUST_CHECK int sp__sort_given(struct sp_sort *s);
/*
 * Makes sorted files the input, merged without forming runs (-m).  Called instead of putting
 * records.
 */
SP_MUST_CHECK int sp__sort_merge_inputs(struct sp_sort *s, const struct sp_sort_io *io,
					unsigned sim_file);
/* Stops background work at any point. */
void sp__sort_stop(struct sp_sort *s);
/* operator.c: registers the wait of a put() or get() that has returned SP_LATER. */
void sp__sort_later(struct sp_sort *s, struct sp__waits *waits);
/* Called before records are put: adopts the runs found that are as they were written. */
SP_MUST_CHECK int sp__sort_adopt(struct sp_sort *s, struct sp__resume *resume);
