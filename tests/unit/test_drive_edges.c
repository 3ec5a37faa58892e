/* SPDX-License-Identifier: MIT */
/*
 * The rotating drive to the nanosecond: blocks that are reached just in time, and what comes before
 * and times other than the medium's: overheads and the bus.
 */
#include <math.h>
#include <stdlib.h>
#include "dev/device.h"
#include "tap.h"

/* 600 places of 10 us; the skew is as long as the head switch. */
static struct sp__model *edge_model(const char *rpm, const char *head_switch, const char *more)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m = NULL;
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"{ \"rpm\": %s, \"surfaces\": 2, \"head_switch_ms\": %s,"
		"\"seek_ms\": [[1, %s]], \"zones\": [{ \"first_cyl\": 0,"
		"\"last_cyl\": 99, \"spt\": 600, \"track_skew\": 60, \"cyl_skew\": 60 }]%s }",
		rpm, head_switch, head_switch, more);

	ok(!sp__model_parse(&m, "text", text, (size_t)n, &err),
	   "the drive with a tight skew loads %s", err.text);
	return m;
}

static uint64_t time_of_op(struct sp__device *d, uint64_t start, bool write, uint64_t lbn,
			   uint32_t blocks)
{
	struct sp__subreq p = { .lbn = lbn, .blocks = blocks, .write = write };
	uint64_t near = d->model->ops->position(d->model, d->state, start, &p, UINT64_MAX);
	struct sp__service s;

	d->model->ops->serve(d->model, d->state, start, &p, &s);
	/* The time before the first block is that of the choice. */
	if (blocks <= 600 && s.done_ns - start < near + s.transfer_ns)
		return 0;
	return s.done_ns - start;
}

static uint64_t time_of(struct sp__device *d, uint64_t start, uint64_t lbn, uint32_t blocks)
{
	return time_of_op(d, start, false, lbn, blocks);
}

static void check_exact(void)
{
	struct sp__model *m = edge_model("10000", "0.6", "");
	uint64_t far = UINT64_C(6000000) * 1000000007;
	struct sp__device d;

	if (sp__device_open(&d, m))
		abort();
	ok(time_of(&d, 0, 0, 1) == 10000, "the first block passes immediately");
	ok(time_of(&d, 10000, 1, 599) == 5990000, "the rest of the track passes immediately");
	time_of(&d, 6000000, 0, 1);
	ok(time_of(&d, far + 123, 77, 3) == time_of(&d, 6000123, 77, 3),
	   "after a thousand million revolutions the angle is the same");
	sp__device_close(&d);
	sp__model_free(m);
}

/* A period of 5999400.06 ns: nothing ends on a whole nanosecond. */
static void check_rounding(void)
{
	struct sp__model *m = edge_model("10001", "0.59994", "");
	const double period = 6e10 / 10001;
	uint64_t now = 0, lost = 0;
	struct sp__device d;

	if (sp__device_open(&d, m))
		abort();
	for (unsigned i = 0; i < 100000; i++)
		now += time_of(&d, now, 5, 1);
	ok(fabs((double)now - period * (99999 + 6.0 / 600)) < 1,
	   "after 100000 revolutions of an odd period the error is less than 1 ns");
	for (unsigned i = 0; i < 3000; i++) {
		/* At most a revolution, ten tracks and ten steps. */
		uint64_t took = time_of(&d, now, i % 90 * 1200, 6000);

		lost += (double)took > 11 * period + 10 * 0.1 * period + 2;
		now += took + i * 7919;
	}
	ok(!lost, "a skew as long as the head switch never costs a revolution");
	sp__device_close(&d);
	sp__model_free(m);
}

static void check_bus(void)
{
	struct sp__model *fast = edge_model("10000", "0.6", ", \"bus_ms_per_block\": 0.004");
	struct sp__model *slow = edge_model("10000", "0.6", ", \"bus_ms_per_block\": 0.04");
	struct sp__device d, e;

	if (sp__device_open(&d, fast) || sp__device_open(&e, slow))
		abort();
	ok(time_of(&d, 0, 0, 100) == 1004000, "a fast bus is done a block after the medium");
	ok(time_of(&e, 0, 0, 100) == 4000000, "a slow bus decides how long a request takes");
	sp__device_close(&d);
	sp__device_close(&e);
	sp__model_free(fast);
	sp__model_free(slow);
}

/* 100 blocks are under the head for 1 ms, and 4 ms on the bus; tracks are 0.6 ms apart. */
static void check_bus_behind(void)
{
	struct sp__model *m = edge_model("10000", "0.6", ", \"bus_ms_per_block\": 0.04");
	struct sp__model *fast = edge_model("10000", "0.6", ", \"bus_ms_per_block\": 0.01");
	struct sp__model *apart = edge_model(
		"10000", "0.6", ", \"bus_ms_per_block\": 0.04, \"bus_overlap\": \"reads\"");
	struct sp__subreq late = { .lbn = 299, .blocks = 100, .write = true };
	struct sp__device d, e, f;

	if (sp__device_open(&d, m) || sp__device_open(&e, fast) || sp__device_open(&f, apart))
		abort();
	ok(m->ops->position(m, d.state, 0, &late, UINT64_MAX) == 8990000,
	   "the choice knows that a write waits for a slow bus");
	ok(time_of_op(&d, 0, true, 300, 100) == 4000000,
	   "a write whose last block has come when the head is there");
	ok(time_of_op(&d, 6000000, true, 299, 100) == 9990000,
	   "one that would be a block ahead of the bus waits a revolution");
	ok(time_of_op(&d, 18000000, true, 1, 2) == 6030000, "be it short");
	ok(time_of_op(&d, 30000000, true, 500, 200) == 13600000, "on each track");
	ok(time_of_op(&f, 0, true, 400, 100) == 5000000, "one that is apart has brought all");
	ok(time_of_op(&e, 0, true, 0, 100) == 1000000,
	   "a bus as fast as the medium is not waited for");
	sp__device_close(&d);
	sp__device_close(&e);
	sp__device_close(&f);
	sp__model_free(m);
	sp__model_free(fast);
	sp__model_free(apart);
}

/* The seek is over after 0.6 ms; the bus has brought 100 blocks after 1.01. */
static void check_bus_at_once(void)
{
	struct sp__model *m = edge_model("10000", "0.6",
					 ", \"bus_ms_per_block\": 0.0101,"
					 "\"cache\": { \"zero_latency_writes\": true }");
	struct sp__device d;

	if (sp__device_open(&d, m))
		abort();
	ok(time_of_op(&d, 1100000, true, 1200, 100) == 6600000,
	   "a write that the bus has brought when its end passes begins in its middle");
	ok(time_of_op(&d, 20400000, true, 2400, 100) == 7000000,
	   "one whose end passes before waits for its begin");
	sp__device_close(&d);
	sp__model_free(m);
}

/* 100 blocks are under the head for 1 ms, and 0.4 ms on the bus; a revolution takes 6. */
static void check_bus_apart(const char *overlap, uint64_t read_ns, uint64_t write_ns)
{
	char more[80];
	struct sp__model *m;
	struct sp__device d;

	snprintf(more, sizeof(more), ", \"bus_ms_per_block\": 0.004, \"bus_overlap\": \"%s\"",
		 overlap);
	m = edge_model("10000", "0.6", more);
	if (sp__device_open(&d, m))
		abort();
	ok(time_of(&d, 0, 0, 100) == read_ns, "overlap of %s: a read takes %.3f ms", overlap,
	   (double)read_ns / 1e6);
	ok(time_of_op(&d, 6000000, true, 0, 100) == write_ns, "and a write %.3f",
	   (double)write_ns / 1e6);
	/* In 0.4 ms the head comes to block 40. */
	ok(time_of_op(&d, 18000000, true, 40, 100) == 1400000,
	   "a write that begins where the head is when its blocks have come does not wait");
	sp__device_close(&d);
	sp__model_free(m);
}

/* A drive without a cache misses; the head is at block 10 after 0.1 ms. */
static void check_overheads(void)
{
	struct sp__model *m = edge_model("10000", "0.6",
					 ", \"overheads\": { \"read_miss_ms\": [0.1, 0.2],"
					 "\"write_miss_ms\": 0.3, \"read_end_ms\": 0.05 }");
	struct sp__device d;

	if (sp__device_open(&d, m))
		abort();
	ok(time_of(&d, 0, 10, 1) == 160000, "without a cache every read misses");
	ok(time_of_op(&d, 6000000, true, 30, 1) == 310000, "and every write");
	ok(time_of(&d, 12000000, 20, 1) == 260000, "the previous request matters");
	ok(time_of(&d, 18000000, 9, 1) == 6000000 + 150000,
	   "a block that passed before the overhead ended is lost for a revolution");
	sp__device_close(&d);
	sp__model_free(m);
}

int main(void)
{
	check_exact();
	check_rounding();
	check_bus();
	check_bus_behind();
	check_bus_at_once();
	check_overheads();
	check_bus_apart("both", 1004000, 1000000);
	check_bus_apart("reads", 1004000, 7000000);
	check_bus_apart("writes", 1400000, 1000000);
	check_bus_apart("none", 1400000, 7000000);
	return done();
}
