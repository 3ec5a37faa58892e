/* SPDX-License-Identifier: MIT */
/*
 * Chooses the kind of a placement of lanes.
 */
#include "cube/lanemap_impl.h"

static const struct sp__lanemap_kind *kind_of(enum sp_placement placement)
{
	return placement == SP_PLACE_MEMS ? &sp__lanes_on_sled : &sp__lanes_on_tracks;
}

int sp__lanemap_plan(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
		     struct sp_errinfo *err)
{
	*m = (struct sp__lanemap){ .kind = kind_of(o->placement) };
	return m->kind->plan(m, o, err);
}

void sp__lanemap_code(struct sp__coder *c, struct sp__lanemap *m, enum sp_placement placement)
{
	m->kind = kind_of(placement);
	sp__lanemap_code_sizes(c, m);
	m->kind->code(c, m);
}
