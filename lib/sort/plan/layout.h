/* SPDX-License-Identifier: MIT */
/*
 * Declares the layout of a sort for given choices, internal to the planner.
 */
#pragma once

#include "sort/plan/plan.h"

#define MIB 1048576.0

/* Choices for which sp__layout() is called. */
struct sp__choice {
	uint64_t working_bytes;
	unsigned threads, mergers;	 /* mergers: threads that pay in the final merge */
	enum sp_run_formation formation; /* not AUTO */
	uint32_t page_bytes;
	bool largest_page; /* no larger one can be chosen */
};

/* The size that does not fit, for the message. */
enum sp__misfit {
	SP__FITS,
	SP__MISFIT_RUN,		/* run_bytes in the memory */
	SP__MISFIT_MERGE,	/* merge_bytes in the memory */
	SP__MISFIT_PAGES,	/* the pages of a merge in the memory */
	SP__MISFIT_SMALL_MERGE, /* the pages of a merge in a hand-set merge_bytes */
};

struct sp__layout {
	enum sp__misfit misfit;
	uint64_t need_merge_bytes; /* SP__MISFIT_SMALL_MERGE: the minimum */
	bool in_memory;
	uint64_t descriptor_bytes;
	bool keys; /* last keys are kept: they fit, or are required */
	uint64_t run_bytes, merge_bytes;
	unsigned run_buffers, fan_in, merge_pages, passes;
	uint64_t nominal_bytes; /* of the input, or assumed if unknown */
	uint64_t runs;		/* expected */
	unsigned final_runs;	/* runs in the final merge */
	double seconds;
};

/* choices.c: returns the policy. */
enum sp_merge_policy sp__plan_policy(const struct sp_sort_opts *opts);
/* Returns the requested placement if runs, as they are formed, can be placed so. */
enum sp_placement sp__plan_placement(const struct sp_sort_opts *opts);

/* Returns how many threads can divide the final merge, by its pages for each run. */
unsigned sp__layout_mergers(const struct sp__choice *choice, const struct sp__layout *layout);
/* Computes the layout for a choice. */
void sp__layout(const struct sp_sort_opts *opts, const struct sp__choice *choice,
		struct sp__layout *layout);

/* plan.c: makes the plan for a placement other than SP_PLACE_AUTO. */
SP_MUST_CHECK int sp__plan_placed(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
				  struct sp_errinfo *err);
