/* SPDX-License-Identifier: MIT */
/*
 * Runs range queries with read-ahead of extents whose use exceeds a threshold.
 *
 * Algorithm: queries read one page at a time into a buffer.  When they have worked on more pages of
 * an extent than the threshold, the extent's pages outside the buffer are requested together: the
 * read-ahead that section 3.1 describes for accesses that are not sequential.  The page that has
 * been in the buffer longest is replaced first.
 *
 * States of a page:
 *
 *	OUT -> COMING -> HERE -> WORKED -> OUT
 *
 * If a page is replaced after its arrival and before its query continues, the query requests it
 * again.
 */
#include <stdlib.h>
#include "bench/pageload.h"

enum { OUT, COMING, HERE, WORKED };

static int open_threshold(struct sp__pageload *l)
{
	struct sp__pagethreshold *c = &l->threshold;

	c->frames = (size_t)(l->opts.buffer * (double)l->pages);
	c->state = calloc(l->pages, sizeof(c->state[0]));
	c->here = calloc(c->frames, sizeof(c->here[0]));
	c->worked = calloc(l->pages / l->opts.extent_pages, sizeof(c->worked[0]));
	l->clients = calloc(l->opts.clients, sizeof(l->clients[0]));
	if (!c->state || !c->here || !c->worked || !l->clients)
		return -ENOMEM;
	for (unsigned i = 0; i < l->opts.clients; i++)
		l->clients[i].left = l->opts.query_pages;
	return sp__pagequeue_open(l, SP__PAGE_READ, c->frames);
}

/* Takes the frame of the page that has been in the buffer longest.  False: all are being read. */
static bool take_frame(struct sp__pageload *l)
{
	struct sp__pagethreshold *c = &l->threshold;

	for (size_t i = 0; c->n == c->frames && i < c->frames; i++) {
		uint32_t page = c->here[c->head];

		c->head = (c->head + 1) % c->frames;
		c->n--;
		if (c->state[page] == COMING) {
			c->here[(c->head + c->n++) % c->frames] = page;
			continue;
		}
		if (c->state[page] == WORKED)
			c->worked[page / l->opts.extent_pages]--;
		c->state[page] = OUT;
	}
	return c->n < c->frames;
}

static void ask(struct sp__pageload *l, uint32_t page)
{
	struct sp__pagethreshold *c = &l->threshold;

	if (c->state[page] != OUT || !take_frame(l))
		return;
	c->here[(c->head + c->n++) % c->frames] = page;
	c->state[page] = COMING;
	sp__pageload_ask(l, SP__PAGE_READ, page, 0);
}

/* Counts a page that was worked on; requests its extent if the count exceeds the threshold. */
static void count(struct sp__pageload *l, uint32_t page)
{
	struct sp__pagethreshold *c = &l->threshold;
	uint32_t extent = page / l->opts.extent_pages;

	if (c->state[page] == WORKED)
		return;
	c->state[page] = WORKED;
	if (++c->worked[extent] != l->opts.extent_threshold + 1)
		return;
	for (uint32_t i = 0; i < l->opts.extent_pages; i++)
		ask(l, extent * l->opts.extent_pages + i);
}

static void run_client(struct sp__pageload *l, struct sp__pageclient *q, uint64_t now_ns)
{
	while (!l->over) {
		if (q->busy_ns > now_ns) {
			sp__pageload_due(l, q->busy_ns);
			return;
		}
		if (!q->n && !q->left) {
			sp__pageclient_finish(l, q);
			continue;
		}
		if (!q->n) {
			q->page = (uint32_t)sp__rng_below(&l->rng, l->pages);
			q->n = 1;
			q->left--;
		}
		ask(l, q->page);
		if (l->threshold.state[q->page] < HERE)
			return;
		sp__pageload_work(l, &q->busy_ns, now_ns);
		q->n = 0;
		count(l, q->page);
	}
}

static void run(struct sp__pageload *l, uint64_t now_ns)
{
	for (unsigned i = 0; i < l->opts.clients; i++)
		run_client(l, &l->clients[i], now_ns);
}

static void done(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		 uint64_t now_ns)
{
	(void)class;
	(void)now_ns;
	l->threshold.state[r->page] = HERE;
}

const struct sp__pageload_ops sp__pageload_threshold = {
	.open = open_threshold,
	.run = run,
	.done = done,
};
