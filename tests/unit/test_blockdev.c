/* SPDX-License-Identifier: MIT */
/*
 * The simulated block device: time, lanes, merging, batches, counting.
 */
#include "fakedev.h"
#include "tap.h"

static struct sp__blockreq req(uint64_t lbn, uint32_t blocks, bool write)
{
	return (struct sp__blockreq){ .lbn = lbn, .blocks = blocks, .write = write };
}

static void test_time(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, "noop", 1, SP__WINDOW_FIFO, false);
	struct sp__blockreq a = req(1000, 8, false), b = req(1008, 8, false), c = req(0, 1, true);
	struct sp__blockreq *done;

	ok(sp__blockdev_next_ns(bd) == SP__NEVER, "an idle device has nothing to come");
	submit1(bd, 50, &a);
	ok(sp__blockdev_next_ns(bd) == 100050, "first the overhead ends");
	ok(!sp__blockdev_advance(bd, 100050), "nothing is done then");
	/* 1000 blocks passed over in 5 us, 8 transferred in 80 us */
	ok(sp__blockdev_next_ns(bd) == 185050, "the end of the service is known once it has begun");
	submit1(bd, 120000, &b);
	submit1(bd, 185050, &c);
	done = sp__blockdev_advance(bd, 185050);
	ok(done == &a && !a.next && a.submit_ns == 50 && a.dispatch_ns == 100050 &&
		   a.done_ns == 185050,
	   "a request tells when it was submitted, dispatched and done");
	done = sp__blockdev_advance(bd, 10000000);
	ok(done == &b && b.next == &c && !c.next, "completions come in the order of time");
	ok(b.dispatch_ns == 220000 && b.done_ns == 300000,
	   "service starts when the overhead is over, if the device is idle");
	ok(c.dispatch_ns == 335050 && c.done_ns == 335050 + 5080 + 10000,
	   "a write has its own overhead");
	ok(sp__blockdev_next_ns(bd) == SP__NEVER, "then nothing is outstanding");
	ok(sp__blockdev_flushed_ns(bd) == 11000000, "a flush waits for the device's buffer");
	sp__blockdev_close(bd);
	free(f);
}

/* A reader with two requests outstanding moves upward; when is a write behind it served? */
static unsigned reads_before_write(const char *sched)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, sched, 1, SP__WINDOW_FIFO, false);
	struct sp__blockreq r[2] = { req(1000, 64, false), req(1064, 64, false) }, *done, *next;
	struct sp__blockreq write = req(0, 8, true);
	unsigned reads = 2, before = 0;
	bool written = false;

	submit1(bd, 0, &r[0]);
	submit1(bd, 0, &r[1]);
	submit1(bd, 1, &write);
	while (sp__blockdev_next_ns(bd) != SP__NEVER) {
		uint64_t now = sp__blockdev_next_ns(bd);

		for (done = sp__blockdev_advance(bd, now); done; done = next) {
			next = done->next;
			written |= done == &write;
			before += !written;
			if (done == &write || reads == 200)
				continue;
			*done = req(1000 + 64 * reads++, 64, false);
			submit1(bd, now, done);
		}
	}
	sp__blockdev_close(bd);
	free(f);
	return before;
}

static void test_elevators(void)
{
	ok(reads_before_write("look") == 200 && reads_before_write("clook") == 200 &&
		   reads_before_write("sstf") == 200,
	   "a reader that moves upward keeps an elevator from requests behind it");
	ok(reads_before_write("noop") < 4, "but not a queue");
	ok(reads_before_write("deadline:write=2ms") < 50,
	   "one with deadlines does not let it wait for long");
}

static void test_same_moment(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockreq a = req(0, 1, false), far = req(900000, 1, false),
			    near = req(1, 1, false);
	struct sp__blockdev *bd;

	f->model.overhead_ns[0] = 0;
	bd = fake_dev(f, "sstf", 1, SP__WINDOW_FIFO, false);
	submit1(bd, 0, &a);
	submit1(bd, 1, &far);
	ok(sp__blockdev_advance(bd, 10000) == &a && sp__blockdev_next_ns(bd) == 10000,
	   "at the moment of a completion the next decision is still open");
	submit1(bd, 10000, &near);
	drain(bd);
	ok(near.done_ns == 20000 && far.dispatch_ns == 20000,
	   "a request submitted at that moment can be chosen");
	sp__blockdev_close(bd);

	bd = fake_dev(f, "sstf", 1, SP__WINDOW_FIFO, false);
	f->at[0] = 0;
	submit1(bd, 0, &a);
	submit1(bd, 1, &far);
	submit1(bd, 10000, &near);
	drain(bd);
	ok(near.dispatch_ns == 10000, "even before the completion is reaped");
	sp__blockdev_close(bd);

	bd = fake_dev(f, "sstf", 1, SP__WINDOW_FIFO, false);
	f->at[0] = 0;
	submit1(bd, 0, &a);
	submit1(bd, 1, &far);
	submit1(bd, 10001, &near);
	ok(sp__blockdev_next_ns(bd) == 10000 && sp__blockdev_advance(bd, 10001) == &a &&
		   far.dispatch_ns == 10000,
	   "a request submitted later cannot: the decision was taken, and nothing is lost");
	drain(bd);
	ok(near.done_ns > far.done_ns, "it comes second");
	sp__blockdev_close(bd);
	free(f);
}

static void test_window_sptf(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, "noop", 2, SP__WINDOW_SPTF, false);
	struct sp__blockreq r[4] = { req(500000, 1, false), req(600000, 1, false),
				     req(100, 1, false), req(100, 1, false) };
	struct sp__blockreq *all[] = { &r[0], &r[1], &r[2], &r[3] };

	sp__blockdev_submit(bd, 0, all, 4, false);
	drain(bd);
	ok(r[0].done_ns < r[1].done_ns, "the nearer of the window is served first");
	ok(r[2].dispatch_ns == r[0].done_ns, "a request outside the window waits for a slot");
	ok(r[1].done_ns < r[2].done_ns, "however near it is");
	ok(r[2].done_ns < r[3].done_ns, "of equals the first submitted is first");
	sp__blockdev_close(bd);

	f->at[0] = 0;
	bd = fake_dev(f, "clook", 3, SP__WINDOW_SPTF, false);
	r[0].lbn = 99;
	r[1].lbn = 50;
	r[2].lbn = 150;
	submit1(bd, 0, &r[0]);
	sp__blockdev_advance(bd, 100000);
	sp__blockdev_submit(bd, 100000, all + 1, 2, false);
	sp__blockdev_advance(bd, 200000);
	drain(bd);
	ok(r[1].done_ns < r[2].done_ns, "even if it was dispatched after the other");
	sp__blockdev_close(bd);
	free(f);
}

/* Returns the wait of a far request in the drive's window, with an endless stream of near ones. */
static uint64_t far_wait(uint64_t age_ns)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockreq far = req(900000, 1, false), near[4], *r, *next;
	struct sp__blockdev *bd;

	f->model.window_age_ns = age_ns;
	bd = fake_dev(f, "noop", 5, SP__WINDOW_SPTF, false);
	for (unsigned i = 0; i < 4; i++) {
		near[i] = req(100 * i, 80, false);
		submit1(bd, 0, &near[i]);
	}
	submit1(bd, 0, &far);
	while (!far.done_ns && sp__blockdev_next_ns(bd) < UINT64_C(1000000000))
		for (r = sp__blockdev_advance(bd, sp__blockdev_next_ns(bd)); r; r = next) {
			next = r->next;
			if (r != &far)
				submit1(bd, r->done_ns, r);
		}
	sp__blockdev_close(bd);
	free(f);
	return far.done_ns ? far.done_ns : UINT64_MAX;
}

static void test_window_age(void)
{
	uint64_t wait = far_wait(50000000);

	ok(far_wait(0) == UINT64_MAX, "without an age limit the nearest comes first for ever");
	diag("waited %llu us", (unsigned long long)wait / 1000);
	ok(wait >= 50000000 && wait < 70000000,
	   "a request that was in the window for that long is next");
}

static void test_lanes(void)
{
	struct fake *f = fake_new(4, 16);
	struct sp__blockdev *bd = fake_dev(f, "noop", 1, SP__WINDOW_FIFO, false);
	struct sp__blockreq a = req(8, 64, false), big = req(0, 16384, false);
	struct sp__blockdev_stats s;
	uint64_t blocks = 0;
	size_t i;

	submit1(bd, 0, &a);
	drain(bd);
	ok(f->n == 5 && f->log[0].start_ns == 100000 && f->log[3].start_ns == 100000,
	   "a request is split, and lanes work at the same time");
	ok(f->log[4].subreq.lane == 0 && f->log[4].start_ns == f->log[0].done_ns,
	   "a second subrequest of a lane follows the first");
	/* Lane 0: 8 blocks at 8 (80.04 us), then 8 blocks at 16. */
	ok(a.done_ns == 100000 + 160040, "it completes with its last subrequest");
	sp__blockdev_stats(bd, &s);
	ok(s.busy_ns == 160040, "busy time counts once, however many lanes work");
	ok(s.dispatched == 1 && s.seeks == 4, "seeks count by lane");
	f->n = 0;
	submit1(bd, 1000000, &big);
	drain(bd);
	for (i = 0; i < f->n; i++)
		blocks += f->log[i].subreq.blocks;
	ok(f->n == 1024 && blocks == 16384 && sp__blockdev_next_ns(bd) == SP__NEVER,
	   "a request of more subrequests than are kept is split as they come back");
	sp__blockdev_close(bd);
	free(f);
}

static void test_merging(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev_opts opts = { .merge = true, .policy = -1, .merge_blocks_max = 24 };
	struct sp__blockreq busy = req(0, 1, false), a = req(100, 8, false), b = req(108, 8, false),
			    c = req(92, 8, false), full = req(116, 8, false), w = req(84, 8, true),
			    idle = req(84, 8, false);
	struct sp__blockreq *all[] = { &busy, &a, &b, &c, &full, &w, &idle };
	struct sp__blockdev_stats s;
	struct sp__blockdev *bd;

	idle.prio = 3 << 13;
	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	submit1(bd, 0, all[0]);
	sp__blockdev_advance(bd, 100000);
	sp__blockdev_submit(bd, 100000, all + 1, 6, false);
	sp__blockdev_advance(bd, 110000);
	drain(bd);
	sp__blockdev_stats(bd, &s);
	ok(a.done_ns == b.done_ns && a.done_ns == c.done_ns && b.dispatch_ns == c.dispatch_ns,
	   "requests merged at the back and the front complete together");
	ok(s.merges == 2 && s.dispatched == 5 && s.requests == 7, "merges are counted");
	ok(f->log[1].subreq.lbn == 92 && f->log[1].subreq.blocks == 24,
	   "the merged request is the union of its parts");
	ok(full.done_ns != a.done_ns, "not beyond the limit");
	ok(w.done_ns != a.done_ns && w.done_ns != idle.done_ns, "not with the other direction");
	ok(idle.done_ns != a.done_ns, "not with another class");
	ok(a.lbn == 100 && a.blocks == 8, "fields of the caller do not change");
	ok(s.read_blocks == 41 && s.write_blocks == 8, "blocks are counted by direction");
	sp__blockdev_close(bd);
	free(f);
}

static void test_gap_slots(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev_opts opts = { .merge = true, .policy = -1, .requests_max = 3 };
	struct sp__blockreq busy = req(0, 1, false), a = req(100, 8, false), c = req(116, 8, false),
			    b = req(108, 8, false);
	struct sp__blockreq *four[] = { &busy, &a, &c, &b };
	struct sp__blockdev *bd;
	size_t n = 0;
	unsigned i;

	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	for (i = 0; i < 5; i++) {
		sp__blockdev_submit(bd, i * 10000000, four, 4, false);
		n += drain(bd);
	}
	ok(n == 20 && f->n == 10, "two that become one give a slot back");
	sp__blockdev_close(bd);
	free(f);
}

static void test_gap(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, "clook", 1, SP__WINDOW_FIFO, true);
	struct sp__blockreq busy = req(0, 1, false), a = req(100, 8, false), c = req(116, 8, false),
			    b = req(108, 8, false);
	struct sp__blockreq *three[] = { &c, &a, &b };

	submit1(bd, 0, &busy);
	sp__blockdev_submit(bd, 100, three, 3, false);
	drain(bd);
	ok(f->n == 2 && f->log[1].subreq.lbn == 100 && f->log[1].subreq.blocks == 24,
	   "a request that closes a gap makes one of three");
	ok(a.done_ns == b.done_ns && b.done_ns == c.done_ns, "all three complete at the same time");
	sp__blockdev_close(bd);
	free(f);
}

/* Two readers of neighbouring places, each in batches of three. */
static void run_batches(bool divide, bool *torn, struct sp__blockdev_stats *s)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev_opts opts = { .sched = "clook", .policy = -1, .divide = divide };
	struct sp__blockreq r[61], *batch[3];
	struct sp__blockdev *bd;
	unsigned i, j, last = 0;

	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	r[60] = req(0, 1, false);
	submit1(bd, 0, &r[60]);
	for (i = 0; i < 60; i++)
		r[i] = req(1000 + (i / 3 % 2) * 50 + (i % 3) * 100 + i / 6 * 1000, 8, false);
	for (i = 0; i < 60; i += 3) {
		for (j = 0; j < 3; j++)
			batch[j] = &r[i + j];
		sp__blockdev_submit(bd, 1000, batch, 3, true);
	}
	*torn = drain(bd) != 61;
	for (i = 1; i < f->n; i++) {
		for (j = 0; r[j].lbn != f->log[i].subreq.lbn; j++)
			;
		*torn |= i % 3 == 1 ? j % 3 != 0 : j != last + 1;
		last = j;
	}
	sp__blockdev_stats(bd, s);
	sp__blockdev_close(bd);
	free(f);
}

static void test_batches(void)
{
	struct sp__blockdev_stats s;
	bool torn;

	run_batches(false, &torn, &s);
	ok(!torn,
	   "nothing comes between the parts of an indivisible batch, which keep their order");
	run_batches(true, &torn, &s);
	ok(torn, "divided, the same batches are torn apart by a sweep");
}

static void test_batch_merging(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, "clook", 4, SP__WINDOW_FIFO, true);
	struct sp__blockreq r[6] = { req(100, 8, false), req(108, 8, false), req(500, 8, false),
				     req(508, 8, true),	 req(492, 8, false), req(116, 8, false) };
	struct sp__blockreq *all[] = { &r[0], &r[1], &r[2], &r[3], &r[4] };
	struct sp__blockdev_stats s;

	sp__blockdev_submit(bd, 0, all, 5, true);
	submit1(bd, 0, &r[5]);
	drain(bd);
	sp__blockdev_stats(bd, &s);
	ok(r[0].done_ns == r[1].done_ns && s.merges == 1 && s.dispatched == 5,
	   "neighbours in a batch merge; others do not merge with it");
	ok(r[0].dispatch_ns == 150000, "a batch is ready when its slowest part is");
	sp__blockdev_close(bd);
	free(f);
}

static void test_limit(void)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev_opts opts = { .sched = "sstf", .policy = -1, .requests_max = 2 };
	struct sp__blockreq r[4] = { req(10, 1, false), req(900000, 1, false), req(20, 1, false),
				     req(30, 1, false) };
	struct sp__blockreq *all[] = { &r[0], &r[1], &r[2], &r[3] }, *done;
	struct sp__blockdev *bd;
	bool right;

	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	sp__blockdev_submit(bd, 0, all, 4, false);
	done = sp__blockdev_advance(bd, 1000000000);
	right = done == &r[0] && done->next == &r[2] && r[2].next == &r[3] && r[3].next == &r[1];
	ok(right, "requests beyond the limit wait for a place, in order, and are then chosen from");
	sp__blockdev_close(bd);

	f->at[0] = 0;
	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	sp__blockdev_submit(bd, 0, all, 3, true);
	sp__blockdev_submit(bd, 0, all + 3, 1, false);
	ok(drain(bd) == 4 && r[3].done_ns > r[2].done_ns,
	   "a batch larger than the limit is not stuck");
	sp__blockdev_close(bd);
	free(f);
}

static void test_depths(void)
{
	static uint64_t ns[SP__DEPTHS][SP__DEPTH_MAX + 1];
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd;
	struct sp__blockreq r[3] = { req(0, 1, false), req(1, 1, false), req(2, 1, false) };
	struct sp__blockreq *all[] = { &r[0], &r[1], &r[2] };
	unsigned i, k;
	uint64_t sum;

	bd = fake_dev(f, "noop", 2, SP__WINDOW_FIFO, false);
	sp__blockdev_submit(bd, 1000, all, 3, false);
	sp__blockdev_advance(bd, 500000);
	for (i = 0; i < SP__DEPTHS; i++)
		sp__blockdev_depths(bd, i, ns[i]);
	ok(ns[SP__DEPTH_DEVICE][2] == 20000 && ns[SP__DEPTH_DEVICE][1] == 10000,
	   "depth inside the device, weighted with time");
	ok(ns[SP__DEPTH_QUEUED][3] == 100000 && ns[SP__DEPTH_QUEUED][1] == 10000,
	   "depth before it, overhead included");
	ok(ns[SP__DEPTH_TOTAL][3] == 110000 && ns[SP__DEPTH_TOTAL][2] == 10000 &&
		   ns[SP__DEPTH_TOTAL][1] == 10000,
	   "depth of both");
	for (i = 0; i < SP__DEPTHS; i++) {
		for (k = 0, sum = 0; k <= SP__DEPTH_MAX; k++)
			sum += ns[i][k];
		ok(sum == 500000, "all time is somewhere (%u)", i);
	}
	sp__blockdev_close(bd);
	free(f);
}

/* Two lanes with a window of 1 each, behind one queue or two. */
static void run_queues(unsigned drives, unsigned queues, enum sp__window_policy policy,
		       struct sp__blockreq *r, size_t n)
{
	struct fake *f = fake_new(2, 64);
	struct sp__blockdev *bd;
	struct sp__blockreq *batch[3];

	f->model.drives = drives;
	f->model.queues = queues;
	bd = fake_dev(f, "noop", 1, policy, false);
	for (size_t i = 0; i < n; i++)
		batch[i] = &r[i];
	sp__blockdev_submit(bd, 0, batch, n, true);
	drain(bd);
	sp__blockdev_close(bd);
	free(f);
}

static void test_queues(void)
{
	/* The first two on lane 0, the third on lane 1. */
	const struct sp__blockreq of_two[3] = { req(0, 64, false), req(128, 1, false),
						req(64, 1, false) };
	/* All on lane 0; the third is near. */
	const struct sp__blockreq of_one[3] = { req(0, 64, false), req(128000, 1, false),
						req(128, 1, false) };
	struct sp__blockreq r[3];

	memcpy(r, of_two, sizeof(r));
	run_queues(1, 1, SP__WINDOW_FIFO, r, 3);
	ok(r[0].done_ns == 740000 && r[1].done_ns == 750000 && r[2].done_ns == 760000,
	   "behind one queue a lane that is free waits for one that is not");
	memcpy(r, of_two, sizeof(r));
	run_queues(2, 2, SP__WINDOW_FIFO, r, 3);
	ok(r[0].done_ns == 740000 && r[1].done_ns == 750000 && r[2].done_ns == 110000,
	   "each drive of an array has a queue, a window and a part of the batch of its own");
	memcpy(r, of_one, sizeof(r));
	run_queues(2, 1, SP__WINDOW_SPTF, r, 3);
	ok(r[1].dispatch_ns == 100000 && r[2].dispatch_ns == 740000 && r[1].done_ns < r[2].done_ns,
	   "two drives of one queue hold twice the window, but each chooses from its own");
}

int main(void)
{
	test_time();
	test_elevators();
	test_same_moment();
	test_window_sptf();
	test_window_age();
	test_lanes();
	test_merging();
	test_gap();
	test_gap_slots();
	test_batches();
	test_batch_merging();
	test_limit();
	test_depths();
	test_queues();
	return done();
}
