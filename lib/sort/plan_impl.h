/* SPDX-License-Identifier: MIT */
/*
 * Inside the planner: one way of sorting, worked out for given choices.
 */
#ifndef SP__SORT_PLAN_IMPL_H
#define SP__SORT_PLAN_IMPL_H

#include "sort/plan.h"

/* Choices that are not made yet: what layout() is asked for. */
struct sp__choice {
	uint64_t working_bytes;
	unsigned threads;
	enum sp_run_formation formation; /* not AUTO */
	uint32_t page_bytes;
	bool largest_page; /* no larger one can be chosen */
};

/* What does not fit, for the message. */
enum sp__misfit {
	SP__FITS,
	SP__MISFIT_RUN,		/* run_bytes in the memory */
	SP__MISFIT_MERGE,	/* merge_bytes in the memory */
	SP__MISFIT_PAGES,	/* the pages of a merge in the memory */
	SP__MISFIT_SMALL_MERGE, /* the pages of a merge in a hand-set merge_bytes */
};

struct sp__layout {
	enum sp__misfit misfit;
	uint64_t need_merge_bytes; /* SP__MISFIT_SMALL_MERGE: the least that would do */
	bool in_memory;
	uint64_t descriptor_bytes;
	bool keys; /* last keys are kept: they fit, or are needed */
	uint64_t run_bytes, merge_bytes;
	unsigned run_buffers, fan_in, merge_pages, passes;
	uint64_t nominal_bytes; /* the input, or what is supposed where it is unknown */
	uint64_t runs;		/* expected of it */
	unsigned final_runs;	/* runs in the final merge */
	double seconds;
};

/* Lays memory out for a choice. */
void sp__layout(const struct sp_sort_opts *opts, const struct sp__choice *choice,
		struct sp__layout *layout);

#endif
