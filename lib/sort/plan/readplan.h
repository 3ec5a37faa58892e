/* SPDX-License-Identifier: MIT */
/*
 * Declares the read plan: which pages of which run to read next, while n sorted runs are merged
 * with b buffer pages.  It is pure: it touches no files and no pages, and only counts.  The spill
 * store owns the pages; the merge does not depend on the plan.
 *
 * Source: Zhang & Larson 1998, section 3.  Interpretation of each strategy:
 *
 *   NONE      one page of a run when it has none left.
 *   DOUBLE    h = b / 2n pages, rounded down, as soon as h of a run's 2h are empty; first
 *             2h.  Below b = 2n: single pages.
 *   EQUAL     each run owns floor or ceiling of b/n of the b pages; with m pages, a run
 *             reads m - 1 when one full page is left; first m.
 *   FORECAST  n + 1 buffers of b / (n + 1) pages, rounded down; whenever a whole buffer is
 *             empty, it is filled from the run that needs pages next.
 *   EXTENDED  one page of each run, then clusters of b / (n + 2) pages (floor or ceiling,
 *             with this mean) as soon as enough pages of any runs are free in total.
 *   CLUSTER   clusters planned by the heuristic of section 3.3.
 *
 * Use: call next() repeatedly until it returns 0, first and after every consumed().  Each cluster
 * is read as one indivisible batch.  Pages of a run are consumed in order.  A run whose last page
 * has been consumed is served first, so a free page never goes to a run that could wait.  So no
 * strategy deadlocks, even if truncated last keys make the consumption sequence inexact.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <spindle/sort.h>

/*
 * Compares the last keys of two pages: returns a negative number, 0, or a positive one.  Pages of
 * one run are never compared; their order is known.
 */
typedef int sp__last_key_cmp(void *ctx, unsigned run_a, uint64_t page_a, unsigned run_b,
			     uint64_t page_b);
/*
 * Writes the run number of every page to sequence, which has as many entries as the sum of
 * run_pages: first the first page of each run that has pages, in run order.  Then, each time a page
 * is the first to finish (equal keys: the lower run number), the next page of its run, if there is
 * one.  Returns 0 or -ENOMEM; takes 16 bytes per run.
 */
SP_MUST_CHECK int sp__consumption_build(unsigned runs, const uint64_t *run_pages,
					sp__last_key_cmp *cmp, void *ctx, uint32_t *sequence);

struct sp__readplan_opts {
	enum sp_readahead strategy;  /* not SP_READ_AUTO */
	unsigned runs;		     /* n, >= 1 */
	const uint64_t *run_pages;   /* pages in each run; can be 0 */
	unsigned buffers;	     /* b, the caller's pages in total */
	const uint32_t *consumption; /* run of each page in consumption order;
				      * only FORECAST, EXTENDED and CLUSTER; else NULL.
				      * Used only during sp__readplan_new(). */
	uint64_t pages;		     /* T: length of consumption, sum of run_pages */
};

struct sp__readplan;

/* Returns the minimum of b for a number of runs. */
unsigned sp__readplan_min(enum sp_readahead strategy, unsigned runs);

/* True if the strategy needs the consumption sequence. */
bool sp__readplan_needs_sequence(enum sp_readahead strategy);

/*
 * Returns 0; SP_EBUDGET: fewer buffers than the minimum; -EINVAL: an unknown strategy, or the
 * sequence is missing or contradicts run_pages; -ENOMEM.
 */
SP_MUST_CHECK int sp__readplan_new(struct sp__readplan **plan,
				   const struct sp__readplan_opts *opts);
void sp__readplan_free(struct sp__readplan *plan); /* accepts NULL */

/* Returns the maximum of bytes that sp__readplan_new() allocates, for the budget. */
size_t sp__readplan_memory(const struct sp__readplan_opts *opts);

/*
 * Chooses the cluster to read now, given free_pages.  Returns the number of pages (<= free_pages)
 * of *run, after those already read; 0: nothing to read until more pages are consumed, or all pages
 * have been read.
 */
unsigned sp__readplan_next(struct sp__readplan *plan, unsigned free_pages, unsigned *run);

/* Records that a page of run has been consumed and is free again. */
void sp__readplan_consumed(struct sp__readplan *plan, unsigned run);

/* Returns the pages read because they were needed before the plan's turn for them. */
uint64_t sp__readplan_demanded(const struct sp__readplan *plan);

/* Returns the largest result of next(): the size of the caller's array of requests. */
unsigned sp__readplan_largest(const struct sp__readplan *plan);
