/* SPDX-License-Identifier: MIT */
/*
 * Depths: how the rate of a device grows with the number and the size of outstanding requests, and
 * whether it is cut after a burst.
 *
 * Who writes: sp__depths_find().  The owner frees rates.
 */
#pragma once

#include "probe/timing/timing.h"

struct sp__depths {
	struct sp__timing *tm;
	size_t nrates;
	struct sp_probe_rate *rates;
	unsigned knee_depth; /* more outstanding requests gain less than a tenth; 0: unknown */
	uint32_t knee_bytes; /* larger ones gain less than a tenth; 0: unknown */
	bool throttled;	     /* the rate fell to a steady lower one; to this share: */
	double throttle_share;
	unsigned throttle_looks, throttle_look_misses; /* windows; not at the lower rate */
};

/* latency_ns: of a random read.  0 or an error of probe/timing/timing.h, but not -EIO. */
SP_MUST_CHECK int sp__depths_find(struct sp__depths *d, double latency_ns);
