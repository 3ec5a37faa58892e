/* SPDX-License-Identifier: MIT */
/*
 * zl98.s2: two merges on one simulated drive, with clusters as indivisible batches
 * and without.
 */
#include "sim/rivals.h"
#include "tap.h"

static struct rivals_result run(const char *model, const char *sched, enum submission how,
				unsigned rivals)
{
	struct rivals_opts o = { .model = model, .sched = sched, RIVALS_USUAL };
	struct rivals_result r;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	o.submission = how;
	o.rivals = rivals;
	o.runs = 5;
	o.run_pages = 40;
	o.buffers = 24;
	ok(rivals_run(&o, &r, &err) == 0, "%u merges of 5 runs on %s, %s", rivals, model, sched);
	return r;
}

static uint64_t last_ns(const struct rivals_result *r)
{
	return r->done_ns[0] > r->done_ns[1] ? r->done_ns[0] : r->done_ns[1];
}

static void test_linear(void)
{
	struct rivals_result alone = run("linear", "noop", ATOMIC, 1);
	struct rivals_result whole = run("linear", "noop", ATOMIC, 2);
	struct rivals_result torn = run("linear", "noop", PUSHED, 2);

	ok(alone.clusters == 51 && alone.device.requests == 200, "alone: 200 pages in 51 clusters");
	ok(whole.clusters == 104 && whole.device.seeks == 103,
	   "zl98.s2: as batches, clusters of two merges cost one seek each");
	ok(torn.clusters == 104 && torn.device.seeks == 139,
	   "zl98.s2: requests pushed one by one are torn apart: 36 seeks more");
	ok(last_ns(&whole) == UINT64_C(4482000000) && last_ns(&torn) == UINT64_C(4734050000),
	   "zl98.s2: that takes 4.734 s instead of 4.482 s");
}

static void test_schedulers(void)
{
	struct rivals_result whole = run("linear", "sstf", ATOMIC, 2);
	struct rivals_result torn = run("linear", "sstf", SINGLE, 2);
	struct rivals_result sorted = run("linear", "clook", SINGLE, 2);

	ok(whole.device.seeks == 86 && torn.device.seeks == 234,
	   "zl98.s2: SSTF without batches reads clusters from both ends");
	ok(sorted.device.seeks == 86, "zl98.s2: C-LOOK keeps clusters together by itself");
}

static void test_drive(void)
{
	struct rivals_result whole = run("barracuda4-like", "noop", ATOMIC, 2);
	struct rivals_result torn = run("barracuda4-like", "noop", PUSHED, 2);

	ok(whole.device.seeks == 103 && torn.device.seeks == 139, "zl98.s2: the same on a drive");
	ok(last_ns(&whole) * 107 < last_ns(&torn) * 100, "zl98.s2: 7 %% slower there at least");
}

int main(void)
{
	test_linear();
	test_schedulers();
	test_drive();
	return done();
}
