/* SPDX-License-Identifier: MIT */
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "bench/moments.h"

static struct timespec at(const struct sp__moments *m, uint64_t moment)
{
	uint64_t ns = m->begin_ns + moment * m->period_ns;

	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns)
{
	*m = (struct sp__moments){
		.begin_ns = begin_ns, .period_ns = period_ns, .next = 1, .set = 1
	};
	for (; m->nfds < SP__MOMENTS_AHEAD; m->nfds++) {
		m->fds[m->nfds] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (m->fds[m->nfds] < 0)
			break;
	}
}

/* As many as there are timers. */
static void set_ahead(struct sp__moments *m)
{
	for (m->set = m->next; m->set < m->next + m->nfds; m->set++) {
		struct itimerspec when = { .it_value = at(m, m->set) };

		timerfd_settime(m->fds[m->set % m->nfds], TFD_TIMER_ABSTIME, &when, NULL);
	}
}

static uint64_t skip(struct sp__moments *m, uint64_t now_ns)
{
	uint64_t passed = now_ns > m->begin_ns ? (now_ns - m->begin_ns) / m->period_ns : 0;
	uint64_t skipped = passed > m->next ? passed - m->next : 0;

	m->next += skipped;
	return skipped;
}

uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns)
{
	uint64_t skipped = skip(m, now_ns), expired;

	if (!m->nfds) {
		struct timespec when = at(m, m->next);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
	} else {
		if (m->next >= m->set)
			set_ahead(m);
		/* Cut short by a signal it is as good as over. */
		if (read(m->fds[m->next % m->nfds], &expired, sizeof(expired)) < 0)
			expired = 0;
	}
	m->next++;
	return skipped;
}

void sp__moments_close(struct sp__moments *m)
{
	while (m->nfds)
		close(m->fds[--m->nfds]);
}
