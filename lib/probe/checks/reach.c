/* SPDX-License-Identifier: MIT */
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
#include "probe/checks/checks.h"

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
