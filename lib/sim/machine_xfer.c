/* SPDX-License-Identifier: MIT */
/*
 * Keeps the transfers of the simulated machine: block requests, with the program's requests that
 * wait for them.
 *
 * States.  A new transfer is ready (it is submitted with the present submission) or in a gate.  A
 * gate opens when the last write that holds it shut is done.
 *
 * Invariants: while a transfer fills pages of the cache, it is the tag of those pages, so that a
 * later request for such a page waits for it.
 */
#include <stdlib.h>
#include "base/array.h"
#include "sim/machine_impl.h"

#define CHUNK 256 /* objects */

static int pool_grow(struct sp__simpool *p)
{
	size_t head = sizeof(max_align_t);
	char *chunk = malloc(head + CHUNK * p->bytes);

	if (!chunk)
		return -ENOMEM;
	*(void **)(void *)chunk = p->chunks;
	p->chunks = chunk;
	for (size_t i = CHUNK; i-- > 0;)
		sp__simpool_put(p, chunk + head + i * p->bytes);
	return 0;
}

void *sp__simpool_get(struct sp__simpool *p)
{
	void *object;

	if (!p->free && pool_grow(p) < 0)
		return NULL;
	object = p->free;
	p->free = *(void **)object;
	return object;
}

void sp__simpool_put(struct sp__simpool *p, void *object)
{
	*(void **)object = p->free;
	p->free = object;
}

void sp__simpool_release(struct sp__simpool *p)
{
	while (p->chunks) {
		void *next = *(void **)p->chunks;

		free(p->chunks);
		p->chunks = next;
	}
	p->free = NULL;
}

struct sp__xfer *sp__xfer_new(struct sp__machine *m, bool write, uint64_t lbn, uint64_t blocks)
{
	struct sp__xfer *x = sp__simpool_get(&m->xfers);

	if (!x)
		return NULL;
	*x = (struct sp__xfer){
		.req = { .lbn = lbn, .blocks = (uint32_t)blocks, .write = write },
	};
	return x;
}

int sp__xfer_wait(struct sp__machine *m, struct sp__xfer *x, struct sp__simreq *req)
{
	struct sp__wait *w;

	if (x->waiters && x->waiters->req == req)
		return 0;
	w = sp__simpool_get(&m->waits);
	if (!w)
		return -ENOMEM;
	*w = (struct sp__wait){ .req = req, .next = x->waiters, .made = m->made };
	x->waiters = w;
	m->made = w;
	req->waits++;
	return 0;
}

/* Counts the transfer as outstanding. */
static void launch(struct sp__machine *m, struct sp__xfer *x)
{
	m->flying += x->pages != 0;
	m->writing += x->req.write;
	if (m->pc && x->req.write)
		sp__pcache_writing(m->pc, x->cleans);
	m->background += x->background;
	for (uint32_t i = 0; i < x->pages; i++) {
		void **tag = sp__pcache_tag(m->pc, x->page + i);

		if (tag)
			*tag = x;
	}
}

int sp__xfer_ready(struct sp__machine *m, struct sp__xfer *x)
{
	if (!SP__ARRAY_GROW(m->ready, m->ready_cap, m->nready + 1)) {
		sp__simpool_put(&m->xfers, x);
		return -ENOMEM;
	}
	m->ready[m->nready++] = &x->req;
	launch(m, x);
	return 0;
}

static void into_gate(struct sp__machine *m, struct sp__gate *g, struct sp__xfer *x)
{
	*g->last = x;
	g->last = &x->next;
	launch(m, x);
}

void sp__xfers_submit(struct sp__machine *m, uint64_t now_ns, bool indivisible)
{
	if (m->nready)
		sp__blockdev_submit(m->bd, now_ns, m->ready, m->nready, indivisible);
	m->nready = 0;
}

static struct sp__xfer *make_one(struct sp__machine *m, uint64_t page, uint64_t pages,
				 const struct sp__xfer_use *use)
{
	struct sp__xfer *x =
		sp__xfer_new(m, use->write, page * m->page_blocks, pages * m->page_blocks);

	if (!x)
		return NULL;
	x->req.prio = use->prio;
	x->background = use->background;
	if (!use->write) {
		x->page = page;
		x->pages = (uint32_t)pages;
	} else {
		x->cleans = (uint32_t)pages;
	}
	return x;
}

int sp__xfers_make(struct sp__machine *m, const struct sp__pcache_work *w, uint32_t max,
		   const struct sp__xfer_use *use)
{
	size_t run;
	int rc;

	for (size_t i = 0; i < w->n; i += run) {
		struct sp__xfer *x;

		for (run = 1; run < max && i + run < w->n; run++)
			if (w->pages[i + run] != w->pages[i] + run)
				break;
		x = make_one(m, w->pages[i], run, use);
		if (!x)
			return -ENOMEM;
		if (use->into)
			into_gate(m, use->into, x);
		else if ((rc = sp__xfer_ready(m, x)) < 0)
			return rc;
		if (use->shut) {
			x->gate = use->shut;
			use->shut->shut++;
		}
		if (use->req && (rc = sp__xfer_wait(m, x, use->req)) < 0)
			return rc;
	}
	return 0;
}

/* Opens a gate after its last write: its transfers are submitted to the device. */
static void open_gate(struct sp__machine *m, struct sp__gate *g)
{
	for (struct sp__xfer *x = g->first, *next; x; x = next) {
		struct sp__blockreq *req = &x->req;

		next = x->next;
		sp__blockdev_submit(m->bd, m->event_ns, &req, 1, false);
	}
	sp__simpool_put(&m->gates, g);
}

void sp__xfer_done(struct sp__machine *m, struct sp__xfer *x, uint64_t now_ns)
{
	for (struct sp__wait *w = x->waiters, *next; w; w = next) {
		next = w->next;
		if (w->req && --w->req->waits == 0)
			sp__machine_complete(m, w->req,
					     now_ns + sp__noise_ns(&m->spec.noise, &m->noise));
		sp__simpool_put(&m->waits, w);
	}
	for (uint32_t i = 0; i < x->pages; i++) {
		void **tag = sp__pcache_tag(m->pc, x->page + i);

		if (tag && *tag == x)
			*tag = NULL;
	}
	m->flying -= x->pages != 0;
	m->writing -= x->req.write;
	if (m->pc && x->req.write)
		sp__pcache_writing(m->pc, -(int64_t)x->cleans);
	m->background -= x->background;
	if (x->gate && --x->gate->shut == 0)
		open_gate(m, x->gate);
	sp__simpool_put(&m->xfers, x);
}
