/* SPDX-License-Identifier: MIT */
/*
 * The aim of hops of MultiMap: that of one track.
 */
#include <math.h>
#include <spindle/geometry.h>
#include "cube/mapping/mapping.h"
#include "dev/geometry.h"
#include "tap.h"

/* The aim of one track: the need of a move by it, plus conservatism or the host's time. */
static void test_zones(const char *model, double host_ns, double extra_deg, bool shorter)
{
	struct sp__multimap m = { .host_ns = host_ns }, plateau = m;
	struct sp_geometry *g = NULL;
	const struct sp__cubezone *z;
	double hop_deg, host_deg, aim_deg, unit_deg;
	uint64_t reach;

	if (!ok(!sp_geometry_model(&g, model, NULL) &&
			!sp__multimap_zones(&m, g, 0, SP__AIM_TRACK, extra_deg) &&
			!sp__multimap_zones(&plateau, g, 0, SP__AIM_PLATEAU, extra_deg) &&
			!sp_geometry_hop(g, SP_GEOMETRY_READ, 1, &hop_deg),
		"%s has an aim of one track", model))
		return;
	z = m.zones;
	host_deg = fmax(360 * host_ns / g->period_ns, 1);
	aim_deg = hop_deg + fmax(extra_deg, host_deg);
	unit_deg = 360.0 / z->track_blocks;
	ok(z->aim_blocks * unit_deg >= aim_deg - 1e-6 &&
		   z->aim_blocks * unit_deg < aim_deg + unit_deg &&
		   z->need_blocks * unit_deg < hop_deg + host_deg + unit_deg,
	   "%s: it is the hop of 1 track and at least the host's time", model);
	ok(!sp_geometry_reach(g, SP_GEOMETRY_READ, hop_deg + fmax(extra_deg - host_deg, 0),
			      &reach) &&
		   m.reach == reach && m.reach >= 1 && m.reach <= plateau.reach,
	   "%s: D is the reach of this aim", model);
	ok(shorter ? z->aim_blocks < plateau.zones->aim_blocks
		   : z->need_blocks == plateau.zones->need_blocks,
	   "%s: it is %s that of the plateau", model, shorter ? "shorter than" : "equal to");
	sp__multimap_free(&m);
	sp__multimap_free(&plateau);
	sp_geometry_free(g);
}

int main(void)
{
	test_zones("cheetah36es-like", 100000, 0, true);
	test_zones("cheetah36es-like", 0, 20, true);
	test_zones("atlas10k3-like", 50000, 20, true);
	test_zones("ultrastar36lzx-like", 50000, 0, false);
	return done();
}
