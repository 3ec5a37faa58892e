/* SPDX-License-Identifier: MIT */
/*
 * Declares the prediction of merges on a real device.
 */
#pragma once

#include "sort/plan/steps.h"

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
