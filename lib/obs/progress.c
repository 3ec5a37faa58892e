/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "obs/progress.h"

#define PACE_NS 100000000u

void sp__progress_tell(struct sp__progress *p, int phase, uint64_t done_bytes, uint64_t total_bytes)
{
	uint64_t now;

	if (!p->tell)
		return;
	now = sp__now_ns();
	if (phase == p->phase && now - p->told_ns < PACE_NS)
		return;
	p->told_ns = now;
	p->phase = phase;
	p->tell(p->arg, phase, done_bytes, total_bytes);
}
