/* SPDX-License-Identifier: MIT */
/*
 * The state of one sort: that of its inner rooms, and what belongs to the caller of the public
 * functions (sort.c).  Only the shell sees it.
 *
 * Threads.  The first background task (forming.task) forms runs.  The caller joins it before it
 * touches the state of a room, and starts the final merge, which runs in a task of its own if there
 * are threads (output.task).
 */
#pragma once

#include "flow/iter.h"
#include "sort/merge/output.h"
#include "sort/resume/resume.h"
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
	int error;		/* the first; returned from then on */
	bool reported_later;	/* put() or get() has returned LATER since the last wait() */
	struct sp__waiter wait; /* operator.c: for what is reported */
};

/* sp_sort_stats(), with or without the figures that the system must supply. */
void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_counters);
/* After finish(): waits until runs are formed, and does all merges but the last. */
SP_MUST_CHECK int sp__sort_reduce(struct sp_sort *s);
/* All of the result has been given otherwise than by get(): the checks at the end. */
SP_MUST_CHECK int sp__sort_given(struct sp_sort *s);
/* Sorted files as the input, merged without forming runs (-m), instead of records that are put. */
SP_MUST_CHECK int sp__sort_merge_inputs(struct sp_sort *s, const struct sp_sort_io *io,
					unsigned sim_file);
/* Stops the work in the background at any point. */
void sp__sort_stop(struct sp_sort *s);
/* operator.c: registers the wait of a put() or get() that has returned SP_LATER. */
void sp__sort_later(struct sp_sort *s, struct sp__waits *waits);
/* adopt.c: a new sort gets the runs found that are as they were written, before records are put. */
SP_MUST_CHECK int sp__sort_adopt(struct sp_sort *s, struct sp__resume *resume);
