/* SPDX-License-Identifier: MIT */
/*
 * From what a probe knows to a geometry.
 *
 * Slipped blocks are known to be on a track, not where on it: they are put at
 * its end, so that boundaries are exact and angles within a track are wrong by
 * no more than as many blocks as have slipped.  Angles are counted from the
 * start of block 0.
 *
 * What a hop of k tracks needs is the worst over all tracks of a pattern where
 * it may start: the layout gives the number of cylinders, the seek curve the
 * time.  Without a layout there are no adjacent blocks, and the distance of seeks is in tracks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "dev/geometry.h"
#include "probe/state.h"

#define SKEW_DEN 1000000000u
#define PATTERN_MAX 65536
#define HOPS_MAX 2048
#define KNEE_DEG 0.2
#define KNEE_STEEPER 2.0
#define SAME_DEG 0.6
#define BEFORE 3 /* steps */
#define CERTAIN 4.0
#define PROBABLE 2.0

static sp__angle angle_of_rev(double rev)
{
	return (sp__angle)((rev - floor(rev)) * 0x1p64);
}

/* Rounded sums, so that the rounding does not add up. */
static void put_skews(const struct sp__pzone *z, struct sp__trackkind *pattern, uint32_t n)
{
	double sum = 0;
	uint64_t last = 0, next;

	for (uint32_t i = 0; i < n; i++) {
		sum += z->nskew ? z->skew[i % z->nskew] : 0;
		next = (uint64_t)(sum * SKEW_DEN + 0.5);
		pattern[i].skew = (uint32_t)((next - last) % SKEW_DEN);
		last = next;
	}
}

/* Places of the slipped blocks, at the ends of their tracks. */
static uint64_t *slips_of(const struct sp__pzone *z, size_t *n)
{
	uint64_t *slips;
	size_t at = 0;

	*n = 0;
	for (size_t i = 0; i < z->nodd; i++)
		*n += z->odd[i].missing;
	slips = malloc((*n + 1) * sizeof(*slips));
	for (size_t i = 0; i < z->nodd && slips; i++) {
		struct sp__pzone plain = *z;
		uint64_t end;

		plain.nodd = 0;
		end = sp__pzone_start(&plain, z->odd[i].track + 1) - z->first_lbn;
		for (uint32_t k = z->odd[i].missing; k; k--)
			slips[at++] = end - k;
	}
	return slips;
}

static int add_zone(struct sp__probe *p, struct sp_geometry *g, const struct sp__pzone *z)
{
	uint64_t nskew = z->nskew ? z->nskew : 1, n = z->nlens / sp__gcd(z->nlens, nskew) * nskew;
	struct sp__region r = { .tracks = z->tracks, .skew_den = SKEW_DEN };
	uint64_t *slips;
	size_t nslips;
	int rc = -ENOMEM;

	if (n > PATTERN_MAX)
		return sp__geometry_add_unknown(g, "zone");
	r.start = angle_of_rev(z->start - p->tracks.zones[0].start);
	r.npattern = (uint32_t)n;
	r.pattern = calloc(n, sizeof(*r.pattern));
	slips = slips_of(z, &nslips);
	if (r.pattern && slips) {
		for (uint32_t i = 0; i < n; i++)
			r.pattern[i].blocks = z->lens[i % z->nlens];
		put_skews(z, r.pattern, r.npattern);
		rc = sp__geometry_add_zone(g, z->first_lbn, &r, slips, nslips, p->err);
	}
	free(r.pattern);
	free(slips);
	return rc;
}

/*
 * Where a zone of a serpentine begins the arm may have to go all over it; not where a surface
 * goes on behind another.
 */
static bool is_apart(const struct sp__probe *p, const struct sp__pzone *z)
{
	return p->layout.order.kind == SP__ORDER_BANDS ||
	       (p->layout.order.kind == SP__ORDER_SURFACE && z[-1].lens[0] != z->lens[0]);
}

/* Without hops angles are of no use, so zones may do without; else they may not. */
static int add_zones(struct sp__probe *p, struct sp_geometry *g)
{
	int rc = 0;

	for (size_t i = 0; i < p->tracks.nzones && !rc; i++) {
		const struct sp__pzone *z = &p->tracks.zones[i];
		size_t before = g->nzones;

		if (z->nskew || !p->r->nseeks)
			rc = add_zone(p, g, z);
		if (rc || g->nzones == before)
			continue;
		g->zones[before].apart = i && is_apart(p, z);
		if (z->rounds && p->layout.order.kind == SP__ORDER_BANDS)
			g->zones[before].round = sp__order_round(&p->layout.order);
	}
	return rc;
}

/* Time of a hop over this many cylinders (d > 0), from the measured ones. */
static double seek_of(const struct sp__probe *p, uint64_t d, bool write)
{
	const struct sp_probe_seek *s = p->r->seeks, *a = NULL;

	for (size_t i = 0; i < p->r->nseeks; i++) {
		double ns = write ? s[i].write_ns : s[i].read_ns, before;

		if (!s[i].cylinders)
			continue;
		if (s[i].cylinders >= d) {
			if (!a || s[i].cylinders == d)
				return ns;
			before = write ? a->write_ns : a->read_ns;
			return before + (ns - before) * (double)(d - a->cylinders) /
						(double)(s[i].cylinders - a->cylinders);
		}
		a = &s[i];
	}
	return -1;
}

/* Of a hop to another head of the same cylinder; 0: there is none. */
static double switch_of(const struct sp__probe *p, bool write)
{
	for (size_t i = 0; i < p->r->nseeks; i++)
		if (!p->r->seeks[i].cylinders && p->r->seeks[i].tracks)
			return write ? p->r->seeks[i].write_ns : p->r->seeks[i].read_ns;
	return 0;
}

static double hop_of(const struct sp__probe *p, uint64_t cylinders, bool switches, bool write)
{
	double ns = cylinders ? seek_of(p, cylinders, write) : 0;

	return ns < 0 ? ns : fmax(ns, switches ? switch_of(p, write) : 0);
}

static bool measured(const struct sp__probe *p, uint64_t cylinders)
{
	size_t i = 0;

	while (i < p->r->nseeks && p->r->seeks[i].cylinders != cylinders)
		i++;
	return i < p->r->nseeks;
}

double sp__hop_foretold(const struct sp__probe *p, uint64_t from, uint64_t to)
{
	uint64_t c, h, c2, h2;

	sp__order_where(&p->layout.order, from, &c, &h);
	sp__order_where(&p->layout.order, to, &c2, &h2);
	c = c > c2 ? c - c2 : c2 - c;
	return measured(p, c) ? hop_of(p, c, h != h2, false) : -1;
}

/* The worst hop of k tracks, or that of a round; negative: farther than is known. */
static double worst(const struct sp__probe *p, uint64_t k, bool within, bool write)
{
	const struct sp__trackorder *l = &p->layout.order;
	uint64_t starts = sp__order_round(l);
	uint64_t far = 0, c, h, c2, h2;
	bool switches = false;

	for (uint64_t i = 0; i < starts; i++) {
		if ((within || l->whole) && i + k >= starts)
			break;
		sp__order_where(l, i, &c, &h);
		sp__order_where(l, i + k, &c2, &h2);
		c = c > c2 ? c - c2 : c2 - c;
		far = c > far ? c : far;
		switches |= h != h2;
	}
	return hop_of(p, far, switches, write);
}

/*
 * Where the plateau of settling ends, by the rule of sp__hops_knee(), as far as errors allow:
 * steps so close together that they may be one count as one, the slope before a rise is that
 * of some steps, and the rise must be so many errors more.  False: there is none, and *aim is the
 * end of the first plateau.
 */
static bool knee(const struct sp__hops *h, double period_ns, double error_deg, double errors,
		 double *aim)
{
	const struct sp__hopstep *s = h->steps, *first = s, *last[BEFORE] = { NULL };
	double best = 0, before = 0, rise, n;
	double slow = sp__geometry_slow(period_ns);

	*aim = h->nsteps ? s->w_deg : 0;
	for (; h->nsteps && s + 1 < h->steps + h->nsteps; s++) {
		if (s[1].w_deg - first->w_deg < fmax(SAME_DEG * slow, 2 * error_deg))
			continue;
		n = (double)(s[1].tracks - s->tracks);
		rise = s[1].w_deg - s->w_deg;
		for (size_t i = 0; i < BEFORE && last[i]; i++)
			before =
				(s->w_deg - last[i]->w_deg) / (double)(s->tracks - last[i]->tracks);
		if (!last[0])
			*aim = s->w_deg;
		else if (rise >= KNEE_DEG * slow + KNEE_STEEPER * before * n + errors * error_deg &&
			 rise / n - before > best) {
			best = rise / n - before;
			*aim = s->w_deg;
		}
		memmove(last + 1, last, sizeof(last) - sizeof(*last));
		last[0] = s;
		first = s + 1;
	}
	return best > 0;
}

static int add_curve(struct sp__probe *p, struct sp__hops *h, bool within, bool write)
{
	uint64_t most = within ? sp__order_round(&p->layout.order) - 1 : HOPS_MAX;
	bool known = sp__reach_known(p) && !(write && p->no_write_reach);
	int rc = 0;

	h->estimated = write && p->r->write_estimated;
	for (uint64_t k = 1; k <= sp__min(most, HOPS_MAX) && !rc && known; k++) {
		double ns = worst(p, k, within, write);

		if (ns <= 0)
			break;
		rc = sp__hops_add(h, k, (ns + p->tm.turnaround_ns) / p->tm.spin.period_ns * 360);
	}
	knee(h, p->tm.spin.period_ns, sp__hop_error(&p->hops) * 360, CERTAIN, &h->aim_deg);
	return rc;
}

int sp__plateau_look(struct sp__probe *p, bool *doubtful)
{
	double period = p->tm.spin.period_ns, error = sp__hop_error(&p->hops) * 360, aim;
	struct sp__hops h = { 0 };
	int rc = add_curve(p, &h, false, false);

	*doubtful =
		!knee(&h, period, error, CERTAIN, &aim) && knee(&h, period, error, PROBABLE, &aim);
	free(h.steps);
	return rc;
}

/* Where rounds of bands are known, also of hops inside them. */
static int add_hops(struct sp__probe *p, struct sp_geometry *g, enum sp_geometry_op op)
{
	bool write = op == SP_GEOMETRY_WRITE, rounds = false;
	int rc = add_curve(p, &g->hops[op], false, write);

	for (size_t i = 0; i < g->nzones; i++)
		rounds |= g->zones[i].round > 0;
	return rc || !rounds ? rc : add_curve(p, &g->within[op], true, write);
}

/* Seeks alone: what a hop within a track takes is overhead and bus. */
static int add_seeks(struct sp__probe *p, struct sp_geometry *g)
{
	const struct sp_probe_seek *s = p->r->seeks;
	double overhead = p->r->nseeks && !s[0].tracks ? s[0].read_ns : 0;
	int rc = 0;

	p->r->overhead_ns = fmax(overhead - p->tm.cache.bus_ns, 0);
	g->overhead_ns[SP_GEOMETRY_READ] = p->r->overhead_ns;
	g->overhead_ns[SP_GEOMETRY_WRITE] = p->r->overhead_ns;
	g->seek_in_tracks =
		p->layout.order.kind == SP__ORDER_UNKNOWN || p->layout.order.kind == SP__ORDER_LINE;
	for (size_t i = 0; i < p->r->nseeks && !rc; i++)
		if (s[i].cylinders || (s[i].tracks && !g->seek_in_tracks))
			rc = sp__geometry_add_seek(g, s[i].cylinders,
						   fmax(s[i].read_ns - overhead, 0));
	return rc;
}

static int add_facts(struct sp__probe *p, struct sp_geometry *g)
{
	const struct sp_probe_evidence *e = &p->rotation.evidence;
	const struct {
		const char *name;
		double value;
	} facts[] = {
		{ "samples", e->samples },
		{ "trials", e->trials },
		{ "concentration", e->concentration },
		{ "chance", e->chance },
		{ "fast_share", e->fast_share },
		{ "same_ns", e->same_ns },
		{ "other_ns", e->other_ns },
		{ "near_ns", e->near_ns },
		{ "far_ns", e->far_ns },
		{ "noise_ns", p->tm.scatter.sd_ns },
		{ "noise_tail", p->tm.scatter.tail },
		{ "turnaround_ns", p->tm.turnaround_ns },
		{ "period_ppm", p->tm.spin.period_ppm },
		{ "bus_ns", p->tm.cache.bus_ns },
		{ "conservatism_deg", p->r->conservatism_deg },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !rc; i++)
		rc = sp__geometry_fact(g, facts[i].name,
				       isfinite(facts[i].value) ? facts[i].value : 0);
	for (size_t i = 0; i < p->r->nunknown && !rc; i++)
		rc = sp__geometry_add_unknown(g, p->r->unknown[i]);
	return rc;
}

static int add_tracks(struct sp__probe *p, struct sp_geometry *g)
{
	const char *layout = sp__order_words(&p->layout.order);
	int rc = layout ? sp__geometry_text(&g->layout, layout) : 0;

	g->period_ns = p->tm.spin.period_ns;
	g->surfaces = p->layout.order.surfaces;
	if (!rc)
		rc = add_zones(p, g);
	if (!rc && p->r->nseeks)
		rc = add_seeks(p, g);
	if (!rc && p->r->nseeks)
		rc = add_hops(p, g, SP_GEOMETRY_READ);
	if (!rc && p->r->nseeks)
		rc = add_hops(p, g, SP_GEOMETRY_WRITE);
	if (p->r->hops)
		g->miss_rate = (double)p->r->hop_misses / p->r->hops;
	return rc;
}

int sp__made_geometry(struct sp__probe *p, struct sp_geometry **out)
{
	struct sp_geometry *g = sp__geometry_alloc();
	int rc = -ENOMEM;

	*out = NULL;
	if (!g)
		return rc;
	g->blocks = p->tm.target->blocks;
	g->block_bytes = p->tm.target->block_bytes;
	g->partial = p->r->stopped;
	rc = sp__geometry_text(&g->device, p->r->device);
	if (!rc)
		rc = sp__geometry_text(&g->source, "probe");
	if (!rc)
		rc = sp__geometry_text(&g->verdict, sp_probe_verdict_name(p->rotation.verdict));
	if (!rc && p->rotation.verdict == SP_PROBE_ROTATING)
		rc = add_tracks(p, g);
	if (!rc)
		rc = add_facts(p, g);
	if (!rc)
		rc = sp__geometry_seal(g, p->err);
	if (rc)
		sp_geometry_free(g);
	else
		*out = g;
	return rc;
}
