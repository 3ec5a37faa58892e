/* SPDX-License-Identifier: MIT */
/*
 * Checks: what the result affirms of layout and hops is measured again on the device, by probes
 * that had no part in finding it.  (Tracks: probe/tracks/recheck.c.)
 *
 * Who writes: the functions below.  They also write `rounds` of zones, and take back the order of
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
/* Do rounds of bands begin with zones?  After the seek curve, before the geometry. */
SP_MUST_CHECK int sp__rounds_check(struct sp__checks *c);
SP_MUST_CHECK int sp__layout_check(struct sp__checks *c);
/* reach.c */
SP_MUST_CHECK int sp__reach_check(struct sp__checks *c, const struct sp_geometry *g);
