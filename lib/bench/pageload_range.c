/* SPDX-License-Identifier: MIT */
/*
 * Range queries by an index whose order is not that of the table: each client has
 * a query that needs pages all over the table, in the order of the index.  When it
 * has worked on all pages of a batch it requests the next batch; a batch of one
 * page is a query that reads each page when it reaches it.
 */
#include <errno.h>
#include <stdlib.h>
#include "bench/pageload.h"

static unsigned batch_of(const struct sp__pageload *l)
{
	unsigned most = l->depth / l->opts.clients, n = l->opts.batch;

	if (l->opts.submission != SP_POLICY_AGGRESSIVE || !most)
		return 1;
	return n < most ? n : most;
}

static int open_clients(struct sp__pageload *l)
{
	size_t n = l->opts.clients;

	l->batch = batch_of(l);
	l->clients = calloc(n, sizeof(l->clients[0]));
	l->arrived_ns = calloc(n * l->batch, sizeof(l->arrived_ns[0]));
	if (!l->clients || !l->arrived_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		l->clients[i].arrived_ns = l->arrived_ns + i * l->batch;
		l->clients[i].left = l->opts.query_pages;
	}
	return sp__pagequeue_open(l, SP__PAGE_READ, n * l->batch);
}

static void ask(struct sp__pageload *l, struct sp__pageclient *c)
{
	uint32_t first = (uint32_t)(c - l->clients) * l->batch;

	c->n = c->left < l->batch ? c->left : l->batch;
	c->left -= c->n;
	c->at = 0;
	for (uint32_t i = 0; i < c->n; i++)
		sp__pageload_ask(l, SP__PAGE_READ, (uint32_t)sp__rng_below(&l->rng, l->pages),
				 first + i);
}

/* Ends the query of the client and begins another one. */
static void finish(struct sp__pageload *l, struct sp__pageclient *c)
{
	l->queries++;
	l->over = l->queries == l->opts.passes;
	c->left = l->opts.query_pages;
}

static void run_client(struct sp__pageload *l, struct sp__pageclient *c, uint64_t now_ns)
{
	while (!l->over) {
		uint64_t *arrived = &c->arrived_ns[c->at];

		if (c->busy_ns > now_ns) {
			sp__pageload_due(l, c->busy_ns);
			return;
		}
		if (c->at < c->n && !*arrived)
			return;
		if (c->at < c->n) {
			c->busy_ns = (*arrived > c->busy_ns ? *arrived : c->busy_ns) +
				     l->opts.compute_ns;
			*arrived = 0;
			c->at++;
			l->accessed++;
		} else if (c->left) {
			ask(l, c);
		} else {
			finish(l, c);
		}
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
	l->arrived_ns[r->cookie] = now_ns ? now_ns : 1;
}

const struct sp__pageload_ops sp__pageload_range = {
	.open = open_clients,
	.run = run,
	.done = done,
};
