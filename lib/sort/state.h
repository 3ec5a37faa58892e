/* SPDX-License-Identifier: MIT */
/*
 * The state of one sort.  Its parts belong to the files named in the header of each part;
 * the members here belong to the caller of the public functions (sort.c), except the
 * counters, which the code that does the counted work updates.
 *
 * Threads.  The first background task forms runs, then makes the final merge; the caller joins
 * it before touching the task's state.  Meanwhile the caller counts only the records that it
 * puts (forming.taken, and records and bytes of the stats).
 */
#ifndef SP__SORT_STATE_H
#define SP__SORT_STATE_H

#include <spindle/sort.h>
#include "base/task.h"
#include "flow/iter.h"
#include "run/charge.h"
#include "run/env.h"
#include "sort/balance.h"
#include "sort/forming.h"
#include "sort/merging.h"
#include "sort/output.h"
#include "sort/resume.h"
#include "sort/sort.h"
#include "sort/spilled.h"

enum sp__sort_state {
	SP__SORT_FORMING,   /* put() is allowed */
	SP__SORT_FINISHING, /* after finish(); the last run is being sorted */
	SP__SORT_OUTPUT,    /* get() returns records */
	SP__SORT_DONE,	    /* the end, or an error */
};

struct sp_sort {
	struct sp_sort_opts opts;
	struct sp_sort_plan plan;
	struct sp__env env;
	unsigned threads;
	enum sp__sort_state state;
	int error;		/* the first; returned from then on */
	bool told_later;	/* put() or get() has returned LATER since the last wait() */
	struct sp__waiter wait; /* sort_operator.c: for what is told */
	struct sp__task task;	/* run formation, then the final merge */
	int task_error;

	struct sp__forming forming;
	struct sp__spilled spilled;
	struct sp__merging merging;
	struct sp__output output;
	struct sp__resume *resume; /* borrowed; NULL: no checkpoints */

	struct sp__balance balance;
	struct sp_sort_stats stats;
};

/* sp_sort_stats(), with or without the figures that the system must supply. */
void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_counters);
/* After finish(): waits until runs are formed, and does all merges but the last. */
SP_MUST_CHECK int sp__sort_reduce(struct sp_sort *s);
/* All of the result has been given otherwise than by get(): the checks at the end. */
SP_MUST_CHECK int sp__sort_given(struct sp_sort *s);
/* sp_sort_put(), and sp_sort_get(), that wait where they have to. */
SP_MUST_CHECK int sp__sort_put_all(struct sp_sort *s, const struct sp_batch *batch);
SP_MUST_CHECK int sp__sort_get_next(struct sp_sort *s, struct sp_batch *batch);
/* sort_operator.c: registers the wait of a put() or get() that has returned SP_LATER. */
void sp__sort_later(struct sp_sort *s, struct sp__waits *waits);

#endif
