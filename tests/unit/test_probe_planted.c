/* SPDX-License-Identifier: MIT */
/*
 * Planted difficulties: layouts, speeds and gaps that a probe must find or report as unknown.
 */
#include <limits.h>
#include <unistd.h>
#include "dev/geometry.h"
#include "probe/state.h"
#include "probecase.h"

#define NOISE "20us"
#define SEEKS "\"seek_ms\":[[1,0.7],[8,0.9],[9,1.3],[100,2],[1999,6]],"

static void test_surface(const char *path)
{
	struct probecase c;

	probecase_write(path,
			SEEKS "\"rpm\":7200,\"surfaces\":4,\"cylinders\":2000,\"layout\":"
			      "\"surface-serpentine\",\"zones\":[{\"first_cyl\":0,\"last_cyl\":999,"
			      "\"spt\":400,\"track_skew\":60,\"cyl_skew\":70,\"band_skew\":80},"
			      "{\"first_cyl\":1000,\"last_cyl\":1999,\"spt\":360,\"track_skew\":54,"
			      "\"cyl_skew\":63,\"band_skew\":70}]");
	c = probecase_run(path, NOISE, 1);
	ok(probecase_exact(&c),
	   "tracks that cover a whole surface and return on the next are exact");
	ok(c.r && c.r->layout && !strcmp(c.r->layout, "surface-serpentine") && c.r->surfaces == 4,
	   "and their layout is right");
	probecase_free(&c);
}

static void test_speed(const char *path)
{
	struct probecase c;
	double ns = 6e10 / 5437;

	probecase_write(path, SEEKS
			"\"rpm\":5437,\"surfaces\":2,\"cylinders\":2000,\"layout\":\"cylinder\","
			"\"zones\":[{\"first_cyl\":0,\"last_cyl\":1999,\"spt\":400,"
			"\"track_skew\":60,\"cyl_skew\":70}]");
	c = probecase_run(path, NOISE, 1);
	ok(c.r && fabs(c.r->period_ns / ns - 1) < 5e-6,
	   "a speed that no drive has is found to 5 ppm");
	ok(probecase_exact(&c), "and the tracks are exact");
	probecase_free(&c);
}

static void test_heads(const char *path)
{
	struct probecase c;

	probecase_write(path, SEEKS
			"\"rpm\":10000,\"surfaces\":4,\"cylinders\":2000,\"layout\":\"cylinder\","
			"\"slips\":[[0,1,7],[3,2,100],[700,0,5],[700,0,6],[1999,3,2]],"
			"\"zones\":[{\"first_cyl\":0,\"last_cyl\":699,\"spt\":[400,396,404,398],"
			"\"track_skew\":60,\"cyl_skew\":70},{\"first_cyl\":700,"
			"\"last_cyl\":1999,\"spt\":[380,382,376,378],\"track_skew\":57,"
			"\"cyl_skew\":66}]");
	c = probecase_run(path, NOISE, 1);
	ok(probecase_exact(&c), "heads with tracks of different lengths, with slips, are exact");
	probecase_free(&c);
}

/* Spares at the end of each cylinder, and zones that begin at angles of their own. */
static void test_spares(const char *path)
{
	struct probecase c;

	probecase_write(path, SEEKS
			"\"rpm\":7200,\"surfaces\":4,\"cylinders\":2000,\"layout\":\"cylinder\","
			"\"zones\":[{\"first_cyl\":0,\"last_cyl\":699,\"spt\":400,"
			"\"track_skew\":60,\"cyl_skew\":70,\"spares\":[[1595,5,1600]]},"
			"{\"first_cyl\":700,\"last_cyl\":1999,\"spt\":380,\"track_skew\":57,"
			"\"cyl_skew\":66,\"start_skew\":133,\"spares\":[[1512,8,1520]]}]");
	c = probecase_run(path, NOISE, 1);
	ok(probecase_exact(&c), "last tracks that spares make short are exact");
	probecase_free(&c);
}

/* An emulated drive, which rotates ten or more times too slowly. */
static void test_slow(const char *path)
{
	static const unsigned rpms[] = { 300, 1900 };

	for (size_t i = 0; i < 2; i++) {
		const struct sp_probe_result *r;
		struct probecase c;
		char rest[500];

		snprintf(rest, sizeof(rest),
			 SEEKS
			 "\"rpm\":%u,\"surfaces\":3,\"cylinders\":2000,\"layout\":\"cylinder\","
			 "\"zones\":[{\"first_cyl\":0,\"last_cyl\":999,\"spt\":500,"
			 "\"track_skew\":60,\"cyl_skew\":90},{\"first_cyl\":1000,"
			 "\"last_cyl\":1999,\"spt\":460,\"track_skew\":55,\"cyl_skew\":84}]",
			 rpms[i]);
		probecase_write(path, rest);
		c = probecase_run(path, NOISE, 1);
		r = c.r;
		ok(r && fabs(r->period_ns * rpms[i] / 6e10 - 1) < 5e-6,
		   "%u revolutions a minute are not taken for twice as many", rpms[i]);
		ok(probecase_exact(&c), "and the tracks are exact");
		ok(r && r->layout && !strcmp(r->layout, "cylinder") && r->surfaces == 3,
		   "and the layout is right");
		ok(r && fabs(r->overhead_ns / 2e5 - 1) < 0.04, "and the overhead to 4 %% (%.4f ms)",
		   r ? r->overhead_ns / 1e6 : 0);
		ok(c.reach == 24 && c.true_reach == 24,
		   "D has the tracks that the arm reaches while it settles, also by the model");
		probecase_free(&c);
	}
}

/* A target that fails in a range of blocks, or that is not a disk but looks like one. */
static const struct sp__target_ops *base;
static uint64_t bad_first, bad_last;
static bool scrambled;

static int bad_transfer(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *s)
{
	int rc;

	if (scrambled)
		lbn = sp__mix64(lbn / 4) % t->blocks;
	rc = base->transfer(t, lbn, write, s);
	return lbn >= bad_first && lbn <= bad_last ? -EIO : rc;
}

/* Probes a device through other operations (NULL: its own), and without its last blocks. */
static struct sp_probe *
probe_as(const char *device, uint64_t lost,
	 int (*transfer)(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *s),
	 int (*stream)(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		       unsigned depth, struct sp__shot *s, uint64_t *elapsed_ns))
{
	struct sp_probe_opts opts = { .device = device };
	static struct sp__target_ops ops;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__target *t;
	struct sp_probe *p;

	if (sp__target_open(&t, &opts, &err))
		return NULL;
	base = t->ops;
	ops = *base;
	ops.transfer = transfer ? transfer : base->transfer;
	ops.stream = stream ? stream : base->stream;
	t->ops = &ops;
	t->blocks -= lost;
	if (sp__probe_on(&p, t, &opts, &err))
		diag("%s", err.text);
	return p;
}

static struct sp_probe *probe_bad(void)
{
	return probe_as("sim:atlas10k3-like,noise=" NOISE, 0, bad_transfer, NULL);
}

static void test_errors(void)
{
	struct sp_probe *p;
	const struct sp_probe_result *r;
	struct sp_geometry_info info;
	struct sp_track t;
	bool inside;

	bad_first = 30000000;
	bad_last = 30003000;
	p = probe_bad();
	r = p ? sp_probe_result(p) : NULL;
	if (!ok(r && r->verdict == SP_PROBE_ROTATING,
		"a probe survives blocks that cannot be read"))
		return;
	sp_geometry_info(sp_probe_geometry(p), &info);
	ok(info.known_blocks > info.blocks - 100000, "all but few of the blocks are known");
	ok(!sp_geometry_track(sp_probe_geometry(p), 100000000, &t) &&
		   (100000000 - 93765600) / 518 * 518 + 93765600 == t.first,
	   "tracks after them are exact");
	inside = !r->nbad || (r->bad[0][0] <= bad_last && r->bad[0][1] >= bad_first);
	ok(inside, "the parts reported as unreadable are");
	sp_probe_free(p);
}

static void test_layered(void)
{
	struct sp_probe *p;

	bad_first = UINT64_MAX;
	scrambled = true;
	p = probe_bad();
	ok(p && sp_probe_result(p)->verdict == SP_PROBE_LAYERED,
	   "a disk behind a layer that scatters its blocks is called layered");
	ok(p && !sp_probe_result(p)->nzones, "and no tracks are made up");
	sp_probe_free(p);
}

/* Without skews nothing shows where tracks begin, but blocks lie one behind the other. */
static void test_unseen(const char *path)
{
	char device[300];
	struct probecase c;
	struct sp_probe *p;

	probecase_write(path, SEEKS
			"\"rpm\":7200,\"surfaces\":2,\"cylinders\":2000,\"layout\":\"cylinder\","
			"\"zones\":[{\"first_cyl\":0,\"last_cyl\":1999,\"spt\":400,"
			"\"track_skew\":0,\"cyl_skew\":0}]");
	c = probecase_run(path, NOISE, 1);
	ok(c.r && c.r->verdict == SP_PROBE_INCONCLUSIVE,
	   "a disk whose tracks do not show is not called layered");
	probecase_free(&c);
	bad_first = 600000;
	bad_last = UINT64_MAX;
	scrambled = false;
	snprintf(device, sizeof(device), "sim:%s,noise=" NOISE, path);
	p = probe_as(device, 0, bad_transfer, NULL);
	ok(p && sp_probe_result(p)->verdict == SP_PROBE_INCONCLUSIVE,
	   "a track that is mostly unreadable is not one");
	sp_probe_free(p);
}

/* Stripes of many tracks look like tracks, and those of other arrays are a disk's. */
static void test_arrays(void)
{
	static const char *const devices[] = {
		"sim:atlas10k3-like,array=raid0:4",	"sim:atlas10k3-like,array=raid0:4/track",
		"sim:atlas10k3-like,array=raid0:4/1M",	"sim:cheetah36es-like,array=raid0:2/16M",
		"sim:barracuda4-like,array=raid0:4/1M", "sim:serpentine,array=raid10:4",
		"sim:atlas10k3-like,array=raid10:2",	"sim:atlas10k3-like,array=linear:2",
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		unsigned layered = 0;

		for (unsigned seed = 1; seed <= 5; seed++) {
			char device[100];
			struct sp_probe_opts opts = { .device = device, .seed = seed };
			struct sp_probe *p;

			snprintf(device, sizeof(device), "%s,noise=50us/5%%/1ms,seed=%u",
				 devices[i], seed);
			layered += !sp_probe_run(&p, &opts, NULL) &&
				   sp_probe_result(p)->verdict == SP_PROBE_LAYERED &&
				   sp_probe_result(p)->evidence.pairs >= 32 &&
				   !sp_probe_result(p)->nzones;
			sp_probe_free(p);
		}
		ok(layered == 5, "%s is layered in %u of 5 probes", devices[i], layered);
	}
}

/*
 * One band in the middle of the second zone is left out.  Neither lengths nor angles show it,
 * since they repeat with every band; from there on rounds begin a band later.
 */
#define ZONE_LBN (992 * 4 * 400)
#define LEFT_OUT (16 * 360)

static int skip_transfer(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *s)
{
	int rc;

	t->blocks += LEFT_OUT;
	rc = base->transfer(t, lbn < ZONE_LBN + 2048 * 360 ? lbn : lbn + LEFT_OUT, write, s);
	t->blocks -= LEFT_OUT;
	return rc;
}

static void test_rounds(const char *path)
{
	struct sp_probe *p;
	const struct sp_probe_result *r;
	const struct sp_geometry *g;
	char device[300];

	probecase_write(path,
			SEEKS "\"rpm\":7200,\"surfaces\":4,\"cylinders\":2000,\"band_tracks\":16,"
			      "\"layout\":\"hybrid-serpentine\",\"zones\":["
			      "{\"first_cyl\":0,\"last_cyl\":991,\"spt\":400,\"track_skew\":150,"
			      "\"cyl_skew\":70,\"band_skew\":170},{\"first_cyl\":992,"
			      "\"last_cyl\":1999,\"spt\":360,\"track_skew\":135,"
			      "\"cyl_skew\":63,\"band_skew\":135}]");
	snprintf(device, sizeof(device), "sim:%s,noise=" NOISE, path);
	p = probe_as(device, LEFT_OUT, skip_transfer, NULL);
	r = p ? sp_probe_result(p) : NULL;
	g = p ? sp_probe_geometry(p) : NULL;
	if (!ok(g && g->nzones == 2 && r->layout && !strcmp(r->layout, "hybrid-serpentine"),
		"a serpentine in whose second zone a band is left out has two zones"))
		return;
	ok(g->zones[0].round == 64 && r->checks.round_hops > 9,
	   "there are rounds in the first one, as nine hops say");
	ok(!g->zones[1].round && r->checks.round_hop_misses == 1,
	   "and none that hold in the other");
	sp_probe_free(p);
}

/* Probes a device with D of 32 tracks, of which a range of tracks may be written. */
static void probe_range(const char *path, unsigned tracks, struct sp_probe_result *r)
{
	char device[300];
	struct sp_probe_opts opts = { .device = device };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__target *t;
	struct sp_probe *p = NULL;

	snprintf(device, sizeof(device), "sim:%s,noise=" NOISE, path);
	if (!sp__target_open(&t, &opts, &err)) {
		t->write_first = 40000;
		t->write_blocks = 400 * tracks;
		if (sp__probe_on(&p, t, &opts, &err))
			diag("%s", err.text);
	}
	*r = p ? *sp_probe_result(p) : (struct sp_probe_result){ 0 };
	sp_probe_free(p);
}

static void test_write_range(const char *path)
{
	struct sp_probe_result r;

	probecase_write(path, SEEKS
			"\"rpm\":7200,\"surfaces\":4,\"cylinders\":2000,\"layout\":\"cylinder\","
			"\"zones\":[{\"first_cyl\":0,\"last_cyl\":1999,\"spt\":400,"
			"\"track_skew\":60,\"cyl_skew\":70}]");
	probe_range(path, 36, &r);
	ok(r.write_measured && !r.write_estimated && r.checks.write_hops == 40 &&
		   !r.checks.write_hop_misses,
	   "in a range a little longer than D writes are held to 40 far hops");
	probe_range(path, 28, &r);
	ok(r.write_measured && r.write_estimated && !r.checks.write_hops,
	   "in one of less than 15/16 of D far writes are predicted, and said to be");
}

/* A device that needs thrice the time for some of its windows of load, from one to another. */
#define WINDOW 1024 /* reads; points of other loads have others */
static unsigned window, slow_first, slow_last;

static int cut_stream(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		      unsigned depth, struct sp__shot *s, uint64_t *elapsed_ns)
{
	int rc = base->stream(t, lbns, n, blocks, depth, s, elapsed_ns);

	if (n == WINDOW && ++window >= slow_first && window <= slow_last)
		*elapsed_ns *= 3;
	return rc;
}

static void probe_cut(unsigned first, unsigned last, struct sp_probe_result *r)
{
	struct sp_probe *p;

	window = 0;
	slow_first = first;
	slow_last = last;
	p = probe_as("sim:flash,noise=" NOISE, 0, NULL, cut_stream);
	*r = p ? *sp_probe_result(p) : (struct sp_probe_result){ 0 };
	sp_probe_free(p);
}

static void test_throttled(void)
{
	struct sp_probe_result r;

	probe_cut(4, UINT_MAX, &r);
	ok(r.load.throttled && fabs(r.load.throttle_share - 1.0 / 3) < 0.05,
	   "a rate that falls to a third stays there (%.2f)", r.load.throttle_share);
	ok(r.load.throttle_looks == 10 && !r.load.throttle_look_misses, "as ten more windows say");
	probe_cut(4, 12, &r);
	ok(!r.load.throttled && r.load.throttle_share == 1,
	   "one that rises again soon after the windows of the verdict does not");
	ok(r.load.throttle_looks == 10 && r.load.throttle_look_misses == 8,
	   "as eight more windows say");
	probe_cut(4, 6, &r);
	ok(!r.load.throttled && !r.load.throttle_looks,
	   "one that rises within them is not checked again");
}

int main(void)
{
	char path[] = "/tmp/test-probe-XXXXXX.json";
	int fd = mkstemps(path, 5);

	if (fd < 0)
		return 2;
	close(fd);
	test_surface(path);
	test_speed(path);
	test_slow(path);
	test_heads(path);
	test_spares(path);
	test_errors();
	test_layered();
	test_unseen(path);
	test_arrays();
	test_rounds(path);
	test_write_range(path);
	test_throttled();
	unlink(path);
	return done();
}
