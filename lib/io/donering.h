/* SPDX-License-Identifier: MIT */
/*
 * Holds completed requests in a ring, first in first out, for engines that complete requests within
 * submit.  Never holds more than the engine's depth.
 */
#pragma once

#include <stdlib.h>
#include "io/engine.h"

struct sp__donering {
	unsigned depth, head, count;
	struct sp__request *done[];
};

/* Allocates a ring, to be freed with free(); NULL: out of memory. */
static inline struct sp__donering *sp__donering_new(unsigned depth)
{
	struct sp__donering *d = calloc(1, sizeof(*d) + depth * sizeof(d->done[0]));

	if (d)
		d->depth = depth;
	return d;
}

static inline void sp__donering_put(struct sp__donering *d, struct sp__request *r)
{
	d->done[(d->head + d->count++) % d->depth] = r;
}

/* Takes out up to max requests; returns their number. */
static inline size_t sp__donering_take(struct sp__donering *d, struct sp__request **done,
				       size_t max)
{
	size_t n = 0;

	for (; n < max && d->count; n++, d->count--) {
		done[n] = d->done[d->head];
		d->head = (d->head + 1) % d->depth;
	}
	return n;
}

/* Hooks of an engine whose state is only such a ring; free() closes it. */
int sp__donering_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err);
int sp__donering_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		      int64_t timeout_ns);
