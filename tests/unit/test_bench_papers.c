/* SPDX-License-Identifier: MIT */
/*
 * Figures of Hall & Bonnet 2005 on the model of their drive, in small: 100
 * seconds of virtual time for each point, 400 through the page cache.  The whole of it is
 * scripts/experiments/hb05.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/policy.h>
#include "tap.h"

#define S 1000000000ull
#define GB (1ull << 30)

static struct sp_bench_class classes[4];
static struct sp_bench *bench;
static uint64_t ramp_ns, runtime_ns;

static void reset(void)
{
	ramp_ns = 10 * S;
	runtime_ns = 100 * S;
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
				   .runtime_ns = runtime_ns,
				   .ramp_ns = ramp_ns,
				   .size_bytes = size_bytes,
				   .poisson = true,
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

static double mb_s(const struct sp_bench_stats *s)
{
	return s->bandwidth_bytes_per_s / 1e6;
}

static void depths(void)
{
	const struct sp_bench_result *r;

	reset();
	ok(within(mb_s(&run("deadline", 1, 1, 10 * GB)->total), 2.0, 0.15),
	   "figure 1: one outstanding read");
	r = run("deadline", 1, 64, 10 * GB);
	ok(within(mb_s(&r->total), 4.5, 0.15), "64 outstanding reads");
	ok(r->device_depths == 33, "figure 2: at most 32 are in the drive");
	classes[0].reads = 0;
	r = run("deadline", 1, 200, 10 * GB);
	ok(within(mb_s(&r->total), 4.1, 0.15), "200 outstanding writes");
	ok(within(r->total.latency_mean_ns / 1e6, 750, 0.15), "figure 3: and their latency");
	/* Once the page cache has as many dirty pages as it lets writers make. */
	ramp_ns = 300 * S;
	runtime_ns = 400 * S;
	r = run("deadline,cache=900M,page=16K,flush=10/40/5/30s/sweep,requests=128", 1, 1, 10 * GB);
	ok(within(mb_s(&r->total), 6.5, 0.15), "buffered writes");
}

/* Writes of two levels: percent of 200 outstanding are high ones. */
static const struct sp_bench_result *writes(const char *sched, int high, int low, unsigned percent)
{
	reset();
	classes[0].reads = classes[1].reads = 0;
	classes[0].depth = 2 * percent;
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_BE, high);
	classes[1].depth = 200 - 2 * percent;
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_BE, low);
	return run(sched, 2, 1, 10 * GB);
}

static void pool(void)
{
	static const char sched[] = "deadline-prio:pool=85/85/85/71/aging=1.65";
	const struct sp_bench_result *r = writes(sched, 2, 3, 10);

	ok(within(r->classes[0].latency_mean_ns / 1e6, 280, 0.15) &&
		   within(r->classes[1].latency_mean_ns / 1e6, 1000, 0.25),
	   "figure 7, one pool: a tenth of high priority");
	r = writes(sched, 2, 3, 30);
	ok(r->classes[0].latency_mean_ns < 350e6 * 1.15 &&
		   within(r->classes[1].latency_mean_ns / 1e6, 2000, 0.25),
	   "three tenths");
	r = writes(sched, 2, 3, 90);
	ok(within(r->classes[1].latency_mean_ns / 1e6, 2000, 0.25) &&
		   r->classes[0].latency_mean_ns < r->classes[1].latency_mean_ns &&
		   within(mb_s(&r->total), 4.0, 0.15),
	   "nine tenths: the low level is served, and still after the high one");
}

static void promotion(void)
{
	const struct sp_bench_result *r = writes("promote", 0, 4, 10);

	ok(r->classes[0].latency_mean_ns * 2 < r->classes[1].latency_mean_ns,
	   "section 5, queue promotion: a tenth of high priority");
	r = writes("promote", 0, 4, 90);
	ok(!r->total.starved && r->classes[1].longest_wait_ns < 6 * S,
	   "nine tenths: the low level is served");
	r = writes("promote:open", 0, 4, 20);
	ok(!r->classes[1].latency_max_ns && r->classes[1].starved,
	   "but not if more high ones than the drive holds join the active queue");
}

static void mix(void)
{
	const struct sp_bench_result *r;

	reset();
	classes[0].reads = classes[1].reads = 0;
	classes[0].depth = 20;
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_BE, 2); /* a deadline of 3 s */
	classes[1].depth = 180;
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_BE, 3); /* and one of 9 s */
	r = run("deadline-prio", 2, 1, 10 * GB);
	ok(within(r->classes[0].latency_mean_ns / 1e6, 280, 0.15),
	   "figure 7: a tenth of high priority");
	ok(within(r->classes[1].latency_mean_ns / 1e6, 1000, 0.25), "and the others");
	ok(within(mb_s(&r->total), 4.0, 0.15) && !r->total.starved, "at the same throughput");
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_RT, 4);
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	r = run("strict", 2, 1, 10 * GB);
	ok(r->classes[0].latency_mean_ns < 150e6 && r->classes[1].starved,
	   "strict classes starve the others");
}

/* 30 random reads per second next to three sequential readers of 85 each. */
static double beside(const char *sched, uint16_t high, uint16_t low)
{
	classes[0].rate = 30;
	classes[0].share = 0;
	classes[0].prio = high;
	classes[0].range_bytes = 8 * GB;
	for (unsigned i = 1; i < 4; i++) {
		classes[i].pattern = SP_BENCH_SEQUENTIAL;
		classes[i].rate = 85;
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
	ok(within(same / 1e6, 13, 0.15), "figure 8: random reads among sequential ones");
	strict = beside("strict", SP_BENCH_PRIO(SP_BENCH_RT, 4), SP_BENCH_PRIO(SP_BENCH_IDLE, 0));
	ok(strict < 0.9 * same, "a high priority speeds them up (%.1f ms)", strict / 1e6);
	ok(within(sp_bench_result(bench)->classes[1].iops, 85, 0.05),
	   "and the sequential ones keep their rate");
}

static struct sp_policy *policy;
static unsigned threads;

static const struct sp_policy_result *submit(enum sp_policy_load load,
					     enum sp_policy_submission submission, bool priorities,
					     unsigned passes)
{
	const char *target = "sim:ultrastar36lzx-like,sched=strict,merge=512K";
	struct sp_bench_opts o = { .targets = &target,
				   .ntargets = 1,
				   .depth = 128,
				   .runtime_ns = passes ? 0 : 100 * S,
				   .ramp_ns = passes ? 0 : 10 * S,
				   .size_bytes = 800ull << 20,
				   .seed = 1 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_policy_opts p;

	sp_policy_defaults(&p);
	p.load = load;
	p.submission = submission;
	p.priorities = priorities;
	p.passes = passes;
	p.clients = 16;
	p.compute_ns = 260000;
	p.threads = threads;
	p.critical_rate = passes ? 0 : 5;
	sp_policy_free(policy);
	if (sp_policy_run(&policy, &o, &p, &err)) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_policy_result(policy);
}

static void policies(void)
{
	const struct sp_policy_result *r;
	double pages, latency, without;

	r = submit(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE, false, 1);
	ok(within((double)r->bench->elapsed_ns / 1e9, 29, 0.02) && within(r->idle, 0.22, 0.25),
	   "figure 4: a scan by extents leaves the drive idle (260 us for a page are fitted)");
	threads = 1;
	r = submit(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE, false, 1);
	ok(within((double)r->bench->elapsed_ns / 1e9, 33, 0.05) && within(r->idle, 0.42, 0.15),
	   "longer if a thread reads them, which was not fitted");
	threads = 0;
	r = submit(SP_POLICY_SCAN, SP_POLICY_AGGRESSIVE, false, 1);
	ok(r->bench->elapsed_ns < 25 * S && r->idle < 0.04, "in a constant flow it does not");

	r = submit(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE, false, 0);
	pages = r->pages_per_s;
	latency = r->bench->classes[0].latency_mean_ns;
	ok(r->bench->classes[1].depth_ns[16] > 90 * S,
	   "figure 5: as many requests as clients are outstanding");
	r = submit(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE, false, 0);
	without = r->bench->classes[0].latency_mean_ns;
	r = submit(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE, true, 0);
	ok(r->pages_per_s > 1.1 * pages, "batches bring throughput");
	ok(r->bench->classes[0].latency_mean_ns < 1.25 * latency && without > 2 * latency,
	   "and priorities keep the latency of others");
}

int main(void)
{
	depths();
	mix();
	pool();
	promotion();
	sequential();
	policies();
	sp_policy_free(policy);
	sp_bench_free(bench);
	return done();
}
