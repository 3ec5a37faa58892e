/* SPDX-License-Identifier: MIT */
/*
 * Policies on a simulated device where all times are known beforehand.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/policy.h>
#include "tap.h"

#define PAGES 512
#define MS 1000000ull
#define PAGE_NS 4687500ull /* 16 KB at 0.3 s for a MB */

static const char *target = "sim:linear,merge=no";
static struct sp_bench_opts bench;
static struct sp_policy_opts opts;
static struct sp_policy *policy;
static struct sp_errinfo err;

static void reset(enum sp_policy_load load, enum sp_policy_submission submission)
{
	bench = (struct sp_bench_opts){ .targets = &target,
					.ntargets = 1,
					.depth = 256,
					.size_bytes = PAGES * 16384,
					.seed = 1 };
	sp_policy_defaults(&opts);
	opts.load = load;
	opts.submission = submission;
	opts.compute_ns = 0;
	opts.critical_rate = 0;
	opts.passes = 1;
}

static const struct sp_policy_result *run(void)
{
	sp_policy_free(policy);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_policy_run(&policy, &bench, &opts, &err)) {
		diag("cannot run: %s", err.text);
		exit(1);
	}
	return sp_policy_result(policy);
}

static int refused(void)
{
	struct sp_policy *none;
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_policy_run(&none, &bench, &opts, &err);
	if (rc == 0)
		sp_policy_free(none);
	ok(sp_policy_check(&bench, &opts, &err) == rc, "a check says so before the run");
	return none ? 0 : rc;
}

/* The query needs no time: a batch goes, and with its last page the next one comes. */
static void saw(void)
{
	const struct sp_policy_result *r;
	bool even = true;

	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	r = run();
	for (size_t i = 1; i <= 64; i++)
		even &= r->bench->total.depth_ns[i] == 8 * PAGE_NS;
	ok(r->pages == PAGES && r->bench->elapsed_ns == PAGES * PAGE_NS &&
		   r->bench->total.depth_ns[0] == 0,
	   "a query that needs no time leaves no pause");
	ok(even && r->bench->total.depths == 65,
	   "as long with 64 outstanding as with any smaller number");
	ok(r->bench->nclasses == 1 && !strcmp(r->bench->classes[0].name, "read") &&
		   r->bench->classes[0].requests == PAGES,
	   "each page was read once");
}

/* The query is slower than the device: it waits for the first page alone. */
static void pauses(void)
{
	const uint64_t whole_ns = PAGE_NS + PAGES * 10 * MS;
	const struct sp_policy_result *r;

	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.compute_ns = 10 * MS;
	r = run();
	ok(r->bench->elapsed_ns == whole_ns &&
		   r->bench->total.depth_ns[0] == whole_ns - PAGES * PAGE_NS,
	   "while a slow query works the device has nothing to do");
	ok(fabs(r->idle - (1 - PAGES * (double)PAGE_NS / (double)whole_ns)) < 1e-9 &&
		   fabs(r->pages_per_s - PAGES / ((double)whole_ns / 1e9)) < 1e-6,
	   "its share and pages per second are reported");
	/* A page takes half of a service: the next extent comes when it is asked for. */
	opts.compute_ns = PAGE_NS / 2;
	opts.submission = SP_POLICY_AGGRESSIVE;
	r = run();
	ok(r->bench->elapsed_ns == PAGES * PAGE_NS + PAGE_NS / 2,
	   "with a constant flow a fast query waits for the device");
}

static void serial(void)
{
	const struct sp_policy_result *r;

	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	bench.depth = 1;
	r = run();
	ok(r->bench->total.depths == 2 && r->pages == PAGES,
	   "no more are outstanding than allowed");
}

static void ranges(void)
{
	const struct sp_policy_result *r;
	double one;

	reset(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE);
	opts.passes = 0;
	bench.runtime_ns = 100000 * MS;
	opts.clients = 6;
	r = run();
	one = r->pages_per_s;
	ok(fabs(r->bench->total.depth_mean - 6) < 1e-6 && r->queries == 6,
	   "each client has one request outstanding (%.2f), and queries end", r->pages_per_s);
	opts.submission = SP_POLICY_AGGRESSIVE;
	r = run();
	ok(r->bench->total.depths == 97 && r->bench->total.depth_mean > 40, "or a batch of 16");
	ok(fabs(r->pages_per_s / one - 1) < 0.02,
	   "which is of no use to a device that does not order them");
	target = "sim:linear,merge=no,sched=clook";
	r = run();
	ok(r->bench->simulated && r->pages > 0, "a scheduler is named in the target");
	target = "sim:linear,merge=no";
}

static const struct sp_bench_stats *class_of(const struct sp_policy_result *r, const char *name)
{
	for (size_t i = 0; i < r->bench->nclasses; i++)
		if (!strcmp(r->bench->classes[i].name, name))
			return &r->bench->classes[i];
	return NULL;
}

static void updates(void)
{
	const struct sp_policy_result *r;
	const struct sp_bench_stats *urgent;

	reset(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.buffer = 0.5;
	opts.priorities = true;
	opts.critical_rate = 5;
	r = run();
	urgent = class_of(r, "urgent");
	ok(class_of(r, "read")->requests == PAGES && class_of(r, "write")->requests == 0 &&
		   urgent->requests >= PAGES / 2 && urgent->requests < PAGES / 2 + 5,
	   "one pass writes as many pages as have no room (%llu)",
	   (unsigned long long)urgent->requests);
	ok(class_of(r, "critical")->prio == SP_BENCH_PRIO(SP_BENCH_BE, 0) &&
		   urgent->prio == SP_BENCH_PRIO(SP_BENCH_BE, 0) &&
		   class_of(r, "read")->prio == SP_BENCH_PRIO(SP_BENCH_IDLE, 0) &&
		   class_of(r, "write")->prio == SP_BENCH_PRIO(SP_BENCH_IDLE, 0),
	   "priorities are those of the waiting clients");
	ok(fabs((double)class_of(r, "critical")->requests / (r->bench->elapsed_ns / 1e9) - 5) < 2,
	   "critical reads are added to it");
	opts.priorities = false;
	opts.submission = SP_POLICY_AGGRESSIVE;
	r = run();
	ok(class_of(r, "critical")->prio == 0 && class_of(r, "write")->prio == 0 &&
		   class_of(r, "write")->requests > PAGES / 4 &&
		   class_of(r, "urgent")->requests == 0,
	   "an aggressive update writes in the background");
	opts.passes = 0;
	bench.runtime_ns = 20000 * MS;
	bench.ramp_ns = 5000 * MS;
	r = run();
	ok(r->bench->elapsed_ns == 20000 * MS && class_of(r, "write")->requests > 0,
	   "without passes it runs for the given time");
	ok(labs((long)r->pages - (long)class_of(r, "read")->requests) < 300,
	   "and counts no page of the time before");
}

static void refusals(void)
{
	reset(SP_POLICY_SCAN, SP_POLICY_ADAPTIVE);
	ok(refused() == -EINVAL && strstr(err.text, "an update"), "adaptive is for updates");
	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.passes = 0;
	ok(refused() == -EINVAL, "there must be an end");
	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	bench.size_bytes = 64 * 16384;
	ok(refused() == -EINVAL && strstr(err.text, "extents"), "the table is large enough");
	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	bench.engine = "sync";
	ok(refused() == -EINVAL && strstr(err.text, "sync"),
	   "an engine keeps requests outstanding");
	reset(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.page_bytes = 0;
	ok(refused() == -EINVAL, "a page has bytes");
	reset(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE);
	opts.extent_threshold = 13;
	ok(refused() == -EINVAL && strstr(err.text, "one page at a time"),
	   "an extent threshold needs one page at a time");
	reset(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	ok(refused() == 0, "and nothing is said of what can run");
}

int main(void)
{
	saw();
	pauses();
	serial();
	ranges();
	updates();
	refusals();
	sp_policy_free(policy);
	return done();
}
