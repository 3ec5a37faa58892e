/* SPDX-License-Identifier: MIT */
/*
 * What must hold for every scheduler whatever comes: random streams against a
 * naive simulator, and laws that each one promises.
 */
#include <stdio.h>
#include "fakedev.h"
#include "sim/sched.h"
#include "tap.h"

#define N 600
#define UNIT 64 /* blocks between the starts of two requests */

struct stream {
	struct sp__blockreq req[N];
	uint64_t at_ns[N];
	unsigned batch[N]; /* length of the batch that begins here; 0: inside one */
};

static void make(struct stream *s, uint64_t seed, uint64_t gap_ns)
{
	struct sp__rng rng = { seed };
	unsigned perm[N], i, k, t;
	uint64_t now = 0;

	for (i = 0; i < N; i++)
		perm[i] = i;
	/* Neighbours stay near each other, so that some can merge. */
	for (i = 0; i + 40 < N; i++) {
		k = i + (unsigned)sp__rng_below(&rng, i % 3 ? 3 : 40);
		t = perm[i];
		perm[i] = perm[k];
		perm[k] = t;
	}
	memset(s, 0, sizeof(*s));
	for (i = 0; i < N; i++) {
		struct sp__blockreq *r = &s->req[i];

		r->lbn = perm[i] * (uint64_t)UNIT;
		r->blocks = sp__rng_below(&rng, 3) ? UNIT : 1 + (uint32_t)sp__rng_below(&rng, 32);
		r->write = !sp__rng_below(&rng, 4);
		r->prio = (uint16_t)(sp__rng_below(&rng, 4) << 13 | sp__rng_below(&rng, 8));
		now += sp__rng_below(&rng, 8) ? sp__rng_below(&rng, 2 * gap_ns) : 0;
		s->at_ns[i] = now;
		s->batch[i] = 1;
	}
}

/* Makes batches of what comes in one after the other; all at the moment of the first. */
static void make_batches(struct stream *s, uint64_t seed)
{
	struct sp__rng rng = { seed };
	unsigned i, k, n;

	for (i = 0; i < N; i += n) {
		n = 1 + (unsigned)sp__rng_below(&rng, 5);
		if (n > N - i)
			n = N - i;
		for (k = i; k < i + n; k++) {
			s->batch[k] = k == i ? n : 0;
			s->at_ns[k] = s->at_ns[i];
		}
	}
}

/* Submits all in time.  peek: looks at each event, else at the end.  Returns how many ended. */
static size_t run(struct sp__blockdev *bd, struct stream *s, bool peek)
{
	struct sp__blockreq *r, *parts[8];
	uint64_t last = 0;
	size_t n = 0;
	unsigned i, k;

	for (i = 0; i < N; i += s->batch[i]) {
		while (peek && sp__blockdev_next_ns(bd) <= s->at_ns[i])
			for (r = sp__blockdev_advance(bd, sp__blockdev_next_ns(bd)); r; r = r->next)
				n++;
		for (k = 0; k < s->batch[i]; k++)
			parts[k] = &s->req[i + k];
		sp__blockdev_submit(bd, s->at_ns[i], parts, s->batch[i], s->batch[i] > 1);
	}
	for (r = sp__blockdev_advance(bd, SP__NEVER - 1); r; r = r->next) {
		n += r->done_ns >= last ? 1 : N;
		last = r->done_ns;
	}
	return n;
}

/* --- a naive simulator: one request in service, all lists searched --- */

static uint64_t naive_key(const char *rule, const struct sp__blockreq *r, uint64_t head)
{
	if (!strcmp(rule, "clook"))
		return r->lbn >= head ? r->lbn - head : (1ull << 40) + r->lbn;
	if (!strcmp(rule, "sstf") || !strcmp(rule, "sptf"))
		return r->lbn > head ? r->lbn - head : head - r->lbn;
	return 0;
}

/* Does a come before b: by the rule, and then by age? */
static bool naive_first(const char *rule, const struct stream *s, const uint64_t *ready, unsigned a,
			unsigned b, uint64_t head)
{
	uint64_t x = naive_key(rule, &s->req[a], head), y = naive_key(rule, &s->req[b], head);

	if (x != y)
		return x < y;
	if (!strcmp(rule, "noop") && ready[a] != ready[b])
		return ready[a] < ready[b];
	return a < b;
}

/* Requests that are ready at a moment; only the window oldest of them for sptf. */
static unsigned naive_candidates(const uint64_t *ready, const bool *gone, uint64_t now,
				 bool *in_window, unsigned slots)
{
	unsigned i, best, n = 0;

	for (i = 0; i < N; i++)
		n += in_window[i] && !gone[i];
	while (n < slots) {
		for (best = N, i = 0; i < N; i++)
			if (!in_window[i] && ready[i] <= now &&
			    (best == N || ready[i] < ready[best]))
				best = i;
		if (best == N)
			break;
		in_window[best] = true;
		n++;
	}
	return n;
}

static void naive(const struct fake *f, const struct stream *s, const char *rule, unsigned window,
		  uint64_t *done)
{
	uint64_t ready[N], now = 0, head = 0, next;
	bool gone[N] = { false }, in_window[N] = { false };
	unsigned i, best, served;

	for (i = 0; i < N; i++)
		ready[i] = s->at_ns[i] + f->model.overhead_ns[s->req[i].write];
	for (served = 0; served < N; served++) {
		while (!naive_candidates(ready, gone, now, in_window,
					 strcmp(rule, "sptf") ? N : window)) {
			for (next = SP__NEVER, i = 0; i < N; i++)
				if (!gone[i] && ready[i] < next)
					next = ready[i];
			now = next;
		}
		for (best = N, i = 0; i < N; i++)
			if (in_window[i] && !gone[i] &&
			    (best == N || naive_first(rule, s, ready, i, best, head)))
				best = i;
		gone[best] = true;
		next = s->req[best].lbn > head ? s->req[best].lbn - head : head - s->req[best].lbn;
		now += next * f->pass_ps / 1000 + s->req[best].blocks * f->block_ns;
		head = s->req[best].lbn + s->req[best].blocks;
		done[best] = now;
	}
}

static void test_naive(void)
{
	static const char *const rules[] = { "noop", "clook", "sstf", "sptf" };
	static struct stream s;
	static uint64_t want[N];
	unsigned i, k, seed, same;

	for (k = 0; k < 4; k++) {
		bool sptf = !strcmp(rules[k], "sptf");

		for (seed = 0, same = 0; seed < 12; seed++) {
			struct fake *f = fake_new(1, 1);
			struct sp__blockdev *bd =
				fake_dev(f, sptf ? "noop" : rules[k], sptf ? 1 + seed : 1,
					 sptf ? SP__WINDOW_SPTF : SP__WINDOW_FIFO, false);

			make(&s, seed, 100000 + seed * 60000);
			naive(f, &s, rules[k], 1 + seed, want);
			run(bd, &s, seed & 1);
			for (i = 0; i < N; i++)
				same += s.req[i].done_ns == want[i];
			sp__blockdev_close(bd);
			free(f);
		}
		ok(same == 12 * N, "%s: every completion is when a naive simulator says", rules[k]);
	}
}

/* --- laws for all --- */

struct setting {
	const char *sched;
	unsigned window, lanes, requests_max;
	bool sptf, merge, batches, divide;
};

static struct sp__blockdev *open_setting(struct fake *f, const struct setting *t)
{
	struct sp__blockdev_opts opts = {
		.sched = t->sched,
		.window = t->window,
		.policy = t->sptf ? SP__WINDOW_SPTF : SP__WINDOW_FIFO,
		.merge = t->merge,
		.divide = t->divide,
		.requests_max = t->requests_max,
	};
	struct sp__blockdev *bd;

	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	return bd;
}

/* Lanes serve one subrequest after the other, and all blocks of all requests once. */
static bool lanes_right(const struct fake *f, const struct stream *s)
{
	static uint8_t served[N * UNIT];
	uint64_t free_ns[64] = { 0 }, lbn;
	uint32_t b;
	size_t i;

	memset(served, 0, sizeof(served));
	for (i = 0; i < f->n; i++) {
		const struct sp__subreq *p = &f->log[i].subreq;

		if (f->log[i].start_ns < free_ns[p->lane])
			return false;
		free_ns[p->lane] = f->log[i].done_ns;
		for (b = 0; b < p->blocks; b++) {
			lbn = p->lbn + b;
			if (f->model.lanes > 1)
				lbn = (lbn / f->stripe * f->model.lanes + p->lane) * f->stripe +
				      lbn % f->stripe;
			served[lbn]++;
		}
	}
	for (i = 0; i < N; i++) {
		const struct sp__blockreq *r = &s->req[i];

		for (b = 0; b < UNIT; b++)
			if (served[r->lbn + b] != (b < r->blocks))
				return false;
	}
	return true;
}

static bool times_right(const struct fake *f, const struct stream *s)
{
	unsigned i;

	for (i = 0; i < N; i++) {
		const struct sp__blockreq *r = &s->req[i];

		if (r->submit_ns != s->at_ns[i] || r->dispatch_ns >= r->done_ns ||
		    r->dispatch_ns < r->submit_ns + f->model.overhead_ns[0])
			return false;
	}
	return true;
}

/* With one lane that serves in order: which request each service belongs to. */
static bool batches_whole(const struct fake *f, const struct stream *s)
{
	unsigned of[N], i, last = N;
	size_t k;

	for (i = 0; i < N; i++)
		of[s->req[i].lbn / UNIT] = i;
	for (k = 0; k < f->n; k++) {
		i = of[f->log[k].subreq.lbn / UNIT];
		if (last < N && last + 1 < N && !s->batch[last + 1] && i != last + 1)
			return false;
		if (!s->batch[i] && i != last + 1)
			return false;
		last = i;
	}
	return true;
}

static bool setting_holds(const struct setting *t, uint64_t seed, uint64_t *merges)
{
	static struct stream s, again;
	struct fake *f = fake_new(t->lanes, 24);
	struct sp__blockdev *bd = open_setting(f, t);
	struct sp__blockdev_stats st, st2;
	bool right;
	unsigned i;

	make(&s, seed, t->lanes > 1 ? 60000 : 500000);
	if (t->batches)
		make_batches(&s, seed);
	again = s;
	right = run(bd, &s, true) == N && sp__blockdev_next_ns(bd) == SP__NEVER &&
		sp__blockdev_next_ns(bd) == SP__NEVER;
	sp__blockdev_stats(bd, &st);
	sp__blockdev_close(bd);
	right &= lanes_right(f, &s) && times_right(f, &s);
	right &= st.requests == N && st.dispatched + st.merges == N;
	right &= t->merge || !st.merges;
	*merges += st.merges;
	if (t->batches && !t->divide && !t->merge && t->lanes == 1 && !t->sptf)
		right &= batches_whole(f, &s);
	/* Without a look before the end the result is the same. */
	f->n = 0;
	memset(f->at, 0, sizeof(f->at));
	bd = open_setting(f, t);
	right &= run(bd, &again, false) == N;
	sp__blockdev_stats(bd, &st2);
	right &= !memcmp(&st, &st2, sizeof(st));
	for (i = 0; i < N; i++)
		right &= s.req[i].done_ns == again.req[i].done_ns;
	sp__blockdev_close(bd);
	free(f);
	return right;
}

static void test_laws(void)
{
	static const unsigned windows[] = { 1, 4, 32 };
	static const char *const shares[] = { ":group=3", ":pool=6/4/2", ":pool=4/3/aging=1ms" };
	unsigned i, k, wrong;
	uint64_t merges = 0;
	char text[64];

	for (i = 0; sp__sched_list(i); i++) {
		const char *name = sp__sched_list(i)->name;
		bool prio = sp__sched_list(i)->limit != NULL;

		for (k = 0, wrong = 0; k < 48; k++) {
			struct setting t = {
				.window = windows[k % 3],
				.lanes = k & 16 ? 5 : 1,
				.requests_max = k % 5 ? 0 : 8,
				.sptf = k & 1,
				.merge = k & 2,
				.batches = k & 4,
				.divide = (k & 12) == 12,
			};

			snprintf(text, sizeof(text), "%s%s", name,
				 prio && k % 4 ? shares[k % 3] : "");
			t.sched = text;
			if (!setting_holds(&t, k, &merges)) {
				diag("%s, setting %u", text, k);
				wrong++;
			}
		}
		ok(!wrong, "%s: all requests end once, blocks are served once, and again alike",
		   name);
	}
}

/* --- what single ones promise --- */

/* Returns the wait, in ms, of a far request next to a job that always has the next block. */
static double lonely_wait(const char *sched)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, sched, 1, SP__WINDOW_FIFO, false);
	struct sp__blockreq hog[4], lonely = { .lbn = 1000, .blocks = 1 }, *r, *next;
	uint64_t lbn = 100000, now;
	unsigned i, n = 0;

	for (i = 0; i < 4; i++, lbn += 8) {
		hog[i] = (struct sp__blockreq){ .lbn = lbn, .blocks = 8 };
		submit1(bd, 0, &hog[i]);
	}
	sp__blockdev_advance(bd, 101000);
	submit1(bd, 101000, &lonely);
	while (n < 20000 && sp__blockdev_next_ns(bd) != SP__NEVER) {
		now = sp__blockdev_next_ns(bd);
		for (r = sp__blockdev_advance(bd, now); r; r = next) {
			next = r->next;
			if (r == &lonely || n++ >= 20000)
				continue;
			r->lbn = lbn;
			lbn += 8;
			submit1(bd, now, r);
		}
	}
	drain(bd);
	sp__blockdev_close(bd);
	free(f);
	return (double)(lonely.done_ns - lonely.submit_ns) / 1e6;
}

static void test_starvation(void)
{
	ok(lonely_wait("noop") < 2, "noop: no one is starved");
	ok(lonely_wait("deadline:read=100ms/batch=8") < 110,
	   "deadline: a request is dispatched when it has expired and a batch is over");
	ok(lonely_wait("deadline-prio:levels=0.1/0.2/0.3/batch=8") < 210,
	   "deadline-prio: the same with the deadline of the level");
	ok(lonely_wait("promote") < 2, "promote: no one is starved");
	ok(lonely_wait("strict:read=50ms/batch=8") < 60, "strict: the same within a class");
	ok(lonely_wait("clook") > 1000 && lonely_wait("look") > 1000 && lonely_wait("sstf") > 1000,
	   "the others let it wait while the job continues");
}

/* Is each request dispatched only when no higher class waits, or when it is old? */
static bool strict_order(const struct fake *f, const struct stream *s, uint64_t aging_ns)
{
	unsigned i, k;

	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++) {
			const struct sp__blockreq *a = &s->req[i], *b = &s->req[k];
			uint64_t a_in = a->submit_ns + f->model.overhead_ns[a->write];
			uint64_t b_in = b->submit_ns + f->model.overhead_ns[b->write];

			if (sp__prio_class(b->prio) < sp__prio_class(a->prio) &&
			    b_in <= a->dispatch_ns && b->dispatch_ns > a->dispatch_ns &&
			    a->dispatch_ns - a_in < aging_ns)
				return false;
		}
	return true;
}

static uint64_t longest_idle_class(const struct stream *s)
{
	uint64_t max = 0;
	unsigned i;

	for (i = 0; i < N; i++)
		if (sp__prio_class(s->req[i].prio) == SP__PRIO_IDLE &&
		    s->req[i].done_ns - s->req[i].submit_ns > max)
			max = s->req[i].done_ns - s->req[i].submit_ns;
	return max;
}

static void test_strict(void)
{
	static struct stream s;
	uint64_t idle[2];
	unsigned aged;

	for (aged = 0; aged < 2; aged++) {
		struct fake *f = fake_new(1, 1);
		struct sp__blockdev *bd = fake_dev(f, aged ? "strict:aging=50ms" : "strict", 1,
						   SP__WINDOW_FIFO, false);

		make(&s, 7, 400000);
		run(bd, &s, true);
		ok(strict_order(f, &s, (aged ? 50 : 10000) * 1000000ull),
		   "strict: no class goes before a higher one that waits%s",
		   aged ? ", unless it is old" : "");
		idle[aged] = longest_idle_class(&s);
		sp__blockdev_close(bd);
		free(f);
	}
	ok(idle[1] < idle[0], "strict: aging shortens the longest wait of the lowest class");
}

/* 100 low requests, then 4 high ones: after how many completions the last high one comes. */
static unsigned last_high(const char *sched)
{
	struct fake *f = fake_new(1, 1);
	struct sp__blockdev *bd = fake_dev(f, sched, 1, SP__WINDOW_FIFO, false);
	struct sp__blockreq r[104], *c;
	struct sp__rng rng = { 5 };
	unsigned i, n = 0, last = 0;

	for (i = 0; i < 104; i++) {
		r[i] = (struct sp__blockreq){ .lbn = sp__rng_below(&rng, 1 << 20), .blocks = 1 };
		r[i].prio = i < 100 ? 3 << 13 : 1 << 13;
		submit1(bd, 0, &r[i]);
	}
	for (c = sp__blockdev_advance(bd, SP__NEVER - 1); c; c = c->next) {
		n++;
		if (c >= &r[100])
			last = n;
	}
	sp__blockdev_close(bd);
	free(f);
	return last;
}

static void test_groups(void)
{
	unsigned small = last_high("deadline-prio:levels=100/200/group=6");
	unsigned large = last_high("deadline-prio:levels=100/200/group=1000");

	diag("last of the high ones: %u. with groups of 6, %u. of 104 without", small, large);
	ok(small < 30 && small * 3 < large,
	   "deadline-prio: groups keep the low level from filling the queue");
	small = last_high("deadline-prio:levels=100/200/pool=60/8");
	large = last_high("deadline-prio:levels=100/200/pool=60");
	diag("in a pool of 60: %u. if the low level stops at 8, else %u.", small, large);
	ok(small < 20 && small * 3 < large,
	   "a pool in which the low level stops earlier keeps places for the high one");
}

int main(void)
{
	test_naive();
	test_laws();
	test_starvation();
	test_strict();
	test_groups();
	return done();
}
