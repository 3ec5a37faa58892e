/* SPDX-License-Identifier: MIT */
/*
 * The order of reading along the semi-sequential path: nothing is lost or
 * doubled, the first stays first, chunks stay together, and on the drive
 * itself the order saves the revolutions that it is there to save.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "dev/device.h"
#include "dev/geometry.h"
#include "dev/raid.h"
#include "spill/place.h"
#include "tap.h"

#define PAGE 8192u
#define RUNS 100u
#define PAGES 120u
#define STRIPE_DRIVES 4u

static struct sp_geometry *g;
static struct sp__place *place;
static struct sp__run *runs[RUNS];
static struct sp__budget budget;

static void lay_out(enum sp_placement policy)
{
	struct sp__place_opts o = { .policy = policy,
				    .geometry = g,
				    .hops = SP_GEOMETRY_READ,
				    .page_bytes = PAGE,
				    .runs = RUNS };

	if (sp__place_new(&place, &o, NULL))
		exit(1);
	sp__budget_init(&budget, UINT64_MAX);
	for (unsigned r = 0; r < RUNS; r++) {
		if (sp__run_new(&runs[r], &budget))
			exit(1);
		while (runs[r]->units < PAGES) {
			uint64_t unit;
			int n = sp__place_take(place, runs[r], (uint32_t)(PAGES - runs[r]->units),
					       &unit);

			if (n <= 0 || sp__run_add_units(runs[r], unit, (uint32_t)n) < 0)
				exit(1);
		}
	}
}

static void clear(void)
{
	for (unsigned r = 0; r < RUNS; r++)
		sp__run_free(runs[r]);
	sp__place_free(place);
}

static struct sp__stop stop(unsigned run, uint64_t page)
{
	const struct sp__extent *e = sp__run_extent(runs[run], page);

	return (struct sp__stop){ e->unit + (page - e->first),
				  (void *)(uintptr_t)(run * PAGES + page + 1) };
}

static void shuffle(struct sp__stop *s, size_t n, struct sp__rng *rng)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = sp__rng_below(rng, i + 1);
		struct sp__stop t = s[i];

		s[i] = s[k];
		s[k] = t;
	}
}

static int by_what(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct sp__stop *)a)->what;
	uintptr_t y = (uintptr_t)((const struct sp__stop *)b)->what;

	return (x > y) - (x < y);
}

/* Random sets: permutations, first first. */
static void permutations(void)
{
	struct sp__rng rng = { 3 };
	bool same = true, first = true;
	struct sp__stop s[300], was[300];

	for (unsigned round = 0; round < 200; round++) {
		size_t n = 1 + sp__rng_below(&rng, 300);

		/* Blocks of different pages, which are not neighbours. */
		for (size_t i = 0; i < n; i++)
			s[i] = stop((unsigned)(i % RUNS), 3 * (i / RUNS) + 9 * (round % 8));
		shuffle(s, n, &rng);
		memcpy(was, s, sizeof(s));
		if (sp__place_order(place, s, n))
			exit(1);
		first &= s[0].what == was[0].what;
		qsort(s, n, sizeof(*s), by_what);
		qsort(was, n, sizeof(*was), by_what);
		for (size_t i = 0; i < n; i++)
			same &= s[i].what == was[i].what && s[i].unit == was[i].unit;
	}
	ok(same, "the order is a permutation");
	ok(first, "the first request stays first");
	ok(sp__place_order(place, s, 0) == 0, "nothing can be ordered too");
}

static void chunks(void)
{
	struct sp__rng rng = { 4 };
	struct sp__stop s[3 * RUNS];
	bool together = true;

	for (unsigned r = 0; r < RUNS; r++)
		for (unsigned k = 0; k < 3; k++)
			s[3 * r + k] = stop(r, 2 + k);
	shuffle(s, 3 * RUNS, &rng);
	if (sp__place_order(place, s, 3 * RUNS))
		exit(1);
	for (unsigned i = 0; i < 3 * RUNS; i += 3)
		together &= s[i + 1].unit == s[i].unit + 1 && s[i + 2].unit == s[i].unit + 2;
	ok(together, "pages that follow one another on a track stay together, in order");
}

/* Reads in this order, one at a time: ms for each, and the number near a whole revolution. */
static double drive_ms(const struct sp__stop *s, size_t n, unsigned *late)
{
	struct sp__model *m;
	struct sp__device d;
	uint64_t now = 0, begin = 0;

	if (sp__model_load(&m, "atlas10k3-like", NULL) || sp__device_open(&d, m))
		exit(1);
	*late = 0;
	for (size_t i = 0; i < n; i++) {
		struct sp__subreq p = { .lbn = sp__place_offset(place, s[i].unit) / 512,
					.blocks = PAGE / 512 };
		struct sp__service v;

		m->ops->serve(m, d.state, now + m->overhead_ns[0], &p, &v);
		*late += i && v.done_ns - now > 5000000;
		now = v.done_ns;
		if (!i)
			begin = now;
	}
	sp__device_close(&d);
	sp__model_free(m);
	return (double)(now - begin) * 1e-6 / (double)(n - 1);
}

static void on_the_drive(void)
{
	struct sp__rng rng = { 5 };
	struct sp__stop s[RUNS];
	unsigned late;
	double ms, scattered;

	for (unsigned r = 0; r < RUNS; r++)
		s[r] = stop(r, 7);
	if (sp__place_order(place, s, RUNS))
		exit(1);
	ms = drive_ms(s, RUNS, &late);
	ok(ms < 1.1 + 2 * 0.14 && late <= 1,
	   "pages of one offset: a hop, the page, and less than one more each (%.3f ms)", ms);
	for (unsigned r = 0; r < RUNS; r++)
		s[r] = stop(r, 20 + sp__rng_below(&rng, 40));
	shuffle(s, RUNS, &rng);
	scattered = drive_ms(s, RUNS, &late);
	if (sp__place_order(place, s, RUNS))
		exit(1);
	ms = drive_ms(s, RUNS, &late);
	ok(2 * ms < scattered && late < RUNS / 10,
	   "pages of offsets that differ: less than half of what they take unordered "
	   "(%.2f, %.2f ms)",
	   ms, scattered);
}

static void far_jumps(void)
{
	struct sp__stop s[RUNS];
	unsigned late, bands = 0;
	double ms;

	/* Every other page lies some bands away. */
	for (unsigned r = 0; r < RUNS; r++)
		s[r] = stop(r, r % 2 ? 3 : 110);
	if (sp__place_order(place, s, RUNS))
		exit(1);
	for (unsigned i = 1; i < RUNS; i++)
		bands += (s[i].unit > s[i - 1].unit ? s[i].unit - s[i - 1].unit
						    : s[i - 1].unit - s[i].unit) >>
			 12 > 136;
	ms = drive_ms(s, RUNS, &late);
	ok(late < RUNS / 10 && ms < 3,
	   "far jumps get their time: %u of %u hops lost a revolution, %u far", late, RUNS, bands);
}

static void addresses(void)
{
	struct sp__rng rng = { 6 };
	struct sp__stop s[RUNS];
	bool ascends = true;

	for (unsigned r = 0; r < RUNS; r++)
		s[r] = stop(r, sp__rng_below(&rng, PAGES));
	shuffle(s, RUNS, &rng);
	if (sp__place_order(place, s, RUNS))
		exit(1);
	for (unsigned i = 1; i < RUNS; i++)
		ascends &=
			sp__place_offset(place, s[i].unit) > sp__place_offset(place, s[i - 1].unit);
	ok(ascends, "runs in whole tracks are read in the order of addresses");
}

/* Reads in this order, one at a time on each drive: ms for each, and as above. */
static double array_ms(const struct sp__model *m, const struct sp__stop *s, size_t n,
		       unsigned *late)
{
	uint64_t now[STRIPE_DRIVES] = { 0 }, sum = 0;
	struct sp__device d;

	if (sp__device_open(&d, m))
		exit(1);
	*late = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t blocks = PAGE / 512;
		struct sp__subreq p;
		struct sp__service v;
		unsigned subreqs =
			m->ops->split(m, d.state, 0, false,
				      sp__place_offset(place, s[i].unit) / 512, &blocks, &p, 1);
		uint64_t *t = &now[p.lane];

		m->ops->serve(m, d.state, *t + m->overhead_ns[0], &p, &v);
		*late += subreqs != 1 || blocks != PAGE / 512 || (*t && v.done_ns - *t > 5000000);
		sum += *t ? v.done_ns - *t : 0;
		*t = v.done_ns;
	}
	sp__device_close(&d);
	return (double)sum * 1e-6 / (double)(n - STRIPE_DRIVES);
}

/* On drives striped by tracks each has a path of its own. */
static void on_an_array(void)
{
	struct sp__raid_spec spec;
	struct sp__stop s[RUNS];
	struct sp__model *m;
	unsigned late;
	double ms;

	if (!sp__raid_parse(&spec, "raid0:4/track") || sp__model_load(&m, "atlas10k3-like", NULL) ||
	    sp__raid_make(&m, &spec, NULL) || sp__geometry_of(&g, m, NULL))
		exit(1);
	lay_out(SP_PLACE_SEMISEQ);
	for (unsigned r = 0; r < RUNS; r++)
		s[r] = stop(r, 7);
	if (sp__place_order(place, s, RUNS))
		exit(1);
	ms = array_ms(m, s, RUNS, &late);
	ok(ms < 1.1 + 2 * 0.14 && late <= STRIPE_DRIVES,
	   "sh08.s2.4: pages of one offset on four drives: on each as on one drive (%.3f ms)", ms);
	clear();
	sp_geometry_free(g);
	sp__model_free(m);
}

int main(void)
{
	if (sp_geometry_model(&g, "atlas10k3-like", NULL))
		exit(1);
	lay_out(SP_PLACE_SEMISEQ);
	permutations();
	chunks();
	on_the_drive();
	far_jumps();
	clear();
	lay_out(SP_PLACE_TRACK);
	addresses();
	clear();
	sp_geometry_free(g);
	on_an_array();
	return done();
}
