/* SPDX-License-Identifier: MIT */
/*
 * Verifies layout and hops of the result by new measurements on the device.  Those that found them
 * are not reused. (Tracks: probe/tracks/recheck.c.)
 *
 * Who writes: the functions below.  They also write `rounds` of zones, and clear the order of
 * tracks if it is wrong.  Functions return 0 or the errors of probe/timing/timing.h except -EIO
 * and -ENODATA.
 */
#pragma once

#include "probe/seeks/seeks.h"

struct sp__checks {
	struct sp__timing *tm;
	struct sp__hopper *hops;
	struct sp__tracks *tracks;
	struct sp__trackorder *order;
	const struct sp__seeks *seeks;
	struct sp_probe_checks *found; /* a part of the result */
	bool no_reach, no_write_reach; /* hops as far as they should reach fail */
	bool few_writes;	       /* too few to tell */
};

/* layout.c */
/* Checks that rounds of bands begin with zones; after the seek curve, before the geometry. */
SP_MUST_CHECK int sp__rounds_check(struct sp__checks *c);
SP_MUST_CHECK int sp__layout_check(struct sp__checks *c);
/* layout.c */
SP_MUST_CHECK int sp__reach_check(struct sp__checks *c, const struct sp_geometry *g);
