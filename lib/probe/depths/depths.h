/* SPDX-License-Identifier: MIT */
/*
 * Depths: the rate of a device by number and size of outstanding requests, and whether it is cut
 * after a burst.
 *
 * Who writes: sp__depths_find(), also *load, a component of the result.
 */
#pragma once

#include "probe/timing/timing.h"

struct sp__depths {
	struct sp__timing *tm;
	struct sp_probe_load *load;
};

/* latency_ns: of a random read.  0 or an error of probe/timing/timing.h, but not -EIO. */
SP_MUST_CHECK int sp__depths_find(struct sp__depths *d, double latency_ns);
