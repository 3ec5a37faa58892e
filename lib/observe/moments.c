/* SPDX-License-Identifier: MIT */
/*
 * Waits for the moments of a series, by periodic timers (moments.h).
 */
#include <stdbool.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "observe/moments.h"

static uint64_t at(const struct sp__moments *m, uint64_t moment)
{
	return m->begin_ns + moment * m->period_ns;
}

/* Arms the timers; each expires at every nfds-th moment. */
static void set(const struct sp__moments *m)
{
	for (uint64_t moment = 1; moment <= m->nfds; moment++) {
		struct itimerspec when = { .it_value = sp__timespec(at(m, moment)),
					   .it_interval = sp__timespec(m->nfds * m->period_ns) };

		timerfd_settime(m->fds[moment % m->nfds], TFD_TIMER_ABSTIME, &when, NULL);
	}
}

void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns)
{
	*m = (struct sp__moments){ .begin_ns = begin_ns, .period_ns = period_ns, .next = 1 };
	for (; m->nfds < SP__MOMENTS_AHEAD; m->nfds++) {
		m->fds[m->nfds] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (m->fds[m->nfds] < 0)
			break;
	}
	set(m);
}

/* Waits until a moment.  False: a signal arrived first. */
static bool wait_for(const struct sp__moments *m, uint64_t moment)
{
	uint64_t expired;

	if (!m->nfds)
		return sp__sleep_until(at(m, moment));
	return read(m->fds[moment % m->nfds], &expired, sizeof(expired)) == sizeof(expired);
}

/* Consumes the expirations of skipped moments, or their timers would be ready too early. */
static void skip(struct sp__moments *m, uint64_t moments)
{
	m->next += moments;
	for (uint64_t i = 1; i <= moments && i < m->nfds; i++)
		wait_for(m, m->next - i);
}

uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns)
{
	uint64_t passed = now_ns > m->begin_ns ? (now_ns - m->begin_ns) / m->period_ns : 0;
	uint64_t skipped = passed > m->next ? passed - m->next : 0;

	skip(m, skipped);
	m->next += wait_for(m, m->next);
	return skipped;
}

void sp__moments_close(struct sp__moments *m)
{
	while (m->nfds)
		close(m->fds[--m->nfds]);
}
