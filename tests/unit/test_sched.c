/* SPDX-License-Identifier: MIT */
/*
 * What each I/O scheduler picks, in small cases worked out by hand, and how
 * its parameters are read.
 */
#include <stdlib.h>
#include <string.h>
#include "sim/sched.h"
#include "tap.h"

#define MS 1000000ull
#define RT (1 << 13)
#define BE (2 << 13)
#define IDLE (3 << 13)

static struct sp__blockreq pool[64];
static struct sp__sched sched;
static unsigned used;

static void start(const char *text)
{

	if (sp__sched_open(&sched, text, NULL))
		abort();
	sched.merge_blocks_max = 1024;
	used = 0;
}

/* A request for a block at lbn comes in at a moment. */
static void add(uint64_t lbn, bool write, unsigned prio, uint64_t ms)
{
	struct sp__blockreq *r = &pool[used++];

	*r = (struct sp__blockreq){ .lbn = lbn, .blocks = 1, .write = write };
	r->prio = (uint16_t)prio;
	r->start = lbn;
	r->end = lbn + 1;
	r->seq = used;
	r->last = r;
	sp__sched_add(&sched, r, ms * MS);
}

static struct sp__blockreq *take(uint64_t ms)
{
	struct sp__blockreq *r = sp__sched_next(&sched, ms * MS);

	if (r)
		sp__sched_dispatched(&sched, r);
	return r;
}

/* Are these the places dispatched next, each done before the next is asked for? */
static bool order(uint64_t ms, const uint64_t *want, unsigned n)
{
	struct sp__blockreq *r;
	unsigned i;

	for (i = 0; i < n; i++) {
		r = take(ms);
		if (!r || r->start != want[i]) {
			diag("%u: %lld, not %llu", i, r ? (long long)r->start : -1,
			     (unsigned long long)want[i]);
			return false;
		}
		sp__sched_done(&sched, r);
	}
	return true;
}

#define ORDER(ms, ...)                                                                             \
	order(ms, (const uint64_t[]){ __VA_ARGS__ },                                               \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void add_places(const char *text)
{
	static const uint64_t places[] = { 50, 10, 90, 30, 70 };
	unsigned i;

	start(text);
	sched.at = 39;
	sched.head = 40;
	for (i = 0; i < 5; i++)
		add(places[i], i & 1, 0, 0);
}

static void test_simple(void)
{
	add_places("noop");
	ok(ORDER(0, 50, 10, 90, 30, 70) && !take(0), "noop: as they came");
	add_places("clook");
	ok(ORDER(0, 50, 70, 90, 10, 30) && !take(0), "clook: upwards, then from the lowest");
	add_places("look");
	ok(ORDER(0, 50, 70, 90, 30, 10) && !take(0), "look: upwards, then down");
	add_places("sstf");
	/* 40 to 50 and 30: equal, 50 came first; 51 to 70 and 30: 19 and 21. */
	ok(ORDER(0, 50, 70, 90, 30, 10) && !take(0), "sstf: the nearest to the end of the last");

	start("sstf");
	sched.head = 40;
	add(20, false, 0, 0);
	add(20, false, 0, 0);
	add(60, false, 0, 0);
	ok(take(0) == &pool[0], "of equal distances the first submitted");
	start("clook");
	add(20, false, 0, 0);
	add(20, false, 0, 0);
	ok(take(0) == &pool[0], "of one place the first submitted");

	add_places("look");
	ok(ORDER(0, 50, 70), "look: on the way up");
	add(60, false, 0, 0);
	ok(ORDER(0, 90), "a request that arrives behind the head waits for the way back");
	add(95, false, 0, 0);
	ok(ORDER(0, 95, 60), "a request that arrives ahead of the arm is served on the way");
	add(60, false, 0, 0);
	add(35, false, 0, 0);
	ok(ORDER(0, 35, 30, 10, 60), "down, and up again");
}

static void test_deadline(void)
{
	unsigned i;

	start("deadline:batch=3");
	add(70, false, 0, 0);
	for (i = 0; i < 3; i++)
		add(100 - 10 * i, false, 0, 0);
	add(5, true, 0, 0);
	add(6, true, 0, 0);
	ok(ORDER(0, 70, 80, 90, 100), "deadline: the oldest, then upwards, reads before writes");
	add(200, false, 0, 0);
	add(300, false, 0, 0);
	add(310, false, 0, 0);
	ok(ORDER(0, 200, 300), "a batch continues");
	ok(ORDER(0, 5, 6), "writes are served after reads passed them over twice");
	ok(ORDER(0, 310) && !take(0), "then reads again");

	start("deadline:batch=1/starved=1");
	add(50, false, 0, 0);
	add(40, false, 0, 0);
	add(60, false, 0, 0);
	add(5, true, 0, 0);
	ok(ORDER(0, 50, 5, 40, 60), "after a change of direction the oldest is first");

	start("deadline:batch=2/read=100ms");
	add(500, false, 0, 0);
	for (i = 0; i < 6; i++)
		add(600 + i, false, 0, 1);
	ok(ORDER(0, 500, 600, 601), "sector order while nothing has expired");
	add(10, false, 0, 2);
	ok(ORDER(50, 602, 603), "requests behind the head wait");
	add(700, false, 0, 50);
	add(710, false, 0, 50);
	ok(ORDER(200, 604, 605, 700), "a batch from the oldest expired one, which lies ahead");
	ok(ORDER(200, 10, 710), "the next expired one goes before what is ahead");
}

static void test_deadline_writes(void)
{
	uint64_t ms;
	unsigned n = 0;

	start("deadline:batch=1/starved=3");
	add(1, true, 0, 0);
	for (ms = 0; ms < 30 && n < 30; ms++) {
		struct sp__blockreq *r;

		add(1000 + ms, false, 0, ms);
		r = take(ms);
		if (r->write)
			break;
		n++;
	}
	ok(n == 3, "a write waits for the given number of read batches, not more");
}

static void test_prio(void)
{
	start("deadline-prio:levels=0.1/1/batch=2");
	ok(sched.params.levels == 2 && sched.params.level_expire_ns[0] == 100 * MS,
	   "deadline-prio: levels as given");
	add(10, false, IDLE, 0);
	add(20, false, IDLE, 0);
	add(30, false, IDLE, 0);
	add(900, false, RT, 0);
	ok(ORDER(50, 10, 20, 30), "sector order while nothing has expired");
	add(40, false, BE | 1, 50);
	add(910, true, BE, 50);
	ok(ORDER(120, 40), "a batch is not broken");
	ok(ORDER(120, 900), "then the expired high one, before lower places");
	add(5, false, RT, 121);
	add(950, false, IDLE, 121);
	ok(ORDER(160, 950, 910, 5), "the first to expire goes first, whichever direction");

	start("deadline-prio:levels=0.1/1/batch=1");
	add(10, false, IDLE, 0);
	add(5, false, RT, 950);
	ok(ORDER(2000, 10, 5), "even a low one before a high one that expired later");

	start("deadline-prio");
	ok(sched.params.levels == 5 && sched.params.level_expire_ns[0] == 250 * MS &&
		   sched.params.level_expire_ns[3] == 9000 * MS &&
		   sched.params.level_expire_ns[4] == 12000 * MS && sched.params.group == 51,
	   "five levels from 0.25 s to 12 s, 51 requests each by default");
	add(1, false, 0, 0);
	add(2, false, BE | 7, 0);
	add(3, false, BE | 1, 0);
	ok(sched.fifos[2].n == 1 && sched.fifos[4].n == 1 && sched.fifos[1].n == 1,
	   "the level follows from the priority; without one it is the middle");
}

/* High requests that keep coming, two at a time: how many go before the low one; 100: it waits. */
static unsigned before_low(const char *text)
{
	unsigned n = 0;

	start(text);
	add(1000, false, IDLE, 0);
	add(0, false, RT, 0);
	add(1, false, RT, 0);
	while (n < 60 && take(0)->start != 1000)
		add(2 + n++, false, RT, 0);
	return n < 60 ? n : 100;
}

static void test_promote(void)
{
	start("promote:queues=3");
	add(50, false, IDLE, 0);
	add(10, false, IDLE, 0);
	add(90, false, RT, 0);
	ok(ORDER(0, 90), "promote: the highest queue goes first");
	add(80, false, RT, 0);
	ok(ORDER(0, 80), "and again, with lower ones promoted once");
	add(70, false, RT, 0);
	ok(ORDER(0, 50, 10, 70) && !take(0),
	   "promoted to the top they go before what comes in after that, in their order");

	start("promote:queues=3");
	add(10, false, RT, 0);
	add(20, false, RT, 0);
	ok(ORDER(0, 10), "an active queue");
	add(40, true, BE | 1, 0);
	add(30, false, RT, 0);
	ok(ORDER(0, 20, 30, 40), "an arriving request waits for the next queue, by level");
	add(60, false, 0, 0);
	add(50, false, BE | 7, 0);
	add(40, false, BE, 0);
	ok(ORDER(0, 40, 60, 50),
	   "the level follows from the priority; without one it is the middle");

	ok(before_low("promote:queues=3") == 4, "three active queues of two, of which one is low");
	ok(before_low("promote:queues=7") == 12, "seven of them with seven levels");
	ok(before_low("promote:queues=3/open") == 100,
	   "with an open queue high requests that keep coming starve the low one");
	start("promote:queues=3/open");
	add(50, false, IDLE, 0);
	add(90, false, RT, 0);
	ok(ORDER(0, 90), "but where it becomes empty");
	add(80, false, RT, 0);
	ok(ORDER(0, 80), "each time");
	add(70, false, RT, 0);
	ok(ORDER(0, 50, 70), "low ones are promoted");
}

static void test_strict(void)
{
	struct sp__blockreq *r;

	start("strict");
	add(10, false, IDLE, 0);
	add(20, false, 0, 0);
	add(25, false, BE | 7, 0);
	add(30, true, RT, 0);
	add(40, false, RT | 7, 0);
	ok(ORDER(0, 40, 30, 20, 25, 10), "strict: RT, BE, IDLE; levels do not count; none is BE");

	start("strict");
	add(10, false, RT, 0);
	add(20, false, BE, 0);
	r = take(0);
	ok(r && !take(0), "a class waits while one above has something in the device");
	sp__sched_done(&sched, r);
	ok(take(0) == &pool[1], "and is served when that completes");

	start("strict:aging=1s/batch=1/starved=3");
	add(1, true, 0, 2000);
	add(10, false, 0, 2000);
	add(20, false, 0, 2000);
	add(30, false, 0, 2000);
	add(40, false, 0, 2000);
	ok(ORDER(2000, 10, 20, 30, 1, 40), "looking for old requests changes nothing else");

	start("strict:aging=1s");
	add(10, false, IDLE, 0);
	add(20, false, RT, 500);
	add(21, false, RT, 500);
	ok(ORDER(999, 20), "strict order before the aging time");
	ok(ORDER(1000, 10, 21), "a request that has waited for the aging time is first");
}

static void test_merge(void)
{
	struct sp__blockreq r = { .start = 12, .end = 13, .seq = 99, .last = &r, .prio = BE };
	struct sp__blockreq *absorbed, *into;

	start("deadline-prio:levels=1/2");
	add(11, false, BE | 1, 0);
	ok(!sp__sched_merge(&sched, &r, &absorbed), "deadline-prio: not with another level");
	r.prio = BE | 2;
	ok(sp__sched_merge(&sched, &r, &absorbed) == &pool[0], "but within the same");
	start("noop");
	sched.sorted = true;
	add(13, false, 0, 0);
	add(11, false, 0, 0);
	r = (struct sp__blockreq){ .start = 12, .end = 13, .seq = 99, .last = &r };
	into = sp__sched_merge(&sched, &r, &absorbed);
	ok(into == &pool[0] && absorbed == &pool[1] && into->start == 11 && into->end == 14,
	   "where a gap closes, the older request takes both");
	ok(sched.n == 1 && take(0) == into && !take(0), "and one request is left");
}

static bool says(const char *text, const char *part)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__sched_params p = { 0 };
	const struct sp__sched_ops *ops;

	return sp__sched_parse(text, &ops, &p, &err) == SP_ESYNTAX && err.code == SP_ESYNTAX &&
	       strstr(err.text, part);
}

static void test_parse(void)
{
	static const char *const wrong[] = {
		"deadline:read=",
		"deadline:read=0",
		"deadline:read=1h",
		"deadline:read=.5",
		"deadline:read=1.",
		"deadline:read=1.2.3",
		"deadline:read=-1",
		"deadline:read=99999999",
		"deadline:batch=0",
		"deadline:batch=1x",
		"deadline:batch=1000001",
		"deadline-prio:levels=",
		"deadline:read=1/2",
		"deadline-prio:levels=1/2/3/4/5/6/7/8/9",
		"deadline-prio:pool=1/2/3/4/5/6/7/8/9",
		"deadline-prio:pool=8/0",
		"promote:queues=0",
		"promote:queues=8",
		"promote:open=2",
		"deadline-prio:pool=8/4s",
		"deadline:read=0.0000000001",
		"deadline:read=99999999999999999999.5s",
	};
	struct sp__sched_params p;
	const struct sp__sched_ops *ops;
	unsigned i;

	ok(!sp__sched_parse("deadline:read=1s/write=500ms", &ops, &p, NULL) &&
		   ops == &sp__sched_deadline && p.read_expire_ns == 1000 * MS &&
		   p.write_expire_ns == 500 * MS && p.batch == 16,
	   "parameters are read; the others have their defaults");
	ok(!sp__sched_parse("deadline-prio:levels=0.25/3/12s,group=51", &ops, &p, NULL) &&
		   p.levels == 3 && p.level_expire_ns[0] == 250 * MS &&
		   p.level_expire_ns[2] == 12000 * MS && p.group == 51,
	   "a list continues until the next parameter; commas and slashes are alike");
	ok(!sp__sched_parse("deadline-prio:pool=85/71/aging=2s", &ops, &p, NULL) && p.npool == 2 &&
		   p.pool[0] == 85 && p.pool[1] == 71 && p.aging_ns == 2000 * MS,
	   "a pool is a list too");
	ok(!sp__sched_parse("strict:aging=1.5ms/read=250us", &ops, &p, NULL) &&
		   p.aging_ns == 1500000 && p.read_expire_ns == 250000,
	   "times can have fractions and units");
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(says(wrong[i], ""), "not accepted: %s", wrong[i]);
	for (i = 0; sp__sched_list(i); i++)
		ok(says("cfq", sp__sched_list(i)->name), "the error for cfq lists %s",
		   sp__sched_list(i)->name);
	ok(says("deadline:aging=1", "read, write, batch, starved"),
	   "a parameter of another scheduler is refused, and the known ones named");
	ok(says("noop:read=1", "known are none"), "as with a scheduler that has none");
	ok(says("deadline:write=soon", "write is a time"), "a bad value is reported");
	ok(says("deadline:", "'' is not known; known are read"), "a colon wants a parameter");
}

int main(void)
{
	test_simple();
	test_deadline();
	test_deadline_writes();
	test_prio();
	test_promote();
	test_strict();
	test_merge();
	test_parse();
	return done();
}
