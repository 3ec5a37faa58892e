/* SPDX-License-Identifier: MIT */
/*
 * Layout: which tracks are on one cylinder.  Skews propose, hops decide.
 *
 * Who writes: sp__layout_find(), with the base of hops.  Afterwards the order only loses members,
 * if the seek curve or the checks contradict it.
 */
#pragma once

#include "probe/hops/hops.h"

#define SP__HOP_SURE 5 /* errors of a hop's time */
#define SP__STAIRS 33  /* hops of fewer tracks are compared */

struct sp__tracklayout {
	struct sp__timing *tm;
	struct sp__hopper *hops;
	const struct sp__tracks *tracks;
	struct sp__trackorder order;
};

/* 0, -ENOMEM, or the errors of probe/timing/timing.h except -EIO and -ENODATA. */
SP_MUST_CHECK int sp__layout_find(struct sp__tracklayout *l);
/* For hops from this track on; the errors of probe/hops/hops.h. */
SP_MUST_CHECK int sp__stairs_find(struct sp__tracklayout *l, uint64_t first);
