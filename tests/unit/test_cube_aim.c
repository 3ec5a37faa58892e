/* SPDX-License-Identifier: MIT */
/*
 * The aim of MultiMap's hops in two dimensions: zones with that of one track, the choice of an aim,
 * and superblocks that were made without a choice.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "cube/choose/choose.h"
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

/* Requests that are issued one at a time arrive in time, without conservatism, too. */
static void test_host(const char *model, double host_ns)
{
	static const uint64_t sizes[] = { 100, 200 };
	struct sp__mapping m = { .kind = SP_CUBE_MULTIMAP, .cell_blocks = 1, .order = { 0, 1 } };
	struct sp_cube_box beam = { .lo = { 30 }, .hi = { 30, 199 }, .stride = { 1, 1 } };
	struct sp__predict_opts o = { .depth = 1, .host_ns = host_ns };
	struct sp__runs_prediction p = { .ns = NAN };
	struct sp_geometry *g = NULL;
	double hop_ns = 0;

	memcpy(m.basic.k, sizes, sizeof(sizes));
	m.multimap.host_ns = host_ns;
	if (!sp_geometry_model(&g, model, NULL) &&
	    !sp__multimap_zones(&m.multimap, g, 0, SP__AIM_TRACK, 0) &&
	    !sp__mapping_init(&m, 2, sizes)) {
		o.geometry = g;
		hop_ns = g->period_ns * m.multimap.zones[0].hop_blocks /
			 m.multimap.zones[0].track_blocks;
		(void)!sp__predict_box(&o, &m, &beam, &p);
	}
	ok(p.ns < 200 * hop_ns + 3 * g->period_ns,
	   "%s: with %g us of the host a beam takes a hop for each row", model, host_ns / 1000);
	sp__multimap_free(&m.multimap);
	sp_geometry_free(g);
}

/* A cube of 2 or 3 dimensions under MultiMap, as a caller describes it. */
static struct sp_cube_create_opts options(const char *volume, unsigned ndims, uint32_t bytes)
{
	struct sp_cube_create_opts o = SP_CUBE_CREATE_OPTS_INIT;

	o.run.volume = volume;
	o.mapping = SP_CUBE_MULTIMAP;
	o.shape = (struct sp_cube_shape){ .ndims = ndims,
					  .dims = { 400, 300, 1 },
					  .tile = { 1, 1, ndims > 2 },
					  .element_bytes = bytes };
	return o;
}

static double predicted_ns(const struct sp_cube_create_opts *opts, struct sp_cube_query *queries,
			   size_t n)
{
	struct sp_cube_workload w = { .queries = queries, .n = n, .positions = 40 };
	struct sp_cube_create_opts o = *opts;
	struct sp__runs_prediction p = { .ns = NAN };
	struct sp__cube_plan plan;

	o.workload = &w;
	if (sp__cube_plan(&plan, &o, "", NULL) || sp__cube_predict(&plan, 0, 0, &p))
		p.ns = NAN;
	sp__cube_plan_free(&plan);
	return p.ns;
}

/* The lowest aim of a plan without rounds, in degrees. */
static double planned_aim(const struct sp_cube_create_opts *o)
{
	struct sp__cube_plan plan;
	double min = NAN;

	if (!sp__cube_plan(&plan, o, "", NULL)) {
		const struct sp__multimap *m = &plan.superblock.mapping.multimap;

		for (size_t i = 0; i < m->nzones; i++)
			min = fmin(min, m->zones[i].aim_blocks * 360.0 / m->zones[i].track_blocks);
	}
	sp__cube_plan_free(&plan);
	return min;
}

/* Without a workload: no beam and no box becomes slower, and the conservatism stays for a track. */
static void test_choice(const char *volume, double mean_max)
{
	static const uint64_t sizes[][2] = { { 0, 1 },	 { 1, 0 },   { 2, 2 },	  { 7, 7 },
					     { 20, 20 }, { 50, 50 }, { 100, 100 } };
	struct sp_cube_create_opts old = options(volume, 2, 512), o = old;
	unsigned slower = 0, n = sizeof(sizes) / sizeof(*sizes);
	double closer_deg = sp__cube_closer_deg(&o), mean = 0, hop_deg;
	struct sp_geometry *g;

	if (!ok(!sp__cube_choose_open(&o, NULL) && !sp_geometry_model(&g, volume + 4, NULL),
		"%s: an aim is chosen", volume))
		return;
	ok(o.conservatism_deg <= 20 && o.conservatism_deg >= 20 - closer_deg - 1e-6,
	   "%s: %g degrees of conservatism, at most %g less than requested", volume,
	   o.conservatism_deg, closer_deg);
	ok(!sp_geometry_hop(g, SP_GEOMETRY_READ, 1, &hop_deg) &&
		   (g->zones[0].round || planned_aim(&o) >= hop_deg + 20 - 1e-6),
	   "%s: hops by a track have all that are requested", volume);
	for (unsigned i = 0; i < n; i++) {
		struct sp_cube_query q = { .weight = 1, .size = { sizes[i][0], sizes[i][1] } };
		double ratio = predicted_ns(&o, &q, 1) / predicted_ns(&old, &q, 1);

		mean += ratio / n;
		slower += !(ratio < 1.015);
		if (!(ratio < 1.015))
			diag("%" PRIu64 " x %" PRIu64 ": %.3f", sizes[i][0], sizes[i][1], ratio);
	}
	ok(!slower && mean <= mean_max,
	   "%s: no beam and no box is slower, all together take %.3f of the time", volume, mean);
	sp_geometry_free(g);
}

static void test_three_dimensions(void)
{
	struct sp_cube_create_opts o = options("sim:atlas10k3-like", 3, 512);

	ok(sp__cube_closer_deg(&o) == 0 && !sp__cube_choose_open(&o, NULL) &&
		   o.conservatism_deg == 20,
	   "in three dimensions the aim stays that of the plateau");
}

/* With a workload: a plan that is predicted as fast as all with the aim of the plateau. */
static void test_workload(const char *volume, double max)
{
	static const double conservatism[] = { 2, 10, 15, 20, 25, 30, 45 };
	struct sp_cube_query queries[] = { { .weight = 1, .size = { 1, 0 } },
					   { .weight = 1, .size = { 0, 1 } },
					   { .weight = 1, .size = { 20, 20 } } };
	struct sp_cube_workload w = { .queries = queries, .n = 3, .positions = 40 };
	struct sp_cube_create_opts plateau = options(volume, 2, 4096), o = plateau;
	double before = INFINITY, chosen;

	plateau.ordered = true;
	for (unsigned i = 0; i < 14; i++) {
		plateau.order[0] = i % 2;
		plateau.order[1] = 1 - i % 2;
		plateau.conservatism_deg = conservatism[i / 2];
		before = fmin(before, predicted_ns(&plateau, queries, 3));
	}
	o.mapping = SP_CUBE_AUTO;
	o.workload = &w;
	if (!ok(!sp__cube_choose_open(&o, NULL), "%s: a plan is chosen for a workload", volume))
		return;
	chosen = predicted_ns(&o, queries, 3);
	ok(chosen <= max * before,
	   "%s: with %g degrees it takes %.3f of the time of the best aim of the plateau", volume,
	   o.conservatism_deg, chosen / before);
}

/* A superblock as it was made before there was a choice: cells stay where they were. */
static void test_old(const char *volume, const uint64_t blocks[6])
{
	static const uint64_t cells[][SP_CUBE_DIMS_MAX] = { { 0, 0 },	 { 399, 0 }, { 0, 1 },
							    { 123, 45 }, { 7, 299 }, { 399, 299 } };
	struct sp_cube_create_opts o = options(volume, 2, 512), today = o;
	struct sp__cube_superblock read = { 0 };
	struct sp__cube_plan plan;
	const char *reason;
	unsigned wrong = 0;
	uint8_t *data;
	size_t bytes;
	int rc = sp__cube_plan(&plan, &o, "", NULL);

	data = rc ? NULL : sp__cube_superblock_encode(&plan.superblock, &bytes);
	rc = data ? sp__cube_superblock_decode(&read, data, bytes, &reason) : -1;
	rc = rc ? rc : sp__cube_superblock_settle(&read);
	for (unsigned i = 0; !rc && i < 6; i++)
		wrong += sp__fragments_block(&read.fragments, cells[i]) != blocks[i];
	ok(!rc && !wrong, "%s: the cells of an old cube stay on their blocks", volume);
	ok(!sp__cube_choose_open(&today, NULL) && today.conservatism_deg != o.conservatism_deg,
	   "%s: a new cube has another aim", volume);
	free(data);
	sp__cube_superblock_free(&read);
	sp__cube_plan_free(&plan);
}

int main(void)
{
	test_zones("cheetah36es-like", 100000, 0, true);
	test_zones("cheetah36es-like", 0, 20, true);
	test_zones("atlas10k3-like", 50000, 20, true);
	test_zones("ultrastar36lzx-like", 50000, 0, false);
	test_choice("sim:atlas10k3-like", 0.95);
	test_choice("sim:cheetah36es-like", 1);
	test_choice("sim:serpentine", 1);
	test_choice("sim:ultrastar36lzx-like", 1);
	test_host("cheetah36es-like", 100000);
	test_host("atlas10k3-like", 300000);
	test_three_dimensions();
	test_workload("sim:atlas10k3-like", 0.95);
	test_workload("sim:cheetah36es-like", 0.95);
	test_workload("sim:nearline6t-like", 1.001);
	test_old("sim:atlas10k3-like", (uint64_t[]){ 686, 1085, 1456, 31974, 137348, 137740 });
	test_old("sim:serpentine", (uint64_t[]){ 2337, 2736, 4670, 56071, 204847, 205239 });
	return done();
}
