/* SPDX-License-Identifier: MIT */
/*
 * Verifies the layout by new hops:
 *
 *  - hops between random tracks take the time that distance and heads predict;
 *  - rounds of bands, inside which D is larger: in each zone, hops from round to round do so, too.
 *
 * A layout that fails becomes unknown.  A zone that fails has no rounds.
 */
#include "base/minmax.h"
#include "probe/checks/checks.h"

/*
 * Verifies D, the reach: hops to adjacent blocks as the finished geometry names them.
 *
 * A hop that takes about W has caught its block.  A hop that takes a revolution longer has missed
 * it.  Hops are made at W, at W plus the margin that the noise of this host suggests, and with
 * that margin at the farthest tracks within reach; of writes too, if they were measured.
 *
 * If hops fail, or no probe reaches the blocks, the reach becomes unknown.  Unchecked writes count
 * as estimated.
 */

#define HOPS 100
#define FAR_HOPS 40
#define FAR_MIN 8    /* with less nothing is verified */
#define HOP_TRIES 64 /* for each */
#define SURE 3

/* Hops to adjacent blocks. */
struct trial {
	unsigned hops;
	double extra; /* degrees later than the aim */
	bool far;     /* only the farthest sixteenth of the reach */
	bool write;
};

/* A block of a random zone, or one that may be written. */
static uint64_t some_block(struct sp__checks *c, bool write)
{
	const struct sp__pzone *z =
		&c->tracks->zones[sp__rng_below(&c->tm->rng, c->tracks->nzones)];

	return write ? c->tm->target->write_first +
			       sp__rng_below(&c->tm->rng, c->tm->target->write_blocks)
		     : z->first_lbn + sp__rng_below(&c->tm->rng, z->blocks);
}

static bool may_write(const struct sp__checks *c, uint64_t lbn)
{
	return lbn >= c->tm->target->write_first &&
	       lbn - c->tm->target->write_first < c->tm->target->write_blocks;
}

/* Chooses a random block and an adjacent one; false: it does not have one. */
static bool choose_hop(struct sp__checks *c, const struct sp_geometry *g, const struct trial *t,
		       uint64_t hop[2], double *aim)
{
	enum sp_geometry_op op = t->write ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;
	const struct sp__hops *h;
	struct sp_track from, to;
	uint64_t reach, least;

	hop[0] = some_block(c, t->write);
	if (sp_geometry_track(g, hop[0], &from) ||
	    sp__geometry_hops(g, op, from.number, from.number, &h))
		return false;
	reach = sp__hops_reach(h, h->aim_deg);
	least = t->far && reach ? reach - 1 - reach / 16 : 0;
	if (!reach ||
	    sp_geometry_adjacent(g, hop[0], least + 1 + sp__rng_below(&c->tm->rng, reach - least),
				 op, t->extra, &hop[1]) ||
	    sp_geometry_track(g, hop[1], &to) ||
	    sp__geometry_hops(g, op, from.number, to.number, &h))
		return false;
	*aim = h->aim_deg + t->extra;
	return !t->write || may_write(c, hop[1]);
}

static int shoot(struct sp__checks *c, const uint64_t hop[2], bool write, double aim, bool *missed)
{
	double period = c->tm->spin.period_ns;
	struct sp__shot a, b;
	int rc = c->tm->cache.on && !write ? sp__timing_flush(c->tm, hop[0]) : 0;

	if (!rc)
		rc = write ? c->tm->target->ops->transfer(c->tm->target, hop[0], true, &a)
			   : sp__timing_read(c->tm, hop[0], &a);
	if (rc)
		return rc;
	c->tm->cost.reads += !write;
	c->tm->cost.writes += 2 * write;
	rc = c->tm->target->ops->transfer(c->tm->target, hop[1], write, &b);
	if (!rc)
		*missed = (double)(b.done_ns - a.done_ns) > aim / 360 * period + period / 2;
	return rc;
}

/* Three misses at a large distance are not noise. */
static int hops(struct sp__checks *c, const struct sp_geometry *g, const struct trial *t,
		unsigned *n, unsigned *misses)
{
	uint64_t hop[2];
	double aim;
	int rc = 0;

	for (unsigned i = 0; i < HOP_TRIES * t->hops && *n < t->hops && !rc; i++) {
		bool missed = true;

		if (!choose_hop(c, g, t, hop, &aim))
			continue;
		for (unsigned k = 0; k < (t->far ? SURE : 1) && missed && !rc; k++)
			rc = shoot(c, hop, t->write, aim, &missed);
		if (!rc) {
			++*n;
			*misses += missed;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

int sp__reach_check(struct sp__checks *c, const struct sp_geometry *g)
{
	/* 2.5 deviations of the noise, and a degree for other errors. */
	double extra = ceil(2.5 * c->tm->scatter.sd_ns * 360 / c->tm->spin.period_ns + 1);
	const struct trial plain = { HOPS, 0, false, false },
			   guarded = { HOPS, extra, false, false },
			   far = { FAR_HOPS, extra, true, false },
			   writes = { FAR_HOPS, extra, true, true };
	int rc = hops(c, g, &plain, &c->found->hops, &c->found->hop_misses);

	sp__timing_progress(c->tm, SP_PROBE_CHECKS, 0.6);
	c->found->conservatism_deg = extra;
	if (!rc)
		rc = hops(c, g, &guarded, &c->found->guarded_hops, &c->found->guarded_hop_misses);
	if (!rc)
		rc = hops(c, g, &far, &c->found->far_hops, &c->found->far_hop_misses);
	if (!rc && c->seeks->write_measured)
		rc = hops(c, g, &writes, &c->found->write_hops, &c->found->write_hop_misses);
	c->no_reach =
		c->found->far_hops < FAR_MIN || 5 * c->found->far_hop_misses > c->found->far_hops;
	/* The hops confirm this too. */
	if (c->no_reach)
		c->order->reverses = c->order->reverses_known = false;
	c->no_write_reach = 5 * c->found->write_hop_misses > c->found->write_hops;
	/* If the writable range is shorter than the reach, near writes predict far ones. */
	c->few_writes = !c->no_reach && c->found->write_hops < FAR_MIN;
	return rc;
}

#define LAYOUT_HOPS 16
#define FALL_HOPS 8 /* for each of two */
/* Seeks of real drives are faster than shorter ones by up to an eighth. */
#define FALL_SHARE 0.15
#define EIGHTHS 8
#define LAYOUT_TRIES 64	 /* for each */
#define ROUND_HOPS 4	 /* at least in each zone, and as many in all as for the layout */
#define ROUND_TRIES 4	 /* for each */
#define ROUNDS_MIN 4	 /* minimum rounds of a zone */
#define LAYOUT_OFF 0.002 /* rev, besides errors */

/*
 * Chooses a hop of up to a few hundred tracks from a random one, counted from the start of a
 * round; or from the start of a band to the end of the next, where the arm would move in another
 * layout.
 */
static uint64_t layout_hop(struct sp__checks *c, uint64_t tracks, bool rounds, uint64_t *at)
{
	uint64_t band = c->order->band, far;

	*at = sp__rng_below(&c->tm->rng, tracks);
	if (rounds && c->order->kind == SP__ORDER_BANDS && c->order->surfaces > 1) {
		*at -= *at % sp__order_round(c->order);
		*at += sp__rng_below(&c->tm->rng, c->order->surfaces - 1) * band;
		return 2 * band - 1;
	}
	far = *at < tracks ? tracks - *at : 1;
	return 1 + sp__rng_below(&c->tm->rng, far < 300 ? far : 300);
}

/* True if a hop does not take the predicted time; a hop that misses is made again. */
static int off_by(struct sp__checks *c, uint64_t from, uint64_t to, double want, bool *off)
{
	double ns = 0;
	int rc = 0;

	*off = true;
	for (unsigned i = 0; i < 2 && *off && !rc; i++) {
		rc = sp__hop_time(c->hops, from, to, false, &ns);
		*off = fabs(ns - want) >
		       (LAYOUT_OFF + 6 * sp__hop_error(c->hops)) * c->tm->spin.period_ns;
	}
	return rc;
}

/* Limit of the difference of two hops of equal length. */
static double little(const struct sp__checks *c)
{
	return 6 * sp__hop_error(c->hops) * c->tm->spin.period_ns;
}

/* Finds where the seek curve falls most, and where last; NULL: it falls by less everywhere. */
static void find_falls(const struct sp__checks *c, double by, double share,
		       const struct sp_probe_seek *falls[2])
{
	double most = 0, depth = 0;

	falls[0] = falls[1] = NULL;
	for (size_t i = 0; i < c->seeks->nseeks; i++) {
		const struct sp_probe_seek *s = &c->seeks->seeks[i];
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
 * More cylinders normally take longer.  If the seek curve falls, a surface can have ended unseen a
 * few hundred tracks on, as bands do.  A hop of equal length on the same supposed surface then
 * takes another time elsewhere.
 */
static int check_falls(struct sp__checks *c, bool line, uint64_t first, uint64_t tracks)
{
	const struct sp_probe_seek *falls[2];
	bool off;
	int rc = 0;

	/* Hops have already confirmed several surfaces. */
	find_falls(c, line ? little(c) : 2 * little(c), line ? 0 : FALL_SHARE, falls);
	off = !line && falls[0];
	for (unsigned i = 0; i < 2 * FALL_HOPS && !off && !rc; i++) {
		const struct sp_probe_seek *s = falls[i % 2];
		uint64_t at;

		if (!s || s->tracks >= tracks)
			continue;
		at = first + sp__rng_below(&c->tm->rng, tracks - s->tracks);
		rc = off_by(c, at, at + s->tracks, s->read_ns, &off);
		off &= !rc;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	if (off)
		*c->order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	return rc;
}

/*
 * Checks, by eighths of the zone, that farther tracks are not nearer throughout it; surfaces can
 * end.
 */
static int check_surface(struct sp__checks *c, uint64_t first, uint64_t tracks)
{
	uint64_t eighth = tracks / EIGHTHS, at;
	double ns, most = 0;
	unsigned misses = 0;
	int rc = 0;

	for (unsigned i = 0; i < EIGHTHS && eighth > 1 && !rc; i++) {
		at = 1 + eighth * i + sp__rng_below(&c->tm->rng, eighth - 1);
		rc = sp__hop_time(c->hops, first, first + at, false, &ns);
		if (!rc) {
			c->found->layout_hops++;
			misses += ns < most - little(c);
			most = fmax(most, ns);
		}
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	c->found->layout_hop_misses += misses;
	return rc;
}

/* Checks that hops in the zone of the base take the predicted time. */
int sp__layout_check(struct sp__checks *c)
{
	const struct sp__pzone *z = c->tracks->zones;
	uint64_t first = 0, round = sp__order_round(c->order), start, span, at, k;
	unsigned n = 0;
	bool line = c->order->kind == SP__ORDER_SURFACE || c->order->surfaces == 1;
	int rc = 0;

	while (z < c->tracks->zones + c->tracks->nzones && c->hops->base >= first + z->tracks)
		first += z++->tracks;
	if (z == c->tracks->zones + c->tracks->nzones)
		return 0;
	rc = check_falls(c, line, first, z->tracks);
	if (rc || !sp__order_values(c->order))
		return rc;
	/* A round begins at the base. */
	start = (c->hops->base - first) % round;
	span = c->order->whole ? z->tracks : z->tracks > 2 * round ? z->tracks - round : 0;
	if (line)
		rc = check_surface(c, first, z->tracks);
	first += start;
	for (unsigned i = 0; i < LAYOUT_TRIES * LAYOUT_HOPS && n < LAYOUT_HOPS && span && !rc;
	     i++) {
		double want;
		bool off;

		k = layout_hop(c, span, i % 2, &at);
		want = sp__seeks_predict(c->seeks, at, at + k);
		if (want <= 0 || at + k >= span)
			continue;
		/* Only hops from round to round show at which end bands begin. */
		if (c->order->kind == SP__ORDER_BANDS && at / round != (at + k) / round)
			continue;
		rc = off_by(c, first + at, first + at + k, want, &off);
		n += !rc;
		c->found->layout_hop_misses += !rc && off;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	c->found->layout_hops += n;
	if (c->found->layout_hop_misses)
		*c->order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	return rc;
}

/*
 * Checks that rounds begin with the zone: hops from the last track of a random round to the next
 * round then take the time of the layout.
 */
static int check_rounds(struct sp__checks *c, uint64_t first, struct sp__pzone *z, unsigned hops)
{
	uint64_t round = sp__order_round(c->order), at;
	double want = sp__seeks_predict(c->seeks, round - 1, round);
	bool off = false;
	unsigned n = 0;
	int rc = 0;

	if (want <= 0 || z->tracks <= ROUNDS_MIN * round)
		return 0;
	for (unsigned i = 0; i < ROUND_TRIES * hops && n < hops && !off && !rc; i++) {
		at = first + (1 + sp__rng_below(&c->tm->rng, z->tracks / round - 1)) * round;
		rc = off_by(c, at - 1, at, want, &off);
		/* A track with slipped blocks is not used. */
		n += !rc;
		off &= !rc;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	z->rounds = n == hops && !off;
	c->found->round_hops += n;
	c->found->round_hop_misses += off;
	return rc;
}

/* If the next round is near, rounds are not useful. */
int sp__rounds_check(struct sp__checks *c)
{
	uint64_t first = 0, hops;
	bool near = c->order->surfaces % 2 && !c->order->descends;
	int rc = 0;

	if (c->order->kind != SP__ORDER_BANDS || c->order->whole || near)
		return 0;
	hops = sp__max(LAYOUT_HOPS / c->tracks->nzones + 1, ROUND_HOPS);
	for (size_t i = 0; i < c->tracks->nzones && !rc; i++) {
		struct sp__pzone *z = &c->tracks->zones[i];

		if (i && !sp__pzone_follows(z, z - 1))
			break;
		rc = check_rounds(c, first, z, (unsigned)hops);
		first += z->tracks;
	}
	return rc;
}
