/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes of a class apart: their counts and latencies, and the times of submissions.
 */
#define TAP_THREADS

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/bench.h>
#include "tap.h"

#define S 1000000000ull

static const char *target;
static struct sp_bench_class class;
static struct sp_bench_opts opts;
static struct sp_bench *bench;

/* Measures 4 outstanding requests, a share of which reads. */
static const struct sp_bench_result *run(const char *name, double reads)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	sp_bench_free(bench);
	target = name;
	class = (struct sp_bench_class){ .name = "all",
					 .share = 1,
					 .reads = reads,
					 .bytes = 16384,
					 .pattern = SP_BENCH_RANDOM };
	opts.targets = &target;
	opts.ntargets = opts.nclasses = 1;
	opts.classes = &class;
	opts.depth = 4;
	opts.seed = 1;
	opts.time_submissions = true;
	if (sp_bench_run(&bench, &opts, &err) && !bench) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_bench_result(bench);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void mixed(void)
{
	const struct sp_bench_side *reads, *writes;
	const struct sp_bench_stats *all;
	double mean;

	opts = (struct sp_bench_opts){ .runtime_ns = 20 * S };
	all = &run("sim:linear,merge=no", 0.7)->classes[0];
	reads = &all->sides[SP_BENCH_READS];
	writes = &all->sides[SP_BENCH_WRITES];
	ok(reads->requests == all->read_requests && writes->requests &&
		   reads->requests + writes->requests == all->requests &&
		   reads->bytes + writes->bytes == all->bytes,
	   "each request is a read or a write");
	mean = (reads->latency_mean_ns * (double)reads->requests +
		writes->latency_mean_ns * (double)writes->requests) /
	       (double)all->requests;
	ok(near(mean, all->latency_mean_ns), "the mean of all is that of both");
	ok(reads->latency_stddev_ns > 0 && !reads->submission.count && !reads->completion.count,
	   "a simulated submission is not timed");
	ok(sp_bench_side_quantile(bench, 0, SP_BENCH_READS, 0.5) == reads->latency_p50_ns &&
		   sp_bench_side_below(bench, 0, SP_BENCH_WRITES, UINT64_MAX) == writes->requests &&
		   !sp_bench_side_below(bench, 0, SP_BENCH_WRITES, 2),
	   "quantiles and counts of one side");
}

static void timed(void)
{
	const struct sp_bench_side *reads, *writes;

	opts = (struct sp_bench_opts){ .engine = "null",
				       .size_bytes = 1 << 20,
				       .total_bytes = 1000 * 16384 };
	reads = &run("nothing", 1)->total.sides[SP_BENCH_READS];
	writes = &sp_bench_result(bench)->total.sides[SP_BENCH_WRITES];
	ok(reads->submission.count == 1000 && reads->completion.count == 1000 &&
		   near(reads->submission.mean_ns + reads->completion.mean_ns,
			reads->latency_mean_ns),
	   "submission and the time after it are the latency");
	ok(!writes->requests && writes->latency_mean_ns == 0 &&
		   !sp_bench_side_quantile(bench, 0, SP_BENCH_WRITES, 0.5),
	   "a side without requests has no times");
}

int main(void)
{
	mixed();
	timed();
	sp_bench_free(bench);
	return done();
}
