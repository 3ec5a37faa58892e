/* SPDX-License-Identifier: MIT */
/*
 * Rotation: does something turn, and is it one disk whose blocks lie along its tracks?
 *
 * Who writes: the functions below, each called at most once, in this order.  Nothing else does.
 * They return 0, or the errors of probe/timing/timing.h.
 */
#pragma once

#include "probe/timing/timing.h"

struct sp__rotation {
	struct sp__timing *tm;
	enum sp_probe_verdict verdict;
	struct sp_probe_evidence evidence;
};

/* rotation.c: verdict and evidence; sets up the timing of angles, too. */
SP_MUST_CHECK int sp__rotation_find(struct sp__rotation *ro);
/* arms.c: what has several arms is layered. */
SP_MUST_CHECK int sp__arms_find(struct sp__rotation *ro);
/* line.c: no track was seen.  Blocks that do not follow one another on the platter are layered. */
SP_MUST_CHECK int sp__line_find(struct sp__rotation *ro);
