/* SPDX-License-Identifier: MIT */
/*
 * Traces that are done again, on a simulated device whose times are known, and
 * on files.
 */
#define TAP_THREADS

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/bench.h>
#include <spindle/sequence.h>
#include "tap.h"

/* The model "linear": 7 ms for a seek, 0.3 s for a MB. */
#define SERVICE_NS (7e6 + 0.3e9 / 64)
#define S 1000000000ull

static char dir[] = "/tmp/replay-XXXXXX";
static char trace[64], file[64], again[64];
static const char *targets[2] = { "sim:linear,merge=no" };
static struct sp_bench_replay replay;
static struct sp_bench_opts opts;
static struct sp_bench *bench;
static struct sp_errinfo err;

static void write_trace(const char *lines)
{
	FILE *f = fopen(trace, "w");

	if (!f || fprintf(f, "# spindle-trace/1\n%s", lines) < 0 || fclose(f))
		exit(1);
}

static void reset(const char *target, const char *lines)
{
	write_trace(lines);
	targets[0] = target;
	replay = (struct sp_bench_replay){ .trace = trace };
	opts = (struct sp_bench_opts){
		.targets = targets, .ntargets = 1, .seed = 1, .replay = &replay
	};
}

static int try(void)
{
	sp_bench_free(bench);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp_bench_run(&bench, &opts, &err);
}

static const struct sp_bench_result *run(void)
{
	if (try()) {
		diag("cannot replay: %s %s", err.path, err.text);
		exit(1);
	}
	return sp_bench_result(bench);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-3 * fabs(b);
}

/* Three reads far apart, a second from one to the next. */
static const char far[] = "R a 100663296 16384 0 5000000000 5000000001 16384\n"
			  "R a 503316480 16384 0 7000000000 7000000001 16384\n"
			  "R a 301989888 16384 0 6000000000 6000000001 16384\n";

static void moments(void)
{
	const struct sp_bench_result *r;

	reset("sim:linear,merge=no", far);
	r = run();
	ok(r->total.requests == 3 && near((double)r->elapsed_ns, 2e9 + SERVICE_NS),
	   "requests come at the recorded times, from the first one on");
	ok(near(r->total.latency_mean_ns, SERVICE_NS), "and wait for nothing");
	ok(r->replay->recorded_ns == 2 * S + 1 && r->replay->recorded_depth == 1 &&
		   r->replay->depth == 1 && r->replay->requests == 3 && !r->replay->skipped,
	   "the recorded figures are reported");
	replay.time_scale = 4;
	r = run();
	ok(near((double)r->elapsed_ns, 0.5e9 + SERVICE_NS), "time can pass faster");
	replay.time_scale = 1000;
	r = run();
	ok(near((double)r->elapsed_ns, 3 * SERVICE_NS) &&
		   r->total.latency_max_ns > 2.5 * SERVICE_NS,
	   "too fast for the device: waiting counts from when a request was due");
	replay.no_stall = true;
	r = run();
	ok(near((double)r->elapsed_ns, 3 * SERVICE_NS) &&
		   near(r->total.latency_mean_ns, SERVICE_NS),
	   "without regard to time each comes when the one before is done");
	opts.depth = 3;
	r = run();
	ok(near((double)r->total.latency_max_ns, 3 * SERVICE_NS) && r->total.depths == 4,
	   "or with as many outstanding as the depth allows");
	opts.runtime_ns = (uint64_t)(1.5 * SERVICE_NS);
	opts.depth = 1;
	r = run();
	ok(r->total.requests == 1 && r->total.unfinished == 1, "it ends early if stopped");
	opts.runtime_ns = 0;
	opts.total_bytes = 2 * 16384;
	r = run();
	ok(r->total.requests == 2, "or after a number of bytes");
}

static void contents(void)
{
	const struct sp_bench_result *r;

	reset("sim:linear", "R in 0 4096 0 0 10 4096\n"
			    "W /tmp 2000000 4096 0 5 20 4096\n"
			    "R in 4096 4096 0 6 30 0\n"
			    "W out 0 512 16388 7 40 -5\n"
			    "R /tmp 2000000 4096 16388 8 50 4000\n"
			    "W out 0 512 24576 9 60 512\n");
	opts.overwrite = true;
	r = run();
	ok(r->total.requests == 4 && r->total.read_requests == 2 && r->total.bytes == 12704,
	   "the same bytes are moved again");
	ok(r->replay->requests == 6 && r->replay->skipped == 2,
	   "requests that failed or moved nothing are skipped");
	ok(r->replay->recorded_depth == 4 && r->replay->depth == 4,
	   "the depth is that of the trace");
	ok(r->replay->nvolumes == 3 && !strcmp(r->replay->volumes[1].name, "/tmp") &&
		   r->replay->volumes[0].begin_bytes == 0 &&
		   r->replay->volumes[1].begin_bytes == 1 << 20 &&
		   r->replay->volumes[2].begin_bytes == 3 << 20 &&
		   r->replay->volumes[2].bytes == 512,
	   "volumes follow one another at multiples of 1 MiB");
	ok(r->nclasses == 3 && !strcmp(r->classes[0].name, "default") &&
		   !strcmp(r->classes[1].name, "be/4") && !strcmp(r->classes[2].name, "idle") &&
		   r->classes[0].requests == 2 && r->classes[2].prio == 24576,
	   "each priority is a class");
}

/* Requests of b, in their order of submission, as those of a. */
static bool same(const char *path_a, const char *path_b)
{
	struct sp_sequence_comparison c;
	struct sp_sequence *a, *b;
	int rc;

	if (sp_sequence_load(&a, path_a, NULL, NULL) || sp_sequence_load(&b, path_b, NULL, NULL))
		exit(1);
	rc = sp_sequence_compare(a, b, &c);
	sp_sequence_free(a);
	sp_sequence_free(b);
	return rc == 0 && c.verdict == SP_SEQUENCE_LEGAL && c.moved == 0;
}

static void its_own_trace(void)
{
	struct sp_bench_class class = {
		.name = "all", .share = 1, .reads = 0.7, .bytes = 8192, .pattern = SP_BENCH_RANDOM
	};
	const struct sp_bench_result *r;
	uint64_t elapsed_ns;

	reset("sim:linear,sched=sstf", "");
	opts.replay = NULL;
	opts.classes = &class;
	opts.nclasses = 1;
	opts.depth = 8;
	opts.runtime_ns = 5 * S;
	opts.overwrite = true;
	opts.trace = trace;
	r = run();
	elapsed_ns = r->elapsed_ns;
	opts.replay = &replay;
	opts.nclasses = 0;
	opts.depth = 0;
	opts.runtime_ns = 0;
	opts.trace = again;
	r = run();
	ok(same(trace, again) && r->replay->depth == 8 &&
		   fabs((double)r->elapsed_ns - (double)elapsed_ns) < 0.2e9,
	   "the trace of a run is done again as it was");
}

static void on_files(void)
{
	const struct sp_bench_result *r;
	struct stat st;
	FILE *f = fopen(file, "w");

	for (int i = 0; f && i < 10000; i++)
		putc('x', f);
	if (!f || fclose(f))
		exit(1);
	reset(file, "R a 0 4096 0 0 10 4096\nR a 9000 4096 24576 1 20 1000\n"
		    "R a 4096 4096 24576 2 30 4096\n");
	opts.buffered = true;
	r = run();
	ok(r->total.requests == 3 && r->total.bytes == 9192 && !r->replay->extended,
	   "requests of a file are done again as they were");
	opts.engine = "sync";
	r = run();
	ok(r->total.requests == 3 && r->classes[1].requests == 2 && !r->total.errors,
	   "with a thread for each priority too");
	opts.engine = NULL;
	opts.buffered = false;
	if (try() == SP_EUNSUP)
		skip("direct ones are extended, and end with the file", "no direct I/O here");
	else
		ok(bench && (r = sp_bench_result(bench))->total.requests == 3 && !r->total.errors &&
			   r->replay->extended == 1,
		   "direct ones are extended, and end with the file");
	reset(file, "R a 0 4096 0 0 10 4096\nR a 9000 4096 0 1 20 1001\n");
	opts.buffered = true;
	ok(try() == -EINVAL && strstr(err.text, "the trace needs 10001 bytes of it"),
	   "a file that is too small is refused");
	opts.create = SP_BENCH_CREATE_SPARSE;
	opts.remove = true;
	targets[0] = again;
	unlink(again);
	r = run();
	ok(r->total.requests == 2 && !stat(again, &st) && st.st_size == 12288,
	   "one that is made is large enough");
	sp_bench_free(bench);
	bench = NULL;
	ok(stat(again, &st) < 0, "and removed as requested");

	reset(file, "W a 0 4096 0 0 10 4096\n");
	opts.buffered = true;
	ok(try() == -EPERM, "a target is not overwritten without permission");
	opts.overwrite = true;
	r = run();
	ok(r->total.requests == 1 && r->total.read_requests == 0, "unless that is allowed");
	reset(file, "R a 0 4096 0 0 10 4096\nW b 0 4096 0 0 10 4096\n");
	opts.buffered = opts.overwrite = true;
	targets[1] = again;
	opts.ntargets = 2;
	opts.create = SP_BENCH_CREATE_NO;
	f = fopen(again, "w");
	if (!f || fclose(f) || truncate(again, 4096))
		exit(1);
	r = run();
	ok(!strcmp(r->replay->volumes[1].target, again) && !r->replay->volumes[1].begin_bytes &&
		   r->total.requests == 2,
	   "with several targets each volume has its own");
}

static void refused(void)
{
	reset("sim:linear", "R a 0 4096 0 0 10 -5\n");
	ok(try() == -ENODATA, "a trace without requests is refused");
	reset("sim:linear", "R a 0 4096 0 x 10 4096\n");
	ok(try() == SP_EFORMAT && strstr(err.text, "line 2"),
	   "a file that is not a trace is reported with its line");
	reset("sim:linear", "R a 0 2000000000 0 0 10 2000000000\n");
	ok(try() == -EINVAL, "and a request too large");
	reset("sim:linear", far);
	opts.rate = 5;
	ok(try() == -EINVAL, "a rate of its own it cannot have");
	opts.rate = 0;
	replay.trace = "/nonexistent";
	ok(try() == -ENOENT && !strcmp(err.path, "/nonexistent"), "a missing trace is an error");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(again, sizeof(again), "%s/again", dir);
	moments();
	contents();
	its_own_trace();
	on_files();
	refused();
	sp_bench_free(bench);
	unlink(trace);
	unlink(file);
	unlink(again);
	rmdir(dir);
	return done();
}
