/* SPDX-License-Identifier: MIT */
/*
 * Round trip: what a model says is found again by timing alone, through the
 * noise of a host.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/probe.h>
#include "base/rng.h"
#include "predict/costs.h"
#include "tap.h"

#define TURNAROUND_NS 60000.0

static const char quiet[] = "20us/2%/1ms", loud[] = "50us/5%/1ms";

static struct sp_probe *probe(const char *device, bool quick)
{
	struct sp_probe_opts opts = { .device = device, .quick = quick, .seed = 3 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_probe *p;
	int rc = sp_probe_run(&p, &opts, &err);

	if (rc)
		diag("%s: %d %s", device, rc, err.text);
	return rc ? NULL : p;
}

static bool same_track(const struct sp_geometry *g, const struct sp_geometry *truth, uint64_t lbn)
{
	struct sp_track a, b;

	if (sp_geometry_track(truth, lbn, &b))
		return false;
	if (!sp_geometry_track(g, lbn, &a) && a.first == b.first && a.blocks == b.blocks)
		return true;
	diag("LBN %llu: track %llu + %u", (unsigned long long)lbn, (unsigned long long)b.first,
	     b.blocks);
	return false;
}

/* At every edge of a zone, and at random blocks. */
static bool same_tracks(const struct sp_geometry *g, const struct sp_geometry *truth)
{
	struct sp_geometry_info info;
	struct sp__rng rng = { 5 };
	struct sp_zone z;
	bool same = true;

	sp_geometry_info(truth, &info);
	for (unsigned i = 0; !sp_geometry_zone(truth, i, &z); i++) {
		same &= same_track(g, truth, z.first);
		same &= same_track(g, truth, z.first + z.blocks - 1);
	}
	for (unsigned i = 0; i < 500; i++)
		same &= same_track(g, truth, sp__rng_below(&rng, info.blocks));
	return same;
}

/* The largest difference of W, in degrees. */
static double worst_hop(const struct sp_geometry *g, const struct sp_geometry *truth,
			enum sp_geometry_op op, double period_ns)
{
	double worst = 0, w, want;

	for (uint64_t k = 1; k <= 1024; k++) {
		if (sp_geometry_hop(g, op, k, &w) || sp_geometry_hop(truth, op, k, &want))
			break;
		w -= want + TURNAROUND_NS / period_ns * 360;
		worst = fmax(worst, fabs(w));
	}
	return worst;
}

static double reads_per_zone(const struct sp_probe_result *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->nzones; i++)
		sum += (double)r->zones[i].reads;
	return r->nzones ? sum / (double)r->nzones : 0;
}

static void test_model(const char *model, const char *noise, double max_reads, const char *layout)
{
	struct sp_geometry *truth;
	struct sp_geometry_info info;
	const struct sp_probe_result *r;
	const struct sp_geometry *g;
	struct sp_probe *p;
	char device[100];
	double off;

	snprintf(device, sizeof(device), "sim:%s,noise=%s,seed=1", model, noise);
	p = probe(device, false);
	if (!ok(p && !sp_geometry_model(&truth, model, NULL), "%s with %s is probed", model, noise))
		return;
	r = sp_probe_result(p);
	g = sp_probe_geometry(p);
	sp_geometry_info(truth, &info);
	ok(r->verdict == SP_PROBE_ROTATING, "%s rotates", model);
	off = fabs(r->period_ns / info.period_ns - 1) * 1e6;
	ok(off < 5, "its period is right to 5 ppm (%.2f)", off);
	ok(r->covers && same_tracks(g, truth), "its tracks are exact, at all edges of zones too");
	ok(r->layout && !strcmp(r->layout, layout) && r->surfaces == info.surfaces,
	   "its layout is %s with %u surfaces", layout, info.surfaces);
	off = worst_hop(g, truth, SP_GEOMETRY_READ, info.period_ns);
	ok(off < 1, "W of reads is right to a degree up to 1024 tracks (%.2f)", off);
	off = worst_hop(g, truth, SP_GEOMETRY_WRITE, info.period_ns);
	if (r->write_estimated)
		ok(r->nunknown, "W of writes is marked as an estimate");
	else
		ok(off < 1, "W of writes is right to a degree up to 1024 tracks (%.2f)", off);
	ok(reads_per_zone(r) <= max_reads, "a zone took %.0f reads, at most %.0f",
	   reads_per_zone(r), max_reads);
	ok(r->recheck_misses <= r->rechecked / 20, "boundaries are found again");
	ok(r->checks.guarded_hops == 100,
	   "100 hops to adjacent blocks: %u misses, %u with %.0f degrees more",
	   r->checks.hop_misses, r->checks.guarded_hop_misses, r->checks.conservatism_deg);
	sp_probe_free(p);
	sp_geometry_free(truth);
}

static void test_models(void)
{
	/* The prototype's reads for a zone; tiny is all exceptions: slips in zones of 20 tracks. */
	static const struct {
		const char *name, *layout;
		double reads[2];
	} models[] = {
		{ "atlas10k3-like", "cylinder", { 790, 1107 } },
		{ "cheetah36es-like", "cylinder", { 790, 1107 } },
		{ "ultrastar36lzx-like", "cylinder", { 790, 1107 } },
		{ "barracuda4-like", "cylinder", { 790, 1107 } },
		{ "ide300-like", "cylinder", { 790, 1107 } },
		{ "serpentine", "hybrid-serpentine", { 790, 1107 } },
		{ "tiny", "cylinder", { 2000, 2000 } },
	};

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		test_model(models[i].name, quiet, models[i].reads[0], models[i].layout);
		test_model(models[i].name, loud, models[i].reads[1], models[i].layout);
	}
	test_model("nearline6t-like", quiet, 790, "hybrid-serpentine");
}

/* Table 2.1 of the thesis, from timing alone: 15 degrees of overhead, 3.6 of turnaround. */
static void test_table(void)
{
	static const struct {
		double w_deg;
		uint64_t tracks;
	} rows[] = { { 66, 136 }, { 76, 176 }, { 86, 376 } };
	struct sp_probe *p = probe("sim:atlas10k3-like,noise=20us/2%/1ms,seed=4", false);
	const struct sp_geometry *g = p ? sp_probe_geometry(p) : NULL;
	uint64_t low = 0, high = 0;

	if (!ok(g, "the default drive is probed"))
		return;
	for (size_t i = 0; i < 3; i++) {
		double w = rows[i].w_deg + TURNAROUND_NS / 6e6 * 360;
		bool known = !sp_geometry_reach(g, SP_GEOMETRY_READ, w - 0.7, &low) &&
			     !sp_geometry_reach(g, SP_GEOMETRY_READ, w + 0.7, &high);

		ok(known && low <= rows[i].tracks && high >= rows[i].tracks,
		   "D(%.0f) = %llu lies between D at 0.7 degrees less and more (%llu, %llu)",
		   rows[i].w_deg, (unsigned long long)rows[i].tracks, (unsigned long long)low,
		   (unsigned long long)high);
	}
	ok(sp_probe_result(p)->settle_cylinders == 17, "its arm settles within 17 cylinders");
	sp_probe_free(p);
}

static void test_trackless(void)
{
	static const char *const devices[] = { "sim:flash", "sim:flash,noise=50us/5%/1ms",
					       "sim:linear", "sim:linear,noise=20us" };

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct sp_probe *p = probe(devices[i], false);
		const struct sp_probe_result *r = p ? sp_probe_result(p) : NULL;
		struct sp_track t;

		ok(r && r->verdict == SP_PROBE_NOT_ROTATING, "%s does not rotate", devices[i]);
		ok(r && r->evidence.concentration < 2 * r->evidence.chance && !r->nzones,
		   "no period is found, and no tracks are invented");
		ok(r && r->load.nrates > 8 && r->load.rates[0].requests_s > 0,
		   "depths and sizes are measured instead");
		ok(p && sp_geometry_track(sp_probe_geometry(p), 0, &t) == SP_EUNSUP,
		   "its geometry says that there are no tracks");
		sp_probe_free(p);
	}
}

/* The costs that planners use: of flash of 60 us a page and 8 channels. */
static void test_rates(void)
{
	struct sp_probe *p = probe("sim:flash", false);
	struct sp__device_costs d = { 0 };

	if (p)
		d = sp__device_costs(sp_probe_geometry(p), false);
	ok(d.latency_s > 70e-6 && d.latency_s < 90e-6, "flash: a read alone takes %.1f us",
	   1e6 * d.latency_s);
	ok(d.requests_s > 80e3 && d.requests_s < 115e3, "%.0f reads per second at the knee",
	   d.requests_s);
	ok(d.transfer_s_per_mib > 3e-4 && d.transfer_s_per_mib < 5e-4,
	   "%.2f ms per MiB in long requests", 1e3 * d.transfer_s_per_mib);
	sp_probe_free(p);
}

static void test_quick(void)
{
	struct sp_probe *p = probe("sim:atlas10k3-like,noise=20us/2%/1ms", true);
	const struct sp_probe_result *r = p ? sp_probe_result(p) : NULL;
	struct sp_geometry *truth = NULL;
	struct sp_geometry_info info;
	bool same = r && !sp_geometry_model(&truth, "atlas10k3-like", NULL);

	for (size_t i = 0; same && i < r->nzones; i++)
		same = same_track(sp_probe_geometry(p), truth, r->zones[i].first + 5);
	ok(same && r->nzones == 3, "a quick probe knows some tracks of three places");
	ok(r && r->device_s < 60, "in less than a minute of the device's time (%.0f s)",
	   r ? r->device_s : 0);
	if (p)
		sp_geometry_info(sp_probe_geometry(p), &info);
	ok(p && info.known_blocks < info.blocks && !r->covers, "and says that it knows no more");
	sp_probe_free(p);
	sp_geometry_free(truth);
}

static volatile sig_atomic_t stop;

static void stop_in_zones(void *arg, enum sp_probe_step step, double done)
{
	(void)arg;
	stop = step == SP_PROBE_ZONES && done > 0.4;
}

static void test_stop(void)
{
	struct sp_probe_opts opts = { .device = "sim:atlas10k3-like,noise=20us/2%/1ms",
				      .stop = &stop,
				      .progress = stop_in_zones };
	struct sp_geometry *truth = NULL;
	struct sp_probe *p, *q;
	struct sp_geometry_info info;
	uint64_t reads;

	if (!ok(!sp_probe_run(&p, &opts, NULL) && sp_probe_result(p)->stopped,
		"a probe stops on request"))
		return;
	sp_geometry_info(sp_probe_geometry(p), &info);
	ok(info.partial && info.known_blocks > info.blocks / 4 && info.known_blocks < info.blocks,
	   "and keeps what it knows");
	stop = 0;
	opts.progress = NULL;
	opts.resume = sp_probe_geometry(p);
	if (!ok(!sp_probe_run(&q, &opts, NULL), "another one continues from there"))
		return;
	reads = sp_probe_result(q)->cost.reads;
	ok(!sp_geometry_model(&truth, "atlas10k3-like", NULL) &&
		   same_tracks(sp_probe_geometry(q), truth),
	   "to the same tracks as at one go (%llu reads)", (unsigned long long)reads);
	sp_probe_free(q);
	sp_probe_free(p);
	sp_geometry_free(truth);
}

static void test_verify(void)
{
	struct sp_probe_opts opts = { .device = "sim:atlas10k3-like,noise=20us/2%/1ms,seed=9" };
	struct sp_probe *p = probe(opts.device, false);
	struct sp_geometry *flash;
	struct sp_probe_verify v;

	if (!ok(p && !sp_probe_verify(&opts, sp_probe_geometry(p), 1000, &v, NULL),
		"responses of 1000 pairs are predicted"))
		return;
	ok(v.revolutions_right > 0.99, "lost revolutions too (%.4f)", v.revolutions_right);
	ok(v.demerit_ns < 0.03 * v.mean_ns, "the distributions differ by %.3f ms",
	   v.demerit_ns / 1e6);
	sp_probe_free(p);
	ok(!sp_geometry_model(&flash, "flash", NULL) &&
		   sp_probe_verify(&opts, flash, 10, &v, NULL) == SP_EUNSUP,
	   "a geometry without tracks predicts nothing");
	sp_geometry_free(flash);
}

static void test_refusals(void)
{
	struct sp_probe_opts opts = { .device = "sim:nosuch" };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_probe *p;

	ok(sp_probe_run(&p, &opts, &err) == -ENOENT && strstr(err.text, "tiny"),
	   "an unknown model is refused with the names of the known");
	opts.device = "/nonexistent/device";
	ok(sp_probe_run(&p, &opts, NULL) == -ENOENT && !p, "a missing device is refused");
	opts.device = "/";
	ok(sp_probe_run(&p, &opts, NULL) == -EISDIR, "so is a directory");
	opts.device = "/dev/null";
	ok(sp_probe_run(&p, &opts, NULL) == SP_EUNSUP, "and a path that is neither file nor disk");
}

int main(void)
{
	test_models();
	test_table();
	test_trackless();
	test_rates();
	test_quick();
	test_stop();
	test_verify();
	test_refusals();
	return done();
}
