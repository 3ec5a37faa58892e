/* SPDX-License-Identifier: MIT */
/*
 * A page load on a fake device, which holds a number of requests and serves them one after the
 * other, each in a random time, and what happened.
 */
#ifndef SP__TEST_PAGELOAD_DEVICE_H
#define SP__TEST_PAGELOAD_DEVICE_H

#include <stdlib.h>
#include <string.h>
#include "bench/pageload.h"
#include "tap.h"

#define PAGES 4096
#define E 64
#define STEPS_MAX 200000
#define US 1000ull

struct event {
	uint64_t ns;
	char what; /* q: asked for, s: submitted, d: done */
	enum sp__pageclass class;
	uint32_t page, n;
	uint32_t cookie;
	uint64_t accessed; /* pages worked on before */
};

static struct sp__pageload load;
static struct sp_policy_opts opts;
static struct event events[STEPS_MAX];
static size_t nevents;

/* The device: first in, first out. */
static unsigned capacity;
static struct event inside[8192];
static size_t ninside, first;
static uint64_t now_ns, idle_ns;
static struct sp__rng chance;

static bool for_want; /* urgent writes: of frames */

static void note(char what, enum sp__pageclass class, const struct sp__pagereq *r)
{
	if (nevents < STEPS_MAX)
		events[nevents++] = (struct event){ now_ns, what,      class,	     r->page,
						    r->n,   r->cookie, load.accessed };
	if (what == 's' && class == SP__PAGE_URGENT)
		for_want &= load.buffer.empty + load.buffer.clean.n == 0;
}

static void begin(enum sp_policy_load kind, enum sp_policy_submission submission)
{
	sp_policy_defaults(&opts);
	opts.load = kind;
	opts.submission = submission;
	nevents = ninside = first = 0;
	now_ns = idle_ns = 0;
	capacity = 4000;
	chance.state = 1;
}

static void submit(void)
{
	struct sp__pagereq r;
	enum sp__pageclass class;

	sp__pageload_run(&load, now_ns);
	while (ninside < capacity && sp__pageload_next(&load, &class, &r)) {
		size_t at = (first + ninside++) % 8192;

		inside[at] = (struct event){
			.class = class, .page = r.page, .n = r.n, .cookie = r.cookie
		};
		note('s', class, &r);
	}
}

/* Runs to the end of the load or of the events; each request takes at most the given time. */
static void drive(uint64_t max_ns, void (*look)(void))
{
	if (sp__pageload_check(&opts, PAGES) ||
	    sp__pageload_open(&load, &opts, PAGES, capacity, 1)) {
		diag("cannot open the load");
		exit(1);
	}
	submit();
	while (!load.over && nevents < STEPS_MAX) {
		uint64_t done_ns = now_ns + sp__rng_below(&chance, max_ns);
		struct sp__pagereq r;

		if (!ninside && load.due_ns == UINT64_MAX)
			break;
		/* Moments at which nothing is done come first. */
		while (load.due_ns < done_ns || (!ninside && load.due_ns != UINT64_MAX)) {
			idle_ns += ninside ? 0 : load.due_ns - now_ns;
			now_ns = load.due_ns;
			submit();
		}
		if (!ninside)
			continue;
		if (done_ns > now_ns)
			now_ns = done_ns;
		r = (struct sp__pagereq){ inside[first].page, inside[first].n,
					  inside[first].cookie };
		ninside--;
		sp__pageload_done(&load, inside[first].class, &r, now_ns);
		note('d', inside[first].class, &r);
		first = (first + 1) % 8192;
		submit();
		if (look)
			look();
	}
}

static unsigned max_out;

static void look_range(void)
{
	if (load.pending[SP__PAGE_READ] > max_out)
		max_out = (unsigned)load.pending[SP__PAGE_READ];
}

#endif
