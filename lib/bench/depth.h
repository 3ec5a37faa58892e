/* SPDX-License-Identifier: MIT */
/*
 * The exact time for which each number of requests was outstanding, by the clock of
 * the load.
 */
#ifndef SP__BENCH_DEPTH_H
#define SP__BENCH_DEPTH_H

#include <stdint.h>

struct sp__depthlog {
	unsigned n, max; /* n: now; ns has max + 1 elements */
	uint64_t since_ns;
	uint64_t *ns;
};

static inline void sp__depthlog_change(struct sp__depthlog *d, uint64_t now_ns, int by)
{
	/* Threads may read the clock in another order than they change the log. */
	if (now_ns > d->since_ns) {
		d->ns[d->n] += now_ns - d->since_ns;
		d->since_ns = now_ns;
	}
	d->n += (unsigned)by;
}

#endif
