/* SPDX-License-Identifier: MIT */
/*
 * Compares predictions of sorts and joins on simulated machines with bounds that need no sort or
 * join; tests/cli/xsort-predict.t and xjoin-predict.t compare them with sorts and joins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include <spindle/sort.h>
#include "join/dryrun/dryrun.h"
#include "join/plan/plan.h"
#include "predict/dryrun.h"
#include "sim/machine.h"
#include "tap.h"

#define MB 1000000u

static struct sp_join_opts some(const char *volume, uint64_t memory, uint64_t a, uint64_t b)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;

	o.algorithm = SP_JOIN_HYBRID;
	o.run.volume = volume;
	o.run.memory_bytes = memory;
	o.input_bytes[0] = a;
	o.input_bytes[1] = b;
	o.record_bytes[0] = o.record_bytes[1] = 100;
	return o;
}

static double seconds(const struct sp_join_opts *o)
{
	struct sp_join_plan p;

	return sp_join_plan(o, &p, NULL) || sp_join_predict(o, &p, NULL) ? -1 : p.seconds;
}

/* Work of the dry run, and the time predicted. */
static struct sp__join_prediction predicted(const struct sp_join_opts *o)
{
	struct sp__join_prediction prediction = { 0 };
	struct sp__join_layout l;
	struct sp_join_plan p;

	if (sp_join_plan(o, &p, NULL) || sp__join_layout(o, &l, NULL) ||
	    sp__join_predict(o, &p, &l, &prediction, NULL))
		exit(1);
	return prediction;
}

/* The linear machine takes no time to compute, and one seek for all that is not in sequence. */
static void test_bounds(void)
{
	struct sp_join_opts o = some("sim:linear,files=in", 64 << 20, 2 * MB, 8 * MB);
	struct sp_geometry_info g;
	struct sp_geometry *linear;
	double inputs, least, time;

	if (sp_geometry_model(&linear, "linear", NULL))
		exit(1);
	sp_geometry_info(linear, &g);
	inputs = 10.0 * MB / (1 << 20) * g.transfer_s_per_mib;
	ok(fabs(seconds(&o) - inputs) < 3 * g.seek_s,
	   "in memory a join takes as long as its inputs");
	o.algorithm = SP_JOIN_MERGE;
	o.run.memory_bytes = 16 << 20;
	time = seconds(&o);
	ok(time > inputs + 7 * g.seek_s && time < inputs + 17 * g.seek_s,
	   "a merge goes from one to the other for each chunk of the smaller one");
	o.algorithm = SP_JOIN_GRACE;
	o.run.memory_bytes = 1 << 20;
	o.run.volume = "sim:linear";
	least = 2 * inputs;
	time = seconds(&o);
	ok(time > least && time < least + (g.seek_s + 1e-3) * 10 * MB / (16 << 10),
	   "partitions are written and read, with a seek for each chunk of them at most");
	o.run.volume = "sim:linear,files=both";
	ok(seconds(&o) > time + inputs + 16.0 * MB / (1 << 20) * g.transfer_s_per_mib,
	   "inputs and the result add to that if they are on the machine");
	sp_geometry_free(linear);
}

static void test_shape(void)
{
	struct sp_join_opts o = some("sim:atlas10k3-like", 8 << 20, 50 * MB, 2000 * MB);
	double one = seconds(&o), two;

	ok(one > 0 && seconds(&o) == one, "the same is predicted each time");
	o.input_bytes[1] *= 2;
	two = seconds(&o) / one;
	ok(two > 1.9 && two < 2.1, "a probe input twice as long takes about twice the time: %.2f",
	   two);
	o = some("sim:linear", 1 << 20, 3 * MB, 900 * MB);
	o.algorithm = SP_JOIN_NESTED;
	ok(seconds(&o) > 0, "blocks of nested loops are predicted");
	o = some("sim:linear,fs=group:8,cache=4M", 512 << 10, 60 * MB, 90 * MB);
	o.join_bytes = 256 << 10;
	o.run.page_bytes = 4096;
	ok(seconds(&o) > 2 * 2 * 150.0 * MB / (1 << 20) * 0.3,
	   "partitions that do not fit are parted again");
}

/* Large inputs take no more work, and their time is that of their parts. */
static void test_work(void)
{
	struct sp_join_opts o = some("sim:atlas10k3-like", 64 << 20, 4ull << 30, 4ull << 30);
	struct sp__join_prediction one, many;

	o.record_bytes[0] = o.record_bytes[1] = 1;
	many = predicted(&o);
	ok(many.work > 0 && many.work < SP__DRYRUN_WORK_MAX + 100000,
	   "short records: a bounded number of steps: %llu", (unsigned long long)many.work);
	o.record_bytes[0] = o.record_bytes[1] = 64;
	one = predicted(&o);
	ok(one.seconds > 0 && one.work < 10000000, "records of 64 bytes go in bundles: %llu",
	   (unsigned long long)one.work);
	o.algorithm = SP_JOIN_NESTED;
	one = predicted(&o);
	o.input_bytes[0] = o.input_bytes[1] = 1ull << 40;
	many = predicted(&o);
	ok(many.work < 3000000, "of nested loops a few blocks are run dry: %llu",
	   (unsigned long long)many.work);
	ok(fabs(many.seconds / one.seconds / 65536 - 1) < 0.2,
	   "256 times the blocks and the probe input take 65536 times as long: %.3f",
	   many.seconds / one.seconds / 65536);
	o = some("sim:linear", 1 << 20, 1ull << 40, 1ull << 40);
	many = predicted(&o);
	ok(many.seconds == 0 && many.work < SP__DRYRUN_WORK_MAX + 100000,
	   "the time of a join with too many requests is unknown");
	o = some("sim:linear,files=in", 1 << 20, 1, 1000 * MB);
	o.algorithm = SP_JOIN_MERGE;
	ok(isfinite(seconds(&o)) && seconds(&o) > 0, "one byte and very many are predicted");
}

static void test_plan(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_opts o = some("sim:atlas10k3-like", 8 << 20, 50 * MB, 2000 * MB);
	struct sp_join_plan p;

	ok(sp_join_plan(&o, &p, NULL) == 0 && p.seconds == 0,
	   "a plan alone is made without a dry run");
	o.run.placement = SP_PLACE_AUTO;
	ok(sp_join_plan(&o, &p, &err) == SP_EUNSUP && strstr(err.text, "placement auto"),
	   "a plan refuses the options that its join refuses");
}

static void test_unknown(void)
{
	struct sp_join_opts o = some(NULL, 1 << 20, 2 * MB, 8 * MB);
	struct sp_join_plan p;

	ok(seconds(&o) == 0, "nothing is predicted of a real device");
	o = some("sim:linear", 1 << 20, 0, 8 * MB);
	ok(seconds(&o) == 0, "an input of unknown length is not predicted");
	o = some("sim:linear", 1 << 20, 2 * MB, 8 * MB);
	o.limited = true;
	ok(seconds(&o) == 0, "a join that stops early is not predicted");
	o = some("sim:tiny,files=both", 1 << 20, 200 * MB, 800 * MB);
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.algorithm == SP_JOIN_HYBRID && seconds(&o) == 0,
	   "files that do not fit on the device are not predicted");
	o.run.volume = "sim:nothing-like";
	ok(seconds(&o) < 0, "a machine that does not exist is an error");
}

/* Reads a run of the hollow store to its end; its bytes. */
static uint64_t read_all(struct sp__spill *store, struct sp__run *run, size_t memory)
{
	struct sp__chunkread read;
	const char *data;
	uint64_t bytes = 0;
	size_t n;

	sp__chunkread_open(&read, store, run, true, NULL, memory);
	while (sp__chunkread_next(&read, &data, &n) == SP_READY)
		bytes += n;
	sp__chunkread_close(&read);
	return bytes;
}

/* The requests for runs that lie chunk by chunk in a hollow store, and the space of them. */
static void test_hollow(void)
{
	static char mem[3 * 8192];
	const struct sp_run_opts o = { .volume = "sim:linear" };
	struct sp__machine_stats stats;
	struct sp__env env;
	struct sp__run *run[2];
	struct sp__runwriter w[2];
	struct sp__spill_opts so;
	struct sp__spill *store;
	int rc = 0;

	if (sp__dryrun_open(&env, &o, NULL))
		exit(1);
	so = sp__env_spilling(&env);
	so.page_bytes = 4096;
	so.recycle_level = 1;
	so.budget = &env.budget;
	so.depth = 64;
	if (sp__spill_open(&store, &so))
		exit(1);
	for (int i = 0; i < 2; i++)
		rc |= sp__run_new(&run[i], &env.budget) |
		      sp__runwriter_open(&w[i], store, run[i], mem, sizeof(mem), NULL, NULL);
	for (int i = 0; i < 10; i++)
		rc |= sp__runwriter_skip(&w[i % 2], 8192);
	rc |= sp__runwriter_skip(&w[0], 100);
	for (int i = 0; i < 2; i++)
		rc |= sp__runwriter_end(&w[i]);
	for (int i = 0; i < 2; i++) {
		rc |= sp__runwriter_finish(&w[i]);
		sp__runwriter_close(&w[i]);
	}
	sp__machine_stats(env.device->machine, &stats);
	ok(!rc && stats.requests == 11 && stats.device_write_bytes == 10 * 8192 + 4096,
	   "a chunk is a request, and the last one is rounded up to blocks");
	ok(run[0]->nextents == 6 && run[1]->nextents == 5, "runs lie chunk by chunk");
	ok(read_all(store, run[1], sizeof(mem)) == 5 * 8192 && store->files[0].space.nfree == 10,
	   "the space of a run that was read is free");
	ok(read_all(store, run[0], 2 * sizeof(mem)) == 5 * 8192 + 100 &&
		   store->files[0].space.nfree == 21,
	   "the bytes are those written");
	sp__machine_stats(env.device->machine, &stats);
	ok(stats.requests == 22, "each extent is read by itself");
	for (int i = 0; i < 2; i++)
		sp__run_free(run[i]);
	sp__spill_close(store);
	ok(sp__dryrun_s(&env) > 0 && sp__dryrun_close(&env, 0) == 0, "and that took time");
}

/* Predicts a sort of records of 100 bytes; its plan's time before in *planned. */
static double sort_seconds(const char *volume, uint64_t memory, uint64_t bytes, double *planned)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort_plan p;

	o.format = (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = 100 };
	o.run.volume = volume;
	o.run.memory_bytes = memory;
	o.input_bytes = bytes;
	if (sp_sort_plan(&o, &p, NULL))
		exit(1);
	*planned = p.seconds;
	return sp_sort_predict(&o, &p, NULL) ? -1 : p.seconds;
}

static void test_sort(void)
{
	const char *const disk = "sim:atlas10k3-like";
	double planned, one = sort_seconds(disk, 8 << 20, 200 * MB, &planned), other;

	ok(one > 0 && one != planned && sort_seconds(disk, 8 << 20, 200 * MB, &planned) == one,
	   "two dry runs of a sort take the same time");
	other = sort_seconds(disk, 8 << 20, 400 * MB, &planned) / one;
	ok(other > 1.8 && other < 2.3, "twice the input takes about twice the time: %.2f", other);
	one = sort_seconds("sim:nearline6t-like", 256 << 20, 10000ull * MB, &planned);
	other = sort_seconds("sim:nearline6t-like", 256 << 20, 80000ull * MB, &planned) / one;
	ok(other > 7 && other < 10, "a large input takes a part of the dry run: %.2f", other);
	one = sort_seconds("sim:linear,files=both", 64 << 20, 20 * MB, &planned);
	other = sort_seconds("sim:linear,files=in", 64 << 20, 20 * MB, &planned);
	ok(one > 1.9 * other && one < 2.1 * other,
	   "in memory a sort takes the time of its input and output");
	ok(sort_seconds("sim:tiny,files=both", 1 << 20, 800 * MB, &planned) == planned,
	   "the plan's time of files that do not fit stays");
	ok(sort_seconds(NULL, 1 << 20, 800 * MB, &planned) == planned,
	   "the plan's time on a real device stays");
}

int main(void)
{
	test_bounds();
	test_shape();
	test_work();
	test_plan();
	test_unknown();
	test_hollow();
	test_sort();
	return done();
}
