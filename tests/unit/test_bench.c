/* SPDX-License-Identifier: MIT */
/*
 * Measurements on simulated devices, where all is known beforehand, on the
 * engine that does nothing, and on a spoiled one.
 */
#define TAP_THREADS

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <spindle/bench.h>
#include "tap.h"

/* The model "linear": 7 ms for a seek, 0.3 s for a MB: 16 KB take so long. */
#define SERVICE_NS (7e6 + 0.3e9 / 64)
#define S 1000000000ull

static const char *target = "sim:linear,merge=no";
static struct sp_bench_class classes[3];
static struct sp_bench_opts opts;
static struct sp_bench *bench;
static struct sp_errinfo err;

static void reset(void)
{
	for (int i = 0; i < 3; i++)
		classes[i] = (struct sp_bench_class){ .name = i ? i > 1 ? "third" : "low" : "high",
						      .share = i ? 0 : 1,
						      .reads = 1,
						      .bytes = 16384,
						      .pattern = SP_BENCH_RANDOM };
	opts = (struct sp_bench_opts){ .targets = &target,
				       .ntargets = 1,
				       .classes = classes,
				       .nclasses = 1,
				       .depth = 1,
				       .runtime_ns = 20 * S,
				       .seed = 1 };
}

static const struct sp_bench_result *run(void)
{
	sp_bench_free(bench);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_bench_run(&bench, &opts, &err) && !bench) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_bench_result(bench);
}

static bool near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b);
}

static void closed(void)
{
	const struct sp_bench_result *r;

	reset();
	r = run();
	ok(r->simulated && !strcmp(r->engine, "sim") && r->elapsed_ns == 20 * S,
	   "a simulated run lasts the given virtual time");
	ok(r->total.latency_min_ns > 4.6e6 && near(r->total.latency_mean_ns, SERVICE_NS, 0.001) &&
		   near(r->total.iops, 1e9 / SERVICE_NS, 0.002),
	   "one request at a time takes as long as its service");
	ok(r->total.depths == 2 && r->total.depth_ns[1] == 20 * S && r->total.depth_ns[0] == 0,
	   "all the time one request was outstanding");
	ok(near(r->total.bandwidth_bytes_per_s, r->total.iops * 16384, 1e-9), "bytes go with it");
	opts.depth = 10;
	r = run();
	ok(near(r->total.latency_mean_ns, 10 * SERVICE_NS, 0.01) && r->total.unfinished == 10 &&
		   near(r->total.depth_mean, 10, 1e-9),
	   "ten outstanding wait ten times as long");
	ok(r->device_depths == 2, "the device has no more than its window");
	opts.total_bytes = 100 * 16384;
	opts.runtime_ns = 0;
	r = run();
	ok(r->total.requests == 100 && r->total.unfinished == 0 &&
		   near((double)r->elapsed_ns, 100 * SERVICE_NS, 0.001),
	   "a number of bytes ends it, and all of them count");
	ok(near((double)r->total.longest_wait_ns, 10 * SERVICE_NS, 0.001),
	   "no request waited longer");
}

static void open_loop(void)
{
	const struct sp_bench_result *r;

	reset();
	opts.depth = 4;
	opts.rate = 50;
	r = run();
	ok(r->total.requests >= 999 && r->overdue == 0 &&
		   near(r->total.latency_mean_ns, SERVICE_NS, 0.001) &&
		   near(r->total.depth_mean, 50 * SERVICE_NS / 1e9, 0.01),
	   "at half of the device's rate no request waits");
	opts.rate = 2e9 / SERVICE_NS;
	r = run();
	/* After 20 s half of the requests are overdue: the last one waits 10 s. */
	ok(near((double)r->total.latency_max_ns, 10e9, 0.01) &&
		   near(r->total.latency_mean_ns, 5e9, 0.02),
	   "at twice of it waiting grows, and counts from when requests were due");
	ok(near(r->total.iops, 1e9 / SERVICE_NS, 0.01) && r->total.depths == 5,
	   "though no more than the depth were outstanding");
	ok(near((double)(r->overdue + r->total.requests + r->total.unfinished), 20 * opts.rate,
		0.001) &&
		   r->total.longest_wait_ns >= r->total.latency_max_ns &&
		   r->total.longest_wait_ns == r->classes[0].longest_wait_ns,
	   "and unserved requests are reported");
	opts.rate = 60;
	opts.poisson = true;
	opts.depth = 100;
	opts.runtime_ns = 2000 * S;
	r = run();
	/* Pollaczek and Khinchine: rho / (2 (1 - rho)) services of waiting. */
	ok(near(r->total.latency_mean_ns, SERVICE_NS * (1 + 0.70125 / (2 * 0.29875)), 0.03),
	   "at random moments they wait as queueing theory says (%.2f ms)",
	   r->total.latency_mean_ns / 1e6);
}

static void shares(void)
{
	const struct sp_bench_result *r;

	reset();
	opts.nclasses = 2;
	opts.depth = 20;
	opts.runtime_ns = 200 * S;
	classes[0].share = 0.1;
	classes[1].share = 0.9;
	classes[1].reads = 0.5;
	opts.overwrite = true;
	r = run();
	ok(near((double)r->classes[0].requests, 0.1 * (double)r->total.requests, 0.06) &&
		   r->classes[0].requests + r->classes[1].requests == r->total.requests,
	   "requests belong to classes by their shares");
	ok(near((double)r->classes[1].read_requests, 0.5 * (double)r->classes[1].requests, 0.06) &&
		   r->classes[0].read_requests == r->classes[0].requests,
	   "and are reads by theirs");
	ok(near(r->classes[0].latency_mean_ns, r->classes[1].latency_mean_ns, 0.01) &&
		   !r->total.starved,
	   "without priorities both wait the same");
	classes[0].depth = 2;
	classes[1].depth = 18;
	r = run();
	ok(near(r->classes[0].depth_mean, 2, 1e-9) && near(r->classes[1].depth_mean, 18, 1e-9) &&
		   near(r->total.depth_mean, 20, 1e-9),
	   "classes with a depth keep it outstanding");
}

static void starving(void)
{
	static const char *strict = "sim:linear,sched=strict:aging=10s";
	const struct sp_bench_result *r;

	reset();
	opts.targets = &strict;
	opts.nclasses = 2;
	classes[0].depth = 10;
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_RT, 4);
	classes[1].depth = 10;
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	r = run();
	ok(!r->classes[0].starved && r->classes[1].starved && r->total.starved,
	   "a class that strict priorities pass over is starved");
	ok(r->classes[1].passed_over >= 200 && r->classes[1].longest_gap_ns > 2 * S &&
		   r->classes[1].longest_wait_ns >= r->classes[1].longest_gap_ns,
	   "the number and duration are reported");
}

static void repeated(void)
{
	struct sp_bench_stats first;

	reset();
	opts.depth = 7;
	opts.ramp_ns = 3 * S;
	first = run()->total;
	ok(run()->total.requests == first.requests &&
		   sp_bench_result(bench)->total.latency_mean_ns == first.latency_mean_ns,
	   "the same seed gives the same figures");
	ok(sp_bench_result(bench)->elapsed_ns == 20 * S &&
		   near(first.latency_min_ns, 7 * SERVICE_NS, 0.6),
	   "the ramp does not count");
	classes[0].reads = 0.5;
	first = run()->total;
	opts.seed = 2;
	ok(run()->total.read_requests != first.read_requests, "another seed gives others");
}

/* A real file of 1 MB that is made and removed by the run. */
static void on_file(void)
{
	static char path[32];
	static const char *file = path;
	int fd;

	snprintf(path, sizeof(path), "/tmp/test_bench.XXXXXX");
	fd = mkstemp(path);
	unlink(path);
	close(fd);
	reset();
	opts.targets = &file;
	opts.create = SP_BENCH_CREATE_SPARSE;
	opts.remove = true;
	opts.size_bytes = 1 << 20;
	opts.buffered = true;
}

/* Checks that must hold once in five runs: a busy computer can spoil a run. */
static const struct sp_bench_result *once(bool (*good)(const struct sp_bench_result *))
{
	const struct sp_bench_result *r;

	for (int i = 0; !good(r = run()) && i < 4; i++)
		;
	return r;
}

/* If waiting ended late, every second request would be late by 100 ms. */
static bool punctual(const struct sp_bench_result *r)
{
	return r->total.requests >= 6 && r->total.latency_mean_ns < 345e6;
}

static bool ended(const struct sp_bench_result *r)
{
	return r->total.requests == 0 && r->total.unfinished == 2 && r->elapsed_ns < 550000000;
}

/* A device on which each request takes 300 ms, however many there are. */
static void steady(void)
{
	const struct sp_bench_result *r;

	on_file();
	opts.engine = "fault:DELAY=300000,COUNT=0:null";
	opts.depth = 8;
	opts.rate = 5;
	opts.runtime_ns = 3 * S / 2;
	r = once(punctual);
	ok(punctual(r),
	   "a request is submitted when it is due though others come back before (%.1f ms)",
	   r->total.latency_mean_ns / 1e6);
	opts.engine = "fault:DELAY=600000,COUNT=0:null";
	opts.rate = 0;
	opts.depth = 2;
	opts.runtime_ns = S / 4;
	sp_bench_free(bench);
	bench = NULL;
	r = once(ended);
	ok(ended(r), "the end comes in time though nothing completes (%.3f s)",
	   (double)r->elapsed_ns / 1e9);
	sp_bench_free(bench);
	bench = NULL;
}

static struct {
	unsigned n;
	uint64_t requests, end_ns;
	bool whole;
} seen;

static void note(void *arg, const struct sp_bench_interval *i)
{
	seen.whole &= i->begin_ns == seen.end_ns && arg == &seen &&
		      i->classes[0].requests == i->total.requests;
	seen.n++;
	seen.requests += i->total.requests;
	seen.end_ns = i->end_ns;
}

static void intervals(void)
{
	reset();
	seen.whole = true;
	opts.interval_ns = 3 * S;
	opts.interval = note;
	opts.interval_arg = &seen;
	run();
	ok(seen.n == 7 && seen.whole && seen.end_ns == 20 * S,
	   "intervals follow each other to the end");
	ok(seen.requests == sp_bench_result(bench)->total.requests, "and leave nothing out");
}

static volatile sig_atomic_t reported;

static void tell(int number)
{
	reported = number;
}

/* Requests of the ramp are not measured. */
static void ramp(void)
{
	const struct sp_bench_result *r;

	reset();
	opts.runtime_ns = 0;
	opts.total_bytes = 100 * 16384;
	opts.ramp_ns = 10 * S;
	opts.depth = 4;
	r = run();
	/* The measurement has the rest of four requests that were outstanding at its end. */
	ok(r->total.requests == 104 && near((double)r->elapsed_ns, 104 * SERVICE_NS, 0.01),
	   "a number of bytes is counted from the end of the ramp on (%.0f)",
	   (double)r->total.requests);
	reset();
	opts.engine = "null";
	opts.targets = &(const char *){ "nothing" };
	opts.ramp_ns = opts.runtime_ns = 60 * S;
	opts.interval_ns = S / 100;
	opts.interval = note;
	opts.interval_arg = &seen;
	opts.stop = &reported;
	seen.n = 0;
	signal(SIGALRM, tell);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 50000 }, NULL);
	r = run();
	ok(r->stopped && r->total.requests == 0 && r->elapsed_ns == 0 && seen.n == 0,
	   "a run stopped in the ramp has no measurement and no interval");
}

/* Classes of the null engine or of a simulated device, each with an end of its own. */
static void ends_of_classes(const char *engine)
{
	const struct sp_bench_result *r;

	reset();
	opts.engine = engine;
	opts.targets = engine ? &(const char *){ "nothing" } : &target;
	opts.runtime_ns = 0;
	opts.nclasses = 3;
	opts.size_bytes = 100 * 16384 + 1;
	for (int i = 0; i < 3; i++) {
		classes[i].share = 0;
		classes[i].depth = 1;
	}
	classes[0].total_bytes = SP_BENCH_ONE_PASS;
	classes[1].total_bytes = 10 * 16384 - 1;
	classes[2].total_bytes = SP_BENCH_ONE_PASS;
	classes[2].range_share = 0.5;
	r = run();
	ok(r->classes[0].requests == 100 && r->classes[1].requests == 10 &&
		   r->classes[2].requests == 50 && r->total.unfinished == 0,
	   "%s: each class ends after its own bytes", r->engine);
	ok(r->classes[1].iops > 10e9 / (double)r->elapsed_ns, "%s: rates count until its end",
	   r->engine);
	classes[1].total_bytes = 0;
	opts.total_bytes = 60 * 16384;
	r = run();
	ok(r->total.requests == 60, "%s: the run can end before them", r->engine);
	opts.total_bytes = 0;
	sp_bench_free(bench);
	ok(sp_bench_run(&bench, &opts, NULL) == -EINVAL && !bench,
	   "%s: a class without an end needs a run with one", engine ? engine : "sim");
	opts.nclasses = 1;
	classes[0].rate = 1000;
	opts.runtime_ns = 2 * S;
	r = run();
	ok(r->total.requests == 100 && r->overdue == 0 && r->elapsed_ns < 2 * S,
	   "%s: requests at a rate end, too", r->engine);
}

static void shared_end(void)
{
	const struct sp_bench_result *r;

	reset();
	opts.runtime_ns = 0;
	opts.nclasses = 2;
	opts.depth = 4;
	classes[0].share = 0.25;
	classes[1].share = 0.75;
	classes[0].total_bytes = classes[1].total_bytes = 100 * 16384;
	r = run();
	ok(r->total.requests == 100 && r->classes[0].requests && r->classes[1].requests,
	   "classes that share the depth end together");
}

static void many(void)
{
	static struct sp_bench_class all[SP_BENCH_CLASSES_MAX];
	const struct sp_bench_result *r;
	bool good = true;

	reset();
	opts.targets = &(const char *){ "nothing" };
	opts.engine = "null";
	opts.size_bytes = 1 << 20;
	opts.runtime_ns = 0;
	opts.classes = all;
	opts.nclasses = SP_BENCH_CLASSES_MAX;
	for (size_t i = 0; i < SP_BENCH_CLASSES_MAX; i++) {
		all[i] = classes[0];
		all[i].depth = 1;
		all[i].total_bytes = (i + 1) * 16384;
	}
	r = run();
	for (size_t i = 0; i < r->nclasses; i++)
		good &= r->classes[i].requests == i + 1;
	ok(good && r->nclasses == 64, "64 classes, each with an end of its own");
}

static void null_engine(void)
{
	static const char *nothing = "nothing";
	static const volatile sig_atomic_t stop = 1;
	const struct sp_bench_result *r;

	reset();
	opts.targets = &nothing;
	opts.engine = "null";
	opts.size_bytes = 1 << 20;
	opts.depth = 8;
	opts.runtime_ns = 0;
	opts.total_bytes = 1000 * 16384;
	r = run();
	ok(r->total.requests == 1000 && r->total.errors == 0 && !strcmp(r->engine, "null") &&
		   r->total.depths <= 9 && !r->stopped,
	   "the null engine completes immediately, with the requested depth");
	opts.stop = &stop;
	r = run();
	ok(r->stopped && r->total.requests == 0, "a stopped run is marked as such");
}

static void spoiled(void)
{
	static char path[] = "/tmp/test_bench.XXXXXX";
	const char *file = path;
	int fd = mkstemp(path);

	unlink(path);
	close(fd);
	reset();
	opts.targets = &file;
	opts.create = SP_BENCH_CREATE_WRITTEN;
	opts.remove = true;
	opts.size_bytes = 1 << 20;
	opts.buffered = true;
	opts.engine = "fault:ERROR=EIO,NTH=11,COUNT=5:sync";
	opts.total_bytes = 100 * 16384;
	opts.keep_going = true;
	run();
	ok(sp_bench_result(bench)->total.errors == 5 && sp_bench_result(bench)->nerrors == 1 &&
		   sp_bench_result(bench)->errors[0].code == -EIO &&
		   sp_bench_result(bench)->errors[0].count == 5 &&
		   sp_bench_result(bench)->total.requests == 95,
	   "failed requests are counted by kind, and the run continues");
	sp_bench_free(bench);
	bench = NULL;
	ok(access(path, F_OK) != 0, "a created file is removed");
	opts.keep_going = false;
	ok(sp_bench_run(&bench, &opts, &err) == -EIO && bench &&
		   sp_bench_result(bench)->total.requests == 10 &&
		   sp_bench_result(bench)->stopped && !strcmp(err.op, "read"),
	   "or it ends with the first, and tells what was measured");
	sp_bench_free(bench);
	bench = NULL;
}

/* One thread for each class; what real files do is the business of the contract tests. */
static void threads(void)
{
	const struct sp_bench_result *r;

	on_file();
	opts.engine = "sync";
	opts.nclasses = 3;
	classes[0].share = 0.5;
	classes[1].share = classes[2].share = 0.25;
	classes[1].reads = 0;
	opts.runtime_ns = S / 5;
	r = run();
	ok(r->classes[0].requests && r->classes[1].requests && r->classes[2].requests &&
		   r->classes[1].read_requests == 0 && r->total.errors == 0,
	   "with sync each class has a thread");
	ok(r->classes[0].depths == 2 && r->total.depths <= 4, "with one request at a time");
	sp_bench_free(bench);
	bench = NULL;
}

/* Refused options, and their messages. */
static void refused(const char *words, int code, const char *name)
{
	struct sp_bench *b = NULL;
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_bench_run(&b, &opts, &err);
	ok(rc == code && !b && strstr(err.text, words), "%s", name);
	if (rc != code || !strstr(err.text, words))
		diag("%d: %s", rc, err.text);
	sp_bench_free(b);
	reset();
}

static void refusals(void)
{
	static const char *two[] = { "sim:linear", "sim:linear" }, *none = "/nonexistent/file";

	reset();
	opts.runtime_ns = 0;
	refused("needs a duration", -EINVAL, "a run needs an end");
	opts.depth = 5000;
	refused("outstanding", -EINVAL, "there is a largest depth");
	classes[0].share = 0.5;
	refused("50 %", -EINVAL, "shares add up to all");
	opts.targets = two;
	opts.ntargets = 2;
	refused("must be the only one", -EINVAL, "there is one simulated target");
	opts.engine = "io_uring";
	refused("cannot be used with an engine", -EINVAL, "no real engine serves it");
	opts.size_bytes = UINT64_MAX / 2;
	refused("too small", -EINVAL, "no more than the device is used");
	classes[0].pattern = SP_BENCH_STRIDED;
	classes[0].stride_bytes = 1000;
	refused("multiple", -EINVAL, "a stride consists of requests");
	classes[0].target = 2;
	refused("does not exist", -EINVAL, "targets are numbered");
	opts.remove = true;
	refused("created", -EINVAL, "only what is created is removed");
	opts.targets = &none;
	refused("", -ENOENT, "a missing file is an error");
	opts.engine = "nosuch";
	opts.targets = &none;
	refused("", -ENOENT, "before the engine is asked for");
}

/* The parts that a run is cut into, and latencies by share. */
static void parts(void)
{
	const struct sp_bench_result *r;
	uint64_t requests = 0, sum_ns = 0;

	reset();
	opts.depth = 4;
	r = run();
	for (size_t i = 0; i < r->total.nwindows; i++) {
		requests += r->total.windows[i].requests;
		sum_ns += r->total.windows[i].latency_sum_ns;
	}
	ok(r->total.nwindows >= 30 && r->total.nwindows <= 64 &&
		   r->total.windows[r->total.nwindows - 1].end_ns <= 20 * S,
	   "a run is cut into windows");
	ok(requests <= r->total.requests &&
		   near((double)requests, (double)r->total.requests, 0.03) &&
		   near((double)sum_ns / (double)requests, r->total.latency_mean_ns, 0.03),
	   "which have all requests but those of the rest");
	opts.runtime_ns = 0;
	opts.total_bytes = 5000 * 16384;
	r = run();
	ok(r->total.nwindows >= 32 && r->total.nwindows <= 64, "also if the duration is unknown");
	ok(sp_bench_quantile(bench, 0, 0.5) == r->total.latency_p50_ns &&
		   sp_bench_quantile(bench, 1, 1) == r->total.latency_max_ns,
	   "latencies by share, of a class and of all");
}

int main(void)
{
	closed();
	open_loop();
	steady();
	shares();
	starving();
	repeated();
	intervals();
	ramp();
	ends_of_classes(NULL);
	ends_of_classes("null");
	shared_end();
	many();
	null_engine();
	spoiled();
	threads();
	refusals();
	parts();
	sp_bench_free(bench);
	return done();
}
