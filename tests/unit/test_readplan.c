/* SPDX-License-Identifier: MIT */
/*
 * The read plan against simulated merges: properties that must hold whatever
 * the input, a second planner written from the definitions without regard to
 * speed, and the formulas of Zhang & Larson 1998.
 */
#include <time.h>
#include "sort/plan/plan.h"
#include "tap.h"
#include "mergesim.h"

static const char *const name[] = { "auto",	"none",	    "double", "equal",
				    "forecast", "extended", "cluster" };

/* The second planner. */

/* A cluster planned beforehand, and the place in the sequence of its first page. */
struct chunk {
	uint64_t need;
	unsigned run;
	uint64_t first, pages;
};

struct slow {
	enum sp_readahead strategy;
	unsigned buffers, live;
	struct chunk *list;
	size_t n, head;
	unsigned m; /* FORECAST: pages in a buffer */
};

static int by_need(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return x->need < y->need ? -1 : x->need > y->need;
}

/* Place of page k of run r in the sequence. */
static uint64_t place(const struct merge *m, unsigned r, uint64_t k)
{
	uint64_t i = 0;

	for (;; i++)
		if (m->sequence[i] == r && k-- == 0)
			return i;
}

static void slow_forecasts(struct slow *s, const struct merge *m)
{
	double mean = (double)s->buffers / (s->live + 2), over = 0;

	for (unsigned r = 0; r < m->runs; r++) {
		double exact = ((double)m->pages[r] - 1) / mean + over;
		uint64_t clusters = exact < 1.5 ? 1 : (uint64_t)(exact + 0.5), i = 0;

		if (m->pages[r] > 1)
			over = exact - (double)clusters < -0.5 ? -0.5 : exact - (double)clusters;
		for (uint64_t k = 0; k < m->pages[r]; k += s->list[s->n++].pages) {
			struct chunk *c = &s->list[s->n];

			*c = (struct chunk){ place(m, r, k), r, k, 1 };
			if (s->strategy == SP_READ_FORECAST)
				c->pages = s->m < m->pages[r] - k ? s->m : m->pages[r] - k;
			else if (k > 0)
				c->pages = ++i * (m->pages[r] - 1) / clusters + 1 - k;
		}
	}
	qsort(s->list, s->n, sizeof(*s->list), by_need);
}

/* Section 3.3 as it is printed: F and L, and a scan over all of them. */
static void slow_clusters(struct slow *s, const struct merge *m)
{
	long *F = calloc(m->total + 2, sizeof(*F)), *L = calloc(m->total + 2, sizeof(*L));
	unsigned *Q = calloc(m->total + 2, sizeof(*Q));
	long last = 0;

	for (uint64_t i = 0; i < m->total + 2; i++) {
		L[i] = 1;
		F[i] = (long)s->buffers - (long)s->live;
	}
	for (uint64_t i = 0; i < m->total; i++) {
		bool feasible = false;
		long k = last;

		while (k > 0 && Q[k] != m->sequence[i])
			k--;
		if (k > 0) {
			feasible = true;
			L[k]++;
			for (long j = k; j <= last; j++)
				F[j]--;
			for (long j = k > 1 ? k - 1 : 1; j <= last; j++)
				feasible &= F[j] >= L[j + 1];
		}
		if (k > 0 && !feasible) {
			L[k]--;
			for (long j = k; j <= last; j++)
				F[j]++;
		}
		if (!feasible)
			Q[++last] = m->sequence[i];
	}
	for (long k = 1; k <= last; k++)
		s->list[s->n++] = (struct chunk){ 0, Q[k], 0, (uint64_t)L[k] };
	free(F);
	free(L);
	free(Q);
}

static void slow_init(struct slow *s, enum sp_readahead strategy, const struct merge *m,
		      unsigned buffers)
{
	memset(s, 0, sizeof(*s));
	s->strategy = strategy;
	s->buffers = buffers;
	for (unsigned r = 0; r < m->runs; r++)
		s->live += m->pages[r] > 0;
	s->m = buffers / (s->live + 1);
	s->list = calloc(m->total + 1, sizeof(*s->list));
	if (strategy == SP_READ_FORECAST || strategy == SP_READ_EXTENDED)
		slow_forecasts(s, m);
	if (strategy == SP_READ_CLUSTER)
		slow_clusters(s, m);
}

/* Buffers of m pages that hold a page which is still to be consumed. */
static unsigned buffers_in_use(const struct slow *s, const struct sim *sim)
{
	unsigned used = 0;

	for (unsigned r = 0; r < sim->m->runs; r++)
		for (uint64_t k = 0; k < sim->read[r]; k += s->m) {
			uint64_t end = k + s->m < sim->m->pages[r] ? k + s->m : sim->m->pages[r];

			used += sim->eaten[r] < end;
		}
	return used;
}

static uint64_t slow_planned(struct slow *s, const struct sim *sim, unsigned *run)
{
	struct chunk *c = &s->list[s->head];

	if (s->head == s->n || sim->free == 0)
		return 0;
	*run = c->run;
	if (s->strategy == SP_READ_FORECAST && buffers_in_use(s, sim) > s->live)
		return 0;
	if (c->pages > sim->free && sim->read[*run] == sim->eaten[*run]) {
		/* The merge waits: pages that fit are read now, the others later. */
		c->pages -= sim->free;
		c->first += sim->free;
		c->need = place(sim->m, *run, c->first);
		qsort(c, s->n - s->head, sizeof(*c), by_need);
		return sim->free;
	}
	if (c->pages > sim->free)
		return 0;
	s->head++;
	return c->pages;
}

/* The pages that run number index (of those with pages) can hold, and the number that it reads. */
static void slow_share(const struct slow *s, unsigned index, uint64_t *own, uint64_t *batch,
		       uint64_t *trigger)
{
	unsigned b = s->buffers, n = s->live;

	*own = *batch = 1;
	*trigger = 0;
	if (s->strategy == SP_READ_DOUBLE && b >= 2 * n) {
		*trigger = *batch = b / (2 * n);
		*own = 2 * *batch;
	} else if (s->strategy == SP_READ_DOUBLE) {
		*own = index < b - n ? 2 : 1;
		*trigger = *own - 1;
	} else if (s->strategy == SP_READ_EQUAL) {
		*own = b / n + (index < b % n ? 1 : 0);
		*batch = *own > 1 ? *own - 1 : 1;
		*trigger = *own > 1 ? 1 : 0;
	}
}

static uint64_t slow_fixed(struct slow *s, const struct sim *sim, unsigned *run)
{
	unsigned index = 0;

	for (unsigned r = 0; r < sim->m->runs; r++) {
		uint64_t left = sim->m->pages[r] - sim->read[r], own, batch, trigger, want;

		if (sim->m->pages[r] == 0)
			continue;
		slow_share(s, index++, &own, &batch, &trigger);
		want = sim->read[r] == 0 ? own : batch;
		*run = r;
		if (left && (sim->read[r] == 0 || sim->read[r] - sim->eaten[r] <= trigger))
			return want < left ? want : left;
	}
	return 0;
}

static uint64_t slow_next(struct slow *s, const struct sim *sim, unsigned *run)
{
	return s->strategy >= SP_READ_FORECAST ? slow_planned(s, sim, run)
					       : slow_fixed(s, sim, run);
}

/* Merging. */

enum { FAULT_NONE, FAULT_TOO_MANY, FAULT_TWICE, FAULT_DEADLOCK, FAULT_UNREAD };

struct outcome {
	int fault;
	uint64_t demanded;
	struct log log;
};

static int read_now(struct sim *s, struct sp__readplan *p, struct slow *slow, struct log *log)
{
	unsigned run = 0;
	uint64_t n;

	while ((n = p ? sp__readplan_next(p, (unsigned)s->free, &run) : slow_next(slow, s, &run)) >
	       0) {
		if (n > s->free || (p && n > sp__readplan_largest(p)))
			return FAULT_TOO_MANY;
		if (s->read[run] + n > s->m->pages[run])
			return FAULT_TWICE;
		s->free -= n;
		s->read[run] += n;
		log_add(log, run, n, s->eaten_total);
	}
	return FAULT_NONE;
}

/*
 * Merges with the plan, or with the slow planner where p is NULL.  lazy: the
 * merge asks the plan only when it waits, or by chance.
 */
static struct outcome merge_with(const struct merge *m, unsigned buffers, struct sp__readplan *p,
				 struct slow *slow, struct sp__rng *lazy)
{
	struct outcome o = { 0 };
	struct sim s;
	unsigned more;

	sim_init(&s, m, buffers);
	o.fault = read_now(&s, p, slow, &o.log);
	while (!o.fault && s.eaten_total < m->total) {
		int r = sim_winner(&s);

		if (r < 0) {
			size_t before = o.log.n;

			o.fault = read_now(&s, p, slow, &o.log);
			if (!o.fault && o.log.n == before)
				o.fault = FAULT_DEADLOCK;
			continue;
		}
		sim_eat(&s, r);
		if (p)
			sp__readplan_consumed(p, (unsigned)r);
		if (!lazy || sp__rng_below(lazy, 3) == 0)
			o.fault = read_now(&s, p, slow, &o.log);
	}
	if (!o.fault && p && sp__readplan_next(p, buffers, &more))
		o.fault = FAULT_UNREAD;
	o.demanded = p ? sp__readplan_demanded(p) : 0;
	sim_release(&s);
	return o;
}

static struct sp__readplan *plan_for(const struct merge *m, enum sp_readahead strategy,
				     unsigned buffers)
{
	struct sp__readplan_opts opts = { .strategy = strategy,
					  .runs = m->runs,
					  .run_pages = m->pages,
					  .buffers = buffers,
					  .consumption = m->sequence,
					  .pages = m->total };
	struct sp__readplan *p;

	if (!sp__readplan_needs_sequence(strategy))
		opts.consumption = NULL;
	return sp__readplan_new(&p, &opts) ? NULL : p;
}

static struct outcome run_plan(const struct merge *m, enum sp_readahead strategy, unsigned buffers,
			       struct sp__rng *lazy)
{
	struct sp__readplan *p = plan_for(m, strategy, buffers);
	struct outcome o = { .fault = -1 };

	if (p)
		o = merge_with(m, buffers, p, NULL, lazy);
	sp__readplan_free(p);
	return o;
}

static bool same_log(const struct log *a, const struct log *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = a->entry[i].run == b->entry[i].run &&
		       a->entry[i].pages == b->entry[i].pages &&
		       a->entry[i].when == b->entry[i].when;
	return same;
}

/* A case drawn by chance: sizes, skew, exactness of keys, buffers. */
static unsigned draw(struct merge *m, struct sp__rng *rng, bool exact)
{
	unsigned runs = 1 + (unsigned)sp__rng_below(rng, sp__rng_below(rng, 3) ? 8 : 40);
	uint64_t total = sp__rng_below(rng, 300);
	double alpha = sp__rng_below(rng, 3) ? sp__rng_real(rng) : (double)sp__rng_below(rng, 2);
	unsigned spare = (unsigned)sp__rng_below(rng, 1 + sp__rng_below(rng, 6 * runs));
	double grain = exact ? 0 : 0.5 * sp__rng_real(rng);

	merge_init(m, runs, total, sp__rng_below(rng, 2), alpha,
		   1 + (unsigned)sp__rng_below(rng, 6), grain, rng);
	return spare;
}

static void properties(enum sp_readahead strategy, bool exact, bool lazily)
{
	struct sp__rng rng = { sp__mix64((uint64_t)strategy * 4 + 2 * exact + lazily) };
	uint64_t demanded = 0;
	int cases = 600, bad = -1;

	for (int i = 0; i < cases && bad < 0; i++) {
		struct merge m;
		unsigned spare = draw(&m, &rng, exact);
		unsigned b = sp__readplan_min(strategy, m.runs) + spare;
		struct outcome o = run_plan(&m, strategy, b, lazily ? &rng : NULL);

		demanded += o.demanded;
		if (o.fault || (exact && o.demanded)) {
			bad = i;
			diag("case %d: fault %d, %u runs, %u buffers, %llu demanded", i, o.fault,
			     m.runs, b, (unsigned long long)o.demanded);
		}
		free(o.log.entry);
		merge_release(&m);
	}
	ok(bad < 0, "%s%s%s: every page is read once, within its buffers, without deadlock",
	   name[strategy], exact ? "" : ", inexact keys", lazily ? ", asked now and then" : "");
	if (!exact && sp__readplan_needs_sequence(strategy))
		ok(demanded > 0, "%s: inexact keys did lead to demands", name[strategy]);
}

static void same_as_slow(enum sp_readahead strategy)
{
	struct sp__rng rng = { sp__mix64(100 + (uint64_t)strategy) };
	uint64_t reads = 0;
	bool same = true;

	for (int i = 0; i < 400 && same; i++) {
		struct merge m;
		unsigned spare = draw(&m, &rng, true);
		unsigned b = sp__readplan_min(strategy, m.runs) + spare;
		struct outcome fast = run_plan(&m, strategy, b, NULL), ref;
		struct slow s;

		slow_init(&s, strategy, &m, b);
		ref = merge_with(&m, b, NULL, &s, NULL);
		same = same_log(&fast.log, &ref.log) &&
		       log_cluster_reads(&fast.log, m.runs) == log_cluster_reads(&ref.log, m.runs);
		if (!same)
			diag("case %d: %u runs, %u buffers, %zu against %zu reads", i, m.runs, b,
			     fast.log.n, ref.log.n);
		reads += ref.log.n;
		free(s.list);
		free(fast.log.entry);
		free(ref.log.entry);
		merge_release(&m);
	}
	ok(same && reads > 1000,
	   "%s: the same clusters, at the same time, as a slow planner from the definitions",
	   name[strategy]);
}

/* CLUSTER reads each cluster whole: its feasibility condition leaves room. */
static void clusters_are_whole(void)
{
	struct sp__rng rng = { 33 };
	bool whole = true;

	for (int i = 0; i < 600; i++) {
		struct merge m;
		unsigned spare = draw(&m, &rng, true);
		unsigned b = m.runs + 1 + spare;
		struct outcome o = run_plan(&m, SP_READ_CLUSTER, b, NULL);
		struct slow s;

		slow_init(&s, SP_READ_CLUSTER, &m, b);
		whole &= o.log.n == s.n;
		for (size_t k = 0; whole && k < s.n; k++)
			whole &= o.log.entry[k].run == s.list[k].run &&
				 o.log.entry[k].pages == s.list[k].pages;
		free(s.list);
		free(o.log.entry);
		merge_release(&m);
	}
	ok(whole, "Theorem 1: the clusters planned are those read, none in parts");
}

/* Formulas. */

static double mean_reads(enum sp_readahead strategy, unsigned runs, uint64_t pages, unsigned b,
			 double alpha)
{
	struct sp__rng rng = { sp__mix64(b * 31 + runs) };
	double sum = 0;
	int n = 3;

	for (int i = 0; i < n; i++) {
		struct merge m;
		struct outcome o;

		merge_init(&m, runs, pages, true, alpha, 128, 0, &rng);
		o = run_plan(&m, strategy, b, NULL);
		sum += o.fault ? NAN : (double)log_cluster_reads(&o.log, runs);
		free(o.log.entry);
		merge_release(&m);
	}
	return sum / n;
}

/* 15 runs, 50 MB, pages of 32 KB, as in figures 5 and 12. */
static void formulas(void)
{
	for (enum sp_readahead s = SP_READ_NONE; s < SP_READ_COUNT_; s++) {
		double worst = 0;

		for (unsigned b = 45; b <= 96; b += 3) {
			double want = 1600 / sp__plan_cluster_pages(s, 15, b);
			double got = mean_reads(s, 15, 1600, b, 1);

			if (!(fabs(got / want - 1) < worst))
				worst = fabs(got / want - 1);
		}
		ok(worst <= 0.05, "zl98.fig5 %s: within %.1f %% of the formula for b >= 3n",
		   name[s], 100 * worst);
	}
}

static void skewed(void)
{
	for (enum sp_readahead s = SP_READ_DOUBLE; s < SP_READ_COUNT_; s++) {
		double full = mean_reads(s, 15, 1600, 64, 1),
		       half = mean_reads(s, 15, 1600, 64, 0.8);
		double none = mean_reads(s, 15, 1600, 64, 0);
		double want = 1600 / sp__plan_cluster_pages(s, 15, 64);

		diag("%s at alpha 1, 0.8, 0: %.0f %.0f %.0f", name[s], full, half, none);
		ok(fabs(full / want - 1) <= 0.1, "zl98.fig12 %s: alpha = 1 within 10 %%", name[s]);
		ok(s == SP_READ_CLUSTER ? half < 0.6 * full : half > 0.8 * full,
		   "zl98.fig12 %s: skew of 0.8 %s", name[s],
		   s == SP_READ_CLUSTER ? "saves reads" : "changes little");
		ok(none < 0.2 * full, "zl98.fig12 %s: sorted runs are read nearly in one", name[s]);
	}
}

static void order_of_strategies(void)
{
	bool right = true;

	for (unsigned b = 48; b <= 96; b += 16) {
		double c = mean_reads(SP_READ_CLUSTER, 15, 3000, b, 1);
		double x = mean_reads(SP_READ_EXTENDED, 15, 3000, b, 1);
		double e = mean_reads(SP_READ_EQUAL, 15, 3000, b, 1);
		double d = mean_reads(SP_READ_DOUBLE, 15, 3000, b, 1);

		right &= c <= 1.01 * x && x <= e && e <= d;
	}
	ok(right, "zl98.fig10: cluster <= extended <= equal <= double");
}

/* Refusals, sizes, speed. */

static void refusals(void)
{
	uint64_t pages[2] = { 2, 1 };
	uint32_t good[3] = { 0, 1, 0 }, wrong[3] = { 0, 1, 1 }, range[3] = { 0, 1, 2 };
	struct sp__readplan_opts o = { SP_READ_CLUSTER, 2, pages, 3, good, 3 };
	struct sp__readplan *p;

	ok(sp__readplan_new(&p, &o) == 0, "two runs in three buffers can be clustered");
	sp__readplan_free(p);
	o.consumption = wrong;
	ok(sp__readplan_new(&p, &o) == -EINVAL && !p, "a sequence of other runs is refused");
	o.consumption = range;
	ok(sp__readplan_new(&p, &o) == -EINVAL, "a run that does not exist is refused");
	o.consumption = NULL;
	ok(sp__readplan_new(&p, &o) == -EINVAL, "a missing sequence is refused");
	o.consumption = good;
	o.buffers = 2;
	ok(sp__readplan_new(&p, &o) == SP_EBUDGET, "too few buffers are refused");
	o.strategy = SP_READ_AUTO;
	ok(sp__readplan_new(&p, &o) == -EINVAL, "'auto' is not a strategy");
}

static void planning_time(unsigned runs, uint64_t total, double alpha)
{
	struct sp__rng rng = { 5 };
	struct sp__readplan *p;
	struct timespec a, b;
	struct merge m;
	double s;

	merge_init(&m, runs, total, true, alpha, 1, 0, &rng);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	p = plan_for(&m, SP_READ_CLUSTER, 4 * runs);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
	diag("clustering %llu pages of %u runs, alpha %g: %.3f s", (unsigned long long)total, runs,
	     alpha, s);
	ok(p && s < 1.0, "a large merge is planned in less than a second (alpha %g)", alpha);
	sp__readplan_free(p);
	merge_release(&m);
}

int main(void)
{
	for (enum sp_readahead s = SP_READ_NONE; s < SP_READ_COUNT_; s++) {
		properties(s, true, false);
		properties(s, true, true);
		properties(s, false, false);
		properties(s, false, true);
		same_as_slow(s);
	}
	clusters_are_whole();
	formulas();
	skewed();
	order_of_strategies();
	refusals();
	planning_time(1000, 1000000, 1);
	planning_time(1000, 1000000, 0.01);
	return done();
}
