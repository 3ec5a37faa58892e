/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of plan behind one interface.
 *
 * Fixed buffering (NONE, DOUBLE, EQUAL).  Each run owns `own` pages and asks for
 * `batch` pages when no more than `low` are full.  Runs that have come to that
 * wait in a ring in the order in which they did; a page belongs to its run, so the
 * head of the ring always fits: sum of own <= b.
 *
 * Planned reading (FORECAST, EXTENDED, CLUSTER).  A list of clusters made
 * beforehand (readplan_steps.c, readplan_cluster.c), read one after the other, each as
 * soon as it fits.
 *
 * Why nothing deadlocks.  The merge stands still only when a run, and there can
 * be but one, has consumed its last page and has more on the device.  That last page
 * is free now, and next() gives it to that run before anything else.  With an
 * exact sequence the run is that of the list's head (any page that was needed
 * earlier has been read, or the merge would have stood still earlier), so
 * nothing is taken out of turn: at most the head is begun with fewer pages than
 * planned, and the rest follows, still one cluster.  That happens to EXTENDED
 * with uneven clusters in few buffers; never to CLUSTER, whose feasibility
 * condition is there to exclude it.  With an inexact sequence one page is taken out of the
 * run's next cluster, which becomes shorter (`debt`).
 *
 * Memory: 32 bytes a run, 8 a planned cluster; while CLUSTER plans 12 more a page.
 */
#include <errno.h>
#include <stdlib.h>
#include "sort/readplan_steps.h"

#define NO_RUN UINT32_MAX

struct run_state {
	uint64_t unread;   /* pages not yet asked for */
	uint64_t consumed;
	uint32_t full;	   /* asked for and not consumed */
	uint32_t own, batch, low;
	uint32_t debt;	   /* pages taken out of clusters to come */
	bool fresh, waiting;
};

struct sp__readplan {
	enum sp_readahead strategy;
	unsigned runs;
	struct run_state *run;
	uint64_t unread, demanded;
	uint32_t starving; /* or NO_RUN */
	unsigned largest;
	/* Fixed buffering. */
	uint32_t *ring;
	unsigned ring_head, ring_count;
	/* Planned reading. */
	struct sp__step *steps;
	uint64_t nsteps, head;
	bool head_begun;
	uint32_t buffer_pages;	/* FORECAST: pages in a buffer, ... */
	int64_t buffers_empty;	/* ... and whole buffers that are empty */
};

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

bool sp__readplan_needs_sequence(enum sp_readahead strategy)
{
	return strategy == SP_READ_FORECAST || strategy == SP_READ_EXTENDED ||
	       strategy == SP_READ_CLUSTER;
}

size_t sp__readplan_memory(const struct sp__readplan_opts *opts)
{
	size_t bytes = sizeof(struct sp__readplan) + opts->runs * sizeof(struct run_state);

	if (!sp__readplan_needs_sequence(opts->strategy))
		return bytes + opts->runs * sizeof(uint32_t);
	return bytes + opts->pages * sizeof(struct sp__step) + sp__steps_scratch(opts);
}

void sp__readplan_free(struct sp__readplan *plan)
{
	if (!plan)
		return;
	free(plan->run);
	free(plan->ring);
	free(plan->steps);
	free(plan);
}

/* Planning. */

static void deal_double(struct run_state *r, unsigned index, unsigned b, unsigned n)
{
	unsigned half = b / (2 * n);

	if (half == 0) {
		/* Single pages; who gets a second one reads ahead by one. */
		r->own = index < b - n ? 2 : 1;
		r->batch = 1;
		r->low = r->own - 1;
		return;
	}
	r->own = 2 * half;
	r->batch = half;
	r->low = half;
}

static void deal_equal(struct run_state *r, unsigned index, unsigned b, unsigned n)
{
	r->own = b / n + (index < b % n);
	r->batch = r->own > 1 ? r->own - 1 : 1;
	r->low = r->own > 1;
}

static int plan_fixed(struct sp__readplan *p, const struct sp__readplan_opts *opts)
{
	unsigned n = sp__steps_live_runs(opts), index = 0;

	p->ring = malloc(opts->runs * sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->runs; i++) {
		struct run_state *r = &p->run[i];

		if (!r->unread)
			continue;
		r->own = r->batch = 1;
		if (p->strategy == SP_READ_DOUBLE)
			deal_double(r, index++, opts->buffers, n);
		else if (p->strategy == SP_READ_EQUAL)
			deal_equal(r, index++, opts->buffers, n);
		r->fresh = r->waiting = true;
		p->ring[p->ring_count++] = i;
		if (p->largest < r->own)
			p->largest = r->own;
	}
	return 0;
}

static int plan_steps(struct sp__readplan *p, const struct sp__readplan_opts *opts)
{
	int rc;

	p->steps = malloc(opts->pages * sizeof(*p->steps) + 1);
	if (!p->steps)
		return -ENOMEM;
	if (p->strategy == SP_READ_FORECAST) {
		p->buffer_pages = sp__steps_forecast_pages(opts);
		p->buffers_empty = sp__steps_live_runs(opts) + 1;
		rc = sp__steps_forecast(opts, p->steps, &p->nsteps);
	} else if (p->strategy == SP_READ_EXTENDED) {
		rc = sp__steps_extended(opts, p->steps, &p->nsteps);
	} else {
		rc = sp__steps_cluster(opts, p->steps, &p->nsteps);
	}
	for (uint64_t i = 0; rc == 0 && i < p->nsteps; i++)
		if (p->largest < p->steps[i].pages)
			p->largest = p->steps[i].pages;
	if (rc == 0 && p->nsteps) {
		void *less = realloc(p->steps, p->nsteps * sizeof(*p->steps));

		p->steps = less ? less : p->steps;
	}
	return rc;
}

/* Does the sequence hold as many pages of each run as there are? */
static bool sequence_fits(const struct sp__readplan *p, const struct sp__readplan_opts *opts)
{
	if (opts->pages >= UINT32_MAX || (opts->pages && !opts->consumption))
		return false;
	for (uint64_t i = 0; i < opts->pages; i++) {
		uint32_t run = opts->consumption[i];

		if (run >= opts->runs || p->run[run].consumed++ == p->run[run].unread)
			return false;
	}
	for (unsigned i = 0; i < opts->runs; i++)
		p->run[i].consumed = 0;
	return p->unread == opts->pages;
}

int sp__readplan_new(struct sp__readplan **plan, const struct sp__readplan_opts *opts)
{
	struct sp__readplan *p;
	int rc = -EINVAL;

	*plan = NULL;
	if (opts->strategy <= SP_READ_AUTO || opts->strategy >= SP_READ_COUNT_ || !opts->runs)
		return -EINVAL;
	if (opts->buffers < sp__readplan_least(opts->strategy, sp__steps_live_runs(opts)))
		return SP_EBUDGET;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->strategy = opts->strategy;
	p->runs = opts->runs;
	p->starving = NO_RUN;
	p->run = calloc(opts->runs, sizeof(*p->run));
	if (!p->run) {
		free(p);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < opts->runs; i++)
		p->unread += p->run[i].unread = opts->run_pages[i];
	if (!sp__readplan_needs_sequence(opts->strategy))
		rc = plan_fixed(p, opts);
	else if (sequence_fits(p, opts))
		rc = plan_steps(p, opts);
	if (rc) {
		sp__readplan_free(p);
		return rc;
	}
	*plan = p;
	return 0;
}

/* Reading. */

static unsigned take(struct sp__readplan *p, uint32_t run, uint64_t pages)
{
	p->run[run].unread -= pages;
	p->run[run].full += (uint32_t)pages;
	p->run[run].fresh = false;
	p->unread -= pages;
	return (unsigned)pages;
}

static bool starves(const struct sp__readplan *p, uint32_t run)
{
	return run != NO_RUN && p->run[run].full == 0 && p->run[run].unread;
}

unsigned sp__readplan_demand(struct sp__readplan *plan, unsigned run)
{
	if (!starves(plan, run))
		return 0;
	plan->demanded++;
	if (plan->steps)
		plan->run[run].debt++;
	return take(plan, run, 1);
}

static uint64_t fixed_size(const struct run_state *r)
{
	uint64_t want = r->fresh ? r->own : r->batch;

	return want < r->unread ? want : r->unread;
}

static unsigned next_fixed(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	while (p->ring_count) {
		struct run_state *r = &p->run[p->ring[p->ring_head]];
		bool due = r->unread && r->full <= r->low;

		if (due && fixed_size(r) > free_pages)
			return 0;
		*run = p->ring[p->ring_head];
		p->ring_head = (p->ring_head + 1) % p->runs;
		p->ring_count--;
		r->waiting = false;
		if (due)
			return take(p, *run, fixed_size(r));
	}
	return 0;
}

/* Moves past what demands have taken out; false at the end of the list. */
static bool settle(struct sp__readplan *p)
{
	for (; p->head < p->nsteps; p->head++, p->head_begun = false) {
		struct sp__step *s = &p->steps[p->head];
		uint32_t *debt = &p->run[s->run].debt;
		uint32_t paid = *debt < s->pages ? *debt : s->pages;

		s->pages -= paid;
		*debt -= paid;
		if (s->pages)
			return true;
		/* A buffer that was filled page by page, out of turn. */
		if (!p->head_begun)
			p->buffers_empty--;
	}
	return false;
}

static unsigned begin_step(struct sp__readplan *p, uint32_t pages, unsigned *run)
{
	struct sp__step *s = &p->steps[p->head];

	*run = s->run;
	if (!p->head_begun)
		p->buffers_empty--;
	p->head_begun = true;
	s->pages -= pages;
	return take(p, s->run, pages);
}

static unsigned next_step(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	struct sp__step *s;
	bool starving;

	if (!settle(p))
		return 0;
	s = &p->steps[p->head];
	starving = starves(p, s->run);
	if (s->pages > free_pages)
		return starving && free_pages ? begin_step(p, free_pages, run) : 0;
	if (p->buffer_pages && p->buffers_empty <= 0 && !starving && !p->head_begun)
		return 0;
	return begin_step(p, s->pages, run);
}

static unsigned feed_starving(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	uint64_t want;

	*run = p->starving;
	if (p->steps)
		return sp__readplan_demand(p, *run);
	want = fixed_size(&p->run[*run]);
	return take(p, *run, want < free_pages ? want : free_pages);
}

unsigned sp__readplan_next(struct sp__readplan *plan, unsigned free_pages, unsigned *run)
{
	if (free_pages == 0 || plan->unread == 0)
		return 0;
	if (starves(plan, plan->starving) &&
	    (!plan->steps || !settle(plan) || plan->steps[plan->head].run != plan->starving))
		return feed_starving(plan, free_pages, run);
	return plan->steps ? next_step(plan, free_pages, run) : next_fixed(plan, free_pages, run);
}

void sp__readplan_consumed(struct sp__readplan *plan, unsigned run)
{
	struct run_state *r = &plan->run[run];
	bool ended = --r->full == 0 && r->unread == 0;

	r->consumed++;
	if (r->full == 0)
		plan->starving = run;
	if (plan->buffer_pages && (ended || r->consumed % plan->buffer_pages == 0))
		plan->buffers_empty++;
	if (plan->ring && r->unread && r->full <= r->low && !r->waiting) {
		r->waiting = true;
		plan->ring[(plan->ring_head + plan->ring_count++) % plan->runs] = run;
	}
}

bool sp__readplan_done(const struct sp__readplan *plan)
{
	return plan->unread == 0;
}

uint64_t sp__readplan_demanded(const struct sp__readplan *plan)
{
	return plan->demanded;
}

unsigned sp__readplan_largest(const struct sp__readplan *plan)
{
	return plan->largest;
}
