/* SPDX-License-Identifier: MIT */
/*
 * Chooses the read-ahead strategy of a merge, by the formulas of Zhang & Larson, section 4.
 */
#include <math.h>
#include "sort/plan/layout.h"
#include "sort/plan/readplan.h"

double sp__plan_cluster_pages(enum sp_readahead strategy, unsigned runs, unsigned buffers)
{
	double n = runs, b = buffers;

	if (buffers < sp__readplan_min(strategy, runs))
		return 0;
	switch (strategy) {
	case SP_READ_DOUBLE:
		return b < 2 * n ? 1 : floor(b / (2 * n));
	case SP_READ_EQUAL:
		return b < 2 * n ? 1 : b / n - 1;
	case SP_READ_FORECAST:
		return floor(b / (n + 1));
	case SP_READ_EXTENDED:
		return b / (n + 2);
	case SP_READ_CLUSTER:
		return b / (n + 1);
	default:
		return 1;
	}
}

enum sp_readahead sp__plan_readahead(enum sp_readahead given, uint64_t pages, uint32_t page_bytes,
				     unsigned runs, unsigned buffers, bool sequence,
				     struct sp__device_costs device, struct sp_strategy_plan *table)
{
	struct sp_strategy_plan own[SP_READ_COUNT_], *all = table ? table : own;
	enum sp_readahead best = SP_READ_AUTO;

	all[SP_READ_AUTO] = (struct sp_strategy_plan){ 0 };
	for (enum sp_readahead s = SP_READ_NONE; s < SP_READ_COUNT_; s++) {
		struct sp_strategy_plan *p = &all[s];

		p->feasible = buffers >= sp__readplan_min(s, runs) &&
			      (sequence || !sp__readplan_needs_sequence(s));
		p->cluster_pages = sp__plan_cluster_pages(s, runs, buffers);
		/* At least one cluster for each run, for any memory. */
		p->cluster_reads =
			p->cluster_pages > 0 ? fmax((double)pages / p->cluster_pages, runs) : runs;
		p->seconds = device.transfer_s_per_mib * ((double)pages * page_bytes) / MIB +
			     device.seek_s * p->cluster_reads;
		if (p->feasible &&
		    (best == SP_READ_AUTO || p->seconds < all[best].seconds * (1 - 1e-9)))
			best = s;
	}
	if (given != SP_READ_AUTO)
		return given;
	/* Along the path many runs are read together, each when half of its pages are free. */
	if (device.path && all[SP_READ_DOUBLE].feasible)
		best = SP_READ_DOUBLE;
	return best == SP_READ_AUTO ? SP_READ_NONE : best;
}
