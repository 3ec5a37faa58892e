/* SPDX-License-Identifier: MIT */
/*
 * The geometry of device models, tried on the devices themselves: hops that it
 * promises are served without a lost revolution.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/drive_impl.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "tap.h"

/* Per-head zones of four surfaces, backwards on every other cylinder, an odd number of them. */
static const char snake[] =
	"{\"kind\":\"rotating\",\"rpm\":7200,\"surfaces\":4,\"layout\":\"cylinder-serpentine\","
	"\"head_switch_ms\":0.7,\"write_settle_ms\":0.3,\"read_overhead_ms\":0.1,"
	"\"write_overhead_ms\":0.2,\"seek_ms\":[[1,0.6],[9,0.7],[10,1.1],[400,3],[2000,9]],"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":250,\"spt\":[300,290,310,305],"
	"\"track_skew\":40,\"cyl_skew\":35.5},{\"first_cyl\":251,\"last_cyl\":600,"
	"\"spt\":[250,240,230,251],\"track_skew\":31,\"cyl_skew\":33}]}";
/* Bands of 16 cylinders on three surfaces (an odd number), a remainder, slips. */
static const char bands[] =
	"{\"kind\":\"rotating\",\"rpm\":10033,\"surfaces\":3,\"layout\":\"hybrid-serpentine\","
	"\"band_tracks\":16,\"first_head_descends\":true,\"head_switch_ms\":0.5,"
	"\"write_settle_ms\":0.2,\"read_overhead_ms\":0.15,\"write_overhead_ms\":0.15,"
	"\"seek_ms\":[[1,0.4],[8,0.8],[21,0.87],[22,1.05],[100,1.4],[1000,4]],"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":199,\"spt\":420,\"track_skew\":70,"
	"\"cyl_skew\":60,\"band_skew\":80},{\"first_cyl\":200,\"last_cyl\":500,\"spt\":380,"
	"\"track_skew\":60,\"cyl_skew\":55}],"
	"\"slips\":[[3,0,0],[3,0,1],[40,1,419],[40,2,7],[250,0,379],[251,0,0]]}";
/* Zones at angles of their own, spares on each cylinder, cylinders that have nothing else. */
static const char spared[] =
	"{\"kind\":\"rotating\",\"rpm\":6400,\"surfaces\":4,\"head_switch_ms\":0.8,"
	"\"write_settle_ms\":0.3,\"read_overhead_ms\":0.2,\"write_overhead_ms\":0.2,"
	"\"seek_ms\":[[1,0.6],[12,0.8],[13,1.4],[900,9]],"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":399,\"spt\":300,\"track_skew\":50,"
	"\"cyl_skew\":60,\"spares\":[[0,6000],[7198,2,1200]],\"slips\":[9001]},"
	"{\"first_cyl\":400,\"last_cyl\":900,\"spt\":250,\"track_skew\":40,\"cyl_skew\":50,"
	"\"start_skew\":77.5,\"spares\":[[200000,40000],[500000,1000]]}]}";
/* Writes settle sooner than reads, but seek more slowly, and as far without waiting. */
static const char quick[] =
	"{\"kind\":\"rotating\",\"rpm\":6400,\"surfaces\":3,\"head_switch_ms\":0.9,"
	"\"write_settle_ms\":-0.6,\"read_overhead_ms\":0.2,\"write_overhead_ms\":0.1,"
	"\"seek_ms\":[[1,0.7],[12,0.9],[13,1.4],[900,9]],"
	"\"write_seek_ms\":[[1,1],[20,1.4],[21,1.9],[900,9.5]],"
	"\"overheads\":{\"read_miss_ms\":[0.05,0.3],\"write_miss_ms\":[0.4,0.07],"
	"\"read_end_ms\":0.01,\"write_end_ms\":0.02},"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":900,\"spt\":300,\"track_skew\":50,"
	"\"cyl_skew\":60}]}";
/* A whole surface of each zone, then back on the next one; the bus takes its time. */
static const char surfaces[] =
	"{\"kind\":\"rotating\",\"rpm\":5400,\"surfaces\":4,\"layout\":\"surface-serpentine\","
	"\"block_bytes\":4096,\"head_switch_ms\":0.9,\"write_settle_ms\":0.2,"
	"\"read_overhead_ms\":0.2,\"write_overhead_ms\":0.3,\"bus_mb_s\":100,"
	"\"seek_ms\":[[1,0.5],[20,0.9],[21,1.3],[500,4],[3000,12]],"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":999,\"spt\":200,\"track_skew\":30,"
	"\"cyl_skew\":25},{\"first_cyl\":1000,\"last_cyl\":2999,\"spt\":180,\"track_skew\":28,"
	"\"cyl_skew\":24}]}";
static const char line[] = "{\"kind\":\"linear\",\"transfer_s_per_mb\":0.3,\"seek_ms\":7,"
			   "\"total_blocks\":1000000}";

/* One zone. */
static const char plain[] =
	"{\"kind\":\"rotating\",\"rpm\":7200,\"surfaces\":2,\"head_switch_ms\":0.7,"
	"\"seek_ms\":[[1,0.8],[100,2]],\"zones\":[{\"first_cyl\":0,\"last_cyl\":999,\"spt\":500,"
	"\"track_skew\":90,\"cyl_skew\":110}]}";

struct rig {
	struct sp_geometry *g;
	struct sp__model *m;
	struct sp__device dev;
	uint64_t now;
};

/* The model is a text, or a shipped one's name. */
static bool rig_open(struct rig *r, const char *model)
{
	char path[] = "/tmp/geometry-XXXXXX.json";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	bool good, is_text = *model == '{';
	const char *name = is_text ? path : model;

	*r = (struct rig){ 0 };
	if (is_text) {
		int fd = mkstemps(path, 5);

		if (fd < 0 || write(fd, model, strlen(model)) < 0)
			return false;
		close(fd);
	}
	good = sp_geometry_model(&r->g, name, &err) == 0 && sp__model_load(&r->m, name, &err) == 0;
	if (is_text)
		unlink(path);
	if (!good)
		diag("%s: %s", err.path, err.text);
	return good && sp__device_open(&r->dev, r->m) == 0;
}

static void rig_close(struct rig *r)
{
	if (r->dev.state)
		sp__device_close(&r->dev);
	sp__model_free(r->m);
	sp_geometry_free(r->g);
}

/* Returns the time of one block, issued immediately by a host that waited for the previous one. */
static uint64_t serve(struct rig *r, uint64_t lbn, bool write)
{
	struct sp__subreq p = { .lbn = lbn, .blocks = 1, .write = write };
	uint64_t begin = r->now;
	struct sp__service s;

	r->m->ops->serve(r->m, r->dev.state, begin + r->m->overhead_ns[write], &p, &s);
	r->now = s.done_ns;
	return r->now - begin;
}

/* sh08.tab2.1 */
static void table_2_1(void)
{
	static const uint64_t want[] = { 136, 176, 376 };
	uint64_t reads, writes;
	double aim, waim;
	struct rig r;

	ok(rig_open(&r, "atlas10k3-like"), "the default drive has a geometry");
	ok(sp_geometry_aim(r.g, SP_GEOMETRY_READ, &aim) == 0 && fabs(aim - 66) < 1e-9,
	   "the base of its aim is 51 degrees of settling and 15 of overhead");
	ok(sp_geometry_aim(r.g, SP_GEOMETRY_WRITE, &waim) == 0 && fabs(waim - 90) < 1e-9,
	   "and 90 degrees for writes, which settle longer");
	for (int i = 0; i < 3; i++) {
		if (sp_geometry_reach(r.g, SP_GEOMETRY_READ, aim + 10 * i, &reads) ||
		    sp_geometry_reach(r.g, SP_GEOMETRY_WRITE, waim + 10 * i, &writes))
			reads = writes = 0;
		ok(reads == want[i] && writes == want[i],
		   "sh08.tab2.1: conservatism of %d degrees reaches D = %u tracks", 10 * i,
		   (unsigned)want[i]);
	}
	rig_close(&r);
}

/* A hop at random; false: it lost time. */
static bool one_hop(struct rig *r, struct sp__rng *rng, unsigned *made)
{
	const struct sp__drive *drive = sp__model_drive(r->m);
	bool cached = drive->cache.segments || drive->cache.write_blocks;
	enum sp_geometry_op op =
		!cached && sp__rng_below(rng, 2) ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;
	double extra = (double)sp__rng_below(rng, 3) * 10, aim, min, max;
	uint64_t lbn = sp__rng_below(rng, r->m->blocks), d, step, to, took;
	double period = r->g->period_ns;
	const struct sp__hops *h;
	struct sp_track from, t;
	int rc;

	if (sp_geometry_track(r->g, lbn, &from) ||
	    sp__geometry_hops(r->g, op, from.number, from.number, &h))
		return false;
	d = sp__hops_reach(h, h->aim_deg + extra);
	step = 1 + sp__rng_below(rng, d);
	rc = sp_geometry_adjacent(r->g, lbn, step, op, extra, &to);
	if (rc)
		return rc == -ERANGE;
	if (sp_geometry_track(r->g, to, &t) ||
	    sp__geometry_hops(r->g, op, from.number, t.number, &h))
		return false;
	aim = h->aim_deg;
	if (to > lbn && to - lbn <= drive->cache.readahead_blocks)
		return true; /* the drive waits for what it is reading ahead */
	(*made)++;
	serve(r, lbn, op == SP_GEOMETRY_WRITE);
	took = serve(r, to, op == SP_GEOMETRY_WRITE);
	min = (aim + extra) / 360 * period;
	/* The block itself, up to one before it starts, and two that are slipped. */
	max = min + period * (r->g->zones[0].map->nslips ? 4 : 2) / t.blocks;
	if (op == SP_GEOMETRY_READ)
		max += (double)sp__drive_bus_ns(drive, 1);
	if ((cached || (double)took >= min - 2) && (double)took <= max + 2)
		return true;
	diag("op %d lbn %llu step %llu extra %g: to %llu took %llu, not %.0f to %.0f", op,
	     (unsigned long long)lbn, (unsigned long long)step, extra, (unsigned long long)to,
	     (unsigned long long)took, min, max);
	return false;
}

static void hops(const char *model, const char *name)
{
	struct sp__rng rng = { 7 };
	unsigned made = 0;
	struct rig r;
	bool good = rig_open(&r, model);

	for (int i = 0; i < 1000 && good; i++)
		good = one_hop(&r, &rng, &made);
	ok(good && made > 800, "%s: %u random hops complete within aim and block", name, made);
	rig_close(&r);
}

/* In a serpentine, hops from round to round are the longest; inside a round hops need less. */
static void rounds(void)
{
	const struct sp__hops *in, *across;
	uint64_t reach, to;
	struct sp_track t;
	struct rig r;

	ok(rig_open(&r, "serpentine") && r.g->zones[0].round == 256,
	   "a round of 8 heads has 256 tracks");
	ok(!sp__geometry_hops(r.g, SP_GEOMETRY_READ, 0, 255, &in) &&
		   !sp__geometry_hops(r.g, SP_GEOMETRY_READ, 255, 256, &across) && in != across &&
		   sp__hops_reach(in, in->aim_deg) == 21 && in->aim_deg < across->aim_deg - 10 &&
		   sp__hops_reach(across, across->aim_deg) == 1,
	   "inside it hops reach 21 tracks, not 1, with less of an aim");
	ok(!sp_geometry_track_number(r.g, 255 - 21, &t) &&
		   !sp_geometry_adjacent(r.g, t.first, 21, SP_GEOMETRY_READ, 0, &to) &&
		   sp_geometry_adjacent(r.g, t.first, 22, SP_GEOMETRY_READ, 0, &to) == -ERANGE,
	   "adjacent blocks are so far away as their round goes");
	ok(!sp_geometry_reach(r.g, SP_GEOMETRY_READ, across->aim_deg, &reach) && reach == 1,
	   "and the general properties still hold");
	rig_close(&r);
}

/* Reads alone where the drive has a cache: a write would wait in it, and what waits is written. */
static void shipped(void)
{
	for (const struct sp__shipped *s = sp__shipped_models; s->name; s++) {
		struct sp__model *m;
		bool rotates;

		if (sp__model_load(&m, s->name, NULL))
			continue;
		rotates = sp__model_drive(m);
		sp__model_free(m);
		if (rotates)
			hops(s->name, s->name);
	}
}

/* Hops that need all of the aim: blocks a degree closer cost a revolution. */
static void one_degree_less(void)
{
	static const struct {
		enum sp_geometry_op op;
		uint64_t step;
		double extra;
	} limits[] = { { SP_GEOMETRY_READ, 136, 0 },
		       { SP_GEOMETRY_READ, 376, 20 },
		       { SP_GEOMETRY_READ, 8, -15 },
		       { SP_GEOMETRY_WRITE, 136, 0 },
		       { SP_GEOMETRY_WRITE, 376, 20 } };
	struct sp__rng rng = { 5 };
	bool good = true;
	struct rig r;

	ok(rig_open(&r, "atlas10k3-like"), "the default drive again");
	for (int i = 0; i < 500; i++) {
		unsigned n = (unsigned)i % 5;
		bool write = limits[n].op == SP_GEOMETRY_WRITE;
		uint64_t lbn = sp__rng_below(&rng, r.m->blocks), to;
		struct sp_track t;

		if (sp_geometry_adjacent(r.g, lbn, limits[n].step, limits[n].op, limits[n].extra,
					 &to) ||
		    sp_geometry_track(r.g, to, &t) || to < t.first + 4)
			continue;
		/* Four blocks of 686 are two degrees; the first may be up to one past the aim. */
		serve(&r, lbn, write);
		if (serve(&r, to - 4, write) < (uint64_t)r.g->period_ns)
			good = false;
		serve(&r, lbn, write);
		if (serve(&r, to, write) > (uint64_t)r.g->period_ns / 3)
			good = false;
	}
	ok(good, "hops at the limit of an aim lose a revolution when aimed a degree closer");
	rig_close(&r);
}

static double path(struct rig *r, uint64_t step, unsigned n)
{
	uint64_t lbn = 0, total = 0;

	serve(r, lbn, false);
	for (unsigned i = 0; i < n; i++) {
		if (sp_geometry_adjacent(r->g, lbn, step, SP_GEOMETRY_READ, 0, &lbn))
			return 0;
		total += serve(r, lbn, false);
	}
	return (double)total / n;
}

/* sh08.s2.2.1 */
static void equal_paths(void)
{
	double first, last;
	struct rig r;

	ok(rig_open(&r, "atlas10k3-like"), "the default drive, once more");
	first = path(&r, 1, 1500);
	last = path(&r, 136, 1500);
	ok(first > 1.1e6 && first < 1.13e6, "a semi-sequential hop of one track takes 1.1 ms");
	ok(fabs(last - first) < 0.05 * first,
	   "sh08.s2.2.1: and the D-th path's hops take the same (%.4f and %.4f ms)", first / 1e6,
	   last / 1e6);
	rig_close(&r);
}

/* Between the zones of a surface serpentine the arm goes back over a whole zone. */
static void apart(void)
{
	uint64_t lbn, to;
	unsigned n = 0;
	struct rig r;

	ok(rig_open(&r, surfaces), "a surface serpentine has a geometry");
	for (size_t i = 1; i < r.g->nzones; i++)
		n += r.g->zones[i].apart;
	ok(r.g->nzones == 8 && r.g->zones[4].apart && n < 7,
	   "its zones are apart where the arm must go back, and not everywhere");
	lbn = r.g->zones[4].first_lbn - 1;
	ok(sp_geometry_adjacent(r.g, lbn, 1, SP_GEOMETRY_READ, 0, &to) == -ERANGE,
	   "no adjacent block is promised there");
	ok(sp_geometry_adjacent(r.g, lbn + 1, 1, SP_GEOMETRY_READ, 0, &to) == 0,
	   "but after it again");
	rig_close(&r);
}

static void planner(void)
{
	struct sp__subreq p = { 0 };
	struct sp_geometry_info info;
	struct sp__service s;
	struct sp_track t;
	double seconds;
	uint64_t n;
	struct rig r;

	ok(rig_open(&r, "atlas10k3-like"), "the default drive for the planner");
	sp_geometry_info(r.g, &info);
	ok(info.tracks && info.ntracks == 8 * 32400 && info.known_blocks == 143316000 &&
		   info.surfaces == 8 && strcmp(info.layout, "cylinder") == 0,
	   "its tracks, blocks, surfaces and layout are reported");
	ok(fabs(info.seek_s - 0.0083) < 1e-9,
	   "a third of the stroke and half a revolution take 8.3 ms");
	rig_close(&r);
	ok(rig_open(&r, plain), "a drive of one zone");
	sp_geometry_info(r.g, &info);
	p.blocks = 200000;
	r.m->ops->serve(r.m, r.dev.state, 0, &p, &s);
	seconds = (double)s.done_ns * 1e-9 / (p.blocks * 512.0 / 1048576);
	ok(fabs(info.transfer_s_per_mib - seconds) < 0.005 * seconds,
	   "a MB takes what the device takes in sequence (%.5f and %.5f s)",
	   info.transfer_s_per_mib, seconds);
	rig_close(&r);
	ok(rig_open(&r, line), "a device without tracks has a geometry too");
	sp_geometry_info(r.g, &info);
	ok(!info.tracks && fabs(info.transfer_s_per_mib - 0.3) < 1e-6 &&
		   fabs(info.seek_s - 0.007) < 1e-6,
	   "with t and s of its model");
	ok(sp_geometry_track(r.g, 0, &t) == SP_EUNSUP &&
		   sp_geometry_reach(r.g, SP_GEOMETRY_READ, 90, &n) == SP_EUNSUP &&
		   sp_geometry_adjacent(r.g, 0, 1, SP_GEOMETRY_READ, 0, &n) == SP_EUNSUP,
	   "and says that questions about tracks are not for it");
	rig_close(&r);
	ok(rig_open(&r, "mems-thesis"), "so has MEMS storage");
	sp_geometry_info(r.g, &info);
	ok(!info.tracks && fabs(info.transfer_s_per_mib * 62.4e6 / 1048576 - 1) < 0.02 &&
		   info.seek_s > 0.0004 && info.seek_s < 0.0008,
	   "%.5f s for a MiB and %.5f s for a seek", info.transfer_s_per_mib, info.seek_s);
	ok(sp_geometry_track(r.g, 0, &t) == SP_EUNSUP &&
		   sp_geometry_adjacent(r.g, 0, 1, SP_GEOMETRY_READ, 0, &n) == SP_EUNSUP,
	   "without tracks");
	rig_close(&r);
}

/* Zones shorter than a hop. */
static void small(void)
{
	uint64_t d = 0;
	struct rig r;

	ok(rig_open(&r, "tiny") && sp_geometry_reach(r.g, SP_GEOMETRY_READ, 360, &d) == 0 &&
		   d == 26 * 3 - 1,
	   "hops over several short zones are known too");
	rig_close(&r);
}

/* Angles of a geometry are those of the device: blocks in sequence complete that far apart. */
static void angles(const char *model, const char *name)
{
	struct sp__rng rng = { 3 };
	bool good = true;
	struct rig r;

	ok(rig_open(&r, model), "%s opens", name);
	for (int i = 0; i < 300; i++) {
		uint64_t lbn = sp__rng_below(&rng, r.m->blocks - 1);
		struct sp_track a, b;
		uint64_t t0, t1;
		double turned;

		if (sp_geometry_track(r.g, lbn, &a))
			good = false;
		lbn = a.first; /* the first block of a track, then that of the next one */
		if (sp_geometry_track_number(r.g, a.number + 1, &b))
			continue;
		serve(&r, lbn, false);
		t0 = r.now;
		serve(&r, b.first, false);
		t1 = r.now;
		turned = (double)(t1 - t0) / r.g->period_ns * 360 - (b.angle_deg - a.angle_deg) -
			 360.0 / b.blocks + 360.0 / a.blocks;
		if (fabs(remainder(turned, 360)) > 360.0 * 3 / a.blocks)
			good = false;
	}
	ok(good, "%s: tracks begin at the angles at which the device has them", name);
	rig_close(&r);
}

/* Tracks of spares are tracks, but nothing is on them, and nothing is adjacent there. */
static void empty_tracks(void)
{
	struct sp_track t;
	struct rig r;
	uint64_t to;

	ok(rig_open(&r, spared) && r.m->blocks == 400 * 1200 - 6000 - 395 * 2 + 501 * 1000 - 41000,
	   "a slipped sector has taken one of the spares behind it");
	ok(sp_geometry_track(r.g, 0, &t) == 0 && t.number == 20 && t.blocks == 300 &&
		   t.angle_deg == 0,
	   "block 0 is behind the spares at the zone's begin, and angles count from it");
	ok(sp_geometry_track(r.g, 3 * 300 + 297, &t) == 0 && t.number == 23 && t.blocks == 298 &&
		   sp_geometry_track(r.g, 3 * 300 + 298, &t) == 0 && t.number == 24,
	   "the last track of a cylinder is short of its spares");
	ok(sp_geometry_track_number(r.g, 1600 + 800, &t) == 0 && t.blocks == 0 &&
		   sp_geometry_track(r.g, t.first, &t) == 0 && t.number == 1600 + 960,
	   "a track of spares has no blocks, the next one follows it");
	ok(sp_geometry_track_number(r.g, 1600 + 799, &t) == 0 &&
		   sp_geometry_adjacent(r.g, t.first, 1, SP_GEOMETRY_READ, 0, &to) == -ERANGE,
	   "and no block is adjacent there");
	rig_close(&r);
}

/* Of 9.375 ms: 0.9 + 0.2 + 0.05 + 0.01 for reads, 1.4 - 0.6 + 0.1 + 0.07 + 0.02 for writes. */
static void quick_writes(void)
{
	uint64_t reads = 0, writes = 0;
	double read, write;
	struct rig r;

	ok(rig_open(&r, quick) && sp_geometry_aim(r.g, SP_GEOMETRY_READ, &read) == 0 &&
		   fabs(read - 1.16 / 9.375 * 360) < 1e-9 &&
		   sp_geometry_aim(r.g, SP_GEOMETRY_WRITE, &write) == 0 &&
		   fabs(write - 0.99 / 9.375 * 360) < 1e-9,
	   "the aim of an operation is that of its own seeks, settling and overheads");
	ok(sp_geometry_reach(r.g, SP_GEOMETRY_READ, read, &reads) == 0 && reads == 12 * 3 &&
		   sp_geometry_reach(r.g, SP_GEOMETRY_WRITE, write, &writes) == 0 &&
		   writes == 20 * 3,
	   "and they reach as far as their own plateau");
	rig_close(&r);
}

int main(void)
{
	table_2_1();
	hops(snake, "cylinder serpentine with zones of each head");
	hops(bands, "hybrid serpentine with slips");
	hops(spared, "cylinder order with spares");
	hops(quick, "writes with seeks of their own");
	quick_writes();
	hops(surfaces, "surface serpentine with a bus");
	shipped();
	rounds();
	one_degree_less();
	equal_paths();
	apart();
	planner();
	small();
	angles(snake, "cylinder serpentine");
	angles(bands, "hybrid serpentine");
	angles(spared, "zones at angles of their own");
	empty_tracks();
	return done();
}
