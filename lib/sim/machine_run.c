/* SPDX-License-Identifier: MIT */
/*
 * Advances the time of the simulated machine.
 *
 * Algorithm.  Time advances from event to event: completions of the device, decisions of its
 * scheduler, background writing that becomes due.  The program's clock is never before the last
 * event.  It advances by computation and by waiting; the events up to it are processed when the
 * program calls.
 *
 * The background has at most one batch of pages in flight.  The next batch begins when the last one
 * is on the device.
 */
#include <math.h>
#include "base/minmax.h"
#include "sim/machine_impl.h"

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
		sp__xfer_done(m, (struct sp__xfer *)req, req->done_ns);
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
