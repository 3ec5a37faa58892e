/* SPDX-License-Identifier: MIT */
/*
 * Rotation: the verdict whether the device rotates, and is one disk whose blocks follow its
 * tracks.
 *
 * Who writes: only the functions below, each called at most once, in this order.  They return 0,
 * or the errors of probe/timing/timing.h.
 */
#pragma once

#include "probe/timing/timing.h"

struct sp__rotation {
	struct sp__timing *tm;
	enum sp_probe_verdict verdict;
	struct sp_probe_evidence evidence;
};

/* rotation.c: finds verdict and evidence, and prepares the timing of angles. */
SP_MUST_CHECK int sp__rotation_find(struct sp__rotation *ro);
/* A device with several arms is layered. */
SP_MUST_CHECK int sp__arms_find(struct sp__rotation *ro);
/* After no track was seen: a device whose blocks are scattered is layered. */
SP_MUST_CHECK int sp__line_find(struct sp__rotation *ro);
