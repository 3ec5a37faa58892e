/* SPDX-License-Identifier: MIT */
/*
 * Placement by tracks: no two pages overlap, none crosses a track, and the hops
 * of the semi-sequential path arrive in time on the drive itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/rng.h"
#include "dev/geometry.h"
#include "dev/device.h"
#include "spill/place.h"
#include "tap.h"

#define PAGE 16384u
#define RUNS 24u
#define PAGES 96u

struct fixture {
	struct sp_geometry *g;
	struct sp_geometry_info info;
	struct sp__place *place;
	struct sp__budget budget;
	struct sp__run *runs[RUNS];
};

static void begin(struct fixture *f, const char *model, enum sp_placement policy, uint64_t base)
{
	struct sp__place_opts o = { .policy = policy,
				    .page_bytes = PAGE,
				    .base_lbn = base,
				    .runs = RUNS,
				    .hops = SP_GEOMETRY_READ };
	int rc = sp_geometry_model(&f->g, model, NULL);

	if (rc == 0) {
		sp_geometry_info(f->g, &f->info);
		o.geometry = f->g;
		rc = sp__place_new(&f->place, &o, NULL);
	}
	if (rc) {
		ok(false, "%s: a placement opens (%s)", model, sp_strerror(rc));
		exit(1);
	}
	sp__budget_init(&f->budget, UINT64_MAX);
	for (unsigned r = 0; r < RUNS; r++)
		if (sp__run_new(&f->runs[r], &f->budget) < 0)
			exit(1);
}

static void end(struct fixture *f)
{
	for (unsigned r = 0; r < RUNS; r++)
		sp__run_free(f->runs[r]);
	sp__place_free(f->place);
	sp_geometry_free(f->g);
}

/* Grows a run to a number of units, want units at a time. */
static bool grow(struct fixture *f, struct sp__run *run, uint64_t units, uint32_t want)
{
	while (run->units < units) {
		uint64_t unit, left = units - run->units;
		int got = sp__place_take(f->place, run, left < want ? (uint32_t)left : want, &unit);

		if (got <= 0 || sp__run_add_units(run, unit, (uint32_t)got) < 0)
			return false;
	}
	return true;
}

static uint64_t unit_of(const struct sp__run *run, uint64_t i)
{
	const struct sp__extent *e = sp__run_extent(run, i);

	return e->unit + (i - e->first);
}

static uint64_t lbn_of(const struct fixture *f, const struct sp__run *run, uint64_t i,
		       uint64_t base)
{
	return base + sp__place_offset(f->place, unit_of(run, i)) / f->info.block_bytes;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_space(const char *model, enum sp_placement policy)
{
	struct fixture f;
	const uint64_t base = 1000;
	uint64_t *first = calloc(RUNS * PAGES, sizeof(*first)), blocks;
	bool within = true, apart = true;
	size_t n = 0;

	if (!first)
		exit(1);
	begin(&f, model, policy, base);
	blocks = PAGE / f.info.block_bytes;
	for (unsigned r = 0; r < RUNS; r++)
		if (!grow(&f, f.runs[r], PAGES - r, 1 + r % 7))
			within = false;
	for (unsigned r = 0; r < RUNS; r++)
		for (uint64_t i = 0; i < f.runs[r]->units; i++) {
			uint64_t lbn = lbn_of(&f, f.runs[r], i, base);
			struct sp_track t;

			within &= sp_geometry_track(f.g, lbn, &t) == 0 && lbn >= base &&
				  lbn + blocks <= t.first + t.blocks;
			first[n++] = lbn;
		}
	qsort(first, n, sizeof(*first), by_value);
	for (size_t i = 1; i < n; i++)
		apart &= first[i] - first[i - 1] >= blocks;
	ok(within, "%s, %s: every page lies on one track", model,
	   policy == SP_PLACE_TRACK ? "track" : "semiseq");
	ok(apart, "no two pages overlap");
	ok(sp__place_used(f.place) == n, "and all are counted");
	free(first);
	end(&f);
}

/* Reads page i of all runs along the path, one at a time: the slowest hop of one track, in ns. */
static double slowest_hop(struct fixture *f, struct sp__device *d, uint64_t i)
{
	uint64_t now = 12345, overhead = d->model->overhead_ns[0];
	struct sp_track t;
	uint64_t before = 0;
	double worst = 0;

	for (unsigned r = 0; r < RUNS; r++) {
		struct sp__subreq p = { .lbn = lbn_of(f, f->runs[r], i, 0),
					.blocks = PAGE / f->info.block_bytes };
		struct sp__service s;

		d->model->ops->serve(d->model, d->state, now + overhead, &p, &s);
		if (sp_geometry_track(f->g, p.lbn, &t))
			exit(1);
		/* More runs than the path reaches are several groups. */
		if (r && t.number == before + 1 && (double)(s.done_ns - now) > worst)
			worst = (double)(s.done_ns - now);
		before = t.number;
		now = s.done_ns;
	}
	return worst;
}

static void check_hops(const char *model)
{
	struct sp__model *m;
	struct sp__device d;
	struct fixture f;
	struct sp_track t;
	const struct sp__hops *hops;
	double page_ns, worst = 0;
	uint32_t blocks;

	begin(&f, model, SP_PLACE_SEMISEQ, 0);
	for (unsigned r = 0; r < RUNS; r++)
		if (!grow(&f, f.runs[r], PAGES, PAGES))
			exit(1);
	if (sp__model_load(&m, model, NULL) || sp__device_open(&d, m) ||
	    sp__geometry_hops(f.g, SP_GEOMETRY_READ, 0, 0, &hops) || sp_geometry_track(f.g, 0, &t))
		exit(1);
	for (uint64_t i = 0; i < PAGES; i++) {
		double hop = slowest_hop(&f, &d, i);

		worst = hop > worst ? hop : worst;
	}
	blocks = PAGE / f.info.block_bytes;
	page_ns = (double)blocks / t.blocks * f.info.period_ns;
	ok(worst < hops->aim_deg / 360 * f.info.period_ns + 2 * page_ns,
	   "%s: every hop along the path takes the aim, the page, and less than one more (%.3f ms)",
	   model, worst * 1e-6);
	sp__device_close(&d);
	sp__model_free(m);
	end(&f);
}

static void check_recycling(void)
{
	struct fixture f;
	uint64_t first, again;

	begin(&f, "atlas10k3-like", SP_PLACE_SEMISEQ, 0);
	for (unsigned r = 0; r < RUNS; r++)
		if (!grow(&f, f.runs[r], PAGES, PAGES))
			exit(1);
	first = unit_of(f.runs[0], 0);
	for (unsigned r = 0; r < RUNS; r++)
		for (uint64_t i = 0; i < PAGES; i++)
			sp__place_give(f.place, unit_of(f.runs[r], i));
	ok(sp__place_used(f.place) == 0, "all pages given back: none is in use");
	sp__run_free(f.runs[0]);
	if (sp__run_new(&f.runs[0], &f.budget) < 0 || !grow(&f, f.runs[0], 1, 1))
		exit(1);
	again = unit_of(f.runs[0], 0);
	ok(sp__place_recycled(f.place) == 1, "a track serves again (unit %llu, then %llu)",
	   (unsigned long long)first, (unsigned long long)again);
	end(&f);
}

static void give_all(struct fixture *f, unsigned r)
{
	for (uint64_t i = 0; i < f->runs[r]->units; i++)
		sp__place_give(f->place, unit_of(f->runs[r], i));
	sp__run_free(f->runs[r]);
	if (sp__run_new(&f->runs[r], &f->budget) < 0)
		exit(1);
}

/* A long run is read while runs of its group are still to come; then the group is full. */
static void check_late_recycling(void)
{
	struct fixture f;

	begin(&f, "atlas10k3-like", SP_PLACE_SEMISEQ, 0);
	for (unsigned r = 0; r < RUNS - 1; r++)
		if (!grow(&f, f.runs[r], r ? 1 : PAGES, PAGES))
			exit(1);
	give_all(&f, 0);
	if (!grow(&f, f.runs[RUNS - 1], 1, 1) || !grow(&f, f.runs[0], PAGES, PAGES))
		exit(1);
	ok(sp__place_recycled(f.place) > PAGES / 2,
	   "space freed before a group was full is reused after it");
	end(&f);
}

static bool all_apart(const struct fixture *f, uint64_t *lbns)
{
	size_t n = 0;
	bool apart = true;

	for (unsigned r = 0; r < RUNS; r++)
		for (uint64_t i = 0; i < f->runs[r]->units; i++)
			lbns[n++] = lbn_of(f, f->runs[r], i, 0);
	qsort(lbns, n, sizeof(*lbns), by_value);
	for (size_t i = 1; i < n; i++)
		apart &= lbns[i] - lbns[i - 1] >= PAGE / f->info.block_bytes;
	return apart && n == sp__place_used(f->place);
}

/* One run grows while others are released, as in a merge of several levels. */
static void check_churn(enum sp_placement policy)
{
	uint64_t *lbns = calloc(2 * RUNS * PAGES, sizeof(*lbns));
	struct sp__rng rng = { 11 };
	struct fixture f;
	bool apart = true;

	if (!lbns)
		exit(1);
	begin(&f, "atlas10k3-like", policy, 0);
	for (unsigned step = 0; step < 2000; step++) {
		unsigned r = (unsigned)sp__rng_below(&rng, RUNS);
		uint64_t grown = f.runs[r]->units + sp__rng_below(&rng, PAGES / 2);

		if (grown > PAGES)
			give_all(&f, r);
		else if (!grow(&f, f.runs[r], grown, 8))
			exit(1);
		apart &= all_apart(&f, lbns);
	}
	ok(apart, "%s: pages given and taken at random never overlap",
	   policy == SP_PLACE_TRACK ? "track" : "semiseq");
	ok(sp__place_recycled(f.place) > 0, "and tracks serve again");
	free(lbns);
	end(&f);
}

static void check_refusals(void)
{
	struct sp__place_opts o = { .policy = SP_PLACE_TRACK, .page_bytes = PAGE };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = NULL;
	struct sp__place *p = NULL;

	if (sp_geometry_model(&g, "linear", NULL))
		exit(1);
	o.geometry = g;
	ok(sp__place_new(&p, &o, &err) == SP_EUNSUP, "a device without tracks is refused");
	ok(!strcmp(err.text, "no tracks of the device are known, on which runs could be placed"),
	   "with the reason");
	sp_geometry_free(g);
	if (sp_geometry_model(&g, "atlas10k3-like", NULL))
		exit(1);
	o.geometry = g;
	o.page_bytes = 687 * 512;
	ok(sp__place_new(&p, &o, &err) == SP_EUNSUP, "so is a page larger than a track");
	sp_geometry_free(g);
}

/*
 * Reads a run alone, each physical extent in one request and two of them known to the drive.
 * Does one end where the one before it begins?  Then it counts as merged.
 */
static double read_alone(struct fixture *f, struct sp__device *d, const struct sp__run *run,
			 unsigned *merged)
{
	uint64_t now = 12345, blocks = PAGE / f->info.block_bytes, before = UINT64_MAX;
	uint64_t overhead = d->model->overhead_ns[0];

	for (uint64_t i = 0, n; i < run->units; i += n) {
		struct sp__subreq p = { .lbn = lbn_of(f, run, i, 0) };
		struct sp__service s;

		for (n = 1; i + n < run->units; n++)
			if (lbn_of(f, run, i + n, 0) != p.lbn + n * blocks)
				break;
		p.blocks = (uint32_t)(n * blocks);
		*merged += p.lbn + p.blocks == before;
		before = p.lbn;
		d->model->ops->serve(d->model, d->state, now + (i ? 0 : overhead), &p, &s);
		now = s.done_ns;
	}
	return (double)now;
}

static void check_alone(const char *model, enum sp_geometry_op hops)
{
	struct sp__model *m;
	struct sp__device d;
	struct fixture f;
	struct sp_track t;
	double need, worst = 0;
	unsigned merged = 0;

	begin(&f, model, SP_PLACE_SEMISEQ, 0);
	sp__place_free(f.place);
	if (sp__place_new(&f.place,
			  &(struct sp__place_opts){ .policy = SP_PLACE_SEMISEQ,
						    .geometry = f.g,
						    .page_bytes = PAGE,
						    .runs = RUNS,
						    .hops = hops },
			  NULL))
		exit(1);
	for (unsigned r = 0; r < RUNS; r++)
		if (!grow(&f, f.runs[r], 4 * PAGES, PAGES))
			exit(1);
	if (sp__model_load(&m, model, NULL) || sp__device_open(&d, m) ||
	    sp_geometry_hop(f.g, SP_GEOMETRY_WRITE, RUNS, &need) || sp_geometry_track(f.g, 0, &t))
		exit(1);
	for (unsigned r = 0; r < RUNS; r++) {
		double ns = read_alone(&f, &d, f.runs[r], &merged);

		worst = ns > worst ? ns : worst;
	}
	/* For each track, besides its pages: the hop, and less than two pages for its shift. */
	need = need / 360 + 1 + 2 * (double)PAGE / f.info.block_bytes / t.blocks;
	need *= f.info.period_ns * (4 * PAGES * (PAGE / f.info.block_bytes) / t.blocks + 2);
	ok(worst < need, "%s: a run by itself takes no revolution more from band to band (%.1f ms)",
	   model, worst * 1e-6);
	ok(!merged, "and no request of it ends where the one before begins");
	sp__device_close(&d);
	sp__model_free(m);
	end(&f);
}

/* A whole surface of each zone, then back on the next one. */
static const char surfaces[] =
	"{\"kind\":\"rotating\",\"rpm\":5400,\"surfaces\":4,\"layout\":\"surface-serpentine\","
	"\"block_bytes\":4096,\"head_switch_ms\":0.9,\"write_settle_ms\":0.2,"
	"\"read_overhead_ms\":0.2,\"write_overhead_ms\":0.3,"
	"\"seek_ms\":[[1,0.5],[20,0.9],[21,1.3],[500,4],[3000,12]],"
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":997,\"spt\":200,\"track_skew\":30,"
	"\"cyl_skew\":25},{\"first_cyl\":998,\"last_cyl\":2999,\"spt\":180,\"track_skew\":28,"
	"\"cyl_skew\":24}]}";

/* No page i of a run lies across a boundary without hops from page i of run r - 1. */
static void check_apart(void)
{
	struct fixture f;
	char path[] = "/tmp/place-XXXXXX.json";
	uint64_t hops = 0, broken = 0, bands = 0;
	int fd;

	fd = mkstemps(path, 5);
	if (fd < 0 || write(fd, surfaces, strlen(surfaces)) < 0)
		exit(1);
	close(fd);
	begin(&f, path, SP_PLACE_SEMISEQ, 0);
	unlink(path);
	for (unsigned r = 0; r < RUNS; r++)
		if (!grow(&f, f.runs[r], 20000, PAGES))
			exit(1);
	for (uint64_t i = 0; i < 20000; i += 7)
		for (unsigned r = 1; r < RUNS; r++) {
			uint64_t a = lbn_of(&f, f.runs[r - 1], i, 0),
				 b = lbn_of(&f, f.runs[r], i, 0), to;
			struct sp_track x, y;

			if (sp_geometry_track(f.g, a, &x) || sp_geometry_track(f.g, b, &y))
				exit(1);
			bands += r == 1;
			if (y.number != x.number + 1)
				continue;
			hops++;
			broken += sp_geometry_adjacent(f.g, a, 1, SP_GEOMETRY_READ, 0, &to) ==
				  -ERANGE;
		}
	ok(hops > bands * RUNS / 2 && !broken,
	   "no band crosses a place that no hop is promised across (%llu hops)",
	   (unsigned long long)hops);
	end(&f);
}

/* A geometry whose probe found only the tracks of blocks 60 to 99. */
static const char partly[] =
	"{\"schema\":\"spindle.geometry/1\",\"source\":\"probe\",\"device\":\"d\","
	"\"verdict\":\"rotating\",\"partial\":true,\"blocks\":200,\"block_bytes\":512,"
	"\"period\":{\"ns\":6000000},\"hops\":{\"read\":{\"aim_deg\":40,\"steps\":[[9,40]]}},"
	"\"zones\":[{\"first_lbn\":60,\"tracks\":4,\"start\":\"0000000000000000\","
	"\"skew_den\":10,\"pattern\":[[10,2]]}]}";

static void check_unknown_parts(void)
{
	struct sp__place_opts o = { .policy = SP_PLACE_TRACK, .page_bytes = 4096 };
	char path[] = "/tmp/place-XXXXXX.json";
	struct sp__budget budget;
	struct sp__place *p = NULL;
	struct sp_geometry *g;
	struct sp__run *run;
	uint64_t unit = 0;
	int fd, got = 0;

	fd = mkstemps(path, 5);
	if (fd < 0 || write(fd, partly, strlen(partly)) < 0 || sp_geometry_load(&g, path, NULL))
		exit(1);
	close(fd);
	unlink(path);
	o.geometry = g;
	sp__budget_init(&budget, UINT64_MAX);
	if (sp__run_new(&run, &budget) < 0)
		exit(1);
	if (ok(sp__place_new(&p, &o, NULL) == 0, "the device's beginning need not be known"))
		got = sp__place_take(p, run, 1, &unit);
	ok(got == 1 && sp__place_offset(p, unit) == UINT64_C(60) * 512,
	   "then runs begin on the first track that is");
	sp__place_free(p);
	o.base_lbn = 150;
	ok(sp__place_new(&p, &o, NULL) == 0 && sp__place_take(p, run, 1, &unit) == -ENOSPC,
	   "and after the last one there is no space");
	sp__place_free(p);
	sp__run_free(run);
	sp_geometry_free(g);
}

int main(void)
{
	check_space("atlas10k3-like", SP_PLACE_TRACK);
	check_space("atlas10k3-like", SP_PLACE_SEMISEQ);
	check_space("serpentine", SP_PLACE_SEMISEQ);
	check_hops("atlas10k3-like");
	check_hops("serpentine");
	check_alone("atlas10k3-like", SP_GEOMETRY_READ);
	check_alone("atlas10k3-like", SP_GEOMETRY_WRITE);
	check_apart();
	check_recycling();
	check_late_recycling();
	check_churn(SP_PLACE_TRACK);
	check_churn(SP_PLACE_SEMISEQ);
	check_refusals();
	check_unknown_parts();
	return done();
}
