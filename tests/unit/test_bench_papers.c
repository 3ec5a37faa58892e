/* SPDX-License-Identifier: MIT */
/*
 * Figures 1 to 3, 7 and 8 of Hall & Bonnet 2005 on the model of their drive,
 * in small: 100 seconds of virtual time for each point.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/bench.h>
#include "tap.h"

#define S 1000000000ull
#define GB (1ull << 30)

static struct sp_bench_class classes[4];
static struct sp_bench *bench;

static void reset(void)
{
	for (int i = 0; i < 4; i++)
		classes[i] = (struct sp_bench_class){ .name = "class",
						      .share = i == 0,
						      .reads = 1,
						      .bytes = 16384,
						      .pattern = SP_BENCH_RANDOM };
}

static const struct sp_bench_result *run(const char *sched, size_t nclasses, unsigned depth,
					 uint64_t size_bytes)
{
	char text[128];
	const char *target = text;
	struct sp_bench_opts o = { .targets = &target,
				   .ntargets = 1,
				   .classes = classes,
				   .nclasses = nclasses,
				   .depth = depth,
				   .runtime_ns = 100 * S,
				   .ramp_ns = 10 * S,
				   .size_bytes = size_bytes,
				   .seed = 1 };
	struct sp_errinfo err = SP_ERRINFO_INIT;

	snprintf(text, sizeof(text), "sim:ultrastar36lzx-like,sched=%s", sched);
	sp_bench_free(bench);
	if (sp_bench_run(&bench, &o, &err)) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_bench_result(bench);
}

static bool within(double got, double want, double share)
{
	diag("%.2f, wanted %.2f", got, want);
	return fabs(got - want) <= share * want;
}

static double mib(const struct sp_bench_stats *s)
{
	return s->bandwidth_bytes_per_s / (1 << 20);
}

static void depths(void)
{
	const struct sp_bench_result *r;

	reset();
	ok(within(mib(&run("deadline", 1, 1, 10 * GB)->total), 2.0, 0.15),
	   "figure 1: one outstanding read");
	r = run("deadline", 1, 64, 10 * GB);
	ok(within(mib(&r->total), 4.5, 0.15), "64 outstanding reads");
	ok(r->device_depths == 33, "figure 2: at most 32 are in the drive");
	classes[0].reads = 0;
	r = run("deadline", 1, 200, 10 * GB);
	ok(within(mib(&r->total), 4.1, 0.15), "200 outstanding writes");
	ok(within(r->total.latency_mean_ns / 1e6, 750, 0.15), "figure 3: and their latency");
}

static void mix(void)
{
	const struct sp_bench_result *r;

	reset();
	classes[0].reads = classes[1].reads = 0;
	classes[0].depth = 20;
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_RT, 4);
	classes[1].depth = 180;
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	r = run("deadline-prio:levels=3/9/group=51", 2, 1, 10 * GB);
	ok(within(r->classes[0].latency_mean_ns / 1e6, 280, 0.15),
	   "figure 7: a tenth of high priority");
	ok(within(r->classes[1].latency_mean_ns / 1e6, 1000, 0.25), "and the others");
	ok(within(mib(&r->total), 4.0, 0.15) && !r->total.starved, "at the same throughput");
	r = run("strict", 2, 1, 10 * GB);
	ok(r->classes[0].latency_mean_ns < 150e6 && r->classes[1].starved,
	   "strict classes starve the others");
}

/* Three sequential readers of 50 requests a second. */
static double beside(const char *sched, uint16_t high, uint16_t low)
{
	classes[0].depth = 1;
	classes[0].share = 0;
	classes[0].prio = high;
	classes[0].range_bytes = 8 * GB;
	for (unsigned i = 1; i < 4; i++) {
		classes[i].pattern = SP_BENCH_SEQUENTIAL;
		classes[i].rate = 50;
		classes[i].prio = low;
		classes[i].offset_bytes = (7 + i) * GB;
		classes[i].range_bytes = GB;
	}
	return run(sched, 4, 64, 12 * GB)->classes[0].latency_mean_ns;
}

static void sequential(void)
{
	double same, strict;

	reset();
	same = beside("deadline", 0, 0);
	strict = beside("strict", SP_BENCH_PRIO(SP_BENCH_RT, 4), SP_BENCH_PRIO(SP_BENCH_IDLE, 0));
	ok(strict < 0.97 * same,
	   "figure 8: a high priority speeds up random reads among sequential ones");
	diag("%.1f ms, %.1f ms", same / 1e6, strict / 1e6);
	ok(sp_bench_result(bench)->classes[1].iops > 49, "and the sequential ones keep their rate");
}

int main(void)
{
	depths();
	mix();
	sequential();
	sp_bench_free(bench);
	return done();
}
