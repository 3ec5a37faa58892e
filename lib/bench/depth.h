/* SPDX-License-Identifier: MIT */
/*
 * How long there were how many requests outstanding: exact, in the time of
 * whoever submits and reaps.
 */
#ifndef SP__BENCH_DEPTH_H
#define SP__BENCH_DEPTH_H

#include <stdint.h>

struct sp__depthlog {
	unsigned n, max; /* now; ns has max + 1 of them */
	uint64_t since_ns;
	uint64_t *ns;
};

static inline void sp__depthlog_change(struct sp__depthlog *d, uint64_t now_ns, int by)
{
	/* Threads may look at the clock in another order than at the log. */
	if (now_ns > d->since_ns) {
		d->ns[d->n] += now_ns - d->since_ns;
		d->since_ns = now_ns;
	}
	d->n += (unsigned)by;
}

#endif
