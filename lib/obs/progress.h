/* SPDX-License-Identifier: MIT */
/*
 * Telling the caller how far the work has come, by the clock of the real machine: at the
 * beginning of each phase, else not more than about ten times a second.  One thread at a
 * time.
 */
#ifndef SP__OBS_PROGRESS_H
#define SP__OBS_PROGRESS_H

#include <stdint.h>
#include "base/clock.h"

#define SP__PROGRESS_PACE_NS 100000000u

struct sp__progress {
	/* The caller's; NULL: it does not ask. */
	void (*tell)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *arg;
	uint64_t told_ns;
	int phase; /* the last one reported */
};

/* total_bytes 0: not known. */
static inline void sp__progress_tell(struct sp__progress *p, int phase, uint64_t done_bytes,
				     uint64_t total_bytes)
{
	uint64_t now;

	if (!p->tell)
		return;
	now = sp__now_ns();
	if (phase == p->phase && now - p->told_ns < SP__PROGRESS_PACE_NS)
		return;
	p->told_ns = now;
	p->phase = phase;
	p->tell(p->arg, phase, done_bytes, total_bytes);
}

#endif
