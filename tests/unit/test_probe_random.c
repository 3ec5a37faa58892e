/* SPDX-License-Identifier: MIT */
/*
 * Random drives: speed, surfaces, layout, zones, lengths by head, skews, slipped blocks and seek
 * curves as drives have them.  Without noise all are exact; through noise most are, and
 * the rest is honest.  Of serpentines D is right in each region, for reads and writes.
 * Arguments: the number of models, and the first one's seed.  SP_PROBE_CASES=n: the number of
 * serpentines.
 */
#define TAP_SLOW
#include <stdarg.h>
#include <unistd.h>
#include "dev/geometry.h"
#include "probecase.h"

#define MODELS 12
#define SERPENTINES 40
#define ROOM 6000

struct text {
	char s[ROOM];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->s + t->n, ROOM - t->n, format, args);
	va_end(args);
}

static double between(struct sp__rng *rng, double lo, double hi)
{
	return lo + (hi - lo) * sp__rng_real(rng);
}

struct drive {
	struct sp__rng rng;
	unsigned surfaces, zones, cylinders; /* of each zone */
	const char *layout;
	bool own_lengths; /* of each head */
	double period_ms, switch_ms, step_ms;
};

/* A plateau of settling, a step at its end, and then the long way. */
static void put_seeks(struct text *t, struct drive *d)
{
	unsigned end = 4 + (unsigned)sp__rng_below(&d->rng, 14);
	unsigned last = d->zones * d->cylinders - 1;
	double flat = d->step_ms + between(&d->rng, 0.05, 0.2);
	double after = flat + between(&d->rng, 0.15, 0.4);

	put(t, "\"seek_ms\":[[1,%.3f],[%u,%.3f],[%u,%.3f],[%u,%.3f],[%u,%.3f]]", d->step_ms, end,
	    flat, end + 1, after, 10 * end, after + 0.6, last, after + between(&d->rng, 3, 8));
}

static void put_lengths(struct text *t, struct drive *d, unsigned spt)
{
	put(t, "\"spt\":");
	if (!d->own_lengths) {
		put(t, "%u", spt);
		return;
	}
	for (unsigned h = 0; h < d->surfaces; h++)
		put(t, "%s%u", h ? "," : "[", spt + h * 2 + (unsigned)sp__rng_below(&d->rng, 2));
	put(t, "]");
}

static void put_zones(struct text *t, struct drive *d)
{
	unsigned spt = 500 + (unsigned)sp__rng_below(&d->rng, 700);
	double slack = between(&d->rng, 0.1, 0.3);
	double head = (d->switch_ms + slack) / d->period_ms;
	double cylinder = (fmax(d->switch_ms, d->step_ms) + slack + 0.15) / d->period_ms;

	put(t, ",\"zones\":[");
	for (unsigned z = 0; z < d->zones; z++) {
		put(t, "%s{\"first_cyl\":%u,\"last_cyl\":%u,", z ? "," : "", z * d->cylinders,
		    (z + 1) * d->cylinders - 1);
		put_lengths(t, d, spt);
		put(t, ",\"track_skew\":%u,\"cyl_skew\":%u}", (unsigned)(head * spt) + 1,
		    (unsigned)(cylinder * spt) + 1);
		spt -= 12 + (unsigned)sp__rng_below(&d->rng, spt / 20);
	}
	put(t, "]");
}

static void put_slips(struct text *t, struct drive *d)
{
	unsigned n = (unsigned)sp__rng_below(&d->rng, 6), all = d->zones * d->cylinders;

	put(t, ",\"slips\":[");
	for (unsigned i = 0; i < n; i++)
		put(t, "%s[%u,%u,%u]", i ? "," : "",
		    i * (all / n) + (unsigned)sp__rng_below(&d->rng, all / n),
		    (unsigned)sp__rng_below(&d->rng, d->surfaces),
		    (unsigned)sp__rng_below(&d->rng, 200));
	put(t, "]");
}

/* A serpentine has two or three zones. */
static void make_model(const char *path, uint64_t seed, bool serpentine)
{
	static const unsigned rpms[] = { 4200, 5400, 5900, 7200, 10000, 15000 };
	static const char *const layouts[] = { "cylinder",
					       "cylinder",
					       "cylinder",
					       "hybrid-serpentine",
					       "cylinder-serpentine",
					       "surface-serpentine" };
	struct drive d = { .rng = { sp__mix64(seed) } };
	unsigned rpm = rpms[sp__rng_below(&d.rng, 6)];
	struct text t = { .n = 0 };
	FILE *f = fopen(path, "w");

	if (!f)
		exit(2);
	d.layout = layouts[serpentine ? 3 + sp__rng_below(&d.rng, 3) : sp__rng_below(&d.rng, 6)];
	d.surfaces = 1 + serpentine + (unsigned)sp__rng_below(&d.rng, 8);
	if (d.surfaces == 1)
		d.layout = "cylinder";
	d.zones = serpentine ? 2 + (unsigned)sp__rng_below(&d.rng, 2)
			     : 1 + (unsigned)sp__rng_below(&d.rng, 8);
	d.cylinders = 1000 + (unsigned)sp__rng_below(&d.rng, 2000);
	d.own_lengths = d.surfaces > 1 && d.layout == layouts[0] && !sp__rng_below(&d.rng, 3);
	d.period_ms = 6e4 / rpm;
	d.switch_ms = between(&d.rng, 0.4, 0.9);
	d.step_ms = between(&d.rng, 0.4, 0.9);
	put(&t,
	    "{\"name\":\"random\",\"rpm\":%u,\"surfaces\":%u,\"layout\":\"%s\",\"head_switch_ms\":%"
	    ".3f,"
	    "\"write_settle_ms\":0.3,\"read_overhead_ms\":%.3f,\"write_overhead_ms\":0.2,",
	    rpm, d.surfaces, d.layout, d.switch_ms, between(&d.rng, 0.1, 0.4));
	if (d.layout == layouts[3])
		put(&t, "\"band_tracks\":%u,", 16 + (unsigned)sp__rng_below(&d.rng, 48));
	if (serpentine && d.layout != layouts[4] && sp__rng_below(&d.rng, 2))
		put(&t, "\"first_head_descends\":true,");
	put_seeks(&t, &d);
	put_zones(&t, &d);
	put_slips(&t, &d);
	fprintf(f, "%s}\n", t.s);
	fclose(f);
}

/* Inside the rounds that were found, which are rounds, hops need no more than is said. */
static bool rounds_hold(const struct probecase *c, double more_deg)
{
	const struct sp_geometry *g = sp_probe_geometry(c->probe);
	const struct sp__hops *within = &g->within[SP_GEOMETRY_READ];
	double need;

	for (size_t i = 0; i < g->nzones; i++) {
		const struct sp__geozone *z = sp__geometry_zone_of(c->truth, g->zones[i].first_lbn);
		struct sp_track t;

		if (g->zones[i].round && (z->round != g->zones[i].round ||
					  sp_geometry_track(c->truth, g->zones[i].first_lbn, &t) ||
					  (t.number - z->first_track) % z->round))
			return false;
	}
	return !within->nsteps || (!sp__hops_need(&c->truth->within[SP_GEOMETRY_READ],
						  sp__hops_reach(within, within->aim_deg), &need) &&
				   need + more_deg <= within->aim_deg);
}

/* D holds: no hop within it needs more than the aim, except for errors by noise. */
static bool reach_holds(const struct probecase *c)
{
	double aim, need, turnaround = c->r->turnaround_ns / c->info.period_ns * 360;
	double error = 1 + 0.25 * c->r->noise_ns / c->info.period_ns * 360;

	if (!rounds_hold(c, turnaround - error))
		return false;
	if (!c->reach || sp_geometry_aim(sp_probe_geometry(c->probe), SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_hop(c->truth, SP_GEOMETRY_READ, c->reach, &need))
		return true;
	return need + turnaround <= aim + error;
}

struct counts {
	unsigned exact, honest, inconclusive, reach, rounds;
};

static struct counts probe_all(const char *path, const char *noise, unsigned models, uint64_t first)
{
	struct counts n = { 0 };

	for (unsigned i = 0; i < models; i++) {
		struct probecase c;
		bool exact, honest;

		make_model(path, first + i, false);
		c = probecase_run(path, noise, (unsigned)(first + i));
		exact = probecase_exact(&c) && probecase_layout_right(&c);
		honest = probecase_honest(&c) && (!c.r->layout || probecase_layout_right(&c));
		n.exact += exact;
		n.honest += honest;
		n.reach += c.r && reach_holds(&c);
		n.rounds += c.r && sp_probe_geometry(c.probe)->within[SP_GEOMETRY_READ].nsteps;
		n.inconclusive += c.r && (c.unknown || !c.r->layout);
		if (c.r && (!exact || !honest || !reach_holds(&c)))
			diag("model %u, noise %s: wrong %u, unknown %u, layout %s (%s), %u "
			     "surfaces (%u), "
			     "D %u (%u)",
			     (unsigned)(first + i), noise, c.wrong, c.unknown,
			     c.r->layout ? c.r->layout : "unknown", c.info.layout, c.r->surfaces,
			     c.info.surfaces, (unsigned)c.reach, (unsigned)c.true_reach);
		probecase_free(&c);
	}
	return n;
}

/* Some of these had wrong tracks, a wrong layout or too short an aim before. */
static void test_hard(const char *path)
{
	static const unsigned hard[] = { 1065, 1072, 1093, 1121, 1133, 1144, 1148,
					 1206, 1226, 1315, 1350, 1379, 1397, 2163 };
	struct counts n = { 0 };

	for (size_t i = 0; i < sizeof(hard) / sizeof(*hard); i++) {
		struct counts one = probe_all(path, "200us", 1, hard[i]);

		n.honest += one.honest;
		n.reach += one.reach;
	}
	ok(n.honest == sizeof(hard) / sizeof(*hard), "%u hard ones are honest", n.honest);
	ok(n.reach == n.honest, "and D holds for %u", n.reach);
}

/* D of a curve at its aim, by the true one: not more, and at least nine tenths. */
static bool region_right(const struct probecase *c, const struct sp__hops *h,
			 const struct sp__hops *truth)
{
	double deg = 360 / c->info.period_ns, error = 1 + 0.25 * c->r->noise_ns * deg;
	double aim = h->aim_deg - c->r->turnaround_ns * deg;
	uint64_t d = sp__hops_reach(h, h->aim_deg);

	if (!h->nsteps)
		return true;
	return d <= sp__hops_reach(truth, aim + error) &&
	       10 * d >= 9 * sp__hops_reach(truth, aim - error);
}

/* In a region where D inside a round is known, and in all others. */
static bool regions_right(const struct probecase *c, uint64_t seed, unsigned *within)
{
	const struct sp_geometry *g = sp_probe_geometry(c->probe), *t = c->truth;
	double error = 1 + 0.25 * c->r->noise_ns / c->info.period_ns * 360;
	bool right = rounds_hold(c, c->r->turnaround_ns / c->info.period_ns * 360 - error);

	for (unsigned op = SP_GEOMETRY_READ; op <= SP_GEOMETRY_WRITE; op++) {
		right &= region_right(c, &g->hops[op], &t->hops[op]) &&
			 region_right(c, &g->within[op], &t->within[op]);
		*within += g->within[op].nsteps > 0;
		if (!right)
			diag("serpentine %" PRIu64 ", %s: D %" PRIu64 ", in rounds %" PRIu64
			     "; truly %" PRIu64 " and %" PRIu64,
			     seed, op ? "writes" : "reads",
			     sp__hops_reach(&g->hops[op], g->hops[op].aim_deg),
			     sp__hops_reach(&g->within[op], g->within[op].aim_deg),
			     sp__hops_reach(&t->hops[op], t->hops[op].aim_deg),
			     sp__hops_reach(&t->within[op], t->within[op].aim_deg));
	}
	return right;
}

static void test_serpentines(const char *path, unsigned n)
{
	static const char *const noises[] = { "", "50us/2%/1ms", "100us" };
	unsigned right = 0, known = 0, within = 0, plateau = 0;

	for (unsigned i = 0; i < n; i++) {
		struct probecase c;

		make_model(path, i, true);
		c = probecase_run(path, noises[i % 3], i);
		right += c.r && regions_right(&c, i, &within);
		plateau += !c.reach || 10 * c.reach >= 9 * c.true_reach;
		known += c.r && sp_probe_geometry(c.probe)->hops[SP_GEOMETRY_READ].nsteps;
		probecase_free(&c);
	}
	ok(right == n, "D is right in all regions of %u of %u serpentines", right, n);
	ok(10 * known >= 8 * n, "and known of %u", known);
	ok(10 * plateau >= 9 * n, "it is as far as the plateau goes for %u", plateau);
	ok(8 * within >= n, "it is known inside rounds in %u cases", within);
}

int main(int argc, char **argv)
{
	unsigned models = argc > 1 ? (unsigned)atoi(argv[1]) : MODELS;
	uint64_t first = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
	const char *cases = getenv("SP_PROBE_CASES");
	char path[] = "/tmp/test-probe-XXXXXX.json";
	int fd = mkstemps(path, 5);
	struct counts n;

	if (fd < 0)
		return 2;
	close(fd);
	n = probe_all(path, "", models, first);
	ok(n.exact == models, "%u of %u random drives are exact without noise", n.exact, models);
	ok(n.reach == models, "D holds for %u", n.reach);
	ok(n.rounds || models < MODELS, "rounds of bands are known of %u", n.rounds);
	n = probe_all(path, "50us/2%/1ms", models, first);
	ok(n.exact >= models - (models + 11) / 12, "%u are through 50 us with 2 %% late", n.exact);
	ok(n.honest == models, "and %u honest", n.honest);
	ok(n.reach == models, "D holds for %u", n.reach);
	n = probe_all(path, "200us", models, first);
	ok(n.honest == models, "through 200 us %u are honest", n.honest);
	ok(2 * n.inconclusive <= models, "and %u do not know all", n.inconclusive);
	ok(n.reach == models, "D holds for %u", n.reach);
	if (argc == 1)
		test_hard(path);
	test_serpentines(path, cases ? (unsigned)atoi(cases) : SERPENTINES);
	unlink(path);
	return done();
}
