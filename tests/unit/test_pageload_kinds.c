/* SPDX-License-Identifier: MIT */
/*
 * Page loads with the oldest victims, threads, extent thresholds and a log, on a fake device.
 */
#include "pageload_device.h"

/* The oldest victims: in one pass from an empty buffer, writes in order of address. */
static void oldest(void)
{
	uint32_t next = 0;
	bool in_order = true, whole = true;
	size_t reads = 0;

	begin(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.passes = 2;
	opts.buffer = 0.25;
	opts.victims = SP_POLICY_VICTIMS_OLDEST;
	opts.frames_needed = SP_POLICY_FRAMES_EXTENT;
	drive(300 * US, NULL);
	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = &events[i];

		if (e->what == 's' && e->class == SP__PAGE_URGENT)
			in_order &= e->page == next++ % PAGES;
		/* A whole extent is requested in one batch, so its requests are consecutive. */
		if (e->what == 's' && e->class == SP__PAGE_READ)
			whole &= reads++ % E == 0 ||
				 (events[i - 1].what == 's' && events[i - 1].page + 1 == e->page);
	}
	ok(in_order && next > PAGES, "the oldest pages are written in order of address");
	ok(whole && reads == 2 * PAGES, "if an extent fits, it is read as a whole in each pass");
	sp__pageload_close(&load);

	begin(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.buffer = 0.5;
	opts.victims = SP_POLICY_VICTIMS_OLDEST;
	(void)!sp__pageload_open(&load, &opts, PAGES, capacity, 7);
	ok(load.buffer.dirty.n == PAGES / 2 && load.buffer.state[PAGES / 2] == SP__PAGE_DIRTY &&
		   load.buffer.state[PAGES / 2 - 1] == SP__PAGE_OUT,
	   "a full buffer has the last half of the pass before");
	sp__pageload_close(&load);
}

/* Each thread has one request of consecutive pages at a time. */
static void threads(void)
{
	unsigned out = 0, max = 0;
	bool whole = true;

	begin(SP_POLICY_SCAN, SP_POLICY_AGGRESSIVE);
	opts.passes = 1;
	opts.ahead = 4;
	opts.threads = 2;
	drive(300 * US, NULL);
	for (size_t i = 0; i < nevents; i++) {
		out += events[i].what == 's';
		out -= events[i].what == 'd';
		max = out > max ? out : max;
		whole &= events[i].n == E && events[i].page % E == 0;
	}
	ok(load.over && load.accessed == PAGES && whole && nevents == 2 * PAGES / E,
	   "a thread reads an extent as one request");
	ok(max == 2, "two threads have two requests outstanding (%u)", max);
	sp__pageload_close(&load);
	begin(SP_POLICY_UPDATE, SP_POLICY_ADAPTIVE);
	opts.passes = 2;
	opts.buffer = 0.25;
	opts.threads = 1;
	opts.preflush_ns = 10000 * US;
	drive(300 * US, NULL);
	ok(load.over && load.accessed == 2 * PAGES, "an update with threads comes to its end");
	sp__pageload_close(&load);
}

/* Four queries in a table of eight extents, with a buffer for half of them. */
static void thresholds(void)
{
	static bool in[PAGES];
	size_t here = 0, max = 0;
	bool once = true, whole = false;

	begin(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE);
	memset(in, 0, sizeof(in));
	opts.passes = 40;
	opts.query_pages = 100;
	opts.extent_threshold = 13;
	opts.buffer = 0.5;
	max_out = 0;
	drive(300 * US, look_range);
	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = &events[i];

		if (e->what != 's')
			continue;
		here += !in[e->page];
		in[e->page] = true;
		max = here > max ? here : max;
		once &= e->class == SP__PAGE_READ && e->n == 1;
		whole |= i > 0 && events[i - 1].what == 's' && events[i - 1].ns == e->ns &&
			 events[i - 1].page / E == e->page / E;
	}
	ok(load.queries == 40 && load.accessed >= 4000 && once,
	   "queries with an extent threshold come to their end");
	ok(whole && max_out > 4 + 30,
	   "an extent above the threshold is read as a whole (%u outstanding)", max_out);
	ok(load.threshold.n == load.threshold.frames && load.threshold.frames == PAGES / 2,
	   "the buffer is full and no larger");
	sp__pageload_close(&load);

	begin(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE);
	opts.passes = 4;
	opts.query_pages = 100;
	opts.extent_threshold = 63;
	opts.compute_ns = 0;
	opts.buffer = 0.9;
	max_out = 0;
	drive(300 * US, look_range);
	ok(max_out == 4, "without one each query reads a page at a time");
	ok(load.accessed > nevents / 2, "and none that is in the buffer");
	sp__pageload_close(&load);
}

/* The log of changed pages, in order, written each second or after half a megabyte. */
static void logs(void)
{
	uint64_t blocks = 0, last_ns = 0, gap_ns = UINT64_MAX;
	unsigned writes = 0;
	bool in_order = true, one = true;

	begin(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.passes = 1;
	opts.buffer = 0.25;
	opts.compute_ns = 1000 * US;
	opts.log_bytes = 100;
	drive(300 * US, NULL);
	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = &events[i];

		if (e->class != SP__PAGE_LOG || e->what != 's')
			continue;
		in_order &= e->page == blocks;
		blocks += e->n;
		if (writes++ && e->ns - last_ns < gap_ns)
			gap_ns = e->ns - last_ns;
		last_ns = e->ns;
	}
	ok(writes >= 4 && writes <= 6 && in_order && gap_ns >= 1000000 * US,
	   "a log is written in order, once a second (%u writes)", writes);
	ok(blocks * 4096 + load.log.bytes >= load.accessed * 100 &&
		   blocks * 4096 + load.log.bytes < load.accessed * 100 + writes * 4096,
	   "all of it, in whole blocks");
	sp__pageload_close(&load);

	begin(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.passes = 1;
	opts.buffer = 0.25;
	opts.compute_ns = 10 * US;
	opts.log_bytes = 64 << 10;
	writes = 0;
	drive(300 * US, NULL);
	for (size_t i = 0, out = 0; i < nevents; i++) {
		const struct event *e = &events[i];

		if (e->class != SP__PAGE_LOG)
			continue;
		one &= e->what == 'd' || (!out && e->n == 128 && e->page + e->n <= 16384);
		out += e->what == 's' ? 1 : (size_t)-1;
		writes += e->what == 's';
	}
	ok(one && writes > 300, "or 512 KiB at a time, one write after the other (%u)", writes);
	sp__pageload_close(&load);
}

int main(void)
{
	oldest();
	threads();
	thresholds();
	logs();
	return done();
}
