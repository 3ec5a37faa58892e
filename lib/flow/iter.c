/* SPDX-License-Identifier: MIT */
/*
 * Waits for several sources concurrently.
 *
 * Algorithm: a single source waits by its own until().  If every source has a descriptor, poll(2)
 * waits for all.  Otherwise (worker threads, simulated devices, queues bound to a thread) the
 * sources wait round-robin, each for a short time slice.  All sources are checked before each
 * slice: in virtual time a slice lasts until the next completion of any source, so no progress is
 * missed.
 */
#include <poll.h>
#include "flow/iter.h"

/* A time slice: short compared with a disk read, long compared with a system call. */
#define TURN_NS 200000
#define POLL_MAX 64

void sp__waits_add(struct sp__waits *w, struct sp__waiter *wait)
{
	if (wait->set)
		return;
	wait->set = w;
	wait->next = w->first;
	w->first = wait;
}

void sp__waits_withdraw(struct sp__waiter *wait)
{
	struct sp__waiter **at;

	if (!wait->set)
		return;
	for (at = &wait->set->first; *at != wait; at = &(*at)->next)
		;
	*at = wait->next;
	wait->set = NULL;
}

/* True if a source has progress. */
static int look(const struct sp__waits *w)
{
	int rc = 0;

	for (struct sp__waiter *i = w->first; i && rc == 0; i = i->next)
		rc = i->ops->until(i->source, 0);
	return rc;
}

/* False: a source has no descriptor. */
static bool poll_all(const struct sp__waits *w)
{
	struct pollfd p[POLL_MAX];
	nfds_t n = 0;

	for (struct sp__waiter *i = w->first; i; i = i->next, n++) {
		int fd = n < POLL_MAX ? i->ops->fd(i->source) : -1;

		if (fd < 0)
			return false;
		p[n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	(void)poll(p, n, -1); /* after a signal, the caller checks all sources again */
	return true;
}

static int wait_any(const struct sp__waits *w)
{
	struct sp__waiter *turn = NULL;
	int rc;

	while ((rc = look(w)) == 0) {
		if (poll_all(w))
			continue;
		turn = turn && turn->next ? turn->next : w->first;
		rc = turn->ops->until(turn->source, TURN_NS);
		if (rc)
			break;
	}
	return rc;
}

static int wait_one(const struct sp__waiter *wait)
{
	int rc;

	do {
		rc = wait->ops->until(wait->source, -1);
	} while (rc == 0);
	return rc;
}

int sp__waits_block(struct sp__waits *w)
{
	int rc = SP_ESTATE;

	if (w->first)
		rc = w->first->next ? wait_any(w) : wait_one(w->first);
	while (w->first)
		sp__waits_withdraw(w->first);
	return rc < 0 ? rc : 0;
}

int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch)
{
	int rc;

	while ((rc = it->next(it->operator, batch)) == SP_LATER) {
		rc = sp__waits_block(w);
		if (rc < 0)
			return rc;
	}
	return rc;
}
