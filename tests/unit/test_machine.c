/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine.  On the model "linear" a page of 4 KB takes
 * 0.3 s / 256 and every request that does not begin where the last one ended
 * 7 ms more, so that all times can be worked out by hand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/rng.h"
#include "sim/machine.h"
#include "tap.h"

#define PAGE UINT64_C(1171875)
#define SEEK UINT64_C(7000000)

static struct sp__machine *boot(const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__machine_spec spec;
	struct sp__machine *m;

	if (sp__machine_spec_parse(&spec, text, &err) < 0 ||
	    sp__machine_open(&m, &spec, &err) < 0) {
		diag("%s: %s", text, err.text);
		exit(1);
	}
	return m;
}

static int file(struct sp__machine *m, enum sp__sim_area area, uint64_t bytes)
{
	int n = sp__machine_file(m, area, bytes);

	if (n < 0)
		exit(1);
	return n;
}

static struct sp__simreq request(int f, char op, uint64_t offset, uint32_t bytes)
{
	return (struct sp__simreq){
		.file = (unsigned)f, .write = op == 'W', .offset = offset, .bytes = bytes
	};
}

/* One request, waited for; how long it took. */
static uint64_t go(struct sp__machine *m, int f, char op, uint64_t offset, uint32_t bytes)
{
	struct sp__simreq r = request(f, op, offset, bytes), *p = &r, *done;
	uint64_t begin = sp__machine_now_ns(m);

	if (sp__machine_submit(m, &p, 1, false) < 0)
		return UINT64_MAX;
	done = sp__machine_reap(m, true);
	if (done != p || done->next || r.done_ns > sp__machine_now_ns(m))
		return UINT64_MAX;
	return sp__machine_now_ns(m) - begin;
}

/* A request in pages of 4 KB. */
static uint64_t pages(struct sp__machine *m, int f, char op, uint64_t page, unsigned n)
{
	return go(m, f, op, page * 4096, n * 4096);
}

static struct sp__machine_stats stats(struct sp__machine *m)
{
	struct sp__machine_stats s;

	sp__machine_stats(m, &s);
	return s;
}

static void test_direct(void)
{
	struct sp__machine *m = boot("linear");
	int in = file(m, SP__SIM_INPUT, 1 << 20), spill = file(m, SP__SIM_SPILL, 0);
	struct sp__machine_stats s;
	uint64_t lbn;

	ok(pages(m, in, 'R', 0, 1) == PAGE && pages(m, in, 'R', 1, 2) == 2 * PAGE,
	   "reads in sequence take the time of the transfer");
	ok(pages(m, in, 'R', 10, 1) == SEEK + PAGE, "elsewhere, and a seek");
	ok(pages(m, spill, 'W', 0, 4) == SEEK + 4 * PAGE && pages(m, spill, 'W', 4, 1) == PAGE,
	   "without a page cache writes wait for the device");
	ok(go(m, in, 'R', 100, 1000) == SEEK + 439453, "bytes are rounded outward to blocks");
	ok(sp__machine_locate(m, (unsigned)spill, 5000, &lbn) == 0 && lbn == 2048 + 9,
	   "the spill area follows the input");
	ok(pages(m, in, 'R', 255, 2) == SEEK + PAGE && pages(m, in, 'R', 300, 1) == 0,
	   "a request beyond the end takes no time");
	s = stats(m);
	ok(s.requests == 8 && s.device.dispatched == 7 && s.device.seeks == 5 &&
		   s.device_read_bytes == 5 * 4096 + 1536 && s.device_write_bytes == 5 * 4096 &&
		   s.transfers == 11,
	   "requests, seeks, bytes and transfers are counted");
	ok(sp__machine_now_ns(m) == 10 * PAGE + 439453 + 4 * SEEK &&
		   s.device.busy_ns == sp__machine_now_ns(m),
	   "all that time was I/O");
	sp__machine_close(m);
}

static void test_overlap(void)
{
	struct sp__machine *m = boot("linear");
	int in = file(m, SP__SIM_INPUT, 1 << 20);
	struct sp__simreq r[3] = { request(in, 'R', 0, 4096), request(in, 'R', 8192, 4096),
				   request(in, 'R', 4096, 4096) };
	struct sp__simreq *p[3] = { &r[0], &r[1], &r[2] }, *done;
	struct sp__machine_stats s;

	ok(sp__machine_submit(m, p, 2, false) == 0 && sp__machine_now_ns(m) == 0,
	   "submitting does not move the clock");
	sp__machine_charge(m, PAGE - 1);
	ok(!sp__machine_reap(m, false), "nothing is done too early");
	sp__machine_charge(m, 1);
	done = sp__machine_reap(m, false);
	ok(done == &r[0] && !done->next && sp__machine_now_ns(m) == PAGE,
	   "I/O continues while the program computes");
	ok(sp__machine_submit(m, &p[2], 1, false) == 0, "another one while one is under way");
	done = sp__machine_reap(m, true);
	ok(done == &r[1] && r[1].done_ns == 2 * PAGE + SEEK &&
		   sp__machine_now_ns(m) == 2 * PAGE + SEEK,
	   "waiting moves the clock to the next completion");
	done = sp__machine_reap(m, true);
	ok(done == &r[2] && sp__machine_now_ns(m) == 3 * PAGE + 2 * SEEK &&
		   !sp__machine_reap(m, true),
	   "with nothing outstanding there is nothing to wait for");
	s = stats(m);
	ok(s.cpu_time_ns == PAGE, "computing is accounted");
	sp__machine_close(m);
}

static void test_cached_reads(void)
{
	struct sp__machine *m = boot("linear,cache=1M,readahead=0");
	int in = file(m, SP__SIM_INPUT, 1 << 20);
	struct sp__simreq r[2] = { request(in, 'R', 0, 16384), request(in, 'R', 8192, 4096) };
	struct sp__simreq *p[2] = { &r[0], &r[1] }, *done;
	struct sp__machine_stats s;

	ok(pages(m, in, 'R', 4, 2) == SEEK + 2 * PAGE && pages(m, in, 'R', 4, 2) == 0,
	   "a page is read once");
	ok(pages(m, in, 'R', 2, 6) == 2 * SEEK + 4 * PAGE,
	   "only the missing pages of a request are read, as two requests");
	sp__machine_close(m);

	m = boot("linear,cache=1M,readahead=0");
	in = file(m, SP__SIM_INPUT, 1 << 20);
	ok(sp__machine_submit(m, p, 2, false) == 0, "two requests for the same page");
	done = sp__machine_reap(m, true);
	ok(done == &r[0] && done->next == &r[1] && r[1].done_ns == 4 * PAGE,
	   "the second waits for what the first is reading");
	s = stats(m);
	ok(s.cache.hits == 1 && s.cache.misses == 4 && s.transfers == 4 && s.device.dispatched == 1,
	   "the page is moved once");
	sp__machine_close(m);
}

static void test_read_ahead(void)
{
	struct sp__machine *m = boot("linear,cache=1M,readahead=16K,merge=no");
	int in = file(m, SP__SIM_INPUT, 64 * 4096), spill = file(m, SP__SIM_SPILL, 0);
	struct sp__machine_stats s;
	uint64_t t = 0, begin;

	t += pages(m, in, 'R', 0, 1) + pages(m, in, 'R', 1, 1);
	ok(t == 2 * PAGE && sp__machine_now_ns(m) == 2 * PAGE,
	   "the program does not wait for what is read ahead");
	begin = sp__machine_now_ns(m);
	sp__machine_charge(m, PAGE);
	ok(pages(m, in, 'R', 2, 1) == PAGE && sp__machine_now_ns(m) == begin + 2 * PAGE,
	   "a page that is being read ahead is waited for, and not read again");
	for (uint64_t p = 3; p < 64; p++)
		pages(m, in, 'R', p, 1);
	s = stats(m);
	ok(sp__machine_now_ns(m) == 64 * PAGE && s.transfers == 64 && s.device.seeks == 1,
	   "a file read in sequence keeps the device busy and stops at its end");
	/* 0, 1, 2-3, 4-7, ... 60-63 */
	ok(s.device.dispatched == 18, "in windows of two, then four pages: %llu requests",
	   (unsigned long long)s.device.dispatched);
	ok(pages(m, spill, 'W', 0, 1) == 0, "writing needs no reading");
	sp__machine_close(m);
}

static void test_read_ahead_regions(void)
{
	struct sp__machine *m =
		boot("linear,cache=32K,readahead=8K,flush=evict,merge=no,fs=group:4");
	int in = file(m, SP__SIM_INPUT, 8 * 4096), a = file(m, SP__SIM_SPILL, 0),
	    b = file(m, SP__SIM_SPILL, 0);
	struct sp__machine_stats s;
	uint64_t hits;

	pages(m, a, 'W', 0, 4);
	pages(m, b, 'W', 0, 4);
	pages(m, a, 'W', 4, 4);
	pages(m, b, 'W', 4, 4);
	pages(m, in, 'R', 0, 8);
	s = stats(m);
	hits = s.cache.hits;
	ok(s.regions == 4 && hits == 0, "two files lie between each other, and nothing is cached");
	for (uint64_t p = 0; p < 8; p++)
		pages(m, a, 'R', p, 1);
	/* The input ends where a begins: 0, 1-2 ahead, 3 ahead; then 4, 5-6 ahead, 7 ahead. */
	ok(stats(m).cache.hits == 6 && stats(m).device.dispatched == s.device.dispatched + 6,
	   "read-ahead stops where a region ends, and continues in the next one");
	sp__machine_close(m);
}

static void test_flush(void)
{
	struct sp__machine *m = boot("linear,cache=40K,flush=100/60/20/3s,readahead=0");
	int f = file(m, SP__SIM_SPILL, 0);
	uint64_t begin;

	ok(pages(m, f, 'W', 0, 6) == 0, "writes into the page cache take no time");
	ok(pages(m, f, 'W', 6, 1) == 5 * PAGE, "a writer above the second threshold waits");
	begin = sp__machine_now_ns(m);
	sp__machine_sync(m);
	ok(sp__machine_now_ns(m) == begin + 2 * PAGE, "a sync writes the rest and waits for it");
	sp__machine_sync(m);
	ok(sp__machine_now_ns(m) == begin + 2 * PAGE && stats(m).device_write_bytes == 7 * 4096,
	   "after it nothing is dirty");
	sp__machine_close(m);

	m = boot("linear,cache=40K,readahead=0");
	f = file(m, SP__SIM_SPILL, 0);
	ok(pages(m, f, 'W', 0, 5) == 0 && sp__machine_now_ns(m) == 0,
	   "above the first threshold the program does not wait");
	ok(pages(m, f, 'W', 9, 1) == 0, "for further writes neither");
	pages(m, f, 'R', 9, 1);
	ok(stats(m).device.busy_ns == 0 && go(m, f, 'R', 8 * 4096, 4096) == 2 * PAGE + SEEK + PAGE,
	   "but a read waits for background writes");
	ok(stats(m).device_write_bytes == 3 * 4096,
	   "which is as much as was above the threshold, then and in the meantime");
	sp__machine_close(m);

	m = boot("linear,cache=40K,readahead=0");
	f = file(m, SP__SIM_SPILL, 0);
	pages(m, f, 'W', 0, 1);
	sp__machine_charge(m, 1000000000);
	pages(m, f, 'W', 1, 1);
	sp__machine_charge(m, 2000000000 + PAGE - 1);
	ok(stats(m).device.busy_ns == PAGE - 1, "a dirty page is written when it has its age");
	sp__machine_charge(m, 2000000000);
	ok(stats(m).device_write_bytes == 2 * 4096 && stats(m).device.busy_ns == 2 * PAGE,
	   "the next one when it has");
	sp__machine_close(m);
}

/* Requests that a sync of 64 KB makes. */
static uint64_t synced(const char *text)
{
	struct sp__machine *m = boot(text);
	int f = file(m, SP__SIM_SPILL, 0);
	uint64_t n;

	pages(m, f, 'W', 0, 16);
	sp__machine_sync(m);
	n = stats(m).device.dispatched;
	sp__machine_close(m);
	return n;
}

static void test_limits(void)
{
	struct sp__machine *m = boot("linear,cache=40K,readahead=0,writeback=1");
	int f = file(m, SP__SIM_SPILL, 0);

	ok(synced("linear,cache=1M") == 1 && synced("linear,cache=1M,merge=16K") == 4,
	   "neither the cache nor merging makes a request larger than the limit of merge");
	ok(synced("nearline6t-like,cache=1M,merge=512") == 16,
	   "if a block is larger, no request is larger than a block");
	pages(m, f, 'W', 0, 6);
	sp__machine_charge(m, 2500000000);
	ok(stats(m).device_write_bytes == 3 * 4096 && stats(m).device.dispatched == 3,
	   "the background writes as many pages at a time as writeback says");
	sp__machine_close(m);
}

static void test_eviction(void)
{
	struct sp__machine *m = boot("linear,cache=8K,flush=evict,readahead=0");
	int f = file(m, SP__SIM_SPILL, 0);

	pages(m, f, 'W', 7, 1);
	pages(m, f, 'R', 7, 1);
	ok(sp__machine_now_ns(m) == 0, "written pages are in the cache");
	pages(m, f, 'W', 0, 2);
	ok(sp__machine_now_ns(m) == SEEK + PAGE, "a page that is evicted is written first");
	ok(pages(m, f, 'R', 7, 1) == SEEK + PAGE + SEEK + PAGE,
	   "then what takes its place is read");
	sp__machine_punch(m, (unsigned)f, 0, 3 * 4096);
	ok(pages(m, f, 'R', 5, 1) == SEEK + PAGE && pages(m, f, 'R', 6, 1) == PAGE,
	   "pages that are given up are not written");
	ok(stats(m).device_write_bytes == 2 * 4096, "neither later");
	sp__machine_close(m);
}

static void test_groups(void)
{
	struct sp__machine *m = boot("linear,fs=group:2");
	int a = file(m, SP__SIM_SPILL, 0), b = file(m, SP__SIM_SPILL, 0);
	struct sp__machine_stats s;
	uint64_t lbn;

	for (uint64_t p = 0; p < 8; p++) {
		pages(m, a, 'W', p, 1);
		pages(m, b, 'W', p, 1);
	}
	s = stats(m);
	ok(s.regions == 8 && s.region_bytes_mean == 8192,
	   "two files written alternately have regions of one group each");
	ok(sp__machine_locate(m, (unsigned)b, 4 * 4096, &lbn) == 0 && lbn == 10 * 8,
	   "and lie between each other");
	ok(pages(m, a, 'R', 0, 8) == 8 * PAGE + 4 * SEEK, "to read one back takes a seek for each");
	sp__machine_punch(m, (unsigned)a, 100, 3 * 4096);
	ok(pages(m, b, 'W', 8, 2) == 2 * SEEK + 2 * PAGE &&
		   sp__machine_locate(m, (unsigned)b, 8 * 4096, &lbn) == 0 && lbn == 8,
	   "whole pages that are given up serve again");
	sp__machine_close(m);
}

static void test_space(void)
{
	struct sp__machine *m = boot("tiny"); /* 1386 blocks: 173 pages */
	int in = file(m, SP__SIM_INPUT, 100 * 4096), f = file(m, SP__SIM_SPILL, 0);
	struct sp__simreq r[2] = { request(f, 'W', 0, 4096), request(f, 'W', 73 * 4096, 4096) };
	struct sp__simreq *p[2] = { &r[0], &r[1] };

	ok(pages(m, f, 'W', 0, 73) != UINT64_MAX, "a device can be filled");
	ok(sp__machine_submit(m, p, 2, false) == -ENOSPC && !sp__machine_reap(m, true),
	   "of requests that do not all fit none is outstanding");
	ok(sp__machine_file(m, SP__SIM_OUTPUT, 4096) == -ENOSPC,
	   "a file that does not fit is refused");
	ok(pages(m, in, 'R', 0, 100) != UINT64_MAX, "the machine continues");
	sp__machine_close(m);
}

/* A model with a host whose computing takes time. */
static void test_costs(void)
{
	static const char json[] =
		"{\"schema\": \"spindle.model/1\", \"kind\": \"linear\", \"name\": \"slow host\","
		"\"about\": \"x\", \"block_bytes\": 512, \"total_blocks\": 100000,"
		"\"transfer_s_per_mb\": 0.3, \"seek_ms\": 7, \"host\": {\"compare_ns\": 1,"
		"\"record_ns\": 1, \"copy_ps\": 1000, \"request_ns\": 5000}}";
	char path[] = "/tmp/test_machine_XXXXXX.json", spec[64];
	struct sp__machine *m;
	int f, fd = mkstemps(path, 5);

	if (fd < 0 || write(fd, json, sizeof(json) - 1) != (ssize_t)sizeof(json) - 1)
		exit(1);
	close(fd);
	m = boot(path);
	f = file(m, SP__SIM_INPUT, 1 << 20);
	ok(pages(m, f, 'R', 0, 1) == 5000 + PAGE, "issuing a request takes its time");
	sp__machine_close(m);
	snprintf(spec, sizeof(spec), "%s,cache=1M,readahead=0", path);
	m = boot(spec);
	f = file(m, SP__SIM_INPUT, 1 << 20);
	ok(pages(m, f, 'R', 0, 2) == 5000 + 2 * PAGE + 8192,
	   "so does copying out of the page cache");
	ok(pages(m, f, 'R', 1, 1) == 5000 + 4096 && pages(m, f, 'W', 7, 1) == 5000 + 4096,
	   "and into it");
	ok(stats(m).cpu_time_ns == 3 * 5000 + 4 * 4096, "all of it is computing");
	sp__machine_close(m);
	unlink(path);
}

/* EMS of Wang & Cherniack, table 2, on pages 0-3 of the input and 0-7 of the spill file. */
static uint64_t ems_transfers(const char *spec)
{
	static const char ops[] = "R0 W0 R1 W1 R2 W2 R3 W3 r0 r1 W4 W5 r2 r3 W6 W7 ";
	struct sp__machine *m = boot(spec);
	int in = file(m, SP__SIM_INPUT, 4 * 4096), spill = file(m, SP__SIM_SPILL, 0);
	uint64_t transfers;

	for (const char *p = ops; *p; p += 3)
		if (pages(m, *p == 'R' ? in : spill, *p == 'W' ? 'W' : 'R', (uint64_t)(p[1] - '0'),
			  1) == UINT64_MAX)
			exit(1);
	transfers = stats(m).transfers;
	sp__machine_close(m);
	return transfers;
}

static void test_future(void)
{
	static const char *const lines[] = { "R in 0",	    "W out 12288", "W tmp 0",
					     "R in 4096",   "W tmp 4096",  "R in 8192",
					     "W tmp 8192",  "R in 12288",  "W tmp 12288",
					     "R tmp 0",	    "R tmp 4096",  "W tmp 16384",
					     "W out 0",	    "W tmp 20480", "R tmp 8192",
					     "R tmp 12288", "W tmp 24576", "W tmp 28672" };
	char path[] = "/tmp/test_machine_XXXXXX", spec[128];
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		exit(1);
	fputs("# spindle-trace/1\n# op volume offset bytes prio submit_ns done_ns result\n", f);
	for (int i = 0; i < 18; i++)
		fprintf(f, "%s 4096 0 %d %d 4096\n", lines[i], i, i + 1);
	fclose(f);
	ok(ems_transfers("linear,cache=12K,flush=evict,readahead=0") == 14,
	   "the paper's merge sort moves 14 pages under LRU");
	snprintf(spec, sizeof(spec), "linear,cache=12K,flush=evict,policy=opt,future=%s", path);
	ok(ems_transfers(spec) == 7, "with its own trace as the future it moves 7 under OPT");
	unlink(path);
}

/* A program that does everything, its life as one number. */
static uint64_t life(const char *spec, uint64_t seed, bool *good)
{
	struct sp__machine *m = boot(spec);
	struct sp__simreq r[64], *free_[64], *batch[8], *done;
	struct sp__rng rng = { seed };
	uint64_t hash = 0, last = 0;
	size_t nfree = 64, n;
	int files[4];

	for (int i = 0; i < 64; i++)
		free_[i] = &r[i];
	for (int i = 0; i < 4; i++)
		files[i] = file(m, i ? SP__SIM_SPILL : SP__SIM_INPUT, i ? 0 : 200 * 4096);
	for (int i = 0; i < 3000; i++) {
		n = 1 + sp__rng_below(&rng, 8);
		if (n > nfree)
			n = nfree;
		for (size_t k = 0; k < n; k++) {
			batch[k] = free_[--nfree];
			*batch[k] = request(files[sp__rng_below(&rng, 4)],
					    sp__rng_below(&rng, 2) ? 'R' : 'W',
					    sp__rng_below(&rng, 200) * 2048,
					    (uint32_t)sp__rng_below(&rng, 40000));
		}
		if (n)
			*good &= sp__machine_submit(m, batch, n, i % 2) == 0;
		if (sp__rng_below(&rng, 20) == 0)
			sp__machine_punch(m, (unsigned)files[1 + sp__rng_below(&rng, 3)],
					  sp__rng_below(&rng, 400000), sp__rng_below(&rng, 100000));
		if (sp__rng_below(&rng, 300) == 0)
			sp__machine_sync(m);
		sp__machine_charge(m, sp__rng_below(&rng, 3000000));
		for (done = sp__machine_reap(m, sp__rng_below(&rng, 2)); done; done = done->next) {
			*good &= done->done_ns >= last && done->done_ns >= done->submit_ns &&
				 done->done_ns <= sp__machine_now_ns(m);
			last = done->done_ns;
			hash = sp__mix64(hash ^ last ^ (uint64_t)(done - r));
			free_[nfree++] = done;
		}
	}
	while ((done = sp__machine_reap(m, true)))
		for (; done; done = done->next)
			nfree++;
	*good &= nfree == 64;
	hash = sp__mix64(hash ^ stats(m).device.dispatched ^ sp__machine_now_ns(m));
	sp__machine_close(m);
	return hash;
}

static void test_lives(void)
{
	static const char *const specs[] = {
		"linear",
		"linear,cache=64K,flush=evict",
		"linear,cache=400K,flush=10/30/10/50ms,fs=group:4,sched=look",
		"ide300-like,cache=1M,fs=extent,sched=deadline,window=4/sptf,readahead=64K",
		"atlas10k3-like,cache=20K,page=2K,noise=20us/2%/1ms,seed=5,sched=clook,fs=group",
		"atlas10k3-like,noise=50us,window=8,merge=no",
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		bool good = true;
		uint64_t first = life(specs[i], i + 1, &good),
			 second = life(specs[i], i + 1, &good);

		ok(good && first == second && first != life(specs[i], i + 99, &good) && good,
		   "every request is completed once, in order, and alike each time: %s", specs[i]);
	}
}

static void test_noise(void)
{
	struct sp__machine *quiet = boot("linear"), *loud = boot("linear,noise=20us/5%/1ms");
	int a = file(quiet, SP__SIM_INPUT, 1 << 20), b = file(loud, SP__SIM_INPUT, 1 << 20);
	double sum = 0, tails = 0;
	const int n = 20000;

	for (int i = 0; i < n; i++) {
		uint64_t t = pages(quiet, a, 'R', 0, 1), u = pages(loud, b, 'R', 0, 1);

		if (u < t)
			sum = -1e18;
		else if (u - t > 150000)
			tails++;
		else
			sum += (double)(u - t);
	}
	/* The mean of a half-normal is 0.798 sd; exp(-0.15) of the tails are longer than 150 us. */
	ok(sum > 0 && sum / n > 15000 && sum / n < 21000 && tails / n > 0.035 && tails / n < 0.055,
	   "noise is half-normal with an exponential tail, and never makes anything faster");
	sp__machine_close(quiet);
	sp__machine_close(loud);
}

static void test_speed(void)
{
	struct sp__machine *m = boot("linear");
	int f = file(m, SP__SIM_INPUT, 1 << 30);
	struct sp__simreq r[16], *p[16];
	uint64_t begin = sp__now_ns(), n = 0, reaped = 0;
	struct sp__rng rng = { 3 };

	for (int round = 0; round < 6000; round++) {
		for (int i = 0; i < 16; i++) {
			r[i] = request(f, 'R', sp__rng_below(&rng, 260000) * 4096, 4096);
			p[i] = &r[i];
		}
		n += sp__machine_submit(m, p, 16, false) == 0 ? 16 : 0;
		for (struct sp__simreq *d; (d = sp__machine_reap(m, true));)
			for (; d; d = d->next)
				reaped++;
	}
	diag("%.2f million requests per second", (double)n * 1e3 / (double)(sp__now_ns() - begin));
	ok(n == 96000 && reaped == n, "many requests are carried out");
	sp__machine_close(m);
}

/* Random requests; returns when the last one is complete. */
static uint64_t random_end_ns(struct sp__machine *m, int f)
{
	struct sp__rng rng = { 5 };

	for (unsigned i = 0; i < 200; i++)
		pages(m, f, sp__rng_below(&rng, 3) ? 'R' : 'W', sp__rng_below(&rng, 5000), 1);
	sp__machine_charge_ps(m, 7);
	return sp__machine_now_ns(m);
}

static void restarts(const char *text)
{
	struct sp__machine *m = boot(text);
	int f = file(m, SP__SIM_INPUT, 5000 * 4096);
	uint64_t ns = random_end_ns(m, f), again_ns;

	if (sp__machine_restart(m))
		exit(1);
	ok(!sp__machine_now_ns(m) && !stats(m).requests, "%s: a restart begins at 0", text);
	again_ns = random_end_ns(m, f);
	ok(ns == again_ns && stats(m).requests == 200,
	   "the same requests end at %llu ns, before it at %llu", (unsigned long long)again_ns,
	   (unsigned long long)ns);
	sp__machine_close(m);
}

int main(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__machine_spec spec;
	struct sp__machine *m;

	test_direct();
	test_overlap();
	test_cached_reads();
	test_read_ahead();
	test_read_ahead_regions();
	test_flush();
	test_eviction();
	test_limits();
	test_groups();
	test_space();
	test_costs();
	test_future();
	test_lives();
	test_noise();
	test_speed();
	ok(sp__machine_spec_parse(&spec, "nearline6t-like,page=512", NULL) == 0 &&
		   sp__machine_open(&m, &spec, &err) == SP_ESYNTAX && strstr(err.text, "page"),
	   "pages that do not hold whole blocks are refused");
	restarts("cheetah36es-like");
	restarts("mems-g2");
	restarts("flash,noise=10us");
	restarts("linear,cache=4M,fs=extent");
	restarts("barracuda4-like,cache=1M,array=raid0:3,sched=sstf");
	return done();
}
