/* SPDX-License-Identifier: MIT */
/*
 * Geometries made by hand: tracks and gaps, adjacent blocks to the exact block,
 * curves, files and what is refused in them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dev/geometry.h"
#include "tap.h"

static char dir[] = "/tmp/geometry-XXXXXX";

static void in_dir(char *path, size_t n, const char *name)
{
	snprintf(path, n, "%s/%s", dir, name);
}

/*
 * An eighth of a revolution after angle 0: blocks 0..99: ten tracks of ten, a quarter revolution
 * of skew.  100..199 unknown.  200..227: tracks of 6 and 8 alternately,
 * one place slipped on the second.
 */
static struct sp_geometry *by_hand(void)
{
	struct sp__trackkind ten = { 10, 1 }, two[] = { { 6, 0 }, { 8, 2 } };
	struct sp__region a = { .tracks = 10,
				.start = UINT64_C(1) << 61,
				.skew_den = 4,
				.npattern = 1,
				.pattern = &ten };
	struct sp__region b = { .tracks = 4,
				.start = UINT64_C(5) << 61,
				.skew_den = 5,
				.npattern = 2,
				.pattern = two };
	const uint64_t slip = 7;
	struct sp_geometry *g = sp__geometry_alloc();
	int rc = 0;

	if (!g)
		return NULL;
	g->blocks = 300;
	g->block_bytes = 512;
	g->period_ns = 6.1e6;
	g->overhead_ns[SP_GEOMETRY_READ] = 1234.5;
	rc |= sp__geometry_text(&g->device, "two parts");
	rc |= sp__geometry_text(&g->source, "probe");
	rc |= sp__geometry_text(&g->verdict, "rotating");
	rc |= sp__geometry_add_zone(g, (struct sp__geozone){ 0 }, &a, NULL, 0, NULL);
	rc |= sp__geometry_add_zone(g, (struct sp__geozone){ .first_lbn = 200 }, &b, &slip, 1,
				    NULL);
	rc |= sp__hops_add(&g->hops[SP_GEOMETRY_READ], 1, 36);
	rc |= sp__hops_add(&g->hops[SP_GEOMETRY_READ], 3, 36.1);
	rc |= sp__hops_add(&g->hops[SP_GEOMETRY_READ], 4, 90);
	g->hops[SP_GEOMETRY_READ].aim_deg = 36;
	rc |= sp__geometry_add_seek(g, 1, 0.1);
	rc |= sp__geometry_add_seek(g, 10, 1e6 / 3);
	rc |= sp__geometry_add_unknown(g, "surfaces");
	rc |= sp__geometry_fact(g, "concentration", 0.987);
	rc |= sp__geometry_fact(g, "reads", 400);
	g->seek_in_tracks = g->partial = true;
	if (!rc && !sp__geometry_seal(g, NULL))
		return g;
	sp_geometry_free(g);
	return NULL;
}

static void tracks(void)
{
	struct sp_geometry *g = by_hand();
	struct sp_geometry_info info;
	struct sp_track t;
	struct sp_zone z;

	ok(g != NULL, "a geometry can be made by hand");
	ok(sp_geometry_track(g, 57, &t) == 0 && t.number == 5 && t.first == 50 && t.blocks == 10,
	   "a block's track is found");
	ok(fabs(t.angle_deg - 90) < 1e-9, "with its angle");
	ok(sp_geometry_track(g, 99, &t) == 0 && sp_geometry_track(g, 100, &t) == -ENODATA &&
		   sp_geometry_track(g, 199, &t) == -ENODATA,
	   "a block between known parts has no known track");
	ok(sp_geometry_track(g, 227, &t) == -ENODATA && sp_geometry_track(g, 299, &t) == -ENODATA &&
		   sp_geometry_track(g, 300, &t) == -ERANGE,
	   "a block after them has none; beyond the device there is none");
	ok(sp_geometry_track(g, 206, &t) == 0 && t.number == 11 && t.first == 206 && t.blocks == 7,
	   "a slipped place is not a block");
	ok(sp_geometry_track_number(g, 13, &t) == 0 && t.first == 219 && t.blocks == 8 &&
		   fabs(t.angle_deg - (180 + 144)) < 1e-9,
	   "track numbers continue after a gap");
	ok(sp_geometry_track_number(g, 14, &t) == -ERANGE, "and end with the last known track");
	sp_geometry_info(g, &info);
	ok(info.tracks && info.ntracks == 14 && info.known_blocks == 127 && info.zones == 2 &&
		   info.partial && !info.surfaces && !info.layout && !info.write_estimated &&
		   !strcmp(info.source, "probe"),
	   "known blocks are counted, unknown ones are not invented");
	ok(sp_geometry_zone(g, 1, &z) == 0 && z.first == 200 && z.blocks == 27 &&
		   z.first_track == 10 && z.track_blocks == 7,
	   "zones can be listed");
	ok(sp_geometry_zone(g, 2, &z) == -ERANGE, "to the last");
	sp_geometry_free(g);
}

static uint64_t adjacent(const struct sp_geometry *g, uint64_t lbn, uint64_t step, double extra)
{
	uint64_t to;
	int rc = sp_geometry_adjacent(g, lbn, step, SP_GEOMETRY_READ, extra, &to);

	return rc ? (uint64_t)(int64_t)rc : to;
}

static void adjacency(void)
{
	struct sp_geometry *g = by_hand();
	const uint64_t erange = (uint64_t)(int64_t)-ERANGE, einval = (uint64_t)(int64_t)-EINVAL;
	uint64_t to;

	/* From 0's end at 36 degrees, 36 on: 72; the blocks of track 1 begin at 90, 126, ... 54. */
	ok(adjacent(g, 0, 1, 0) == 10, "the first block after the aim is chosen");
	ok(adjacent(g, 0, 1, 18) == 10, "or the one at the aim");
	ok(adjacent(g, 0, 1, 18.001) == 11, "and a thousandth of a degree later the next one");
	ok(adjacent(g, 9, 1, 18) == 19 && adjacent(g, 9, 1, 18.001) == 10,
	   "round the end of the track as well");
	ok(adjacent(g, 0, 2, 0) == erange, "two tracks are beyond the reach of 36 degrees");
	ok(adjacent(g, 0, 3, 54) == 36, "but not of 90");
	/* 36 degrees from the end of 205 at 180; track 11 begins there, its second slipped. */
	ok(adjacent(g, 205, 1, 0) == 207, "after a gap a slipped place is skipped");
	ok(adjacent(g, 205, 1, 55) == 208, "and has its share of the angle");
	ok(adjacent(g, 95, 1, 0) == erange, "after the last track before a gap there is nothing");
	ok(adjacent(g, 226, 1, 0) == erange,
	   "the last track of all has no adjacent block after it");
	ok(adjacent(g, 150, 1, 0) == (uint64_t)(int64_t)-ENODATA, "an unknown block has none");
	ok(adjacent(g, 300, 1, 0) == erange, "a block that does not exist has none");
	ok(adjacent(g, 0, 0, 0) == einval && adjacent(g, 0, 1, -37) == einval &&
		   adjacent(g, 0, 1, (double)NAN) == einval,
	   "a hop to the same track or an aim below 0 is none");
	ok(sp_geometry_adjacent(g, 0, 1, SP_GEOMETRY_WRITE, 0, &to) == -ENODATA,
	   "writes that were not measured are not guessed");
	sp_geometry_free(g);
}

/*
 * Five tracks of four without skew; the last place of track 1 is slipped, and so is all of
 * track 2; the device ends two places before the end of track 4.
 */
static void ends_of_tracks(void)
{
	struct sp__trackkind four = { 4, 0 };
	struct sp__region r = { .tracks = 5, .skew_den = 1, .npattern = 1, .pattern = &four };
	const uint64_t slips[] = { 7, 8, 9, 10, 11 };
	struct sp_geometry *g = sp__geometry_alloc();
	struct sp_track t;
	int rc = 0;

	g->blocks = 13;
	g->block_bytes = 512;
	g->period_ns = 1e6;
	rc |= sp__geometry_text(&g->device, "d");
	rc |= sp__geometry_text(&g->source, "probe");
	rc |= sp__geometry_text(&g->verdict, "rotating");
	rc |= sp__geometry_add_zone(g, (struct sp__geozone){ 0 }, &r, slips, 5, NULL);
	rc |= sp__hops_add(&g->hops[SP_GEOMETRY_READ], 4, 80);
	ok(!rc && sp__geometry_seal(g, NULL) == 0, "a device may end inside a track");
	ok(sp_geometry_track(g, 12, &t) == 0 && t.number == 4 && t.first == 11 && t.blocks == 2,
	   "it has the right blocks");
	ok(adjacent(g, 1, 1, 0) == 4,
	   "after a slipped place at the end of a track comes its start");
	ok(adjacent(g, 1, 2, 0) == (uint64_t)(int64_t)-ERANGE, "a track without blocks has none");
	ok(adjacent(g, 3, 4, 0) == 12 && adjacent(g, 4, 3, 0) == 11,
	   "beyond the end of the device comes the start of its last track");
	sp_geometry_free(g);
}

static void curves(void)
{
	struct sp__hops h = { 0 };
	struct sp_geometry *g = by_hand();
	double w = 0;
	uint64_t n = 9;
	int rc = 0;

	ok(sp_geometry_reach(g, SP_GEOMETRY_READ, 35.9, &n) == 0 && n == 0,
	   "D below the curve is 0");
	ok(sp_geometry_reach(g, SP_GEOMETRY_READ, 36.1, &n) == 0 && n == 3,
	   "D at a step is its end");
	ok(sp_geometry_reach(g, SP_GEOMETRY_READ, 400, &n) == 0 && n == 4, "D is what is known");
	ok(sp_geometry_hop(g, SP_GEOMETRY_READ, 2, &w) == 0 && w == 36.1,
	   "a distance needs what its step says");
	ok(sp_geometry_hop(g, SP_GEOMETRY_READ, 5, &w) == -ERANGE, "if there is one");
	sp_geometry_free(g);

	/* The shape of a drive with a settle plateau to 4, and a bend far out. */
	static const double plateau[] = { 50, 56, 57, 57.5, 61, 62, 62.9, 63.7, 64.4, 65, 66.5 };
	for (uint64_t k = 0; k < sizeof(plateau) / sizeof(plateau[0]); k++)
		rc |= sp__hops_add(&h, k + 1, plateau[k]);
	ok(!rc && sp__hops_knee(&h, 6e6) == 57.5, "the aim is at the end of the plateau");
	ok(sp__hops_add(&h, 12, 60) == 0 && h.nsteps == 11 && h.steps[10].tracks == 12 &&
		   h.steps[10].w_deg == 66.5,
	   "a farther hop that needs less does not lower the curve");
	for (size_t i = 0; i < h.nsteps; i++)
		h.steps[i].w_deg /= 10;
	ok(sp__hops_knee(&h, 60e6) == 5.75,
	   "the knee does not move if the disk rotates more slowly");
	free(h.steps);
	h = (struct sp__hops){ 0 };
	for (uint64_t k = 1; k < 50; k++)
		rc |= sp__hops_add(&h, k, 40 + 10 * sqrt((double)k));
	ok(!rc && sp__hops_knee(&h, 6e6) == 50, "a curve without plateau has its aim at one track");
	free(h.steps);
}

static char *slurp(const char *path)
{
	char *text = calloc(1, 65536);
	FILE *f = fopen(path, "r");

	if (f && text)
		(void)!fread(text, 1, 65535, f);
	if (f)
		fclose(f);
	return text;
}

static void files(void)
{
	struct sp_geometry *g = by_hand(), *h = NULL;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char a[64], b[64], *x, *y;
	struct sp_track t, u;
	bool same = true;
	struct stat st;

	in_dir(a, sizeof(a), "a");
	in_dir(b, sizeof(b), "b");
	ok(sp_geometry_save(g, a, &err) == 0 && stat(a, &st) == 0 && (st.st_mode & 0400),
	   "a geometry is saved");
	ok(sp_geometry_load(&h, a, &err) == 0, "and loaded: %s", err.text);
	ok(sp_geometry_save(h, b, &err) == 0, "and saved again");
	x = slurp(a);
	y = slurp(b);
	ok(strlen(x) > 500 && strcmp(x, y) == 0, "to the same bytes");
	for (uint64_t i = 0; i < 300; i++) {
		int rc = sp_geometry_track(g, i, &t);

		same &= rc == sp_geometry_track(h, i, &u);
		if (!rc)
			same &= t.first == u.first && t.number == u.number &&
				t.angle_deg == u.angle_deg;
		same &= i >= 100 || adjacent(g, i, 1, 5) == adjacent(h, i, 1, 5);
	}
	ok(same, "with the same answers");
	ok(h->period_ns == 6.1e6 && h->hops[0].steps[1].w_deg == 36.1 &&
		   fabs(h->seeks[1].ns - 1e6 / 3) < 1e-8,
	   "and numbers to 15 digits");
	ok(h->partial && strstr(x, "\"partial\": true"), "a partial geometry says so");
	ok(strstr(x, "\"evidence\": {\"concentration\": 0.987, \"reads\": 400") &&
		   strstr(x, "\"unknown\": [\"surfaces\"]"),
	   "evidence and what is unknown are carried through");
	free(x);
	free(y);
	sp_geometry_free(h);
	ok(sp__geometry_text(&g->device, "\xff") == 0 && sp_geometry_save(g, b, &err) == 0 &&
		   sp_geometry_load(&h, b, &err) == 0 && strcmp(h->device, "\\377") == 0,
	   "a name that JSON cannot hold does not keep a geometry from being saved");
	sp_geometry_free(h);
	in_dir(b, sizeof(b), "no/such");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_geometry_save(g, b, &err) == -ENOENT && strcmp(err.path, b) == 0,
	   "a file that cannot be written is named");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_geometry_load(&h, b, &err) == -ENOENT && !h && strcmp(err.path, b) == 0,
	   "so is one that cannot be read");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_geometry_load(&h, dir, &err) == -EISDIR && !h, "a directory is none");
	sp_geometry_free(g);
}

static const char good_file[] =
	"{\"schema\":\"spindle.geometry/1\",\"source\":\"probe\",\"device\":\"d\","
	"\"verdict\":\"rotating\",\"blocks\":100,\"block_bytes\":512,"
	"\"period\":{\"num\":25000000,\"den\":3},\"surfaces\":2,"
	"\"hops\":{\"read\":{\"aim_deg\":40,\"steps\":[[1,40],[5,50.5]]}},"
	"\"seek\":{\"unit\":\"cylinders\",\"points\":[[1,1000],[9,5000]]},"
	"\"zones\":[{\"first_lbn\":0,\"tracks\":5,\"start\":\"0000000000000000\",\"skew_den\":10,"
	"\"pattern\":[[10,2]],\"slips\":[3,4]},"
	"{\"first_lbn\":60,\"tracks\":4,\"start\":\"8000000000000000\",\"skew_den\":8,"
	"\"pattern\":[[8,1],[12,3]]}]}";

static int load_text(const char *text, struct sp_geometry **g, struct sp_errinfo *err)
{
	char path[64];
	FILE *f;

	in_dir(path, sizeof(path), "text");
	f = fopen(path, "w");
	if (!f)
		return -errno;
	fputs(text, f);
	fclose(f);
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp_geometry_load(g, path, err);
}

static const struct {
	const char *from, *to, *field;
} faults[] = {
	{ "geometry/1", "geometry/2", "schema" },
	{ "\"source\":\"probe\"", "\"source\":\"guess\"", "source" },
	{ "\"device\":\"d\",", "", "device" },
	{ "\"rotating\"", "\"spinning\"", "verdict" },
	{ "\"blocks\":100", "\"blocks\":0", "blocks" },
	{ "\"blocks\":100", "\"blocks\":1.5", "blocks" },
	{ "\"blocks\":100,", "", "blocks: is missing" },
	{ "\"block_bytes\":512", "\"block_bytes\":\"512\"", "block_bytes" },
	{ "\"den\":3", "\"den\":0", "period.den" },
	{ "\"den\":3", "\"den\":3,\"ns\":4", "period.num: is not known" },
	{ "\"period\":{\"num\":25000000,\"den\":3},", "", "period" },
	{ "\"surfaces\":2", "\"surface\":2", "surface: is not known" },
	{ "[1,40],[5,50.5]", "[5,40],[5,50.5]", "hops.read.steps" },
	{ "[1,40],[5,50.5]", "[1,40],[5,30]", "hops.read.steps: member 1" },
	{ "[1,40],[5,50.5]", "[1],[5,50.5]", "hops.read.steps: member 0" },
	{ "[1,40],[5,50.5]", "", "hops.read.steps" },
	{ "\"aim_deg\":40", "\"aim_deg\":-1", "hops.read.aim_deg" },
	{ "\"read\":", "\"trim\":", "hops.trim: is not known" },
	{ "\"cylinders\"", "\"parsecs\"", "seek.unit" },
	{ "[[1,1000],[9,5000]]", "[[9,1000],[1,5000]]", "seek: the points do not ascend" },
	{ "\"tracks\":5", "\"tracks\":-5", "zones[0].tracks" },
	{ "\"tracks\":5", "\"tracks\":9", "zones[1].first_lbn: lies inside" },
	{ "\"tracks\":4", "\"tracks\":6", "zones[1].first_lbn: its last track" },
	{ "\"first_lbn\":60", "\"first_lbn\":100", "zones[1].first_lbn: lies past" },
	{ "\"8000000000000000\"", "\"8000\"", "zones[1].start" },
	{ "\"skew_den\":8", "\"skew_den\":0", "zones[1].skew_den" },
	{ "[[8,1],[12,3]]", "[[8,1],[12,8]]", "zones[1].pattern: member 1" },
	{ "[[8,1],[12,3]]", "[[8,1],[0,3]]", "zones[1].pattern: member 1" },
	{ "[[8,1],[12,3]]", "[]", "zones[1].pattern" },
	{ "[3,4]", "[4,3]", "zones[0]: slip 1" },
	{ "[3,4]", "[3,50]", "zones[0]: slip 1" },
	{ "\"zones\":", "\"unknown\":[3],\"zones\":", "unknown: member 0" },
	{ "\"zones\":", "\"evidence\":[],\"zones\":", "evidence" },
	{ "\"zones\":", "\"miss_rate\":1.5,\"zones\":", "miss_rate" },
	{ "\"zones\":", "\"blocks\":5,\"zones\":", "line 1: duplicate" },
	{ "\"zones\":", "\"zones\"", "line 1" },
	{ good_file, "[]", "not a JSON object" },
};

static void refusals(void)
{
	struct sp_errinfo err;
	struct sp_geometry *g;

	ok(load_text(good_file, &g, &err) == 0, "the file that is spoilt below is good: %s",
	   err.text);
	ok(fabs(g->period_ns - 25e6 / 3) < 1e-6, "with a period that no decimal fraction is");
	sp_geometry_free(g);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const char *at = strstr(good_file, faults[i].from);
		char text[2000];
		int rc;

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good_file), good_file,
			 faults[i].to, at + strlen(faults[i].from));
		rc = load_text(text, &g, &err);
		ok(rc == SP_EFORMAT && !g && strstr(err.text, faults[i].field) &&
			   strstr(err.path, "text"),
		   "refused: %s", err.text);
	}
}

static void without_tracks(void)
{
	static const char text[] =
		"{\"schema\":\"spindle.geometry/1\",\"source\":\"probe\",\"device\":\"flash\","
		"\"verdict\":\"not-rotating\",\"blocks\":100,\"block_bytes\":4096}";
	struct sp_errinfo err;
	struct sp_geometry_info info;
	struct sp_geometry *g;
	struct sp_track t;
	uint64_t n;
	double w;

	ok(load_text(text, &g, &err) == 0, "a device without tracks has a geometry: %s", err.text);
	sp_geometry_info(g, &info);
	ok(!info.tracks && strcmp(info.verdict, "not-rotating") == 0 && info.miss_rate < 0,
	   "that says so");
	ok(sp_geometry_track(g, 0, &t) == SP_EUNSUP &&
		   sp_geometry_track_number(g, 0, &t) == SP_EUNSUP &&
		   sp_geometry_adjacent(g, 0, 1, SP_GEOMETRY_READ, 0, &n) == SP_EUNSUP &&
		   sp_geometry_aim(g, SP_GEOMETRY_READ, &w) == SP_EUNSUP &&
		   sp_geometry_reach(g, SP_GEOMETRY_READ, 60, &n) == SP_EUNSUP &&
		   sp_geometry_hop(g, SP_GEOMETRY_READ, 1, &w) == SP_EUNSUP,
	   "and to all else that it has none");
	sp_geometry_free(g);
}

int main(void)
{
	char cmd[100];

	if (!mkdtemp(dir))
		return 1;
	tracks();
	adjacency();
	ends_of_tracks();
	curves();
	files();
	refusals();
	without_tracks();
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	(void)!system(cmd);
	return done();
}
