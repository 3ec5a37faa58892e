/* SPDX-License-Identifier: MIT */
/*
 * Measures mixes of high and low priority: figures 7 and 8 of Hall & Bonnet 2005.
 *
 * Figure 7: each point keeps the same number of requests outstanding, some of high priority.  These
 * are a constant number, or a constant share of the issued requests; in the latter case fewer of
 * the outstanding ones are high if high ones complete sooner.
 *
 * Figure 8 has three points: random requests, one at a time, alone; with sequential readers of the
 * same priority; and with readers of lower priority.
 */
#include <math.h>
#include <stdlib.h>
#include "benchset/set.h"

#define ROUNDS 12
#define EFFECT 1.1

static const char *const readers[] = { "scan 1",  "scan 2",  "scan 3",	"scan 4",  "scan 5",
				       "scan 6",  "scan 7",  "scan 8",	"scan 9",  "scan 10",
				       "scan 11", "scan 12", "scan 13", "scan 14", "scan 15" };

static int check(const struct sp_bench_opts *o, const struct sp_benchset_mix *mix,
		 struct sp_errinfo *err)
{
	if (o->nclasses != 1)
		return SP__REFUSE(err, "a mix defines its own classes");
	if (mix->kind == SP_BENCHSET_SCANS) {
		if (!mix->readers || mix->readers > sizeof(readers) / sizeof(readers[0]))
			return SP__REFUSE(err, "a mix needs 1 to 15 sequential readers");
		if (!(mix->rate >= 0))
			return SP__REFUSE(err, "the rate is negative");
		return 0;
	}
	if (o->rate > 0)
		return SP__REFUSE(err, "a mix at a constant depth has no rate");
	if (!mix->nshares || mix->nshares > SP_BENCHSET_SHARES_MAX)
		return SP__REFUSE(err, "the number of shares is not from 1 to 101");
	for (size_t i = 0; i < mix->nshares; i++)
		if (!(mix->shares[i] >= 0 && mix->shares[i] <= 1) ||
		    (i && mix->shares[i] <= mix->shares[i - 1]))
			return SP__REFUSE(err, "shares must increase within 0 to 100 %%");
	return 0;
}

static struct sp_bench_class *add_class(struct sp__setpoint *p, const struct sp_bench_class *like,
					const char *name, uint16_t prio)
{
	struct sp_bench_class *c = &p->classes[p->opts.nclasses++];

	*c = *like;
	c->name = name;
	c->prio = prio;
	c->share = 0;
	return c;
}

/* Adds a class with a share of the outstanding or of the issued requests. */
static void add_part(struct sp_benchset *set, const struct sp_benchset_mix *mix, const char *name,
		     uint16_t prio, double share)
{
	struct sp__setpoint *p = &set->points[set->npoints - 1];
	unsigned depth = (unsigned)lround(share * p->opts.depth);
	struct sp_bench_class *c;

	if (mix->of_issued ? share <= 0 : !depth)
		return;
	c = add_class(p, &set->opts.bench->classes[0], name, prio);
	if (mix->of_issued)
		c->share = share;
	else
		c->depth = depth;
}

static void add_share(struct sp_benchset *set, const struct sp_benchset_mix *mix, double share)
{
	const struct sp_bench_opts *o = set->opts.bench;
	struct sp__setpoint *p = sp__set_add(set, o);
	unsigned high = (unsigned)lround(share * o->depth);

	p->share = share;
	p->opts.nclasses = 0;
	add_part(set, mix, "high", mix->high, share);
	add_part(set, mix, "low", mix->low,
		 mix->of_issued ? 1 - share : (double)(o->depth - high) / o->depth);
}

/* Determines the bytes used of the smallest target. */
static int target_bytes(const struct sp_bench_opts *o, uint64_t *bytes, struct sp_errinfo *err)
{
	struct sp_bench_opts opts = *o;
	struct sp_bench *b;
	int rc;

	opts.create = SP_BENCH_CREATE_NO;
	rc = sp__bench_hold(&b, &opts, err);
	if (rc == 0)
		*bytes = sp__bench_min_bytes(b);
	sp_bench_free(b);
	return rc;
}

/* Adds random requests to two thirds of the target, and each reader to a range of the rest. */
static int add_scans(struct sp_benchset *set, const struct sp_benchset_mix *mix,
		     struct sp_errinfo *err)
{
	static const char *const names[] = { "alone", "same", "priority" };
	const struct sp_bench_opts *o = set->opts.bench;
	uint64_t bytes, unit = o->classes[0].bytes, part, begin;
	int rc = target_bytes(o, &bytes, err);

	if (rc)
		return rc;
	begin = bytes / 3 * 2 / unit * unit;
	part = (bytes - begin) / mix->readers / unit * unit;
	if (!part || !begin)
		return SP__REFUSE(err, "the target is too small for this number of readers");
	for (int i = 0; i < 3; i++) {
		struct sp__setpoint *p = sp__set_add(set, o);
		struct sp_bench_class *c;

		p->name = names[i];
		p->opts.nclasses = 0;
		p->opts.rate = 0;
		c = add_class(p, &o->classes[0], "random", i == 2 ? mix->high : 0);
		if (c->pattern != SP_BENCH_ZIPF)
			c->pattern = SP_BENCH_RANDOM;
		c->depth = 1;
		c->range_bytes = begin;
		for (unsigned k = 0; i && k < mix->readers; k++) {
			c = add_class(p, &o->classes[0], readers[k], i == 2 ? mix->low : 0);
			c->pattern = SP_BENCH_SEQUENTIAL;
			c->depth = o->depth;
			c->rate = mix->rate;
			c->offset_bytes = begin + k * part;
			c->range_bytes = part;
		}
	}
	return 0;
}

static struct sp__setpair low_by_high(const struct sp__setpoint *p)
{
	return (struct sp__setpair){ p, p, 1, 0, SP__SET_WAIT };
}

/* Returns the mean ratio over all points that have both classes. */
static struct sp_benchset_estimate ratio_of_all(const struct sp_benchset *set)
{
	double v[SP__SLICES_MAX], sum = 0;
	size_t n = 0, points = 0;

	for (size_t i = 0; i < set->npoints; i++)
		if (!isnan(set->shown[i].ratio.value)) {
			sum += log(set->shown[i].ratio.value);
			points++;
		}
	for (size_t k = 0; k < SP__SLICES_MAX; k++) {
		double differences = 0;
		unsigned count = 0;

		for (size_t i = 0; i < set->npoints; i++) {
			struct sp__setpair pair = low_by_high(&set->points[i]);
			double one = isnan(set->shown[i].ratio.value)
					     ? NAN
					     : sp__set_difference(&pair, k);

			if (isfinite(one)) {
				differences += one;
				count++;
			}
		}
		if (count)
			v[n++] = differences / count;
	}
	return sp__stat_ratio(points ? exp(sum / (double)points) : NAN, v, n);
}

/* Returns the distance of the whole interval from 1, as a ratio; NaN: no interval. */
static double sure(struct sp_benchset_estimate e)
{
	return fmax(e.low, 1 / e.high);
}

/*
 * Decides whether priorities have an effect.  One share suffices for "yes"; for "no", the mean over
 * all shares must be near 1.
 */
static void show_effect(struct sp_benchset *set, const struct sp_benchset_mix *mix)
{
	struct sp_benchset_result *r = &set->result;
	struct sp__setpair scans = { &set->points[1], &set->points[2], 0, 0, SP__SET_WAIT };

	r->ratio_share = NAN;
	r->ratio = mix->kind == SP_BENCHSET_SCANS ? sp__set_ratio(&scans) : ratio_of_all(set);
	if (mix->kind == SP_BENCHSET_SHARES && mix->nshares == 1)
		r->ratio_share = mix->shares[0];
	for (size_t i = 0; mix->kind == SP_BENCHSET_SHARES && i < r->npoints; i++)
		if (sure(r->points[i].ratio) > EFFECT &&
		    (isnan(r->ratio_share) || sure(r->points[i].ratio) > sure(r->ratio))) {
			r->ratio = r->points[i].ratio;
			r->ratio_share = r->points[i].share;
		}
	if (sure(r->ratio) > EFFECT)
		r->effect = SP_BENCHSET_EFFECT_YES;
	else if (r->ratio.high < EFFECT && r->ratio.low > 1 / EFFECT)
		r->effect = SP_BENCHSET_EFFECT_NONE;
}

/* Sets the total to the sum of the classes, although each drops other slices. */
static void add_up(struct sp_benchset_point *p)
{
	double iops = 0, more;

	if (!p->nclasses)
		return;
	p->total.bandwidth_bytes_per_s = 0;
	for (size_t i = 0; i < p->nclasses; i++) {
		iops += p->classes[i].iops.value;
		p->total.bandwidth_bytes_per_s += p->classes[i].bandwidth_bytes_per_s;
	}
	more = iops - p->total.iops.value;
	p->total.iops.value += more;
	p->total.iops.low += more;
	p->total.iops.high += more;
}

int sp_benchset_mix(struct sp_benchset **out, const struct sp_benchset_opts *opts,
		    const struct sp_benchset_mix *mix, struct sp_errinfo *err)
{
	struct sp_benchset *set;
	int rc = check(opts->bench, mix, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = sp__set_open(&set, opts, NULL, err);
	if (!set)
		return rc;
	if (rc == 0 && mix->kind == SP_BENCHSET_SCANS)
		rc = add_scans(set, mix, err);
	for (size_t i = 0; mix->kind == SP_BENCHSET_SHARES && i < mix->nshares; i++)
		add_share(set, mix, mix->shares[i]);
	if (rc == 0)
		rc = sp__set_run(set, 1, ROUNDS, err);
	rc = sp__set_done(out, set, rc, err);
	if (*out)
		show_effect(set, mix);
	for (size_t i = 0; *out && i < set->npoints; i++)
		add_up(&set->shown[i]);
	return rc;
}
