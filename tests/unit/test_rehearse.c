/* SPDX-License-Identifier: MIT */
/*
 * What is foretold of joins on simulated machines, against bounds that need no join; how near it
 * is to joins is measured in tests/cli/xjoin-foretell.t.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "join/plan.h"
#include "join/rehearsed.h"
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

	return sp_join_plan(o, &p, NULL) ? -1 : p.seconds;
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
	inputs = 10.0 * MB / (1 << 20) * g.transfer_s_per_mb;
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
	ok(seconds(&o) > time + inputs + 16.0 * MB / (1 << 20) * g.transfer_s_per_mb,
	   "inputs and the result add to that if they are on the machine");
	sp_geometry_free(linear);
}

static void test_shape(void)
{
	struct sp_join_opts o = some("sim:atlas10k3-like", 8 << 20, 50 * MB, 2000 * MB);
	double one = seconds(&o), two;

	ok(one > 0 && seconds(&o) == one, "the same is foretold each time");
	o.input_bytes[1] *= 2;
	two = seconds(&o) / one;
	ok(two > 1.9 && two < 2.1, "a probe input twice as long takes about twice the time: %.2f",
	   two);
	o = some("sim:linear", 1 << 20, 3 * MB, 900 * MB);
	o.algorithm = SP_JOIN_NESTED;
	ok(seconds(&o) > 0, "blocks of nested loops are foretold");
	o = some("sim:linear,fs=group:8,cache=4M", 512 << 10, 60 * MB, 90 * MB);
	o.join_bytes = 256 << 10;
	o.run.page_bytes = 4096;
	ok(seconds(&o) > 2 * 2 * 150.0 * MB / (1 << 20) * 0.3,
	   "partitions that do not fit are parted again");
}

static void test_unknown(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_opts o = some(NULL, 1 << 20, 2 * MB, 8 * MB);
	struct sp_join_plan p;

	ok(seconds(&o) == 0, "nothing is foretold of a real device");
	o = some("sim:linear", 1 << 20, 0, 8 * MB);
	ok(seconds(&o) == 0, "nor of an input of unknown length");
	o = some("sim:linear", 1 << 20, 2 * MB, 8 * MB);
	o.limited = true;
	ok(seconds(&o) == 0, "nor of a join that stops early");
	o = some("sim:tiny,files=both", 1 << 20, 200 * MB, 800 * MB);
	ok(sp_join_plan(&o, &p, &err) == -ENOSPC && strstr(err.text, "No space"),
	   "files that the device has no room for are an error");
	o.run.volume = "sim:nothing-like";
	ok(sp_join_plan(&o, &p, &err) < 0, "and so is a machine that does not exist");
}

/* What a chunk of a run that lies in pieces is read with, and where space comes from again. */
static void test_streams(void)
{
	struct sp__machine_spec spec;
	struct sp__machine_stats stats;
	struct sp__rehearsal r;
	struct sp__rehearsed run[2];
	struct sp__rehearsed_write w[2];
	struct sp__rehearsed_read read;
	uint64_t bytes = 0, n;

	if (sp__machine_spec_parse(&spec, "linear", NULL) || sp__rehearsal_open(&r, &spec, NULL))
		exit(1);
	for (int i = 0; i < 2; i++) {
		sp__rehearsed_run(&r, &run[i], 4096);
		sp__rehearsed_write_open(&r, &w[i], &run[i], 8192, 3);
	}
	for (int i = 0; i < 10; i++)
		sp__rehearsed_put(&w[i % 2], 8192);
	sp__rehearsed_put(&w[0], 100);
	for (int i = 0; i < 2; i++)
		sp__rehearsed_write_end(&w[i]);
	for (int i = 0; i < 2; i++)
		sp__rehearsed_write_finish(&w[i]);
	sp__machine_stats(r.machine, &stats);
	ok(!r.error && stats.requests == 11 && stats.device_write_bytes == 10 * 8192 + 4096,
	   "a chunk is a request, and the last one is rounded up to blocks");
	ok(run[0].run->nextents == 6 && run[1].run->nextents == 5, "runs lie chunk by chunk");
	sp__rehearsed_read_open(&r, &read, &run[0], 16384, true);
	while ((n = sp__rehearsed_next(&read)))
		bytes += n;
	sp__machine_stats(r.machine, &stats);
	ok(!r.error && bytes == 5 * 8192 + 100 && stats.requests == 17,
	   "each piece is read by itself, and the bytes are those written");
	ok(r.space.nfree == 11, "the space of what was read is free");
	for (int i = 0; i < 2; i++)
		sp__rehearsed_end(&r, &run[i]);
	sp__rehearsal_close(&r);
}

int main(void)
{
	test_bounds();
	test_shape();
	test_unknown();
	test_streams();
	return done();
}
