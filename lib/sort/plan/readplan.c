/* SPDX-License-Identifier: MIT */
/*
 * Plans reads by three families of strategies behind one interface: fixed buffering (NONE, DOUBLE,
 * EQUAL), forecasting (FORECAST, EXTENDED), and clustering (CLUSTER; readplan_cluster.c): a list of
 * clusters made in advance, read one after the other, each as soon as it fits.
 *
 * No deadlock: the merge stops only when a run has consumed its last page in memory and has more on
 * the device.  A stopped merge consumes nothing, so there is one such run at a time.  Its last page
 * is then free, and next() gives that page to this run first.  If the sequence is exact, it is the
 * run's turn anyway: any page needed earlier has been read, or the merge would have stopped
 * earlier.  If the run's cluster does not fit, it is read as far as it fits.  This happens to
 * EXTENDED with uneven clusters in few buffers, never to CLUSTER, whose feasibility condition
 * excludes it.  If the sequence is inexact (truncated last keys), one page is read out of turn, and
 * the run's next cluster is one page shorter.
 *
 * Memory: 40 bytes per run; 4 per page for forecasting; 8 per cluster for clustering, and 12 per
 * page while it plans.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/api.h>
#include "base/array.h"
#include "sort/plan/readplan.h"
#include "sort/plan/readplan_impl.h"

struct race {
	struct sp__heap runs; /* the run whose page finishes first on top */
	uint64_t *page;	      /* current page of each run */
	sp__last_key_cmp *cmp;
	void *ctx;
};

static bool before(void *race, uint64_t a, uint64_t b)
{
	const struct race *r = race;
	int c = r->cmp(r->ctx, (unsigned)a, r->page[a], (unsigned)b, r->page[b]);

	return c < 0 || (c == 0 && a < b);
}

static void run_race(struct race *r, const uint64_t *run_pages, uint32_t *sequence)
{
	while (r->runs.n) {
		uint64_t run = r->runs.item[0];

		if (++r->page[run] < run_pages[run]) {
			*sequence++ = (uint32_t)run;
			sp__heap_settle(&r->runs, 0, run, before, NULL, r);
		} else {
			(void)sp__heap_take(&r->runs, 0, before, NULL, r);
		}
	}
}

int sp__consumption_build(unsigned runs, const uint64_t *run_pages, sp__last_key_cmp *cmp,
			  void *ctx, uint32_t *sequence)
{
	struct race r = { .runs.item = malloc(runs * sizeof(*r.runs.item) + 1),
			  .page = calloc(runs + 1, sizeof(*r.page)),
			  .cmp = cmp,
			  .ctx = ctx };
	int rc = r.runs.item && r.page ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < runs; i++)
		if (run_pages[i]) {
			sp__heap_push(&r.runs, i, before, NULL, &r);
			*sequence++ = i;
		}
	run_race(&r, run_pages, sequence);
	free(r.runs.item);
	free(r.page);
	return rc;
}

unsigned sp__readplan_min(enum sp_readahead strategy, unsigned runs)
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

unsigned sp__readplan_take(struct sp__readplan *p, uint32_t run, uint64_t pages)
{
	p->run[run].asked += pages;
	p->unread -= pages;
	return (unsigned)pages;
}

/*
 * Fixed buffering: a run owns `own` pages, first reads all of them, and then `batch` pages whenever
 * at most `low` are full.  EQUAL's clusters average slightly less than b / n - 1, since short ones
 * are read more often: by 4 % between 2 and 3 pages, less above.  No assignment of b pages can do
 * better, by the inequality of means.
 */
static void deal(struct sp__run_reads *r, const struct sp__readplan *p, unsigned index)
{
	unsigned b = p->buffers, n = p->live, half = b / (2 * n);

	r->own = r->batch = 1;
	r->low = 0;
	if (p->strategy == SP_READ_EQUAL) {
		r->own = b / n + (index < b % n);
		r->batch = r->own > 1 ? r->own - 1 : 1;
		r->low = r->own > 1;
	} else if (p->strategy == SP_READ_DOUBLE && half > 0) {
		r->own = 2 * half;
		r->batch = r->low = half;
	} else if (p->strategy == SP_READ_DOUBLE && index < b - n) {
		/* Single pages, and a second one for read-ahead while there are any. */
		r->own = 2;
		r->low = 1;
	}
}

static int fixed_plan(struct sp__readplan *p)
{
	unsigned index = 0;

	p->ring = malloc(p->runs * sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->runs; i++) {
		struct sp__run_reads *r = &p->run[i];

		if (!r->pages)
			continue;
		deal(r, p, index++);
		r->waiting = true;
		p->ring[p->ring_count++] = i;
		if (p->largest < r->own)
			p->largest = r->own;
	}
	return 0;
}

static uint64_t wish(const struct sp__run_reads *r)
{
	uint64_t want = r->asked ? r->batch : r->own;

	return want < sp__unread(r) ? want : sp__unread(r);
}

/*
 * Runs wait in FIFO order.  They own at most b pages in total, so the head of the queue always
 * fits, unless the caller holds pages back.  Then it waits, and only a starving run overtakes it.
 */
static unsigned fixed_next(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	while (p->ring_count) {
		struct sp__run_reads *r = &p->run[p->ring[p->ring_head]];
		bool due = sp__unread(r) && sp__full(r) <= r->low;

		if (due && wish(r) > free_pages)
			return 0;
		*run = p->ring[p->ring_head];
		p->ring_head = (p->ring_head + 1) % p->runs;
		p->ring_count--;
		r->waiting = false;
		if (due)
			return sp__readplan_take(p, *run, wish(r));
	}
	return 0;
}

/* The run stays in the ring; next() finds it satisfied. */
static unsigned fixed_feed(struct sp__readplan *p, uint32_t run, unsigned free_pages)
{
	uint64_t want = wish(&p->run[run]);

	return sp__readplan_take(p, run, want < free_pages ? want : free_pages);
}

static void fixed_consumed(struct sp__readplan *p, uint32_t run)
{
	struct sp__run_reads *r = &p->run[run];

	if (r->waiting || !sp__unread(r) || sp__full(r) > r->low)
		return;
	r->waiting = true;
	p->ring[(p->ring_head + p->ring_count++) % p->runs] = run;
}

/*
 * EXTENDED: divides the pages of a run after its first into clusters as equal as whole pages allow;
 * the rounding error is carried to the next run.  Rejected: floor or ceiling for each cluster by a
 * running error, which leaves a short one at the end of each run (7 % more reads for 15 runs, 50
 * MB, 3 MB of buffers).
 */
static void divide(struct sp__readplan *p)
{
	double mean = (double)p->buffers / (p->live + 2), carry = 0.5;

	for (unsigned i = 0; i < p->runs; i++) {
		struct sp__run_reads *r = &p->run[i];
		uint64_t largest;

		if (r->pages < 2)
			continue;
		carry += (double)(r->pages - 1) / mean;
		r->clusters = carry < 2 ? 1 : (uint64_t)carry;
		/* Runs too short for one cluster must not lengthen those of others. */
		carry = carry > (double)r->clusters ? carry - (double)r->clusters : 0;
		largest = (r->pages - 1 + r->clusters - 1) / r->clusters;
		if (p->largest < largest)
			p->largest = (unsigned)largest;
	}
}

static int forecast_plan(struct sp__readplan *p, const uint32_t *sequence)
{
	p->sequence = malloc(p->pages * sizeof(*sequence) + 1);
	if (!p->sequence)
		return -ENOMEM;
	if (p->pages)
		memcpy(p->sequence, sequence, p->pages * sizeof(*sequence));
	p->largest = 1;
	if (p->strategy == SP_READ_FORECAST) {
		p->largest = p->buffer_pages = p->buffers / (p->live + 1);
		p->buffers_empty = (int64_t)p->live + 1;
	} else {
		divide(p);
	}
	return 0;
}

/*
 * Returns the run that will be exhausted first: that of the first page of the sequence not
 * requested.
 */
static uint32_t forecast_turn(struct sp__readplan *p)
{
	while (p->run[p->sequence[p->at]].passed < p->run[p->sequence[p->at]].asked)
		p->run[p->sequence[p->at++]].passed++;
	return p->sequence[p->at];
}

/* Returns the pages up to the end of the cluster that has the run's next page. */
static uint64_t cluster_rest(const struct sp__readplan *p, const struct sp__run_reads *r)
{
	uint64_t j, m = p->buffer_pages;

	if (m) {
		j = m - r->asked % m;
		return j < sp__unread(r) ? j : sp__unread(r);
	}
	if (r->asked == 0)
		return 1;
	/* Cluster j = 1, 2, ... ends after page 1 + j (pages - 1) / clusters. */
	j = (r->asked * r->clusters + r->pages - 2) / (r->pages - 1);
	return j * (r->pages - 1) / r->clusters + 1 - r->asked;
}

static void forecast_taken(struct sp__readplan *p, uint32_t run)
{
	if (p->run[run].asked % p->buffer_pages == 0)
		p->buffers_empty--;
}

static unsigned forecast_next(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	uint32_t r = forecast_turn(p);
	uint64_t want = cluster_rest(p, &p->run[r]);
	bool starving = sp__starves(p, r);

	if (want > free_pages && starving)
		want = free_pages;
	if (want > free_pages || (p->buffer_pages && p->buffers_empty <= 0 && !starving))
		return 0;
	if (p->buffer_pages)
		forecast_taken(p, r);
	*run = r;
	return sp__readplan_take(p, r, want);
}

static void forecast_consumed(struct sp__readplan *p, uint32_t run)
{
	const struct sp__run_reads *r = &p->run[run];

	if (r->consumed % p->buffer_pages == 0 || r->consumed == r->pages)
		p->buffers_empty++;
}

/* True if the sequence has the right number of pages of each run. */
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
	if (p->buffers < sp__readplan_min(p->strategy, p->live))
		return SP_EBUDGET;
	if (!sp__readplan_needs_sequence(p->strategy))
		return fixed_plan(p);
	if (!sequence_fits(p, opts))
		return -EINVAL;
	if (forecasts(p->strategy))
		return forecast_plan(p, opts->consumption);
	return sp__cluster_plan(p, opts->consumption);
}

int sp__readplan_new(struct sp__readplan **plan, const struct sp__readplan_opts *opts)
{
	struct sp__readplan *p;
	int rc;

	*plan = NULL;
	if (opts->strategy < SP_READ_NONE || opts->strategy >= SP_READ_COUNT_ || !opts->runs)
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

/* The merge needs this run's next page before its turn: removes the page from the plan. */
static unsigned demand(struct sp__readplan *plan, unsigned run)
{
	plan->demanded++;
	if (plan->strategy == SP_READ_CLUSTER)
		plan->run[run].debt++;
	if (plan->buffer_pages)
		forecast_taken(plan, run);
	return sp__readplan_take(plan, run, 1);
}

static uint32_t turn(struct sp__readplan *p)
{
	return p->steps ? sp__cluster_turn(p) : forecast_turn(p);
}

unsigned sp__readplan_next(struct sp__readplan *plan, unsigned free_pages, unsigned *run)
{
	bool starving = sp__starves(plan, plan->starving);

	if (free_pages == 0 || plan->unread == 0)
		return 0;
	*run = plan->starving;
	if (plan->ring)
		return starving ? fixed_feed(plan, *run, free_pages)
				: fixed_next(plan, free_pages, run);
	if (starving && turn(plan) != plan->starving)
		return demand(plan, *run);
	return plan->steps ? sp__cluster_next(plan, free_pages, run)
			   : forecast_next(plan, free_pages, run);
}

void sp__readplan_consumed(struct sp__readplan *plan, unsigned run)
{
	plan->run[run].consumed++;
	if (sp__full(&plan->run[run]) == 0)
		plan->starving = run;
	if (plan->ring)
		fixed_consumed(plan, run);
	else if (plan->buffer_pages)
		forecast_consumed(plan, run);
}

uint64_t sp__readplan_demanded(const struct sp__readplan *plan)
{
	return plan->demanded;
}

unsigned sp__readplan_largest(const struct sp__readplan *plan)
{
	return plan->largest;
}
