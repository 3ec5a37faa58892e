/* SPDX-License-Identifier: MIT */
/*
 * Idea: the time at which a block's read completes, modulo the period, is the
 * angle of the block's end, whatever the seek was: seek and rotation add up to
 * a whole number of turns.  Completions are late by the host's noise, never
 * early, and some are very late; so samples are never averaged blindly: either
 * a few must agree (for yes-or-no questions), or a low circular quantile of
 * many is taken.
 *
 * A block answered from the drive's cache gives no information on the platter.
 * Such answers are recognised by their speed, and read again after the cache
 * has been flushed by other reads.
 */
#include <errno.h>
#include "base/doubles.h"
#include "base/minmax.h"
#include "probe/state.h"

#define HIT_TRIES 6

double sp__quantile(double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	sp__doubles_sort(v, n);
	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

/* The i-th of n sorted samples is, on average, at i / (n + 1) of what they are drawn from. */
double sp__low_quantile(double *v, size_t n, double q)
{
	double at = fmax(q * (double)(n + 1) - 1, 0);

	return sp__quantile(v, n, n > 1 ? at / (double)(n - 1) : 0);
}

/* A random block far from lbn. */
static uint64_t far_from(struct sp__probe *p, uint64_t lbn)
{
	uint64_t half = p->t->blocks / 2;

	return (lbn + half / 2 + sp__rng_below(&p->rng, half ? half : 1)) % p->t->blocks;
}

/* Was anything near lbn read so lately that the cache may still hold it? */
static bool remembered(const struct sp__probe *p, uint64_t lbn)
{
	const struct sp__cachefact *c = &p->cache;

	for (unsigned i = 1; i <= p->r->cache_flush && i <= c->count; i++) {
		uint64_t near = c->recent[(c->count - i) % SP__RECENT];

		if (sp__apart(near, lbn) < SP__NEAR_BLOCKS)
			return true;
	}
	return false;
}

static int read_once(struct sp__probe *p, uint64_t lbn, struct sp__shot *s)
{
	int rc = sp__probe_stopped(p);

	if (rc)
		return rc;
	rc = p->t->ops->transfer(p->t, lbn, false, s);
	p->r->errors += rc == -EIO;
	p->cache.recent[p->cache.count++ % SP__RECENT] = lbn;
	return rc;
}

int sp__probe_flush(struct sp__probe *p, uint64_t lbn)
{
	struct sp__shot s;
	int rc;

	for (unsigned i = 0; i < p->r->cache_flush; i++) {
		rc = read_once(p, far_from(p, lbn), &s);
		if (rc && rc != -EIO)
			return rc;
		p->r->flush_reads++;
	}
	return 0;
}

int sp__probe_read(struct sp__probe *p, uint64_t lbn, struct sp__shot *s)
{
	int rc = 0;

	if (p->r->cache && remembered(p, lbn))
		rc = sp__probe_flush(p, lbn);
	for (unsigned i = 0; i < HIT_TRIES && !rc; i++) {
		rc = read_once(p, lbn, s);
		p->r->reads++;
		if (rc || !p->r->cache || s->done_ns - s->issue_ns >= p->cache.hit_ns)
			return rc;
		p->r->cache_hits++;
		rc = sp__probe_flush(p, lbn);
	}
	return rc;
}

double sp__rev_at(const struct sp__probe *p, uint64_t ns)
{
	double turns = ((double)(ns - p->spin.epoch_ns) - p->spin.anchor_ns) / p->spin.period_ns;

	return turns - floor(turns);
}

/*
 * The sample that has the others nearest around it is the middle; the quantile
 * is counted from there.  A completion that was late by more than half a
 * revolution looks early: what is far before the middle does not count.
 */
double sp__rev_middle(double *revs, size_t n, double q)
{
	double best = INFINITY, middle = revs[0], off[SP__ANGLE_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += fabs(sp__wrap(revs[j] - revs[i]));
		if (sum < best) {
			best = sum;
			middle = revs[i];
		}
	}
	for (size_t i = 0; i < n; i++) {
		revs[i] = sp__wrap(revs[i] - middle);
		off[i] = fabs(revs[i]);
	}
	best = 6 * sp__quantile(off, n, 0.5) + 1e-5;
	for (size_t i = 0; i < n; i++)
		if (revs[i] >= -best)
			revs[kept++] = revs[i];
	middle += sp__low_quantile(revs, kept, q);
	return middle - floor(middle);
}

int sp__angle_agreed(struct sp__probe *p, uint64_t lbn, double *rev)
{
	double revs[SP__AGREE_MAX];
	struct sp__shot s;
	int rc = sp__spin_look(p);

	for (unsigned n = 0; n < SP__AGREE_MAX && !rc; n++) {
		unsigned together = 1;
		double sum = 0;

		rc = sp__probe_read(p, lbn, &s);
		if (rc)
			return rc;
		revs[n] = sp__rev_at(p, s.done_ns);
		for (unsigned i = 0; i < n; i++) {
			double d = sp__wrap(revs[i] - revs[n]);

			if (fabs(d) > p->scatter.tol_rev)
				continue;
			together++;
			sum += d;
		}
		if (together >= p->scatter.agree) {
			*rev = revs[n] + sum / together;
			*rev -= floor(*rev);
			return 0;
		}
	}
	if (!rc)
		*rev = sp__rev_middle(revs, SP__AGREE_MAX, 0.5);
	return rc;
}

int sp__angle_read(struct sp__probe *p, uint64_t lbn, unsigned n, double *rev, uint64_t *done_ns)
{
	double revs[SP__ANGLE_MAX];
	struct sp__shot s = { 0 };

	for (unsigned i = 0; i < n; i++) {
		int rc = sp__probe_read(p, lbn, &s);

		if (rc)
			return rc;
		revs[i] = sp__rev_at(p, s.done_ns);
	}
	*rev = sp__rev_middle(revs, n, SP__EARLY);
	*done_ns = s.done_ns;
	return 0;
}

/* Of a half-normal distribution: its quantile SP__EARLY, and the least of few samples. */
double sp__angle_error(const struct sp__probe *p, unsigned n)
{
	return fmax(0.34 / sqrt(n), 1.25 / (n + 1)) * p->scatter.sd_ns / p->spin.period_ns;
}

int sp__angle_exact(struct sp__probe *p, uint64_t lbn, unsigned n, double *rev)
{
	uint64_t done_ns;
	int rc = sp__spin_look(p);

	return rc ? rc
		  : sp__angle_read(p, lbn, n < SP__ANGLE_MAX ? n : SP__ANGLE_MAX, rev, &done_ns);
}
