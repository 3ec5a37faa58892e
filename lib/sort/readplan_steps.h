/* SPDX-License-Identifier: MIT */
/*
 * Clusters planned beforehand from the consumption sequence, in the order in
 * which they are to be read.
 */
#ifndef SP__SORT_READPLAN_STEPS_H
#define SP__SORT_READPLAN_STEPS_H

#include "sort/readplan.h"

struct sp__step {
	uint32_t run;
	uint32_t pages;
};

/* Runs that have pages. */
unsigned sp__steps_live_runs(const struct sp__readplan_opts *opts);

/* Pages in one buffer of traditional forecasting. */
unsigned sp__steps_forecast_pages(const struct sp__readplan_opts *opts);

/*
 * Each writes at most opts->pages steps.  opts has been checked.  Returns 0 or
 * -ENOMEM.
 */
int sp__steps_forecast(const struct sp__readplan_opts *opts, struct sp__step *steps,
		       uint64_t *count);
int sp__steps_extended(const struct sp__readplan_opts *opts, struct sp__step *steps,
		       uint64_t *count);
int sp__steps_cluster(const struct sp__readplan_opts *opts, struct sp__step *steps,
		      uint64_t *count);

/* Bytes that the builders hold for a while. */
size_t sp__steps_scratch(const struct sp__readplan_opts *opts);
size_t sp__cluster_scratch(const struct sp__readplan_opts *opts);

#endif
