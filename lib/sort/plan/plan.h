/* SPDX-License-Identifier: MIT */
/*
 * Declares the planner for run formation and merging, beyond <spindle/sort.h>, and the layout of a
 * sort for given choices.
 */
#pragma once

#include <spindle/sort.h>
#include "predict/costs.h"

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
	uint64_t nominal_bytes; /* bytes of the input, or assumed if unknown */
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

/* Assumed length of a record of line and CSV formats if unknown. */
#define SP__PLAN_RECORD_BYTES 64
/* Descriptor of a spilled page in memory: the checksum; with the truncated last key. */
#define SP__PLAN_PAGE_BYTES 10
#define SP__PLAN_PAGE_KEY_BYTES 100
/* In addition under compression: the page's stored length. */
#define SP__PLAN_PACKED_BYTES 5
/* Processor time of merging: at least this, and this for each page that it reads. */
#define SP__PLAN_MERGE_S_PER_MIB 0.001
#define SP__PLAN_PAGE_S 0.000004
/* Processor time of selecting from a heap, in addition to sorting a loaded buffer. */
#define SP__PLAN_REPLACEMENT_S_PER_MIB 0.002

/* Pages for each spilled run in a merge, if runs in memory are to stay there. */
#define SP__PAGES_KEPT 4
/* Records of the expected length for which each thread that forms runs must have memory. */
#define SP__LONG_RECORDS 4

/* Returns how many bytes of a run buffer a byte of a record takes, with its entry and scratch. */
double sp__plan_record_weight(const struct sp_sort_opts *opts);
/* Sets the number of threads on a real machine. */
void sp__plan_threads(struct sp_sort_opts *opts);
/* Returns the number of threads that form and write runs; options have the number of threads. */
unsigned sp__plan_writers(const struct sp_sort_opts *opts, uint64_t working_bytes);
/* Returns how many of them the memory of a plan suffices for: sp_sort_plan.threads. */
unsigned sp__plan_workers(const struct sp_sort_opts *opts, const struct sp_sort_plan *plan);
/* The memory of a thread that reads parts of the input. */
struct sp__chunks_plan {
	size_t bytes; /* bytes of a chunk */
	unsigned n;
};
struct sp__chunks_plan sp__plan_part_chunks(const struct sp_sort_opts *opts,
					    uint64_t working_bytes);
/*
 * Returns the memory of all run writers: the chunks of one or, if that is more, their minimum of
 * pages; several writers have at most a sixteenth of the memory for that.
 */
size_t sp__plan_spill_bytes(const struct sp_sort_opts *opts, uint64_t working_bytes,
			    uint32_t page_bytes);

/* Returns the cost of reads of runs where they will be placed. */
struct sp__device_costs sp__plan_device(const struct sp_sort_opts *opts);

/*
 * Returns the mean pages in a cluster, R / p, of a merge of runs on random input: formulas (1)-(4)
 * of Zhang & Larson, section 4, and b / (n + 1) for forecasting, at the sizes actually read: double
 * buffering and forecasting round down to pages.  0: too few buffers.
 */
double sp__plan_cluster_pages(enum sp_readahead strategy, unsigned runs, unsigned buffers);

/*
 * Returns the strategy for a merge of pages pages of page_bytes in runs runs and buffers buffers:
 * the given one or, if that is SP_READ_AUTO, the feasible one with the shortest predicted time.
 * table: NULL, or filled for every strategy.  Without last keys (sequence false), strategies that
 * need the consumption sequence are not feasible.
 */
enum sp_readahead sp__plan_readahead(enum sp_readahead given, uint64_t pages, uint32_t page_bytes,
				     unsigned runs, unsigned buffers, bool sequence,
				     struct sp__device_costs device,
				     struct sp_strategy_plan *table);
