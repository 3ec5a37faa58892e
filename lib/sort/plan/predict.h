/* SPDX-License-Identifier: MIT */
/*
 * Declares the merges that a sort will perform, in the order of the policy, and the prediction of
 * their time on a real device; on a simulated machine they run dry (sort/dryrun/dryrun.c).
 */
#pragma once

#include "sort/plan/plan.h"

/* The sizes of a sort whose input length is known. */
struct sp__sort_sizes {
	const struct sp_sort_opts *opts;
	const struct sp_sort_plan *plan;
	double record_bytes;
	double bytes;	   /* bytes of the input */
	double run_bytes;  /* bytes of the records of a run */
	double max_bytes;  /* maximum bytes of the result, and so of each run: --limit */
	double kept_bytes; /* the last run, if it stays in memory until the final merge */
	uint64_t runs;
	bool in_memory; /* nothing is spilled */
};

/* A merge that the policy has ordered. */
struct sp__merge_step {
	const unsigned *ids; /* numbers of the runs; the new run gets the first of them */
	unsigned n, level, pages;
	bool final;
};

struct sp__steps {
	/*
	 * Forms run number i.  *bytes: its length in temporary space; 0: it stays in memory.  Sets
	 * *last with the last run.
	 */
	int (*form)(void *ctx, unsigned i, uint64_t *bytes, bool *last);
	/* *bytes: the length of the new run.  Both return 0 or an error. */
	int (*merge)(void *ctx, const struct sp__merge_step *step, uint64_t *bytes);
};

/* The maximum number of runs whose merges are followed. */
#define SP__STEPS_RUNS_MAX 4096
struct sp__sort_sizes sp__sort_sizes(const struct sp_sort_opts *opts,
				     const struct sp_sort_plan *plan);
/* Returns the bytes of records of a batch of replacement selection. */
double sp__sort_batch_bytes(const struct sp__sort_sizes *s);
/*
 * Calls both functions in the order of the policy.  Returns 0; -ENOMEM; -E2BIG: too many runs; or
 * an error of theirs.
 */
SP_MUST_CHECK int sp__steps_follow(const struct sp__sort_sizes *s, const struct sp__steps *steps,
				   void *ctx);

/* Costs that a device and the processors add to merges; all 0: clusters are only counted. */
struct sp__merge_costs {
	double read_s, write_s; /* per byte */
	double seek_s;
	double merge_s; /* computation per merged byte */
};

/* Totals of all merges. */
struct sp__merge_totals {
	double clusters, seconds;
};

/*
 * Adds up the merges of a sort.  keys: last keys of pages are kept.  Returns 0 or -ENOMEM.  With
 * more than SP__STEPS_RUNS_MAX runs, all totals are 0.
 */
SP_MUST_CHECK int sp__predict_merges(const struct sp__sort_sizes *s, bool keys,
				     const struct sp__merge_costs *costs,
				     struct sp__merge_totals *totals);
