/* SPDX-License-Identifier: MIT */
/*
 * Three families of plans behind one interface.
 *
 * Fixed buffering (NONE, DOUBLE, EQUAL; readplan_fixed.c): each run owns pages and
 * requests some when few enough of them are full.
 *
 * Forecasting (FORECAST, EXTENDED; readplan_forecast.c): a walk along the
 * consumption sequence; the next cluster belongs to the run whose unread
 * page comes first in it.
 *
 * Clustering (CLUSTER; readplan_cluster.c): a list of clusters made in advance, read
 * one after the other, each as soon as it fits.
 *
 * Why there is no deadlock.  The merge stops only when a run has consumed its last page
 * and has more on the device; a stopped merge consumes nothing, so there is one such
 * run at a time.  That last page is free now, and next() gives it to that run first.
 * If the sequence is exact, it is that run's turn anyway: any page needed earlier has
 * been read, or the merge would have stopped earlier.  Its cluster may not fit; then it
 * is read as far as it fits.  This happens to EXTENDED with uneven clusters in few
 * buffers, never to CLUSTER, whose feasibility condition excludes it.  If the sequence
 * is inexact (truncated last keys), one page is read out of turn and the run's next
 * cluster is one page shorter.
 *
 * Memory: 40 bytes a run; 4 a page for forecasting; 8 a cluster for clustering,
 * and 12 a page more while it plans.
 */
#include <errno.h>
#include <stdlib.h>
#include "sort/readplan_impl.h"

unsigned sp__readplan_least(enum sp_readahead strategy, unsigned runs)
{
	switch (strategy) {
	case SP_READ_FORECAST:
	case SP_READ_CLUSTER:
		return runs + 1;
	case SP_READ_EXTENDED:
		return runs + 2;
	default:
		return runs;
	}
}

static bool forecasts(enum sp_readahead strategy)
{
	return strategy == SP_READ_FORECAST || strategy == SP_READ_EXTENDED;
}

bool sp__readplan_needs_sequence(enum sp_readahead strategy)
{
	return forecasts(strategy) || strategy == SP_READ_CLUSTER;
}

size_t sp__readplan_memory(const struct sp__readplan_opts *opts)
{
	size_t bytes = sizeof(struct sp__readplan) + opts->runs * sizeof(struct sp__run_reads);

	if (forecasts(opts->strategy))
		return bytes + opts->pages * sizeof(uint32_t);
	if (opts->strategy == SP_READ_CLUSTER)
		return bytes + opts->pages * sizeof(struct sp__step) +
		       sp__cluster_scratch(opts->pages, opts->runs);
	return bytes + opts->runs * sizeof(uint32_t);
}

void sp__readplan_free(struct sp__readplan *plan)
{
	if (!plan)
		return;
	free(plan->run);
	free(plan->ring);
	free(plan->sequence);
	free(plan->steps);
	free(plan);
}

/* Does the sequence have the right number of pages of each run? */
static bool sequence_fits(struct sp__readplan *p, const struct sp__readplan_opts *opts)
{
	if (opts->pages >= UINT32_MAX || (opts->pages && !opts->consumption))
		return false;
	for (uint64_t i = 0; i < opts->pages; i++) {
		uint32_t run = opts->consumption[i];

		if (run >= opts->runs || p->run[run].asked++ == p->run[run].pages)
			return false;
	}
	for (unsigned i = 0; i < opts->runs; i++)
		p->run[i].asked = 0;
	return p->pages == opts->pages;
}

static int plan_family(struct sp__readplan *p, const struct sp__readplan_opts *opts)
{
	if (p->buffers < sp__readplan_least(p->strategy, p->live))
		return SP_EBUDGET;
	if (!sp__readplan_needs_sequence(p->strategy))
		return sp__fixed_plan(p);
	if (!sequence_fits(p, opts))
		return -EINVAL;
	if (forecasts(p->strategy))
		return sp__forecast_plan(p, opts->consumption);
	return sp__cluster_plan(p, opts->consumption);
}

int sp__readplan_new(struct sp__readplan **plan, const struct sp__readplan_opts *opts)
{
	struct sp__readplan *p;
	int rc;

	*plan = NULL;
	if (opts->strategy <= SP_READ_AUTO || opts->strategy >= SP_READ_COUNT_ || !opts->runs)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->run = calloc(opts->runs, sizeof(*p->run));
	if (!p->run) {
		free(p);
		return -ENOMEM;
	}
	p->strategy = opts->strategy;
	p->runs = opts->runs;
	p->buffers = opts->buffers;
	p->starving = SP__NO_RUN;
	for (unsigned i = 0; i < opts->runs; i++) {
		p->run[i].pages = opts->run_pages[i];
		p->pages += opts->run_pages[i];
		p->live += opts->run_pages[i] > 0;
	}
	p->unread = p->pages;
	rc = plan_family(p, opts);
	if (rc) {
		sp__readplan_free(p);
		return rc;
	}
	*plan = p;
	return 0;
}

unsigned sp__readplan_take(struct sp__readplan *p, uint32_t run, uint64_t pages)
{
	p->run[run].asked += pages;
	p->unread -= pages;
	return (unsigned)pages;
}

/* The merge needs this run's next page before its turn: the page is taken out of the plan. */
static unsigned demand(struct sp__readplan *plan, unsigned run)
{
	plan->demanded++;
	if (plan->strategy == SP_READ_CLUSTER)
		plan->run[run].debt++;
	if (plan->buffer_pages)
		sp__forecast_taken(plan, run);
	return sp__readplan_take(plan, run, 1);
}

static uint32_t turn(struct sp__readplan *p)
{
	return p->steps ? sp__cluster_turn(p) : sp__forecast_turn(p);
}

unsigned sp__readplan_next(struct sp__readplan *plan, unsigned free_pages, unsigned *run)
{
	bool starving = sp__starves(plan, plan->starving);

	if (free_pages == 0 || plan->unread == 0)
		return 0;
	*run = plan->starving;
	if (plan->ring)
		return starving ? sp__fixed_feed(plan, *run, free_pages)
				: sp__fixed_next(plan, free_pages, run);
	if (starving && turn(plan) != plan->starving)
		return demand(plan, *run);
	return plan->steps ? sp__cluster_next(plan, free_pages, run)
			   : sp__forecast_next(plan, free_pages, run);
}

void sp__readplan_consumed(struct sp__readplan *plan, unsigned run)
{
	plan->run[run].consumed++;
	if (sp__full(&plan->run[run]) == 0)
		plan->starving = run;
	if (plan->ring)
		sp__fixed_consumed(plan, run);
	else if (plan->buffer_pages)
		sp__forecast_consumed(plan, run);
}

uint64_t sp__readplan_demanded(const struct sp__readplan *plan)
{
	return plan->demanded;
}

unsigned sp__readplan_largest(const struct sp__readplan *plan)
{
	return plan->largest;
}
