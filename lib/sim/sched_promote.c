/* SPDX-License-Identifier: MIT */
/*
 * promote: the queues of a storage server, Hall & Bonnet 2005, section 5.
 *
 * Each priority level has a queue by age.  The highest that is not empty is active: its requests
 * are dispatched.  Once it is empty all that wait move up by one queue, and the highest that is not
 * empty becomes active.  FIFOs form a ring, so a promotion moves its start and no request: those
 * above the active queue are empty.
 *
 * The paper says that low requests cannot starve.  That is so if the active queue is closed to what
 * arrives, which therefore counts from one below the top; the next active queue is promoted until
 * it is there.  A request then waits for as many active queues as there are levels at most.
 * With "open", requests join the active queue, and those below wait for as long as they come.
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
