/* SPDX-License-Identifier: MIT */
/*
 * Is it true?  What the result affirms of layout and hops is looked at again on the device,
 * by probes that had no part in finding it (tracks: recheck.c):
 *
 *  - the layout: hops between random tracks take what distance and heads foretell;
 *  - rounds of bands, inside which D is larger: in each zone hops from round to round do so, too;
 *  - D: adjacent blocks, as the finished geometry names them, are hopped to: a hop
 *    that takes about W has caught its block, one that takes a revolution more has
 *    missed it.  That is done at W, at W with the conservatism that the noise of this host
 *    advises, and with that at the farthest tracks in reach, of writes too if they were measured.
 *
 * What fails is no longer affirmed: layout and adjacency are unknown, a zone has no rounds.  Nor is
 * what no probe could reach: writes count as estimated.
 */
#include <errno.h>
#include "base/minmax.h"
#include "dev/geometry.h"
#include "probe/state.h"

#define LAYOUT_HOPS 16
#define FALL_HOPS 8 /* for each of two */
/* Seeks of real drives are faster than shorter ones by up to an eighth. */
#define FALL_SHARE 0.15
#define EIGHTHS 8
#define LAYOUT_TRIES 64	 /* for each */
#define ROUND_HOPS 4	 /* at least in each zone, and as many in all as for the layout */
#define ROUND_TRIES 4	 /* for each */
#define ROUNDS_MIN 4	 /* of a zone */
#define LAYOUT_OFF 0.002 /* rev, besides errors */
#define HOPS 100
#define FAR_HOPS 40
#define FAR_LEAST 8  /* with less nothing is verified */
#define HOP_TRIES 64 /* for each */
#define SURE 3

/*
 * A hop of up to a few hundred tracks from a random one, counted from the start of a round.  Or
 * from the start of a band to the end of the next, where in another layout the arm would move.
 */
static uint64_t layout_hop(struct sp__probe *p, uint64_t tracks, bool turn, uint64_t *at)
{
	uint64_t band = p->layout.order.band, far;

	*at = sp__rng_below(&p->tm.rng, tracks);
	if (turn && p->layout.order.kind == SP__ORDER_BANDS && p->layout.order.surfaces > 1) {
		*at -= *at % sp__order_round(&p->layout.order);
		*at += sp__rng_below(&p->tm.rng, p->layout.order.surfaces - 1) * band;
		return 2 * band - 1;
	}
	far = *at < tracks ? tracks - *at : 1;
	return 1 + sp__rng_below(&p->tm.rng, far < 300 ? far : 300);
}

/* Does a hop not take what is wanted?  What misses once is made again. */
static int off_by(struct sp__probe *p, uint64_t from, uint64_t to, double want, bool *off)
{
	double ns = 0;
	int rc = 0;

	*off = true;
	for (unsigned i = 0; i < 2 && *off && !rc; i++) {
		rc = sp__hop_time(&p->hops, from, to, false, &ns);
		*off = fabs(ns - want) >
		       (LAYOUT_OFF + 6 * sp__hop_error(&p->hops)) * p->tm.spin.period_ns;
	}
	return rc;
}

/* By less the times of two hops may differ that are as long. */
static double little(const struct sp__probe *p)
{
	return 6 * sp__hop_error(&p->hops) * p->tm.spin.period_ns;
}

/* Where the seek curve falls most, and where last; NULL: nowhere by so much. */
static void find_falls(const struct sp__probe *p, double by, double share,
		       const struct sp_probe_seek *falls[2])
{
	double most = 0, depth = 0;

	falls[0] = falls[1] = NULL;
	for (size_t i = 0; i < p->r->nseeks; i++) {
		const struct sp_probe_seek *s = &p->r->seeks[i];
		double fall = s->cylinders ? most - s->read_ns : 0;

		if (fall > fmax(by, share * most)) {
			falls[0] = fall > depth ? s : falls[0];
			falls[1] = s;
			depth = fmax(depth, fall);
		}
		if (s->cylinders)
			most = fmax(most, s->read_ns);
	}
}

/*
 * What is more cylinders away is farther for the arm, too, as a rule.  Where that is not so in the
 * seek curve a surface may have ended unseen a few hundred tracks on, as bands do.  On what looks
 * like one surface a hop as long does not take the same from elsewhere then.
 */
static int check_falls(struct sp__probe *p, bool line, uint64_t first, uint64_t tracks)
{
	const struct sp_probe_seek *falls[2];
	bool off;
	int rc = 0;

	/* Several surfaces have been confirmed by hops already. */
	find_falls(p, line ? little(p) : 2 * little(p), line ? 0 : FALL_SHARE, falls);
	off = !line && falls[0];
	for (unsigned i = 0; i < 2 * FALL_HOPS && !off && !rc; i++) {
		const struct sp_probe_seek *s = falls[i % 2];
		uint64_t at;

		if (!s || s->tracks >= tracks)
			continue;
		at = first + sp__rng_below(&p->tm.rng, tracks - s->tracks);
		rc = off_by(p, at, at + s->tracks, s->read_ns, &off);
		off &= !rc;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	if (off)
		p->layout.order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	return rc;
}

/* Nor is a track farther on nearer all over the zone: by eighths, with which surfaces may end. */
static int check_surface(struct sp__probe *p, uint64_t first, uint64_t tracks)
{
	uint64_t eighth = tracks / EIGHTHS, at;
	double ns, most = 0;
	unsigned misses = 0;
	int rc = 0;

	for (unsigned i = 0; i < EIGHTHS && eighth > 1 && !rc; i++) {
		at = 1 + eighth * i + sp__rng_below(&p->tm.rng, eighth - 1);
		rc = sp__hop_time(&p->hops, first, first + at, false, &ns);
		if (!rc) {
			p->r->layout_hops++;
			misses += ns < most - little(p);
			most = fmax(most, ns);
		}
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	p->r->layout_hop_misses += misses;
	return rc;
}

/* Hops in the base's zone take what the layout foretells. */
static int check_layout(struct sp__probe *p)
{
	const struct sp__pzone *z = p->tracks.zones;
	uint64_t first = 0, round = sp__order_round(&p->layout.order), start, span, at, k;
	struct sp_probe_result *r = p->r;
	unsigned n = 0;
	bool line = p->layout.order.kind == SP__ORDER_SURFACE || p->layout.order.surfaces == 1;
	int rc = 0;

	while (z < p->tracks.zones + p->tracks.nzones && p->hops.base >= first + z->tracks)
		first += z++->tracks;
	if (z == p->tracks.zones + p->tracks.nzones)
		return 0;
	rc = check_falls(p, line, first, z->tracks);
	if (rc || !sp__order_words(&p->layout.order))
		return rc;
	/* At the base a round begins. */
	start = (p->hops.base - first) % round;
	span = p->layout.order.whole ? z->tracks : z->tracks > 2 * round ? z->tracks - round : 0;
	if (line)
		rc = check_surface(p, first, z->tracks);
	first += start;
	for (unsigned i = 0; i < LAYOUT_TRIES * LAYOUT_HOPS && n < LAYOUT_HOPS && span && !rc;
	     i++) {
		double want;
		bool off;

		k = layout_hop(p, span, i % 2, &at);
		want = sp__hop_foretold(p, at, at + k);
		if (want <= 0 || at + k >= span)
			continue;
		/* At which end bands begin shows only from round to round. */
		if (p->layout.order.kind == SP__ORDER_BANDS && at / round != (at + k) / round)
			continue;
		rc = off_by(p, first + at, first + at + k, want, &off);
		n += !rc;
		r->layout_hop_misses += !rc && off;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	r->layout_hops += n;
	if (r->layout_hop_misses)
		p->layout.order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	return rc;
}

/*
 * Do rounds begin with the zone, whose first track is this?  Then the ways from the last tracks of
 * random ones to the next are what the layout says.
 */
static int check_rounds(struct sp__probe *p, uint64_t first, struct sp__pzone *z, unsigned hops)
{
	uint64_t round = sp__order_round(&p->layout.order), at;
	double want = sp__hop_foretold(p, round - 1, round);
	struct sp_probe_result *r = p->r;
	bool off = false;
	unsigned n = 0;
	int rc = 0;

	if (want <= 0 || z->tracks <= ROUNDS_MIN * round)
		return 0;
	for (unsigned i = 0; i < ROUND_TRIES * hops && n < hops && !off && !rc; i++) {
		at = first + (1 + sp__rng_below(&p->tm.rng, z->tracks / round - 1)) * round;
		rc = off_by(p, at - 1, at, want, &off);
		/* A track with slipped blocks says nothing. */
		n += !rc;
		off &= !rc;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	z->rounds = n == hops && !off;
	r->round_hops += n;
	r->round_hop_misses += off;
	return rc;
}

/* Where the next round is near, rounds are of no use. */
int sp__rounds_check(struct sp__probe *p)
{
	uint64_t first = 0, hops;
	bool near = p->layout.order.surfaces % 2 && !p->layout.order.descends;
	int rc = 0;

	if (p->layout.order.kind != SP__ORDER_BANDS || p->layout.order.whole || near)
		return 0;
	hops = sp__max(LAYOUT_HOPS / p->tracks.nzones + 1, ROUND_HOPS);
	for (size_t i = 0; i < p->tracks.nzones && !rc; i++) {
		struct sp__pzone *z = &p->tracks.zones[i];

		if (i && !sp__pzone_follows(z, z - 1))
			break;
		rc = check_rounds(p, first, z, (unsigned)hops);
		first += z->tracks;
	}
	return rc;
}

/* Hops to adjacent blocks. */
struct trial {
	unsigned hops;
	double extra; /* degrees later than the aim */
	bool far;     /* only the farthest sixteenth of the reach */
	bool write;
};

/* A block of a random zone, or one that may be written. */
static uint64_t some_block(struct sp__probe *p, bool write)
{
	const struct sp__pzone *z = &p->tracks.zones[sp__rng_below(&p->tm.rng, p->tracks.nzones)];

	return write ? p->tm.target->write_first +
			       sp__rng_below(&p->tm.rng, p->tm.target->write_blocks)
		     : z->first_lbn + sp__rng_below(&p->tm.rng, z->blocks);
}

static bool may_write(const struct sp__probe *p, uint64_t lbn)
{
	return lbn >= p->tm.target->write_first &&
	       lbn - p->tm.target->write_first < p->tm.target->write_blocks;
}

/* From a random block to an adjacent one, as far as its place allows; false: there is none. */
static bool choose_hop(struct sp__probe *p, const struct sp_geometry *g, const struct trial *t,
		       uint64_t hop[2], double *aim)
{
	enum sp_geometry_op op = t->write ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;
	const struct sp__hops *h;
	struct sp_track from, to;
	uint64_t reach, least;

	hop[0] = some_block(p, t->write);
	if (sp_geometry_track(g, hop[0], &from) ||
	    sp__geometry_hops(g, op, from.number, from.number, &h))
		return false;
	reach = sp__hops_reach(h, h->aim_deg);
	least = t->far && reach ? reach - 1 - reach / 16 : 0;
	if (!reach ||
	    sp_geometry_adjacent(g, hop[0], least + 1 + sp__rng_below(&p->tm.rng, reach - least),
				 op, t->extra, &hop[1]) ||
	    sp_geometry_track(g, hop[1], &to) ||
	    sp__geometry_hops(g, op, from.number, to.number, &h))
		return false;
	*aim = h->aim_deg + t->extra;
	return !t->write || may_write(p, hop[1]);
}

static int shoot(struct sp__probe *p, const uint64_t hop[2], bool write, double aim, bool *missed)
{
	double period = p->tm.spin.period_ns;
	struct sp__shot a, b;
	int rc = p->tm.cache.on && !write ? sp__timing_flush(&p->tm, hop[0]) : 0;

	if (!rc)
		rc = write ? p->tm.target->ops->transfer(p->tm.target, hop[0], true, &a)
			   : sp__timing_read(&p->tm, hop[0], &a);
	if (rc)
		return rc;
	p->tm.reads += !write;
	p->tm.writes += 2 * write;
	rc = p->tm.target->ops->transfer(p->tm.target, hop[1], write, &b);
	if (!rc)
		*missed = (double)(b.done_ns - a.done_ns) > aim / 360 * period + period / 2;
	return rc;
}

/* What misses three times far away is missed not by noise. */
static int hops(struct sp__probe *p, const struct sp_geometry *g, const struct trial *t,
		unsigned *n, unsigned *misses)
{
	uint64_t hop[2];
	double aim;
	int rc = 0;

	for (unsigned i = 0; i < HOP_TRIES * t->hops && *n < t->hops && !rc; i++) {
		bool missed = true;

		if (!choose_hop(p, g, t, hop, &aim))
			continue;
		for (unsigned k = 0; k < (t->far ? SURE : 1) && missed && !rc; k++)
			rc = shoot(p, hop, t->write, aim, &missed);
		if (!rc) {
			++*n;
			*misses += missed;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

static int check_reach(struct sp__probe *p, const struct sp_geometry *g)
{
	struct sp_probe_result *r = p->r;
	/* 2.5 deviations of the noise, and a degree for what was not measured exactly. */
	double extra = ceil(2.5 * p->tm.scatter.sd_ns * 360 / p->tm.spin.period_ns + 1);
	const struct trial plain = { HOPS, 0, false, false },
			   guarded = { HOPS, extra, false, false },
			   far = { FAR_HOPS, extra, true, false },
			   writes = { FAR_HOPS, extra, true, true };
	int rc = hops(p, g, &plain, &r->hops, &r->hop_misses);

	sp__timing_progress(&p->tm, SP_PROBE_CHECKS, 0.6);
	r->conservatism_deg = extra;
	if (!rc)
		rc = hops(p, g, &guarded, &r->guarded_hops, &r->guarded_hop_misses);
	if (!rc)
		rc = hops(p, g, &far, &r->far_hops, &r->far_hop_misses);
	if (!rc && r->write_measured)
		rc = hops(p, g, &writes, &r->write_hops, &r->write_hop_misses);
	p->no_reach = r->far_hops < FAR_LEAST || 5 * r->far_hop_misses > r->far_hops;
	/* Hops told that, too. */
	if (p->no_reach)
		p->layout.order.turns = p->layout.order.turns_known = false;
	p->no_write_reach = 5 * r->write_hop_misses > r->write_hops;
	/* Where less may be written than is in reach, far writes are foretold by near ones. */
	r->write_estimated |= !p->no_reach && r->write_hops < FAR_LEAST;
	return rc;
}

int sp__checks(struct sp__probe *p, const struct sp_geometry *g)
{
	int rc;

	if (!p->tracks.nzones)
		return 0;
	sp__timing_progress(&p->tm, SP_PROBE_CHECKS, 0);
	rc = check_layout(p);
	if (!rc)
		rc = check_reach(p, g);
	return rc;
}
