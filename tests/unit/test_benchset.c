/* SPDX-License-Identifier: MIT */
/*
 * Sets of measurements on simulated devices, in virtual time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/benchset.h>
#include "tap.h"

#define S 1000000000ull

static const char *target;
static struct sp_bench_class class;
static struct sp_bench_opts bench;
static struct sp_benchset_opts opts;
static struct sp_benchset_mix mix;
static struct sp_benchset *set;
static struct sp_errinfo err;
static volatile sig_atomic_t stop;

static void reset(const char *t, unsigned depth, uint64_t seconds)
{
	target = t;
	class = (struct sp_bench_class){
		.name = "all", .share = 1, .reads = 1, .bytes = 16384, .pattern = SP_BENCH_RANDOM
	};
	bench = (struct sp_bench_opts){ .targets = &target,
					.ntargets = 1,
					.classes = &class,
					.nclasses = 1,
					.depth = depth,
					.runtime_ns = seconds * S,
					.seed = 1,
					.stop = &stop };
	opts = (struct sp_benchset_opts){ .bench = &bench };
	mix = (struct sp_benchset_mix){ .high = SP_BENCH_PRIO(SP_BENCH_RT, 4),
					.low = SP_BENCH_PRIO(SP_BENCH_IDLE, 0) };
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	stop = 0;
	sp_benchset_free(set);
	set = NULL;
}

static const struct sp_benchset_result *checked(int rc)
{
	if (rc || !set) {
		diag("failed: %d %s", rc, err.text);
		exit(1);
	}
	return sp_benchset_result(set);
}

/* The sentences under a table follow from the table. */
static void judge(const struct sp_benchset_result *r)
{
	const struct sp_benchset_point *p = r->points;
	size_t best = 0, at = 0, last = r->npoints - 1;
	bool min = true;

	while (p[at].depth != r->recommended.depth)
		at++;
	for (size_t i = 0; i < r->npoints; i++)
		if (p[i].total.iops.value > p[best].total.iops.value)
			best = i;
	for (size_t i = 0; i < at; i++)
		min &= p[i].total.iops.value < 0.9 * p[best].total.iops.value;
	ok(min && p[at].total.iops.value >= 0.9 * p[best].total.iops.value &&
		   r->recommended.iops == p[at].total.iops.value &&
		   r->throughput_knee.iops >= 0.95 * p[best].total.iops.value &&
		   r->recommended.low <= r->recommended.depth &&
		   r->recommended.depth <= r->recommended.high,
	   "%s: the recommended depth is the smallest with 90 %% in the table", target);
	ok(!r->rising || best == last, "and a rising throughput is highest at the last depth");
}

static double half(const struct sp_benchset_point *p)
{
	return p->total.iops.high - p->total.iops.value;
}

/* A drive where requests are near or far by chance, for little time. */
static void noisy_sweeps(void)
{
	static const struct {
		unsigned depth;
		uint64_t seconds;
	} sweeps[] = { { 32, 8 }, { 64, 10 }, { 16, 12 }, { 32, 15 }, { 16, 20 }, { 64, 20 } };
	bool quiet = false, smaller = false, tenth = false;

	for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
		const struct sp_benchset_result *r;
		size_t at = 0;

		reset("sim:ultrastar36lzx-like", sweeps[i].depth, sweeps[i].seconds);
		r = checked(sp_benchset_sweep(&set, &opts, &err));
		judge(r);
		while (r->points[at].depth != r->recommended.depth)
			at++;
		diag("recommended %u, noise %d, %u to %u alike", r->recommended.depth, r->noise,
		     r->alike_low, r->alike_high);
		ok(!at || (r->noise == SP_BENCHSET_NOISE_SMALLER) ==
				   (fmax(half(&r->points[at]), half(&r->points[at - 1])) >
				    fabs(r->points[at].total.iops.value -
					 r->points[at - 1].total.iops.value)),
		   "noise is reported if it exceeds the difference to the next smaller depth");
		quiet |= r->noise == SP_BENCHSET_NOISE_LOW;
		smaller |= r->noise == SP_BENCHSET_NOISE_SMALLER;
		tenth |= r->noise == SP_BENCHSET_NOISE_TENTH;
	}
	ok(quiet && smaller && tenth, "there was little and much of it");
}

static void sweeps(void)
{
	const struct sp_benchset_result *r;
	struct sp_benchset_knee first;
	bool always = true;
	double iops;

	reset("sim:linear,merge=no", 64, 300);
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	ok(r->simulated && r->elapsed_s <= 300 && r->rounds >= 3, "the time is kept");
	ok(r->knees && r->recommended.depth == 1 && r->latency_knee.depth == 1 &&
		   r->throughput_knee.depth == 1 && !r->rising,
	   "one request at a time is enough for a device that does one at a time");
	ok(r->points[0].total.iops.low <= r->points[0].total.iops.value &&
		   fabs(r->points[0].total.iops.value - 85.5) < 2,
	   "its throughput is known");
	for (size_t i = 0; i < r->npoints; i++) {
		const struct sp_benchset_stats *s = &r->points[i].total;
		double depth = s->iops.value * s->latency_mean_ns.value / 1e9;

		always &= fabs(depth / r->points[i].depth - 1) < 0.02;
	}
	ok(always, "throughput by latency is depth");
	for (size_t i = 0; i < r->npoints; i++)
		always &= fabs((double)r->points[i].total.requests / r->points[i].elapsed_s /
				       r->points[i].total.iops.value -
			       1) < 0.02;
	ok(always, "and requests by time are throughput: the first rounds are forgotten");
	reset("sim:ultrastar36lzx-like,sched=deadline", 256, 300);
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	first = r->recommended;
	iops = r->points[2].total.iops.value;
	diag("recommended %u (%u to %u) of %zu depths", first.depth, first.low, first.high,
	     r->npoints);
	judge(r);
	ok(r->knees && first.depth >= 16 && first.depth <= 128 && r->latency_knee.depth <= 4,
	   "a drive that sorts gains from depth");
	ok(r->npoints > 9, "there are more depths near the knees");
	for (size_t i = 1; i < r->npoints; i++)
		if (r->points[i].depth <= r->points[i - 1].depth)
			diag("point %zu is not in order", i);
	reset("sim:ultrastar36lzx-like,sched=deadline", 256, 300);
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	ok(r->recommended.depth == first.depth && r->points[2].total.iops.value == iops,
	   "the same again, to the last digit");
}

static void knees_of_little(void)
{
	const struct sp_benchset_result *r;

	reset("sim:ultrastar36lzx-like", 256, 3);
	ok(sp_benchset_sweep(&set, &opts, &err) == -ENODATA && !set,
	   "too little time for a request is an error");
	reset("sim:ultrastar36lzx-like", 256, 12);
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	ok(!r->knees && r->elapsed_s < 20, "too little time tells no knees");
	reset("sim:linear", 4, 10);
	opts.rounds = 2;
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	ok(r->rounds == 2 && !r->knees, "two rounds give no knees");
	reset("sim:linear", 4, 10);
	stop = 1;
	r = checked(sp_benchset_sweep(&set, &opts, &err));
	ok(r->stopped && !r->knees && r->rounds == 0, "a sweep stopped at the start has no result");
}

static void refusals(void)
{
	struct sp_bench_class classes[2];

	reset("sim:linear", 4, 10);
	bench.total_bytes = 1;
	ok(sp_benchset_sweep(&set, &opts, &err) == -EINVAL && !set,
	   "a sweep does not end by bytes");
	reset("sim:linear", 4, 10);
	bench.rate = 5;
	ok(sp_benchset_sweep(&set, &opts, &err) == -EINVAL && !set, "a sweep has no rate");
	reset("sim:linear", 4, 10);
	class.depth = 3;
	ok(sp_benchset_sweep(&set, &opts, &err) == -EINVAL && !set,
	   "classes with a depth are refused");
	reset("sim:nosuch", 4, 10);
	ok(sp_benchset_sweep(&set, &opts, &err) < 0 && !set && err.text[0],
	   "a target that there is not is an error");
	reset("sim:linear", 4, 10);
	bench.engine = "sync";
	ok(sp_benchset_sweep(&set, &opts, &err) < 0 && !set, "so is an engine without depth");
	reset("sim:linear", 4, 10);
	classes[0] = classes[1] = class;
	bench.classes = classes;
	bench.nclasses = 2;
	ok(sp_benchset_mix(&set, &opts, &mix, &err) == -EINVAL && !set, "a mix makes its classes");
}

static bool apart(struct sp_benchset_estimate e)
{
	return e.low > 1.1 || e.high < 1 / 1.1;
}

/* Of files: each slice starts an engine, whose eleventh to fifteenth requests fail. */
static void errors(void)
{
	char path[] = "benchsetXXXXXX";
	const struct sp_benchset_result *r;
	int fd = mkstemp(path);

	unlink(path);
	close(fd);
	reset(path, 4, 1);
	bench.create = SP_BENCH_CREATE_WRITTEN;
	bench.overwrite = bench.remove = bench.keep_going = bench.buffered = true;
	bench.size_bytes = 1 << 20;
	bench.engine = "fault:ERROR=EIO,NTH=11,COUNT=5:libaio";
	opts.rounds = 3;
	r = checked(sp_benchset_compare(&set, &opts, &bench, &err));
	ok(r->nerrors == 1 && r->errors[0].code == -EIO &&
		   r->errors[0].count >= r->points[0].total.errors + r->points[1].total.errors &&
		   r->points[0].total.errors == 5 * r->points[0].slices,
	   "errors of slices are errors of the set");
	sp_benchset_free(set);
	set = NULL;
}

/* Each line agrees with itself, and the verdict with the lines. */
static void judge_mix(const struct sp_benchset_result *r)
{
	bool lines = true, any = false, one = false;

	for (size_t i = 0; i < r->npoints; i++) {
		const struct sp_benchset_point *p = &r->points[i];
		const struct sp_benchset_stats *high = &p->classes[0], *low = &p->classes[1];

		if (p->nclasses != 2)
			continue;
		lines &= fabs(p->total.iops.value - high->iops.value - low->iops.value) < 1e-6 &&
			 fabs(p->ratio.value * high->wait_mean_ns / low->wait_mean_ns - 1) < 1e-9 &&
			 p->ratio.low <= p->ratio.value && p->ratio.value <= p->ratio.high &&
			 (high->unanswered || high->wait_mean_ns == high->latency_mean_ns.value);
		any |= apart(p->ratio);
		one |= p->share == r->ratio_share && p->ratio.value == r->ratio.value;
	}
	ok(lines, "%s: ratios are those of the latencies, classes add up", target);
	ok((r->effect == SP_BENCHSET_EFFECT_YES) == (any || apart(r->ratio)) &&
		   any == !isnan(r->ratio_share) && any == one &&
		   (r->effect != SP_BENCHSET_EFFECT_NONE ||
		    (r->ratio.low > 1 / 1.1 && r->ratio.high < 1.1)),
	   "the verdict follows from them");
}

static void shares(void)
{
	static const double list[] = { 0, 0.1, 0.5, 1 };
	const struct sp_benchset_result *r;

	reset("sim:ultrastar36lzx-like,sched=strict", 64, 200);
	mix.shares = list;
	mix.nshares = 4;
	r = checked(sp_benchset_mix(&set, &opts, &mix, &err));
	ok(r->npoints == 4 && r->points[0].nclasses == 1 && r->points[1].nclasses == 2 &&
		   r->points[3].nclasses == 1 && !strcmp(r->points[3].classes[0].name, "high"),
	   "at 0 and 100 %% there is one class");
	judge_mix(r);
	diag("low by high: %.2f (%.2f to %.2f)", r->ratio.value, r->ratio.low, r->ratio.high);
	ok(r->effect == SP_BENCHSET_EFFECT_YES && r->points[1].ratio.value > 2,
	   "strict classes have an effect");
	reset("sim:ultrastar36lzx-like,sched=deadline", 64, 200);
	mix.shares = list;
	mix.nshares = 4;
	r = checked(sp_benchset_mix(&set, &opts, &mix, &err));
	judge_mix(r);
	diag("low by high: %.2f (%.2f to %.2f)", r->ratio.value, r->ratio.low, r->ratio.high);
	ok(r->effect == SP_BENCHSET_EFFECT_NONE, "a scheduler that heeds none has none");
	reset("sim:ultrastar36lzx-like,sched=strict", 64, 200);
	mix = (struct sp_benchset_mix){ .high = SP_BENCH_PRIO(SP_BENCH_IDLE, 0),
					.low = SP_BENCH_PRIO(SP_BENCH_RT, 4),
					.shares = list,
					.nshares = 4 };
	r = checked(sp_benchset_mix(&set, &opts, &mix, &err));
	judge_mix(r);
	ok(r->effect == SP_BENCHSET_EFFECT_YES && r->ratio.high < 1 &&
		   r->points[1].classes[0].unanswered,
	   "a slower high class is an effect");
	reset("sim:ultrastar36lzx-like", 64, 40);
	mix.shares = list;
	mix.nshares = 4;
	judge_mix(checked(sp_benchset_mix(&set, &opts, &mix, &err)));
	reset("sim:ultrastar36lzx-like,sched=strict", 64, 200);
	mix.shares = &list[1];
	mix.nshares = 1;
	mix.of_issued = true;
	r = checked(sp_benchset_mix(&set, &opts, &mix, &err));
	ok(fabs((double)r->points[0].classes[0].requests / (double)r->points[0].total.requests -
		0.1) < 0.02,
	   "a share of what is issued");
}

static void scans(void)
{
	const struct sp_benchset_result *r;

	reset("sim:ultrastar36lzx-like,sched=strict", 8, 200);
	mix.kind = SP_BENCHSET_SCANS;
	mix.readers = 3;
	r = checked(sp_benchset_mix(&set, &opts, &mix, &err));
	ok(r->npoints == 3 && r->points[0].nclasses == 1 && r->points[2].nclasses == 4,
	   "alone, with the same and with a higher priority");
	ok(fabs(r->ratio.value * r->points[2].classes[0].wait_mean_ns /
			r->points[1].classes[0].wait_mean_ns -
		1) < 1e-9,
	   "the ratio of scans is that of their lines");
	diag("random: %.1f, %.1f, %.1f ms", r->points[0].total.latency_mean_ns.value / 1e6,
	     r->points[1].classes[0].latency_mean_ns.value / 1e6,
	     r->points[2].classes[0].latency_mean_ns.value / 1e6);
	ok(r->effect == SP_BENCHSET_EFFECT_YES && r->points[1].classes[0].latency_mean_ns.value >
							  r->points[0].total.latency_mean_ns.value,
	   "sequential readers are in the way, priority helps");
	mix.readers = 16;
	sp_benchset_free(set);
	set = NULL;
	ok(sp_benchset_mix(&set, &opts, &mix, &err) == -EINVAL, "sixteen readers are too many");
}

static void compared(void)
{
	const struct sp_benchset_result *r;
	struct sp_bench_opts other;
	bool same = true;

	reset("sim:ultrastar36lzx-like,sched=deadline", 1, 300);
	other = bench;
	other.depth = 32;
	r = checked(sp_benchset_compare(&set, &opts, &other, &err));
	ok(r->rounds == 15 && r->nrows >= 6 && !strcmp(r->rows[0].key, "iops"),
	   "fifteen pairs, and a row for each figure");
	diag("%.1f by %.1f: %.3f (%.3f to %.3f)", r->rows[0].b, r->rows[0].a,
	     r->rows[0].ratio.value, r->rows[0].ratio.low, r->rows[0].ratio.high);
	for (size_t i = 0; i < r->nrows; i++)
		same &= r->rows[i].ratio.value == r->rows[i].b / r->rows[i].a;
	ok(same, "ratios are those of the values in their row");
	ok(r->rows[0].ratio.low > 1.5 && r->rows[0].ratio.high < 3,
	   "32 requests get more than one");
	sp_benchset_free(set);
	set = NULL;
	r = checked(sp_benchset_compare(&set, &opts, &bench, &err));
	ok(r->rows[0].ratio.low < 1 && r->rows[0].ratio.high > 1, "equals are equal");
}

int main(void)
{
	sweeps();
	noisy_sweeps();
	knees_of_little();
	refusals();
	shares();
	scans();
	compared();
	errors();
	sp_benchset_free(set);
	return done();
}
