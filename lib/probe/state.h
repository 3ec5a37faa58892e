/* SPDX-License-Identifier: MIT */
/*
 * A probe at work: what it knows so far, and the steps by which it learns more.
 *
 * Every step returns 0, -EIO (these blocks cannot be read), -EINTR (it was
 * stopped), -ENODATA (there is nothing to be found here), -ENOMEM or
 * -ESTALE.
 *
 * Source: Shao 2008, chapter 2, for what is to be found.
 */
#ifndef SP__PROBE_STATE_H
#define SP__PROBE_STATE_H

#include "probe/depths/depths.h"
#include "probe/layout/layout.h"
#include "probe/rotation/rotation.h"

struct sp__probe {
	struct sp__timing tm;
	struct sp__rotation rotation;
	struct sp__depths depths;
	struct sp__tracks tracks;
	struct sp__hopper hops;
	struct sp__tracklayout layout;
	const struct sp_probe_opts *opts;
	struct sp_probe_result *r; /* the result */
	struct sp_errinfo *err;
	bool no_reach, no_write_reach; /* hops as far as they should reach fail */
	bool late;		       /* the arm waits for something else */
};

/* probe.c */
/* sp_probe_run() on an open target, which is closed in any case. */
SP_MUST_CHECK int sp__probe_on(struct sp_probe **probe, struct sp__target *t,
			       const struct sp_probe_opts *opts, struct sp_errinfo *err);

/* Without a layout nothing is known of a hop that was not made. */
static inline bool sp__reach_known(const struct sp__probe *p)
{
	return sp__order_words(&p->layout.order) && !p->no_reach;
}

/* seeks.c */
SP_MUST_CHECK int sp__seeks_find(struct sp__probe *p);

/* geometry_build.c, probe_result.c: geometry and result, from what is known. */
SP_MUST_CHECK int sp__made_geometry(struct sp__probe *p, struct sp_geometry **g);
void sp__made_unknown(struct sp__probe *p); /* what is not known; before the geometry */
/* Does the plateau of settling probably end, by the seek curve, but not certainly? */
SP_MUST_CHECK int sp__plateau_look(struct sp__probe *p, bool *doubtful);
SP_MUST_CHECK int sp__made_result(struct sp__probe *p, const struct sp_geometry *g);
SP_MUST_CHECK int sp__made_resume(struct sp__probe *p, const struct sp_geometry *g);

/*
 * What the layout and the seek curve say of a hop between tracks counted from the start of a round;
 * negative: the distance was not measured.
 */
double sp__hop_foretold(const struct sp__probe *p, uint64_t from, uint64_t to);

/* checks.c: what is found to be wrong is no longer known. */
/* Do rounds of bands begin with zones?  After the seek curve, before the geometry. */
SP_MUST_CHECK int sp__rounds_check(struct sp__probe *p);
SP_MUST_CHECK int sp__checks(struct sp__probe *p, const struct sp_geometry *g);

#endif
