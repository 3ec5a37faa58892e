/* SPDX-License-Identifier: MIT */
/*
 * What adjacent blocks are good for: accesses along the geometry's promises
 * against accesses to any block nearby, timed on the device models themselves.
 *
 * Each measurement is also printed as a comment "# csv TABLE,VALUE,...", which
 * scripts/experiments/sh08 reads.  Virtual time: the figures are exact.
 *
 * Source: Shao 2008, table 2.1, figure 2.3, sections 2.2.1 and 2.4.
 */
#include <math.h>
#include <stdlib.h>
#include <spindle/geometry.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/geometry.h"
#include "dev/raid.h"
#include "tap.h"

#define HOPS 4000

struct rig {
	const char *name;
	struct sp_geometry *g;
	struct sp_geometry_info info;
	struct sp__model *m;
	struct sp__device dev;
	struct sp__rng rng;
	uint64_t now;
};

struct figures {
	double mean, deviation, min, max; /* ms */
};

static void rig_open(struct rig *r, const char *model)
{
	*r = (struct rig){ .name = model, .rng = { 11 } };
	if (sp_geometry_model(&r->g, model, NULL) || sp__model_load(&r->m, model, NULL) ||
	    sp__device_open(&r->dev, r->m)) {
		ok(false, "%s opens", model);
		exit(1);
	}
	sp_geometry_info(r->g, &r->info);
}

static void rig_close(struct rig *r)
{
	sp__device_close(&r->dev);
	sp__model_free(r->m);
	sp_geometry_free(r->g);
}

/* Reads one block, issued when the one before is complete; ms. */
static double serve(struct rig *r, uint64_t lbn)
{
	struct sp__subreq p = { .lbn = lbn, .blocks = 1 };
	uint64_t begin = r->now;
	struct sp__service s;

	r->m->ops->serve(r->m, r->dev.state, begin + r->m->overhead_ns[0], &p, &s);
	r->now = s.done_ns;
	return (double)(r->now - begin) * 1e-6;
}

/* Random hops of 1 to reach tracks, to adjacent blocks or to any; whole zones aside. */
static struct figures hops(struct rig *r, uint64_t reach, double extra, bool adjacent)
{
	struct figures f = { .min = INFINITY };
	double sum = 0, squares = 0;

	for (unsigned n = 0; n < HOPS;) {
		uint64_t lbn = sp__rng_below(&r->rng, r->info.blocks), to;
		uint64_t step = 1 + sp__rng_below(&r->rng, reach);
		struct sp_track t;
		double ms;

		if (sp_geometry_adjacent(r->g, lbn, step, SP_GEOMETRY_READ, extra, &to) ||
		    sp_geometry_track(r->g, to, &t))
			continue;
		if (!adjacent)
			to = t.first + sp__rng_below(&r->rng, t.blocks);
		serve(r, lbn);
		ms = serve(r, to);
		sum += ms;
		squares += ms * ms;
		f.min = fmin(f.min, ms);
		f.max = fmax(f.max, ms);
		n++;
	}
	f.mean = sum / HOPS;
	f.deviation = sqrt(fmax(0, squares / HOPS - f.mean * f.mean));
	return f;
}

/* sh08.tab2.1: D and the time of a hop, by degrees of conservatism. */
static void table_2_1(struct rig *r)
{
	static const uint64_t want[] = { 136, 176, 376 }, printed[] = { 136, 180, 380 };
	static const double ms[] = { 1.10, 1.25, 1.45 };
	double aim;

	if (sp_geometry_aim(r->g, SP_GEOMETRY_READ, &aim))
		exit(1);
	for (unsigned i = 0; i < 3; i++) {
		struct figures f;
		uint64_t d;

		if (sp_geometry_reach(r->g, SP_GEOMETRY_READ, aim + 10 * i, &d))
			exit(1);
		f = hops(r, d, 10 * i, true);
		diag("csv tab2.1,%u,%.0f,%llu,%.4f", 10 * i, aim + 10 * i, (unsigned long long)d,
		     f.mean);
		ok(d == want[i] && fabs((double)d - (double)printed[i]) < 0.05 * (double)printed[i],
		   "sh08.tab2.1: %u degrees more reach D = %llu", 10 * i, (unsigned long long)d);
		ok(fabs(f.mean - ms[i]) < 0.07 * ms[i] && f.max < f.min + 0.03,
		   "and each of the hops takes within 7 %% of %.2f ms", ms[i]);
	}
}

/* sh08.fig2.3 */
static void figure_2_3(struct rig *r)
{
	struct figures near, any;
	uint64_t d;
	double aim;

	if (sp_geometry_aim(r->g, SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_reach(r->g, SP_GEOMETRY_READ, aim, &d))
		exit(1);
	near = hops(r, d, 0, true);
	any = hops(r, d, 0, false);
	diag("csv fig2.3,%s,%llu,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", r->name,
	     (unsigned long long)d, any.mean, any.deviation, any.min, any.max, near.mean,
	     near.deviation, near.min, near.max);
	ok(any.mean > 3.5 * near.mean && any.mean < 4.5 * near.mean,
	   "sh08.fig2.3: %s: adjacent blocks %.2f times nearer than any within D tracks", r->name,
	   any.mean / near.mean);
	ok(any.deviation > 10 * near.deviation, "and their times differ far less");
}

static double path(struct rig *r, uint64_t step, unsigned n)
{
	double ms = 0;
	uint64_t lbn = 0;

	serve(r, lbn);
	for (unsigned i = 0; i < n; i++) {
		if (sp_geometry_adjacent(r->g, lbn, step, SP_GEOMETRY_READ, 0, &lbn))
			exit(1);
		ms += serve(r, lbn);
	}
	return ms / n;
}

/* sh08.s2.2.1 */
static void section_2_2_1(struct rig *r)
{
	double first = path(r, 1, 1500), last = path(r, 136, 1500);

	diag("csv s2.2.1,%.4f,%.4f", first, last);
	ok(fabs(last - first) < 0.05 * first, "sh08.s2.2.1: the D-th path is as fast as the first");
}

/* Time in ms for concurrent hops on all drives of an array, each on a path of its own. */
static double paths_on_stripe_drives(struct rig *r, unsigned n, unsigned hops)
{
	uint64_t lbn[8], done[8] = { 0 }, last = 0;
	struct sp_track t;

	for (unsigned d = 0; d < n; d++) {
		if (sp_geometry_track_number(r->g, d, &t))
			exit(1);
		lbn[d] = t.first;
	}
	for (unsigned i = 0; i < n * hops; i++) {
		unsigned d = i % n;
		uint32_t blocks = 1;
		struct sp__subreq p;
		struct sp__service s;

		r->m->ops->split(r->m, r->dev.state, done[d], false, lbn[d], &blocks, &p, 1);
		r->m->ops->serve(r->m, r->dev.state, done[d] + r->m->overhead_ns[0], &p, &s);
		done[d] = s.done_ns;
		last = done[d] > last ? done[d] : last;
		if (sp_geometry_adjacent(r->g, lbn[d], n, SP_GEOMETRY_READ, 0, &lbn[d]))
			exit(1);
	}
	return (double)last * 1e-6 / hops;
}

/* sh08.s2.4: through a volume whose stripes are tracks; through one with others there is none. */
static void section_2_4(struct rig *one)
{
	struct sp__raid_spec tracks, sizes;
	uint64_t there;
	struct rig r;
	double ms, each;

	each = path(one, 1, 500);
	rig_open(&r, one->name);
	sp_geometry_free(r.g);
	sp__device_close(&r.dev);
	if (!sp__raid_parse(&tracks, "raid0:4/track") || !sp__raid_parse(&sizes, "raid0:4/343K") ||
	    sp__raid_make(&r.m, &tracks, NULL) || sp__device_open(&r.dev, r.m) ||
	    sp__geometry_of(&r.g, r.m, NULL))
		exit(1);
	ms = paths_on_stripe_drives(&r, 4, 500);
	diag("csv s2.4,%.4f,%.4f", each, ms);
	ok(fabs(ms - each) < 0.01 * each,
	   "sh08.s2.4: through four drives striped by tracks a hop takes the time of one drive's");
	rig_close(&r);
	if (sp__model_load(&r.m, one->name, NULL) || sp__raid_make(&r.m, &sizes, NULL) ||
	    sp__geometry_of(&r.g, r.m, NULL))
		exit(1);
	ok(sp_geometry_adjacent(r.g, 0, 1, SP_GEOMETRY_READ, 0, &there) == SP_EUNSUP,
	   "stripes of a size have no adjacent blocks, were it that of the first tracks");
	sp__model_free(r.m);
	sp_geometry_free(r.g);
}

int main(void)
{
	struct rig r;

	rig_open(&r, "atlas10k3-like");
	table_2_1(&r);
	figure_2_3(&r);
	section_2_2_1(&r);
	section_2_4(&r);
	rig_close(&r);
	rig_open(&r, "cheetah36es-like");
	figure_2_3(&r);
	rig_close(&r);
	return done();
}
