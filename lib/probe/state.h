/* SPDX-License-Identifier: MIT */
/*
 * Declares the state of a running probe: the structs of its steps.
 *
 * Every step returns 0; -EIO: these blocks cannot be read; -EINTR: the probe was stopped;
 * -ENODATA: nothing was found; -ENOMEM; or -ESTALE.
 *
 * Source:  Shao 2008, chapter 2.
 */
#pragma once

#include "probe/checks/checks.h"
#include "probe/depths/depths.h"
#include "probe/rotation/rotation.h"

struct sp__probe {
	struct sp__timing tm;
	struct sp__rotation rotation;
	struct sp__depths depths;
	struct sp__tracks tracks;
	struct sp__hopper hops;
	struct sp__tracklayout layout;
	struct sp__seeks seeks;
	struct sp__checks checks;
	struct sp_probe_result *r; /* the result */
	struct sp_errinfo *err;
};

/* probe.c */
/* Does the work of sp_probe_run() on an open target; closes the target, after an error too. */
SP_MUST_CHECK int sp__probe_on(struct sp_probe **probe, struct sp__target *t,
			       const struct sp_probe_opts *opts, struct sp_errinfo *err);

/* Without a layout, hops that were not made cannot be predicted. */
static inline bool sp__reach_known(const struct sp__probe *p)
{
	return sp__order_values(&p->layout.order) && !p->checks.no_reach;
}

static inline bool sp__writes_estimated(const struct sp__probe *p)
{
	return p->seeks.write_estimated || p->checks.few_writes;
}

/* geometry.c, result.c: make the geometry and the result from the measurements. */
SP_MUST_CHECK int sp__made_geometry(struct sp__probe *p, struct sp_geometry **g);
void sp__made_unknown(struct sp__probe *p); /* what is not known; before the geometry */
SP_MUST_CHECK int sp__made_result(struct sp__probe *p, const struct sp_geometry *g);
