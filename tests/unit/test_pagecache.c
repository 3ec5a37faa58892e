/* SPDX-License-Identifier: MIT */
/*
 * The simulated page cache: the examples of the paper, exact cases, and random
 * use against a cache that scans all its pages each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/rng.h"
#include "sim/pagecache.h"
#include "trace/sequence.h"
#include "tap.h"

static struct sp__pcache *make(const struct sp__pcache_opts *opts)
{
	struct sp__pcache *pc;

	if (sp__pcache_new(&pc, opts, NULL) < 0)
		abort();
	return pc;
}

static bool same(const struct sp__pcache_work *w, const uint64_t *pages, size_t n)
{
	return w->n == n && (!n || !memcmp(w->pages, pages, n * sizeof(*pages)));
}

#define IS(w, ...)                                                                                 \
	same((w), (const uint64_t[]){ __VA_ARGS__ },                                               \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Wang & Cherniack, tables 1 and 2.  Inputs A-D are pages 0-3. */
struct access {
	char op;
	uint64_t page;
};

static const struct access ems[] = {
	{ 'R', 0 },  { 'W', 10 }, { 'R', 1 },  { 'W', 11 }, { 'R', 2 },	 { 'W', 12 },
	{ 'R', 3 },  { 'W', 13 }, { 'R', 10 }, { 'R', 11 }, { 'W', 14 }, { 'W', 15 },
	{ 'R', 12 }, { 'R', 13 }, { 'W', 16 }, { 'W', 17 },
};
/* E and F take the places of what they were made of. */
static const struct access mms[] = {
	{ 'R', 0 },  { 'W', 10 }, { 'R', 1 },  { 'W', 11 }, { 'R', 10 }, { 'R', 11 },
	{ 'W', 10 }, { 'W', 11 }, { 'R', 2 },  { 'W', 12 }, { 'R', 3 },	 { 'W', 13 },
	{ 'R', 12 }, { 'R', 13 }, { 'W', 12 }, { 'W', 13 },
};
#define EXAMPLE 16

static uint64_t transfers(const struct access *a, enum sp__pcache_policy policy)
{
	uint64_t future[EXAMPLE];
	struct sp__pcache_opts opts = { .pages = 3,
					.policy = policy,
					.flush_on_evict = true,
					.future = future,
					.nfuture = EXAMPLE,
					.keep_written = true };
	struct sp__pcache_work read = { 0 }, ahead = { 0 }, write = { 0 };
	struct sp__pcache_stats s;
	struct sp__pcache *pc;
	int rc = 0;

	for (int i = 0; i < EXAMPLE; i++)
		future[i] = a[i].page | (a[i].op == 'W' ? SP__SEQPAGE_WRITE : 0);
	pc = make(&opts);
	for (int i = 0; i < EXAMPLE; i++)
		rc |= a[i].op == 'W' ? sp__pcache_write(pc, 0, a[i].page, 1, &write)
				     : sp__pcache_read(pc, a[i].page, 1, &read, &ahead, &write);
	sp__pcache_stats(pc, &s);
	if (rc || s.reads != read.n || s.writes != write.n || ahead.n)
		abort();
	sp__pcache_work_release(&read);
	sp__pcache_work_release(&write);
	sp__pcache_free(pc);
	return s.reads + s.writes;
}

static void test_examples(void)
{
	ok(transfers(ems, SP__PCACHE_LRU) == 14, "table 1: EMS moves 14 pages under LRU");
	ok(transfers(mms, SP__PCACHE_LRU) == 6, "table 1: MMS moves 6");
	ok(transfers(ems, SP__PCACHE_OPT) == 7,
	   "table 2: EMS moves 7 under OPT (with the write that the paper left out)");
	ok(transfers(mms, SP__PCACHE_OPT) == 5, "table 2: MMS moves 5");
}

static void test_thresholds(void)
{
	struct sp__pcache_opts opts = { .pages = 10,
					.async_percent = 30,
					.sync_percent = 60,
					.down_percent = 20,
					.age_ns = 1000 };
	struct sp__pcache *pc = make(&opts);
	struct sp__pcache_work w = { 0 };
	int rc = 0;

	ok(sp__pcache_due_ns(pc) == UINT64_MAX, "nothing is due when nothing is dirty");
	rc |= sp__pcache_write(pc, 5, 3, 1, &w);
	rc |= sp__pcache_write(pc, 7, 1, 2, &w);
	rc |= sp__pcache_write(pc, 9, 3, 1, &w);
	ok(!rc && !w.n && sp__pcache_due_ns(pc) == 1005,
	   "a dirty page is due by its age, counted from when it became dirty");
	rc |= sp__pcache_background(pc, 1004, 100, &w);
	ok(!rc && !w.n, "before that the background has nothing to do");
	rc |= sp__pcache_background(pc, 1005, 100, &w);
	ok(!rc && IS(&w, 3) && sp__pcache_due_ns(pc) == 1007, "the oldest goes first");
	w.n = 0;
	rc |= sp__pcache_write(pc, 20, 7, 2, &w);
	ok(!rc && !w.n && sp__pcache_due_ns(pc) == 0, "above the first threshold work is due");
	rc |= sp__pcache_background(pc, 20, 100, &w);
	ok(!rc && IS(&w, 1), "and continues until the threshold is met");
	w.n = 0;
	rc |= sp__pcache_write(pc, 21, 20, 3, &w);
	ok(!rc && !w.n, "a writer does not wait at the second threshold");
	rc |= sp__pcache_write(pc, 22, 30, 1, &w);
	ok(!rc && IS(&w, 2, 7, 8, 20, 21), "above it the oldest are written down to the third");
	w.n = 0;
	sp__pcache_drop(pc, 22, 1);
	rc |= sp__pcache_sync(pc, &w);
	ok(!rc && IS(&w, 30), "a sync does not write dropped pages");
	w.n = 0;
	sp__pcache_writing(pc, 7);
	rc |= sp__pcache_write(pc, 30, 40, 1, &w);
	ok(!rc && IS(&w, 40), "a writer waits for what others have begun to write, too");
	w.n = 0;
	sp__pcache_writing(pc, -7);
	rc |= sp__pcache_write(pc, 31, 41, 1, &w);
	ok(!rc && !w.n, "but not when that is done");
	sp__pcache_work_release(&w);
	sp__pcache_free(pc);
}

static void test_opt_overwritten(void)
{
	static const uint64_t future[] = { 1 | SP__SEQPAGE_WRITE, 2, 3, 1 | SP__SEQPAGE_WRITE, 2 };
	struct sp__pcache_opts opts = { .pages = 2,
					.policy = SP__PCACHE_OPT,
					.flush_on_evict = true,
					.future = future,
					.nfuture = 5,
					.keep_written = true };
	struct sp__pcache *pc = make(&opts);
	struct sp__pcache_work r = { 0 }, a = { 0 }, w = { 0 };
	struct sp__pcache_stats s;
	int rc = 0;

	rc |= sp__pcache_write(pc, 0, 1, 1, &w);
	rc |= sp__pcache_read(pc, 2, 2, &r, &a, &w);
	sp__pcache_stats(pc, &s);
	ok(!rc && !w.n && s.dropped == 1, "a page about to be overwritten is dropped unwritten");
	rc |= sp__pcache_write(pc, 0, 1, 1, &w);
	rc |= sp__pcache_read(pc, 2, 1, &r, &a, &w);
	ok(!rc && IS(&r, 2, 3), "and goes before a page that is read later");
	sp__pcache_work_release(&r);
	sp__pcache_free(pc);
}

static void test_opt_dead(void)
{
	static const uint64_t future[] = { 1, 2, 1, 3, 2 };
	struct sp__pcache_opts opts = { .pages = 2,
					.policy = SP__PCACHE_OPT,
					.flush_on_evict = true,
					.future = future,
					.nfuture = 5 };
	struct sp__pcache *pc = make(&opts);
	struct sp__pcache_work r = { 0 }, a = { 0 }, w = { 0 };
	struct sp__pcache_stats s;
	int rc = 0;

	/* Numbers of its own: what counts is that the positions repeat alike. */
	rc |= sp__pcache_write(pc, 0, 101, 2, &w);
	rc |= sp__pcache_read(pc, 101, 1, &r, &a, &w);
	rc |= sp__pcache_write(pc, 0, 103, 1, &w);
	sp__pcache_stats(pc, &s);
	ok(!rc && !w.n && s.dropped == 1,
	   "a dirty page that never comes again is dropped unwritten");
	rc |= sp__pcache_read(pc, 102, 1, &r, &a, &w);
	ok(!rc && !r.n, "the page that comes again was kept");
	rc |= sp__pcache_sync(pc, &w);
	ok(!rc && !w.n, "a sync does not write pages of deleted files");
	sp__pcache_work_release(&r);
	sp__pcache_free(pc);
}

static void test_read_ahead(void)
{
	struct sp__pcache_opts opts = { .pages = 100,
					.flush_on_evict = true,
					.readahead_pages = 8 };
	struct sp__pcache *pc = make(&opts);
	struct sp__pcache_work r = { 0 }, a = { 0 }, w = { 0 };
	struct sp__pcache_stats s;
	int rc = 0;

	rc |= sp__pcache_read(pc, 50, 1, &r, &a, &w);
	ok(!rc && IS(&r, 50) && !a.n, "a first read brings in nothing more");
	rc |= sp__pcache_read(pc, 51, 1, &r, &a, &w);
	ok(!rc && IS(&r, 50, 51) && IS(&a, 52, 53), "one that continues brings in twice its size");
	a.n = 0;
	rc |= sp__pcache_read(pc, 52, 1, &r, &a, &w);
	ok(!rc && r.n == 2 && IS(&a, 54, 55, 56, 57),
	   "reaching a window brings in the next, doubled");
	a.n = 0;
	rc |= sp__pcache_read(pc, 53, 1, &r, &a, &w);
	ok(!rc && r.n == 2 && !a.n, "inside a window nothing happens");
	rc |= sp__pcache_read(pc, 54, 4, &r, &a, &w);
	ok(!rc && IS(&a, 58, 59, 60, 61, 62, 63, 64, 65), "the next window is doubled again");
	a.n = 0;
	sp__pcache_ahead_end(pc, 70);
	rc |= sp__pcache_read(pc, 58, 8, &r, &a, &w);
	ok(!rc && IS(&a, 66, 67, 68, 69), "no window exceeds the limit or the given end");
	a.n = r.n = 0;
	sp__pcache_ahead_end(pc, UINT64_MAX);
	rc |= sp__pcache_read(pc, 20, 1, &r, &a, &w);
	rc |= sp__pcache_read(pc, 10, 1, &r, &a, &w);
	rc |= sp__pcache_read(pc, 22, 1, &r, &a, &w);
	ok(!rc && IS(&r, 20, 10, 22) && !a.n, "reads here and there are not a stream");
	r.n = 0;
	rc |= sp__pcache_read(pc, 11, 2, &r, &a, &w);
	rc |= sp__pcache_read(pc, 23, 1, &r, &a, &w);
	ok(!rc && IS(&r, 11, 12, 23) && IS(&a, 13, 14, 15, 16, 24, 25),
	   "two alternating streams are two streams");
	sp__pcache_stats(pc, &s);
	ok(s.hits + s.misses == 22 && s.misses == 8 && s.reads == 32,
	   "a page read ahead is a transfer, and a hit later");
	a.n = 0;
	sp__pcache_stream(pc, 200);
	rc |= sp__pcache_read(pc, 200, 1, &r, &a, &w);
	ok(!rc && IS(&a, 201, 202), "a stream can continue elsewhere");
	sp__pcache_work_release(&r);
	sp__pcache_work_release(&a);
	sp__pcache_free(pc);
}

/* The cache that scans all its pages. */
#define PAGES 40

struct naive {
	struct sp__pcache_opts opts;
	struct {
		bool in, dirty;
		uint64_t used, since, order; /* order: in which pages became dirty */
		bool written;
	} page[PAGES];
	uint64_t count, dirty, ticks, position, swept;
	struct sp__pcache_work read, write;
	struct sp__pcache_stats stats;
};

static void note(struct sp__pcache_work *w, uint64_t page)
{
	w->pages = realloc(w->pages, (w->n + 1) * sizeof(*w->pages));
	if (!w->pages)
		abort();
	w->pages[w->n++] = page;
}

/* UINT64_MAX: none, or the next access overwrites the page. */
static uint64_t naive_next(const struct naive *c, uint64_t page, bool *overwritten)
{
	*overwritten = false;
	for (uint64_t i = c->position; i < c->opts.nfuture; i++) {
		*overwritten = c->opts.future[i] == (page | SP__SEQPAGE_WRITE);
		if (*overwritten)
			return UINT64_MAX;
		if (c->opts.future[i] == page)
			return i;
	}
	return UINT64_MAX;
}

static bool naive_dead(const struct naive *c, uint64_t p)
{
	bool overwritten;

	return c->opts.policy == SP__PCACHE_OPT && naive_next(c, p, &overwritten) == UINT64_MAX &&
	       (overwritten || !(c->opts.keep_written && c->page[p].written));
}

static void naive_clean(struct naive *c, uint64_t p)
{
	if (naive_dead(c, p)) {
		c->stats.dropped++;
	} else {
		note(&c->write, p);
		c->stats.writes++;
	}
	c->page[p].dirty = false;
	c->dirty--;
}

static uint64_t naive_rank(const struct naive *c, uint64_t p)
{
	uint64_t next;
	bool overwritten;

	if (c->opts.policy == SP__PCACHE_LRU)
		return UINT64_MAX - c->page[p].used;
	next = naive_next(c, p, &overwritten);
	return next == UINT64_MAX && c->page[p].dirty && !naive_dead(c, p) ? next - 1 : next;
}

static void naive_evict(struct naive *c)
{
	uint64_t victim = PAGES;

	for (uint64_t p = 0; p < PAGES; p++)
		if (c->page[p].in && (victim == PAGES || naive_rank(c, p) > naive_rank(c, victim)))
			victim = p;
	if (c->page[victim].dirty)
		naive_clean(c, victim);
	c->page[victim].in = false;
	c->count--;
}

static uint64_t naive_oldest(const struct naive *c)
{
	uint64_t oldest = PAGES;

	for (uint64_t p = 0; p < PAGES; p++)
		if (c->page[p].dirty &&
		    (oldest == PAGES || c->page[p].order < c->page[oldest].order))
			oldest = p;
	return oldest;
}

static uint64_t naive_ahead(struct naive *c)
{
	uint64_t p = c->swept % PAGES;

	while (!c->page[p].dirty)
		p = (p + 1) % PAGES;
	c->swept = p + 1;
	return p;
}

static void naive_flush(struct naive *c)
{
	naive_clean(c, c->opts.sweep ? naive_ahead(c) : naive_oldest(c));
}

static void naive_access(struct naive *c, uint64_t now, uint64_t p, bool write)
{
	uint64_t position = c->position;

	c->ticks++;
	if (c->page[p].in) {
		c->stats.hits++;
	} else {
		/* Decided when this access is still to come for p, which is not in. */
		c->position = position + 1;
		if (c->count == c->opts.pages)
			naive_evict(c);
		c->stats.misses++;
		c->page[p].in = true;
		c->page[p].dirty = false;
		c->count++;
		if (!write) {
			note(&c->read, p);
			c->stats.reads++;
		}
	}
	c->position = position + 1;
	c->page[p].used = c->ticks;
	c->page[p].written = write;
	if (write && !c->page[p].dirty) {
		c->page[p].dirty = true;
		c->page[p].since = now;
		c->page[p].order = c->ticks;
		c->dirty++;
	}
}

static void naive_pages(struct naive *c, uint64_t now, uint64_t page, uint64_t n, bool write)
{
	for (uint64_t p = page; p < page + n; p++)
		naive_access(c, now, p, write);
	if (!write || c->opts.flush_on_evict ||
	    c->dirty * 100 <= c->opts.pages * c->opts.sync_percent)
		return;
	while (c->dirty && c->dirty * 100 > c->opts.pages * c->opts.down_percent)
		naive_flush(c);
}

static void naive_background(struct naive *c, uint64_t now, size_t max)
{
	size_t begin = c->write.n;

	while (!c->opts.flush_on_evict && c->dirty && c->write.n - begin < max &&
	       (c->dirty * 100 > c->opts.pages * c->opts.async_percent ||
		c->page[naive_oldest(c)].since + c->opts.age_ns <= now))
		naive_flush(c);
}

static void naive_drop(struct naive *c, uint64_t page, uint64_t n)
{
	for (uint64_t p = page; p < page + n; p++) {
		if (!c->page[p].in)
			continue;
		c->stats.dropped += c->page[p].dirty;
		c->dirty -= c->page[p].dirty;
		c->page[p].in = c->page[p].dirty = false;
		c->count--;
	}
}

struct step {
	unsigned what; /* 0-4: read, 5-8: write, 9: background, 10: drop, 11: sync */
	uint64_t page, n, now, max;
};

static void random_steps(struct sp__rng *rng, struct step *steps, size_t n)
{
	uint64_t now = 0;

	for (size_t i = 0; i < n; i++) {
		struct step *s = &steps[i];

		now += sp__rng_below(rng, 20);
		*s = (struct step){ .what = (unsigned)sp__rng_below(rng, 11), .now = now };
		if (sp__rng_below(rng, 200) == 0)
			s->what = 11;
		s->page = sp__rng_below(rng, PAGES);
		s->n = 1 + sp__rng_below(rng, PAGES - s->page < 6 ? PAGES - s->page : 6);
		s->max = sp__rng_below(rng, 10);
	}
}

static void random_opts(struct sp__rng *rng, struct sp__pcache_opts *opts)
{
	opts->pages = 1 + sp__rng_below(rng, 25);
	opts->flush_on_evict = sp__rng_below(rng, 3) == 0;
	opts->async_percent = (unsigned)sp__rng_below(rng, 60);
	opts->sync_percent = (unsigned)sp__rng_below(rng, 110);
	opts->down_percent = (unsigned)sp__rng_below(rng, opts->sync_percent + 1);
	opts->age_ns = sp__rng_below(rng, 200);
	opts->keep_written = sp__rng_below(rng, 2);
	opts->sweep = sp__rng_below(rng, 2);
}

static bool agree(const struct naive *c, const struct sp__pcache *pc,
		  const struct sp__pcache_work *read, const struct sp__pcache_work *write)
{
	struct sp__pcache_stats s;

	sp__pcache_stats(pc, &s);
	return same(read, c->read.pages, c->read.n) && same(write, c->write.pages, c->write.n) &&
	       !memcmp(&s, &c->stats, sizeof(s));
}

static bool one_step(struct naive *c, struct sp__pcache *pc, const struct step *s,
		     struct sp__pcache_work *read, struct sp__pcache_work *write)
{
	struct sp__pcache_work ahead = { 0 };
	int rc = 0;

	if (s->what < 5) {
		naive_pages(c, s->now, s->page, s->n, false);
		rc = sp__pcache_read(pc, s->page, s->n, read, &ahead, write);
	} else if (s->what < 9) {
		naive_pages(c, s->now, s->page, s->n, true);
		rc = sp__pcache_write(pc, s->now, s->page, s->n, write);
	} else if (s->what == 9) {
		naive_background(c, s->now, s->max);
		rc = sp__pcache_background(pc, s->now, s->max, write);
	} else if (s->what == 10) {
		naive_drop(c, s->page, s->n);
		sp__pcache_drop(pc, s->page, s->n);
	} else {
		while (c->dirty)
			naive_flush(c);
		rc = sp__pcache_sync(pc, write);
	}
	return rc == 0 && agree(c, pc, read, write);
}

#define STEPS 800

static bool differential(enum sp__pcache_policy policy, uint64_t seed, uint64_t *reads)
{
	static struct step steps[STEPS];
	static uint64_t future[STEPS * 6];
	struct sp__pcache_work read = { 0 }, write = { 0 };
	struct sp__pcache_opts opts = { .policy = policy, .future = future };
	struct sp__rng rng = { seed };
	struct naive c = { 0 };
	struct sp__pcache *pc;
	bool good = true;

	random_steps(&rng, steps, STEPS);
	for (size_t i = 0; i < STEPS; i++)
		for (uint64_t k = 0; steps[i].what < 9 && k < steps[i].n; k++)
			future[opts.nfuture++] =
				(steps[i].page + k) | (steps[i].what < 5 ? 0 : SP__SEQPAGE_WRITE);
	random_opts(&rng, &opts);
	c.opts = opts;
	pc = make(&opts);
	for (size_t i = 0; i < STEPS && good; i++)
		good = one_step(&c, pc, &steps[i], &read, &write);
	*reads += c.stats.misses;
	sp__pcache_free(pc);
	sp__pcache_work_release(&read);
	sp__pcache_work_release(&write);
	sp__pcache_work_release(&c.read);
	sp__pcache_work_release(&c.write);
	return good;
}

static void test_differential(void)
{
	uint64_t lru = 0, opt = 0;
	bool good = true;

	for (uint64_t seed = 1; seed <= 60; seed++)
		good &= differential(SP__PCACHE_LRU, seed, &lru);
	ok(good, "LRU, thresholds, ages and sweeps do what the naive cache does");
	good = true;
	for (uint64_t seed = 1; seed <= 60; seed++)
		good &= differential(SP__PCACHE_OPT, seed, &opt);
	ok(good, "OPT does what the naive cache does");
	ok(opt < lru, "OPT misses less than LRU: %llu, %llu", (unsigned long long)opt,
	   (unsigned long long)lru);
}

static void test_large(void)
{
	struct sp__pcache_opts opts = { .pages = 131072,
					.async_percent = 30,
					.sync_percent = 60,
					.down_percent = 20,
					.age_ns = 3000000000 };
	struct sp__pcache_work r = { 0 }, a = { 0 }, w = { 0 };
	struct sp__pcache *pc = make(&opts);
	struct sp__pcache_stats s;
	struct sp__rng rng = { 7 };
	uint64_t begin = sp__now_ns();
	const uint64_t n = 400000;
	int rc = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t page = sp__rng_below(&rng, 200000);

		rc |= i % 2 ? sp__pcache_read(pc, page, 1, &r, &a, &w)
			    : sp__pcache_write(pc, i, page, 1, &w);
		r.n = w.n = 0;
	}
	sp__pcache_stats(pc, &s);
	diag("%.1f million page accesses per second",
	     (double)n * 1e3 / (double)(sp__now_ns() - begin));
	ok(!rc && s.hits + s.misses == n, "a cache of 1 GB in pages of 8 KB takes its accesses");
	sp__pcache_work_release(&r);
	sp__pcache_work_release(&w);
	sp__pcache_free(pc);
}

int main(void)
{
	struct sp__pcache_opts none = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__pcache *pc;

	ok(sp__pcache_new(&pc, &none, &err) == -EINVAL && strstr(err.text, "between 1 and"),
	   "a cache of no pages is refused with what is possible");
	test_examples();
	test_thresholds();
	test_opt_dead();
	test_opt_overwritten();
	test_read_ahead();
	test_differential();
	test_large();
	return done();
}
