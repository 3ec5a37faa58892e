/* SPDX-License-Identifier: MIT */
/*
 * When a measurement is steady: series by hand, on a simulated machine with exact figures, and
 * with threads.
 */
#define TAP_THREADS

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/bench.h>
#include "bench/walk.h"
#include "tap.h"

#define S 1000000000ull

static struct sp_bench_steady after(size_t n, const double *iops)
{
	struct sp_bench_steady s = { 0 };

	for (size_t i = 0; i < n; i++)
		sp__steady_add(&s, (struct sp_bench_round){ (i + 1) * S, iops[i] });
	return s;
}

#define AFTER(...)                                                                                 \
	after(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (double[]){ __VA_ARGS__ })

static bool is(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void series(void)
{
	struct sp_bench_steady s = AFTER(100, 100, 100, 100);

	ok(!s.reached && s.rounds == 4 && s.nwindow == 4, "four rounds are too few");
	s = AFTER(100, 100, 100, 100, 100);
	ok(s.reached && is(s.iops, 100) && s.range == 0 && s.slope == 0, "five alike are steady");
	s = AFTER(100, 110, 90, 110, 90);
	ok(s.reached && is(s.range, 0.2) && is(s.slope, -0.08), "a range of 20 %% is allowed");
	s = AFTER(100, 110.5, 90, 110, 89.5);
	ok(!s.reached && is(s.range, 0.21) && fabs(s.slope) < 0.1, "but not of 21 %%");
	s = AFTER(95, 97.5, 100, 102.5, 105);
	ok(s.reached && is(s.range, 0.1) && is(s.slope, 0.1), "a rise of 10 %% is allowed");
	s = AFTER(94.5, 97.25, 100, 102.75, 105.5);
	ok(!s.reached && is(s.range, 0.11) && is(s.slope, 0.11),
	   "but not of 11 %%, though the range is small");
	s = AFTER(105.5, 102.75, 100, 97.25, 94.5);
	ok(!s.reached && is(s.slope, -0.11), "a fall of 11 %% is not steady");
	s = AFTER(500, 300, 200, 130, 100, 100, 99, 100);
	ok(!s.reached && s.rounds == 8 && s.window[0].iops == 130 && s.nwindow == 5,
	   "earlier rounds count while they are in the window");
	sp__steady_add(&s, (struct sp_bench_round){ 9 * S, 100 });
	ok(s.reached && s.rounds == 9 && s.window[0].end_ns == 5 * S && s.window[4].end_ns == 9 * S,
	   "and not when it is out of it");
	s = AFTER(0, 0, 0, 0, 0);
	ok(!s.reached && s.iops == 0 && isnan(s.range) && isnan(s.slope),
	   "a device that does nothing is not steady");
	s = AFTER(0, 0, 100, 0, 0);
	ok(!s.reached && is(s.iops, 20) && is(s.range, 5), "a rate that hardly does is not steady");
}

static struct sp_bench *bench;
static struct sp_errinfo err;

static const struct sp_bench_result *run(const struct sp_bench_opts *opts)
{
	sp_bench_free(bench);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_bench_run(&bench, opts, &err)) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_bench_result(bench);
}

/* While the page cache fills, a request every 5 ms is too many for the drive. */
static void simulated(void)
{
	const char *target = "sim:linear,cache=64M";
	struct sp_bench_class class = {
		.name = "all", .share = 1, .reads = 1, .bytes = 4096, .pattern = SP_BENCH_RANDOM
	};
	struct sp_bench_opts opts = { .targets = &target,
				      .ntargets = 1,
				      .classes = &class,
				      .nclasses = 1,
				      .depth = 1,
				      .rate = 200,
				      .buffered = true,
				      .size_bytes = 4 << 20,
				      .runtime_ns = 60 * S,
				      .steady_ns = S,
				      .seed = 1 };
	const struct sp_bench_result *r = run(&opts);

	ok(r->steady && r->steady->reached && r->steady->rounds == 11 && r->elapsed_ns == 11 * S &&
		   !r->stopped,
	   "a run ends with the round that ends a steady window");
	ok(r->steady->window[0].end_ns == 7 * S && r->steady->iops == 200 &&
		   r->steady->range == 0 && r->total.requests == 2200,
	   "with the figures of the window, and those of all rounds");
	opts.runtime_ns = 10 * S;
	r = run(&opts);
	ok(!r->steady->reached && r->steady->rounds == 10 && r->elapsed_ns == 10 * S &&
		   r->steady->window[0].iops > 300,
	   "otherwise at its end, whose round counts");
	opts.ramp_ns = 6 * S;
	r = run(&opts);
	ok(r->steady->reached && r->elapsed_ns == 5 * S && r->total.requests == 1000,
	   "rounds begin after the ramp");
	opts.ramp_ns = 0;
	opts.steady_ns = 0;
	ok(!run(&opts)->steady, "without the option there is no verdict");
}

static void threads(void)
{
	static char path[] = "/tmp/test_steady.XXXXXX";
	const char *target = path;
	struct sp_bench_class classes[2] = {
		{ .name = "a", .depth = 1, .reads = 1, .bytes = 512, .pattern = SP_BENCH_RANDOM },
		{ .name = "b", .depth = 1, .reads = 1, .bytes = 512, .pattern = SP_BENCH_RANDOM }
	};
	struct sp_bench_opts opts = { .targets = &target,
				      .ntargets = 1,
				      .classes = classes,
				      .nclasses = 2,
				      .depth = 1,
				      .engine = "sync",
				      .buffered = true,
				      .create = SP_BENCH_CREATE_SPARSE,
				      .remove = true,
				      .size_bytes = 1 << 16,
				      .runtime_ns = 20 * S,
				      .steady_ns = S / 5000,
				      .seed = 1 };
	const struct sp_bench_result *r;
	int fd = mkstemp(path), last = 0;

	close(fd);
	unlink(path);
	/* Rounds so short that a thread may come back some rounds after the end. */
	for (int i = 0; i < 20; i++) {
		r = run(&opts);
		last += r->steady->reached && r->elapsed_ns == r->steady->window[4].end_ns;
	}
	ok(last == 20, "of threads too the last round is the last (%d of 20 runs)", last);
}

static void refused(void)
{
	const char *target = "sim:linear";
	struct sp_bench_class class = { .name = "all", .share = 1, .reads = 1, .bytes = 4096 };
	struct sp_bench_opts opts = { .targets = &target,
				      .ntargets = 1,
				      .classes = &class,
				      .nclasses = 1,
				      .depth = 1,
				      .runtime_ns = 5 * S - 1,
				      .steady_ns = S };

	sp_bench_free(bench);
	ok(sp_bench_run(&bench, &opts, &err) == -EINVAL && !bench && strstr(err.text, "5 rounds"),
	   "a run too short for five rounds is refused");
	opts.steady_ns = UINT64_MAX / 2;
	ok(sp_bench_run(&bench, &opts, &err) == -EINVAL, "also for very long ones");
}

int main(void)
{
	series();
	simulated();
	threads();
	refused();
	sp_bench_free(bench);
	return done();
}
