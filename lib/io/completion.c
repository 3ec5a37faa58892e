/* SPDX-License-Identifier: MIT */
/*
 * Waits for completions in one of three ways.
 *
 * Waiting in the engine is the default.  The paper compares it with two others: polling uses a
 * processor, and an event descriptor costs one more call for each wait.  A request that libaio
 * refuses completes without a signal, so a wait for a signal checks for completions first.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "io/completion.h"

int sp__completing_open(struct sp__completing *c, enum sp__completion how,
			const struct sp__engine_ops *ops, void *engine)
{
	int rc;

	*c = (struct sp__completing){ .how = how, .event = -1 };
	if (how != SP__COMPLETE_EVENT)
		return 0;
	c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->event < 0)
		return -errno;
	rc = ops->signal ? ops->signal(engine, c->event) : SP_EUNSUP;
	if (rc < 0)
		sp__completing_close(c);
	return rc;
}

void sp__completing_close(struct sp__completing *c)
{
	if (c->event >= 0)
		close(c->event);
	c->event = -1;
}

/* Sleeps until a signal has come or the time is up. */
static void await_event(int event, int64_t timeout_ns)
{
	struct timespec t = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct pollfd p = { .fd = event, .events = POLLIN };
	uint64_t count;

	if (ppoll(&p, 1, timeout_ns < 0 ? NULL : &t, NULL) == 1)
		(void)!read(event, &count, sizeof(count));
}

int sp__completing_reap(const struct sp__completing *c, const struct sp__engine_ops *ops,
			void *engine, struct sp__request **done, size_t max, size_t min,
			int64_t timeout_ns)
{
	uint64_t until;
	size_t n = 0;

	if (c->how == SP__COMPLETE_WAIT || !min || !timeout_ns)
		return ops->reap(engine, done, max, min, timeout_ns);
	until = timeout_ns < 0 ? UINT64_MAX : sp__now_ns() + (uint64_t)timeout_ns;
	for (;;) {
		int rc = ops->reap(engine, done + n, max - n, 0, 0);
		uint64_t now = timeout_ns < 0 ? 0 : sp__now_ns();

		if (rc < 0)
			return n ? (int)n : rc;
		n += (size_t)rc;
		if (n >= min || now >= until)
			return (int)n;
		if (c->how == SP__COMPLETE_EVENT)
			await_event(c->event, timeout_ns < 0 ? -1 : (int64_t)(until - now));
	}
}
