/* SPDX-License-Identifier: MIT */
/*
 * Drives that are hard to probe: noisy hosts, one surface, a seek curve without a clear
 * plateau.  What is said is right, or said to be unknown.
 */
#define TAP_SLOW
#include <unistd.h>
#include "dev/geometry.h"
#include "probecase.h"

#define QUIET "20us/2%/1ms"

static void test_noise(const char *model, const char *noise, unsigned seeds)
{
	unsigned honest = 0, reach = 0, doubled = 0;

	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct probecase c = probecase_run(model, noise, seed);

		honest += probecase_honest(&c);
		reach += probecase_reach_right(&c);
		doubled += c.doubled;
		if (seed == 1)
			probecase_cost(&c, noise);
		probecase_free(&c);
	}
	ok(honest == seeds, "%s with %s: boundaries are exact or unknown in %u of %u probes", model,
	   noise, honest, seeds);
	ok(!doubled, "no two tracks are taken for one");
	ok(reach == seeds, "D is right in %u", reach);
}

/* Some in which noise leaves in doubt whether the plateau of settling ends. */
static void test_doubtful(void)
{
	static const unsigned seeds[] = { 1061, 1169 };

	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		struct probecase c = probecase_run("atlas10k3-like", "200us", seeds[i]);

		ok(probecase_exact(&c) && probecase_reach_right(&c),
		   "uncertain hops are measured again (D %" PRIu64 ")", c.reach);
		probecase_free(&c);
	}
}

static void test_one_surface(const char *path)
{
	static const char *const noises[] = { "", QUIET, "100us" };

	probecase_write(path, "\"rpm\":7200,\"surfaces\":1,\"layout\":\"cylinder\",\"zones\":["
			      "{\"first_cyl\":0,\"last_cyl\":2999,\"spt\":500,\"track_skew\":60,"
			      "\"cyl_skew\":90},{\"first_cyl\":3000,\"last_cyl\":5999,\"spt\":460,"
			      "\"track_skew\":55,\"cyl_skew\":84}]");
	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++) {
		struct probecase c = probecase_run(path, noises[i], 1);

		ok(probecase_exact(&c) && probecase_layout_right(&c) && probecase_reach_right(&c),
		   "one surface with two zones is not taken for cylinders of three (%s)",
		   noises[i]);
		probecase_cost(&c, noises[i]);
		probecase_free(&c);
	}
}

/* Head switch and step to the next cylinder are hardly distinguishable. */
static void test_cheetah(void)
{
	static const char *const noises[] = { "", QUIET, "50us/5%/1ms", "100us" };

	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++) {
		struct probecase c = probecase_run("cheetah36es-like", noises[i], 1);

		ok(probecase_exact(&c) && probecase_honest(&c) && c.reach == 48,
		   "D of cheetah36es-like is 48 (%s)", noises[i]);
		ok(c.r && (c.r->layout ? c.r->settle_cylinders == 12 && c.r->surfaces == 4
				       : i > 2 && !c.r->settle_cylinders),
		   "its arm settles within 12 cylinders, or that is not known");
		probecase_cost(&c, noises[i]);
		probecase_free(&c);
	}
}

/* Heads with lengths of their own cost hardly more than equal ones. */
static void test_heads(const char *path)
{
	static const struct {
		unsigned surfaces;
		const char *layout, *spt[2];
	} drives[] = {
		{ 3, "cylinder", { "500", "460" } },
		{ 3, "cylinder", { "[502,500,494]", "[462,460,454]" } },
		{ 3, "cylinder-serpentine", { "[502,500,494]", "[462,460,454]" } },
		{ 8,
		  "cylinder",
		  { "[502,500,494,498,504,496,501,497]", "[462,460,454,458,464,456,461,457]" } },
	};
	uint64_t equal = 0;

	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		struct probecase c;
		char rest[700];

		snprintf(rest, sizeof(rest),
			 "\"rpm\":7200,\"surfaces\":%u,\"layout\":\"%s\",\"zones\":["
			 "{\"first_cyl\":0,\"last_cyl\":2999,\"spt\":%s,\"track_skew\":60,"
			 "\"cyl_skew\":90},{\"first_cyl\":3000,\"last_cyl\":5999,\"spt\":%s,"
			 "\"track_skew\":55,\"cyl_skew\":84}]",
			 drives[i].surfaces, drives[i].layout, drives[i].spt[0], drives[i].spt[1]);
		probecase_write(path, rest);
		c = probecase_run(path, QUIET, 1);
		ok(probecase_exact(&c) && probecase_layout_right(&c) && probecase_reach_right(&c),
		   "%s of %u surfaces with %s blocks on a track is exact", drives[i].layout,
		   drives[i].surfaces, drives[i].spt[0]);
		probecase_cost(&c, drives[i].spt[0]);
		if (!i && c.r)
			equal = c.r->cost.reads;
		ok(c.r && c.r->cost.reads <= 3 * equal,
		   "with at most three times the reads of equal heads");
		probecase_free(&c);
	}
}

/* A surface after the other, each far longer than any pattern of skews, and slipped blocks. */
static void test_surfaces(const char *path)
{
	struct probecase c;

	probecase_write(
		path,
		"\"rpm\":7200,\"surfaces\":4,\"layout\":\"surface-serpentine\",\"zones\":["
		"{\"first_cyl\":0,\"last_cyl\":2999,\"spt\":500,\"track_skew\":60,"
		"\"cyl_skew\":90},{\"first_cyl\":3000,\"last_cyl\":5999,\"spt\":460,"
		"\"track_skew\":55,\"cyl_skew\":84}],\"slips\":[[14,1,3],[700,3,60],[701,0,0],"
		"[2999,2,499],[3000,0,7],[4100,1,80],[5999,3,1]]");
	c = probecase_run(path, QUIET, 1);
	ok(probecase_exact(&c) && probecase_layout_right(&c) && probecase_reach_right(&c),
	   "surfaces of 3000 tracks with slipped blocks are exact");
	probecase_cost(&c, "surfaces");
	probecase_free(&c);
}

/* The direction of heads shows where a switch takes longer than a step. */
static void test_directions(const char *path)
{
	static const struct {
		const char *layout, *switch_ms;
		bool known;
	} drives[] = { { "cylinder", "0.9", true },
		       { "cylinder-serpentine", "0.9", true },
		       { "cylinder-serpentine", "0.6", false } };

	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		struct probecase c;
		char rest[500];

		snprintf(rest, sizeof(rest),
			 "\"rpm\":7200,\"surfaces\":4,\"layout\":\"%s\",\"head_switch_ms\":%s,"
			 "\"zones\":[{\"first_cyl\":0,\"last_cyl\":5999,\"spt\":500,"
			 "\"track_skew\":72,\"cyl_skew\":100}]",
			 drives[i].layout, drives[i].switch_ms);
		probecase_write(path, rest);
		c = probecase_run(path, QUIET, 1);
		ok(probecase_exact(&c) && probecase_layout_right(&c) && probecase_reach_right(&c) &&
			   probecase_says_unknown(&c, "direction of heads") == !drives[i].known,
		   "%s with a switch of %s ms: direction is %s", drives[i].layout,
		   drives[i].switch_ms, drives[i].known ? "known" : "unknown");
		probecase_free(&c);
	}
}

/*
 * Sixteen surfaces whose ends do not show are not one; neither are bands of 16 or 200 tracks, and
 * bands of 8 are not cylinders; a remapped block where a track would begin if its cylinder had no
 * spares is not the start of one.
 */
static void test_mistaken(const char *path)
{
	static const char *const drives[][3] = {
		{ "\"rpm\":7200,\"surfaces\":16,\"layout\":\"surface-serpentine\",\"zones\":["
		  "{\"first_cyl\":0,\"last_cyl\":1999,\"spt\":500,\"track_skew\":72,"
		  "\"cyl_skew\":72,\"band_skew\":72}]",
		  "20us", "seemingly one surface" },
		{ "\"rpm\":544,\"surfaces\":5,\"layout\":\"hybrid-serpentine\",\"band_tracks\":16,"
		  "\"zones\":[{\"first_cyl\":0,\"last_cyl\":2399,\"spt\":500,\"track_skew\":12,"
		  "\"cyl_skew\":12,\"band_skew\":12}]",
		  "20us", "seemingly one surface with bands of 16 tracks" },
		{ "\"rpm\":544,\"surfaces\":5,\"layout\":\"hybrid-serpentine\",\"band_tracks\":200,"
		  "\"zones\":[{\"first_cyl\":0,\"last_cyl\":2399,\"spt\":500,\"track_skew\":12,"
		  "\"cyl_skew\":12,\"band_skew\":12}]",
		  "20us", "seemingly one surface with bands of 200 tracks" },
		{ "\"rpm\":4200,\"surfaces\":8,\"layout\":\"hybrid-serpentine\",\"band_tracks\":8,"
		  "\"head_switch_ms\":0.97,\"seek_ms\":[[1,0.54],[16,0.629],[17,0.952],[160,1.552],"
		  "[599,6.188]],\"zones\":[{\"first_cyl\":0,\"last_cyl\":599,\"spt\":502,"
		  "\"track_skew\":47,\"cyl_skew\":47,\"band_skew\":47}]",
		  "200us/2%/1ms", "seemingly cylinders of eight surfaces" },
		{ "\"rpm\":10000,\"surfaces\":14,\"layout\":\"cylinder\",\"head_switch_ms\":1,"
		  "\"zones\":[{\"first_cyl\":0,\"last_cyl\":1231,\"spt\":1053,\"track_skew\":202,"
		  "\"cyl_skew\":264,\"spares\":[[14735,7,14742]],\"remaps\":[[766591,44225]]}]",
		  "50us/2%/1ms", "seemingly the start of a track" }
	};

	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		unsigned honest = 0;

		probecase_write(path, drives[i][0]);
		for (unsigned seed = 1; seed <= 3; seed++) {
			struct probecase c = probecase_run(path, drives[i][1], seed);

			honest += probecase_honest(&c) &&
				  (!c.r->layout || probecase_layout_right(&c));
			probecase_free(&c);
		}
		ok(honest == 3, "%s, which is false: %u of 3 probes are honest", drives[i][2],
		   honest);
	}
}

/* Cylinders without skews of their own, of which two after the first are as near as each other. */
static void test_halves(const char *path)
{
	struct probecase c;

	probecase_write(path,
			"\"rpm\":10000,\"surfaces\":8,\"layout\":\"cylinder\",\"seek_ms\":[[1,0.6],"
			"[2,0.8],[3,0.8],[4,1],[5,1],[6,1.2],[7,1.2],[100,2],[1999,6]],\"zones\":["
			"{\"first_cyl\":0,\"last_cyl\":1999,\"spt\":500,\"track_skew\":90,"
			"\"cyl_skew\":90}]");
	c = probecase_run(path, "20us", 1);
	ok(probecase_exact(&c) && probecase_layout_right(&c),
	   "two cylinders of eight surfaces are not one of sixteen (%u)", c.r ? c.r->surfaces : 0);
	probecase_free(&c);
}

/* Some seeks of real drives are faster than shorter ones: on one surface much, else by a tenth. */
static void test_falling(const char *path)
{
	static const char *const drive[] = {
		"\"rpm\":7200,\"surfaces\":1,\"layout\":\"cylinder\",\"seek_ms\":[[1,1],[3,0.7],"
		"[8,0.9],[20,1.6],[40,1.3],[100,2],[5999,6]],\"zones\":[{\"first_cyl\":0,"
		"\"last_cyl\":1999,\"spt\":500,\"track_skew\":72,\"cyl_skew\":72}]",
		"\"rpm\":7200,\"surfaces\":4,\"layout\":\"cylinder\",\"head_switch_ms\":0.9,"
		"\"seek_ms\":[[1,1],[3,1.5],[5,1.35],[8,1.4],[20,1.6],[100,2],[400,3],[450,2.9],"
		"[1999,6]],\"zones\":[{\"first_cyl\":0,\"last_cyl\":999,\"spt\":500,"
		"\"track_skew\":62,\"cyl_skew\":84}]",
	};

	for (size_t i = 0; i < 2; i++) {
		unsigned right = 0;

		probecase_write(path, drive[i]);
		for (unsigned seed = 1; seed <= 3; seed++) {
			struct probecase c = probecase_run(path, "20us", seed);

			right += probecase_honest(&c) && probecase_layout_right(&c);
			probecase_free(&c);
		}
		ok(right == 3, "a drive on which some farther seeks are faster is found in %u of 3",
		   right);
	}
}

/* A bus of 5 MB/s, and read-ahead over several tracks. */
static void test_cache(const char *path)
{
	static const unsigned ahead[] = { 256, 1024, 2048 };

	for (size_t i = 0; i < sizeof(ahead) / sizeof(*ahead); i++) {
		struct probecase c;
		char rest[700];

		snprintf(rest, sizeof(rest),
			 "\"rpm\":10000,\"surfaces\":4,\"layout\":\"cylinder\",\"bus_mb_s\":5,"
			 "\"cache\":{\"segments\":8,\"segment_blocks\":%u,"
			 "\"readahead_blocks\":%u,\"read_hit_ms\":0.1},\"zones\":["
			 "{\"first_cyl\":0,\"last_cyl\":2999,\"spt\":686,\"track_skew\":81,"
			 "\"cyl_skew\":92},{\"first_cyl\":3000,\"last_cyl\":5999,\"spt\":622,"
			 "\"track_skew\":73,\"cyl_skew\":83}]",
			 2 * ahead[i], ahead[i]);
		probecase_write(path, rest);
		c = probecase_run(path, "20us", 1);
		ok(probecase_exact(&c) && probecase_layout_right(&c) && probecase_reach_right(&c),
		   "a drive that reads %u blocks ahead is exact", ahead[i]);
		ok(c.r && c.r->cache_looks == 16 && !c.r->cache_look_misses,
		   "hits and misses of the cache are checked again");
		ok(c.r && fabs(c.r->overhead_ns / 200e3 - 1) < 0.05 &&
			   fabs(c.r->bus_ns / 102.4e3 - 1) < 0.05,
		   "overhead (%.4f ms) and bus (%.4f ms) are distinguished within 5 %%",
		   c.r ? c.r->overhead_ns / 1e6 : 0, c.r ? c.r->bus_ns / 1e6 : 0);
		probecase_cost(&c, "cache");
		probecase_free(&c);
	}
}

/* A fast bus hardly shows through much noise. */
static void test_fast_bus(const char *path)
{
	unsigned honest = 0;

	probecase_write(path,
			"\"rpm\":10000,\"surfaces\":2,\"layout\":\"cylinder\",\"bus_mb_s\":150,"
			"\"cache\":{\"segments\":8,\"segment_blocks\":600,"
			"\"readahead_blocks\":600,\"read_hit_ms\":0.1},\"zones\":["
			"{\"first_cyl\":0,\"last_cyl\":5999,\"spt\":686,\"track_skew\":81,"
			"\"cyl_skew\":92}]");
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct probecase c = probecase_run(path, "200us", seed);

		honest += c.r && c.r->cache &&
			  (c.r->bus_ns == 0 || fabs(c.r->bus_ns / (512e3 / 150) - 1) < 0.05);
		probecase_free(&c);
	}
	ok(honest == 10, "a bus of 150 MB/s through 200 us is exact or unknown in %u of 10 probes",
	   honest);
}

/* It reads on to the end of the cylinder, whatever else is wanted. */
static void test_late(const char *path)
{
	struct probecase c;

	probecase_write(path,
			"\"rpm\":15000,\"surfaces\":4,\"layout\":\"cylinder-serpentine\","
			"\"head_switch_ms\":1.166,\"bus_mb_s\":134,"
			"\"cache\":{\"segments\":2,\"segment_blocks\":2421,"
			"\"readahead_blocks\":1550,\"read_hit_ms\":0.15,"
			"\"readahead_until\":\"end\",\"readahead_within\":\"cylinder\","
			"\"zero_latency\":true},\"zones\":[{\"first_cyl\":0,\"last_cyl\":2051,"
			"\"spt\":618,\"track_skew\":223,\"cyl_skew\":246},"
			"{\"first_cyl\":2052,\"last_cyl\":5999,\"spt\":597,\"track_skew\":215,"
			"\"cyl_skew\":237}]");
	c = probecase_run(path, "100us/2%/1ms", 1);
	ok(c.r && c.r->verdict == SP_PROBE_ROTATING && !c.r->nseeks && !c.r->overhead_ns &&
		   probecase_says_unknown(&c, "seek curve") && !c.r->layout && !c.reach,
	   "an arm that waits until the drive has read ahead shows no seeks (overhead %.4f ms)",
	   c.r ? c.r->overhead_ns / 1e6 : 0);
	ok(probecase_honest(&c), "and its tracks are right, or unknown");
	probecase_free(&c);
}

/* Shipped drives with caches, of which two take writes. */
static void test_named_caches(void)
{
	static const struct {
		const char *name;
		double overhead_ns, bus_ns;
	} drives[] = { { "barracuda4-like", 700e3, 25.6e3 },
		       { "ide300-like", 100e3, 5.12e3 },
		       { "ultrastar36lzx-like", 200e3, 3.2e3 } };

	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		struct probecase c = probecase_run(drives[i].name, "20us", 1);

		ok(c.r && c.r->cache && fabs(c.r->overhead_ns / drives[i].overhead_ns - 1) < 0.05 &&
			   fabs(c.r->bus_ns / drives[i].bus_ns - 1) < 0.05,
		   "%s: overhead (%.4f ms) and bus (%.4f ms) are right within 5 %%", drives[i].name,
		   c.r ? c.r->overhead_ns / 1e6 : 0, c.r ? c.r->bus_ns / 1e6 : 0);
		probecase_free(&c);
	}
}

static uint64_t within(const struct sp_geometry *g, enum sp_geometry_op op)
{
	return sp__hops_reach(&g->within[op], g->within[op].aim_deg);
}

/* Inside the rounds of a serpentine D is another one than from round to round. */
static void test_serpentine(void)
{
	struct probecase c = probecase_run("serpentine", QUIET, 1);
	const struct sp_geometry *g = c.r ? sp_probe_geometry(c.probe) : NULL;
	unsigned rounds = 0;

	for (size_t i = 0; g && i < g->nzones; i++)
		rounds += g->zones[i].round == 256;
	ok(g && g->nzones == 12 && rounds == 12, "rounds are known in each zone of serpentine");
	ok(g && within(g, SP_GEOMETRY_READ) == 21 && within(c.truth, SP_GEOMETRY_READ) == 21,
	   "D inside one is 21 tracks");
	ok(c.r && c.r->checks.round_hops >= 4 * 12 && !c.r->checks.round_hop_misses,
	   "they were held to four hops in each zone");
	probecase_free(&c);
}

/* Reported values were verified; those that fail are not reported. */
static void test_verified(void)
{
	struct probecase c = probecase_run("atlas10k3-like", QUIET, 1);

	ok(c.r && c.r->evidence.pairs == 32 && !c.r->evidence.pairs_together,
	   "distant blocks are read concurrently, and one after the other");
	ok(c.r && c.r->rechecked >= 3 * c.r->nzones && !c.r->recheck_misses,
	   "tracks of every zone are checked again (%u)", c.r ? c.r->rechecked : 0);
	ok(c.r && c.r->checks.layout_hops >= 8 && !c.r->checks.layout_hop_misses,
	   "the layout predicts hops that had no part in finding it");
	ok(c.r && c.r->checks.far_hops >= 20 &&
		   10 * c.r->checks.far_hop_misses <= c.r->checks.far_hops,
	   "the farthest tracks in reach are reached");
	ok(c.r && c.r->checks.write_hops >= 20 &&
		   10 * c.r->checks.write_hop_misses <= c.r->checks.write_hops,
	   "by writes, too");
	probecase_free(&c);
}

int main(void)
{
	char path[] = "/tmp/test-probe-XXXXXX.json";
	int fd = mkstemps(path, 5);

	if (fd < 0)
		return 2;
	close(fd);
	test_noise("atlas10k3-like", "50us/5%/1ms", 20);
	test_noise("atlas10k3-like", "100us", 20);
	test_noise("atlas10k3-like", "200us", 20);
	test_doubtful();
	test_one_surface(path);
	test_heads(path);
	test_cheetah();
	test_surfaces(path);
	test_directions(path);
	test_serpentine();
	test_mistaken(path);
	test_falling(path);
	test_halves(path);
	test_cache(path);
	test_named_caches();
	test_fast_bus(path);
	test_late(path);
	test_verified();
	unlink(path);
	return done();
}
