/* SPDX-License-Identifier: MIT */
/*
 * Advances the time of the simulated machine, and keeps its transfers: block requests, with the
 * program's requests that wait for them.
 *
 * Algorithm.  Time advances from event to event: completions of the device, decisions of its
 * scheduler, background writing that becomes due.  The program's clock is never before the last
 * event.  It advances by computation and by waiting; the events up to it are processed when the
 * program calls.
 *
 * The background has at most one batch of pages in flight.  The next batch begins when the last one
 * is on the device.
 *
 * States of a transfer.  A new transfer is ready (it is submitted with the present submission) or
 * in a gate.  A gate opens when the last write that holds it shut is done.
 *
 * Invariants: while a transfer fills pages of the cache, it is the tag of those pages, so that a
 * later request for such a page waits for it.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
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

/* Completes a transfer that the device has done. */
static void xfer_done(struct sp__machine *m, struct sp__xfer *x, uint64_t now_ns)
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

#define PS_PER_NS 1000

static struct sp__simreq *request(uint64_t item)
{
	return (struct sp__simreq *)(uintptr_t)item;
}

/* True if request x is reaped before y. */
static bool before(void *ctx, uint64_t x, uint64_t y)
{
	const struct sp__simreq *a = request(x), *b = request(y);

	(void)ctx;
	return a->done_ns != b->done_ns ? a->done_ns < b->done_ns : a->seq < b->seq;
}

/* Returns when the first request is done; SP__NEVER: none is. */
static uint64_t first_done_ns(const struct sp__machine *m)
{
	return m->done.n ? request(m->done.item[0])->done_ns : SP__NEVER;
}

uint64_t sp__noise_ns(const struct sp__noise *n, struct sp__rng *rng)
{
	double late = 0;

	if (n->sd_ns) { /* half-normal, by the Box-Muller method */
		double radius = sqrt(-2 * log(1 - sp__rng_real(rng)));

		late = fabs(radius * cos(2 * M_PI * sp__rng_real(rng))) * (double)n->sd_ns;
	}
	if (n->tail > 0 && sp__rng_real(rng) < n->tail)
		late -= log(1 - sp__rng_real(rng)) * (double)n->tail_mean_ns;
	return (uint64_t)late;
}

void sp__machine_complete(struct sp__machine *m, struct sp__simreq *req, uint64_t done_ns)
{
	req->done_ns = done_ns;
	sp__heap_push(&m->done, (uintptr_t)req, before, NULL, NULL);
}

void sp__machine_background(struct sp__machine *m, uint64_t now_ns)
{
	struct sp__xfer_use use = { .write = true, .background = true };

	if (!m->pc || m->background || m->rc || sp__pcache_due_ns(m->pc) > now_ns)
		return;
	m->write.n = 0;
	m->rc = sp__pcache_background(m->pc, now_ns, m->spec.writeback_pages, &m->write);
	if (m->rc == 0)
		m->rc = sp__xfers_make(m, &m->write, m->write_pages_max, &use);
	sp__xfers_submit(m, now_ns, false);
}

static uint64_t next_event(const struct sp__machine *m)
{
	uint64_t next = sp__blockdev_next_ns(m->bd);

	if (m->pc && !m->background && !m->rc)
		next = sp__min(next, sp__pcache_due_ns(m->pc));
	return sp__max(next, m->event_ns);
}

static void one_event(struct sp__machine *m, uint64_t at_ns)
{
	struct sp__blockreq *req, *next;

	m->event_ns = at_ns;
	for (req = sp__blockdev_advance(m->bd, at_ns); req; req = next) {
		next = req->next;
		xfer_done(m, (struct sp__xfer *)req, req->done_ns);
	}
	sp__machine_background(m, at_ns);
}

void sp__machine_run(struct sp__machine *m, uint64_t until_ns)
{
	uint64_t next;

	while ((next = next_event(m)) <= until_ns && next != SP__NEVER)
		one_event(m, next);
}

void sp__machine_catch_up(struct sp__machine *m)
{
	if (m->now_ns)
		sp__machine_run(m, m->now_ns - 1);
	m->event_ns = m->now_ns;
}

void sp__machine_charge(struct sp__machine *m, uint64_t ns)
{
	m->now_ns += ns;
	m->stats.cpu_time_ns += ns;
}

void sp__machine_charge_ps(struct sp__machine *m, uint64_t ps)
{
	m->owed_ps += ps;
	sp__machine_charge(m, m->owed_ps / PS_PER_NS);
	m->owed_ps %= PS_PER_NS;
}

/* Lets time pass until a request is done, but not beyond a moment. */
static void wait_for_one(struct sp__machine *m, uint64_t until_ns)
{
	uint64_t next;

	while ((next = next_event(m)) != SP__NEVER && next <= until_ns) {
		if (first_done_ns(m) < next)
			break;
		one_event(m, next);
	}
	if (m->done.n && first_done_ns(m) <= until_ns)
		m->now_ns = sp__max(m->now_ns, first_done_ns(m));
	else if (until_ns != SP__NEVER)
		m->now_ns = sp__max(m->now_ns, until_ns);
}

struct sp__simreq *sp__machine_reap(struct sp__machine *m, bool wait)
{
	return sp__machine_reap_until(m, wait && m->outstanding ? SP__NEVER : 0);
}

struct sp__simreq *sp__machine_reap_until(struct sp__machine *m, uint64_t until_ns)
{
	struct sp__simreq *first = NULL, **last = &first;
	uint64_t copy_ns = 0;

	sp__machine_run(m, m->now_ns);
	if (until_ns > m->now_ns && first_done_ns(m) > m->now_ns)
		wait_for_one(m, until_ns);
	while (first_done_ns(m) <= m->now_ns) {
		struct sp__simreq *r = request(sp__heap_take(&m->done, 0, before, NULL, NULL));

		*last = r;
		last = &r->next;
		copy_ns += r->copy_ns;
		m->outstanding--;
	}
	*last = NULL;
	sp__machine_charge(m, copy_ns);
	return first;
}

void sp__machine_sync(struct sp__machine *m)
{
	struct sp__xfer_use use = { .write = true };

	sp__machine_catch_up(m);
	if (m->pc && m->rc == 0) {
		m->write.n = 0;
		m->rc = sp__pcache_sync(m->pc, &m->write);
		if (m->rc == 0)
			m->rc = sp__xfers_make(m, &m->write, m->write_pages_max, &use);
		sp__xfers_submit(m, m->now_ns, false);
	}
	while (m->writing) {
		one_event(m, next_event(m));
		m->now_ns = sp__max(m->now_ns, m->event_ns);
	}
}
