/* SPDX-License-Identifier: MIT */
/*
 * Implements promote: the queues of a storage server, Hall & Bonnet 2005, section 5.
 *
 * Algorithm.  Each priority level has a queue by age.  The highest one that is not empty is active:
 * its requests are dispatched.  Once it is empty, all waiting requests move up by one queue, and
 * the highest one that is not empty becomes active.  FIFOs form a ring, so a promotion moves its
 * start and no request: queues above the active one are empty.
 *
 * The paper says that low requests cannot starve.  This holds if the active queue is closed to
 * arriving requests, whose levels therefore count from one below the top; the next active queue is
 * promoted until it is there.  A request then waits for at most as many active queues as there are
 * levels.  With "open", requests join the active queue, and lower queues wait while such requests
 * arrive.
 */
#include "sim/sched.h"

static unsigned arrival(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return sp__sched_level(s, r) + !s->params.open;
}

static struct sp__blockreq *pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r;
	unsigned active = 0;

	(void)now_ns;
	while (!sp__sched_queue(s, active)->n)
		active++;
	r = TAILQ_FIRST(&sp__sched_queue(s, active)->requests);
	if (!s->params.open)
		s->promoted += active;
	else if (!TAILQ_NEXT(r, link))
		s->promoted++;
	return r;
}

const struct sp__sched_ops sp__sched_promote = {
	.name = "promote",
	.params = "queues open",
	.defaults = { .levels = 5 },
	.fifo = arrival,
	.pick = pick,
};
