/* SPDX-License-Identifier: MIT */
/*
 * Forecasting: clusters in the order in which their first pages are needed.
 *
 * One walk over the consumption sequence: a page that an earlier cluster of its
 * run already covers is passed over, any other begins the run's next cluster.
 * So a cluster stands where the merge would run dry without it, which is what
 * comparing the last keys of full buffers finds out step by step.
 *
 * Sizes.  Forecasting proper has buffers of b / (n + 1) pages, rounded down: a
 * buffer is a contiguous piece of memory.  Extended forecasting draws single pages
 * from one pool, so its clusters may differ; they are to average b / (n + 2).
 * The pages of a run behind its first are divided into the whole number of
 * clusters that comes nearest to that mean, and these are made as equal as whole
 * pages allow.  (Giving every cluster floor or ceiling by a running error leaves
 * a short cluster at the end of each run: 7 % more reads in the paper's own
 * case of 15 runs, 50 MB, 3 MB.)
 */
#include <errno.h>
#include <stdlib.h>
#include "sort/readplan_steps.h"

/* How a run's pages are divided into clusters. */
struct share {
	uint64_t pages;	   /* of the run */
	uint64_t covered;  /* pages in clusters so far */
	uint64_t seen;	   /* pages passed in the sequence */
	uint32_t fixed;	   /* size of each cluster but the last; 0: equal clusters */
	uint64_t clusters; /* equal clusters behind the first page ... */
	uint64_t taken;	   /* ... and how many of them are planned */
};

unsigned sp__steps_live_runs(const struct sp__readplan_opts *opts)
{
	unsigned live = 0;

	for (unsigned i = 0; i < opts->runs; i++)
		live += opts->run_pages[i] > 0;
	return live;
}

unsigned sp__steps_forecast_pages(const struct sp__readplan_opts *opts)
{
	return opts->buffers / (sp__steps_live_runs(opts) + 1);
}

size_t sp__steps_scratch(const struct sp__readplan_opts *opts)
{
	if (opts->strategy == SP_READ_CLUSTER)
		return sp__cluster_scratch(opts);
	return opts->runs * sizeof(struct share);
}

static uint64_t next_size(struct share *s)
{
	uint64_t left = s->pages - s->covered;

	if (s->fixed)
		return left < s->fixed ? left : s->fixed;
	if (s->covered == 0)
		return 1;
	/* Bresenham: equal cluster i ends behind its page (i + 1) (P - 1) / clusters. */
	s->taken++;
	return (uint64_t)((unsigned __int128)(s->pages - 1) * s->taken / s->clusters) + 1 -
	       s->covered;
}

static uint64_t walk(const struct sp__readplan_opts *opts, struct share *shares,
		     struct sp__step *steps)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < opts->pages; i++) {
		struct share *s = &shares[opts->consumption[i]];

		if (s->seen++ < s->covered)
			continue;
		steps[n].run = opts->consumption[i];
		steps[n].pages = (uint32_t)next_size(s);
		s->covered += steps[n++].pages;
	}
	return n;
}

int sp__steps_forecast(const struct sp__readplan_opts *opts, struct sp__step *steps,
		       uint64_t *count)
{
	struct share *shares = calloc(opts->runs, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	for (unsigned i = 0; i < opts->runs; i++) {
		shares[i].pages = opts->run_pages[i];
		shares[i].fixed = sp__steps_forecast_pages(opts);
	}
	*count = walk(opts, shares, steps);
	free(shares);
	return 0;
}

int sp__steps_extended(const struct sp__readplan_opts *opts, struct sp__step *steps,
		       uint64_t *count)
{
	struct share *shares = calloc(opts->runs, sizeof(*shares));
	double mean = (double)opts->buffers / (sp__steps_live_runs(opts) + 2);

	if (!shares)
		return -ENOMEM;
	for (unsigned i = 0; i < opts->runs; i++) {
		shares[i].pages = opts->run_pages[i];
		if (shares[i].pages < 2)
			continue;
		shares[i].clusters = (uint64_t)((double)(shares[i].pages - 1) / mean + 0.5);
		shares[i].clusters += shares[i].clusters == 0;
	}
	*count = walk(opts, shares, steps);
	free(shares);
	return 0;
}
