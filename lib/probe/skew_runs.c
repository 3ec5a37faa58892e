/* SPDX-License-Identifier: MIT */
/*
 * Idea: the angles at which consecutive tracks begin lie on a line as long as
 * the skew between them is one and the same: seven head switches, or 31 steps
 * from cylinder to cylinder.  Where it differs, the line breaks.  So the
 * sequence of skews is a list of runs, and the ends of a run are found like the
 * ends of a track: by doubling and bisection on angles, or at once where the
 * previous run shows where to look.
 *
 * Runs are written out as one skew for each track until the sequence has
 * repeated itself.
 *
 * Rejected: measuring every skew of the first 200 tracks (three times the
 * reads, and serpentines of 256 tracks would not show their pattern).
 */
#include <errno.h>
#include <string.h>
#include "probe/skew.h"

struct run {
	uint64_t tracks; /* until the line breaks */
	double slope, jump;
	bool open; /* the zone ended first: no jump */
	/* At work: */
	uint64_t pos;	    /* its first track */
	double first, last; /* angles of that and of the last track on the line */
	double behind;	    /* and of the first one off it */
	uint64_t lo, hi;    /* distances of these two; hi 0: none yet */
	uint64_t far;	    /* the slope comes from this distance */
};

/* Standard error of an exact angle. */
static double error_rev(const struct sp__probe *p)
{
	return SP__EARLY_ERROR * p->scatter.sd_ns / sqrt(p->scatter.exact) / p->spin.period_ns;
}

double sp__skew_tolerance(const struct sp__probe *p)
{
	return fmax(15 * error_rev(p), 0.0004);
}

int sp__skew_start(struct sp__probe *p, const struct sp__pzone *z, uint64_t track, double *rev)
{
	int rc = sp__angle_exact(p, sp__pzone_start(z, track), p->scatter.exact, rev);

	*rev -= 1.0 / sp__pzone_length(z, track);
	return rc;
}

/* Is the track at distance m on the line?  Then the slope is known better. */
static int look(struct sp__probe *p, const struct sp__pzone *z, struct run *run, uint64_t m)
{
	double rev, off;
	int rc = sp__skew_start(p, z, run->pos + m, &rev);

	if (rc)
		return rc;
	off = sp__wrap(rev - run->first - run->slope * (double)m);
	if (fabs(off) >= sp__skew_tolerance(p)) {
		run->hi = m;
		run->behind = rev;
		return 0;
	}
	if (m > run->far) {
		run->slope += off / (double)m;
		run->far = m;
	}
	if (m > run->lo) {
		run->lo = m;
		run->last = rev;
	}
	return 0;
}

/* A run like the one before: two looks, at its last track and at the next one. */
static int try_expected(struct sp__probe *p, const struct sp__pzone *z, struct run *run,
			const struct sp__skewexpect *e)
{
	int rc = 0;

	if (e->tracks < 2 || e->slope < 0 || z->tracks - run->pos <= e->tracks)
		return 0;
	run->slope = e->slope;
	run->far = e->tracks - 1;
	rc = look(p, z, run, e->tracks - 1);
	if (!rc && !run->hi)
		rc = look(p, z, run, e->tracks);
	/* Shorter: what was expected means nothing. */
	if (run->hi && run->hi < e->tracks)
		run->hi = run->lo = run->far = 0;
	return rc;
}

/*
 * The run that begins with track run->pos, whose angle is run->first.  By
 * doubling, which the slope always allows, then by bisection.
 */
static int find_run(struct sp__probe *p, const struct sp__pzone *z, struct run *run,
		    const struct sp__skewexpect *e)
{
	uint64_t most = z->tracks - run->pos - 1;
	double rev;
	int rc = 0;

	run->last = run->first;
	if (most)
		rc = try_expected(p, z, run, e);
	if (!rc && most && !run->lo) {
		rc = sp__skew_start(p, z, run->pos + 1, &rev);
		run->slope = rev - run->first - floor(rev - run->first);
		run->last = rev;
		run->lo = run->far = 1;
	}
	while (!rc && !run->hi && run->lo < most)
		rc = look(p, z, run, 2 * run->lo < most ? 2 * run->lo : most);
	while (!rc && run->hi && run->hi - run->lo > 1)
		rc = look(p, z, run, run->lo + (run->hi - run->lo) / 2);
	run->open = !run->hi;
	run->tracks = run->open ? most + 1 : run->hi;
	run->jump = run->behind - run->last - floor(run->behind - run->last);
	run->slope -= floor(run->slope);
	return rc;
}

/* Adds n times a skew; values that cannot be distinguished share a class. */
static int put(struct sp__probe *p, struct sp__skewruns *s, double skew, uint64_t n,
	       unsigned weight)
{
	unsigned c = 0;
	double off;

	if (s->n + n > SP__SKEWS_MAX)
		return -ENODATA;
	while (c < s->nclasses && fabs(sp__wrap(skew - s->mean[c])) > sp__skew_tolerance(p))
		c++;
	if (c == s->nclasses) {
		if (c == SP__SKEWRUNS_MAX)
			return -ENODATA;
		s->mean[s->nclasses++] = skew;
	}
	off = sp__wrap(skew - s->mean[c]);
	s->weight[c] += weight;
	if (weight)
		s->mean[c] += off * weight / s->weight[c];
	for (uint64_t i = 0; i < n; i++)
		s->class[s->n++] = c;
	return 0;
}

/* The shortest pattern that the sequence shows twice; 0: none. */
static uint32_t period_of(const struct sp__skewruns *s)
{
	for (uint32_t q = 1; q <= s->n / 2; q++)
		if (!memcmp(s->class, s->class + q, (s->n - q) * sizeof(*s->class)))
			return q;
	return 0;
}

int sp__skewruns_read(struct sp__probe *p, const struct sp__pzone *z, struct sp__skewexpect *e,
		      uint64_t least, struct sp__skewruns *s, uint32_t *q)
{
	for (unsigned n = 0; s->n < z->tracks; n++) {
		struct run run = { .pos = s->n, .first = s->next };
		int rc = n == SP__SKEWRUNS_MAX ? -ENODATA : find_run(p, z, &run, e);

		if (rc)
			return rc;
		/* One step of a run that never ends is as good as many. */
		if (run.open && !s->n) {
			*q = 1;
			return put(p, s, run.slope, 1, 1);
		}
		rc = run.tracks > 1 ? put(p, s, run.slope, run.tracks - 1,
					  (unsigned)(run.tracks < 64 ? run.tracks : 64))
				    : 0;
		if (!rc)
			rc = put(p, s, run.open ? run.slope : run.jump, 1, run.open ? 0 : 1);
		if (rc)
			return rc;
		s->next = run.behind;
		s->longest = run.tracks > s->longest ? run.tracks : s->longest;
		*e = (struct sp__skewexpect){ run.tracks, run.lo ? run.slope : -1, e->q };
		if (e->q == s->n && !least) {
			*q = e->q;
			return 0;
		}
		*q = period_of(s);
		if (*q > 1 && s->n >= least && s->n > s->longest)
			return 0;
	}
	/* No repetition, but all there is. */
	*q = s->n;
	return 0;
}
