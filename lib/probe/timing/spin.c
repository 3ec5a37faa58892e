/* SPDX-License-Identifier: MIT */
/*
 * Finds the period of rotation, and follows it.
 *
 * Algorithm: one block is read repeatedly after random waits; it passes the head at multiples of
 * the period.  A search over all periods between 290 and 25000 rpm (emulated drives turn slowly)
 * finds the one at which the phases of these moments concentrate; no nominal speed is assumed.  A
 * straight line through revolution number and time then gives the period to a few parts per
 * million, and a longer baseline to less than one.  The number of revolutions between two samples
 * stays certain while period error times revolutions is well below half a revolution.
 *
 * The waits are random because without them any device of constant service time would look like a
 * platter.
 *
 * Later the reference block is read from time to time.  While the platter rotates evenly, all
 * readings stay on the line.  After a reading off the line, the older half is dropped, and
 * readings become more frequent.
 *
 * If several periods fit, the longest is the true one: a half and a third of it fit as well.
 */
#include <string.h>
#include "probe/timing/timing.h"

/*
 * Measures the angle of a block.
 *
 * The time at which the read of a block completes, modulo the period, is the angle of the block's
 * end, for any seek: seek and rotation add up to whole revolutions.  For decisions, a few samples
 * must agree.  For exact angles, a low circular quantile of many samples is taken (sample.c).
 */

int sp__angle_agreed(struct sp__timing *tm, uint64_t lbn, double *rev)
{
	double revs[SP__AGREE_MAX];
	struct sp__shot s;
	int rc = sp__spin_look(tm);

	for (unsigned n = 0; n < SP__AGREE_MAX && !rc; n++) {
		unsigned together = 1;
		double sum = 0;

		rc = sp__timing_read(tm, lbn, &s);
		if (rc)
			return rc;
		revs[n] = sp__rev_at(tm, s.done_ns);
		for (unsigned i = 0; i < n; i++) {
			double d = sp__wrap(revs[i] - revs[n]);

			if (fabs(d) > tm->scatter.tol_rev)
				continue;
			together++;
			sum += d;
		}
		if (together >= tm->scatter.agree) {
			*rev = revs[n] + sum / together;
			*rev -= floor(*rev);
			return 0;
		}
	}
	if (!rc)
		*rev = sp__rev_middle(revs, SP__AGREE_MAX, 0.5);
	return rc;
}

int sp__angle_exact(struct sp__timing *tm, uint64_t lbn, unsigned n, double *rev)
{
	uint64_t done_ns;
	int rc = sp__spin_look(tm);

	return rc ? rc
		  : sp__angle_read(tm, lbn, n < SP__ANGLE_MAX ? n : SP__ANGLE_MAX, rev, &done_ns);
}

#define PERIOD_MIN_NS 2.4e6
#define PERIOD_MAX_NS 207e6
#define WAIT_MAX_NS 20000000u
#define SAMPLES_FIRST 100
#define SAMPLES_MAX (4 * SAMPLES_FIRST)
#define EXTENSIONS 3
#define EXTENSION_READS 14
#define GROUP 10
#define GROUP_EARLY 0.15
#define LOOK_READS 7
#define SECOND 1000000000u
#define TURNS_MIN 120	 /* between looks, and of the first extension */
#define ROTATES 0.8	 /* concentration */
#define EXACT_REV 0.0006 /* error of an exact angle */
#define AGREED_ERROR 0.6 /* error of the mean of samples that agree */
#define JUMP_ERRORS 6
#define EXACT_MIN 12
#define EXACT_MAX 128

struct times {
	double at_ns[SAMPLES_MAX + EXTENSIONS * EXTENSION_READS];
	size_t n;
};

static double concentration(const struct times *t, double period)
{
	double c = 0, s = 0, w = 2 * M_PI / period;

	for (size_t i = 0; i < t->n; i++) {
		c += cos(w * t->at_ns[i]);
		s += sin(w * t->at_ns[i]);
	}
	return sqrt(c * c + s * s) / (double)t->n;
}

/* Reads the reference block after a random wait, n times. */
static int collect(struct sp__timing *tm, struct times *t, size_t n)
{
	const struct sp__target_ops *ops = tm->target->ops;
	struct sp__shot s;
	int rc;

	while (t->n < n) {
		rc = sp__timing_flush(tm, tm->spin.ref_lbn);
		if (rc)
			return rc;
		ops->wait(tm->target, ops->now(tm->target) + sp__rng_below(&tm->rng, WAIT_MAX_NS));
		rc = sp__timing_read(tm, tm->spin.ref_lbn, &s);
		if (rc)
			return rc;
		t->at_ns[t->n++] = (double)(s.done_ns - tm->spin.epoch_ns);
		if (t->n % 16 == 0)
			sp__timing_progress(tm, SP_PROBE_ROTATION, (double)t->n / SAMPLES_MAX);
	}
	return 0;
}

/* Finds the best period near a period, by shrinking steps. */
static double sharpen(const struct times *t, double period, double step_hz)
{
	double f = 1e9 / period, best = concentration(t, period);

	for (unsigned i = 0; i < 24; i++) {
		double up = concentration(t, 1e9 / (f + step_hz));
		double down = concentration(t, 1e9 / (f - step_hz));

		if (up > best && up >= down) {
			f += step_hz;
			best = up;
		} else if (down > best) {
			f -= step_hz;
			best = down;
		} else {
			step_hz /= 2;
		}
	}
	return 1e9 / f;
}

/* Returns the longest period whose concentration is nearly the best. */
static void search(const struct times *t, struct sp_probe_evidence *e)
{
	double span_s = (t->at_ns[t->n - 1] - t->at_ns[0]) / 1e9, step = 1 / (4 * span_s);
	double best = 0, at = 0, period, r;

	e->trials = 0;
	for (double f = 1e9 / PERIOD_MIN_NS; f >= 1e9 / PERIOD_MAX_NS; f -= step) {
		r = concentration(t, 1e9 / f);
		e->trials++;
		if (r < 0.6 * best)
			continue;
		period = r > 0.5 ? sharpen(t, 1e9 / f, step / 2) : 1e9 / f;
		r = concentration(t, period);
		if (r > 0.9 * best)
			at = period;
		best = fmax(best, r);
	}
	e->samples = (unsigned)t->n;
	e->shortest_ns = PERIOD_MIN_NS;
	e->longest_ns = PERIOD_MAX_NS;
	e->concentration = at > 0 ? concentration(t, at) : 0;
	e->best_period_ns = at;
	e->chance = sqrt(log((double)e->trials / 1e-4) / (double)t->n);
}

/* Fits a line through revolutions and times; returns the standard error of the period. */
static double line(struct sp__spin *s, const double *turn, const double *at, size_t n)
{
	double mt = 0, ma = 0, tt = 0, ta = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		mt += turn[i] / (double)n;
		ma += at[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		tt += (turn[i] - mt) * (turn[i] - mt);
		ta += (turn[i] - mt) * (at[i] - ma);
	}
	s->period_ns = ta / tt;
	s->anchor_ns = ma - mt * s->period_ns;
	for (size_t i = 0; i < n; i++) {
		double d = at[i] - s->anchor_ns - turn[i] * s->period_ns;

		rest += d * d;
	}
	return n > 2 ? sqrt(rest / (double)(n - 2) / tt) : INFINITY;
}

static double turn_of(const struct sp__spin *s, double at)
{
	return floor((at - s->anchor_ns) / s->period_ns + 0.5);
}

/* Reduces each time by whole revolutions. */
static void residues(const struct sp__spin *s, const struct times *t, double *rest)
{
	for (size_t i = 0; i < t->n; i++)
		rest[i] = t->at_ns[i] - s->anchor_ns - turn_of(s, t->at_ns[i]) * s->period_ns;
}

/* Makes passings from groups of samples: a low quantile of each group. */
static void make_points(struct sp__spin *s, const struct times *t, const double *rest)
{
	s->n = 0;
	for (size_t i = 0; i + GROUP <= t->n && s->n < SP__SPIN_POINTS / 2; i += GROUP) {
		double some[GROUP], turn = turn_of(s, t->at_ns[i + GROUP / 2]);

		memcpy(some, rest + i, sizeof(some));
		s->turn[s->n] = turn;
		s->at_ns[s->n++] =
			s->anchor_ns + turn * s->period_ns + sp__quantile(some, GROUP, GROUP_EARLY);
	}
}

/* Computes period and anchor from all times, starting from an approximate period. */
static double fit(struct sp__timing *tm, const struct times *t)
{
	double rest[SAMPLES_MAX + EXTENSIONS * EXTENSION_READS], error = INFINITY;
	struct sp__spin *s = &tm->spin;

	for (unsigned round = 0; round < 4; round++) {
		double revs[SP__ANGLE_MAX];
		size_t n = t->n < SP__ANGLE_MAX ? t->n : SP__ANGLE_MAX;

		for (size_t i = 0; i < n; i++)
			revs[i] = (t->at_ns[t->n - n + i] - s->anchor_ns) / s->period_ns;
		s->anchor_ns += sp__rev_middle(revs, n, SP__EARLY) * s->period_ns;
		residues(s, t, rest);
		make_points(s, t, rest);
		if (s->n >= 2)
			error = line(s, s->turn, s->at_ns, s->n);
	}
	return error / s->period_ns * 1e6;
}

/*
 * Measures the scatter of completions around the line, of the first n: the offset of a later
 * reading depends on few samples.
 */
static void scatter(struct sp__timing *tm, const struct times *t, size_t n)
{
	double rest[SAMPLES_MAX + EXTENSIONS * EXTENSION_READS], low, high, many;
	struct sp__scatter *c = &tm->scatter;
	size_t late = 0, early = 0;

	residues(&tm->spin, t, rest);
	high = sp__quantile(rest, n, 0.75);
	low = sp__quantile(rest, n, 0.25);
	/* Quartiles of a half-normal distribution lie 0.83 deviations apart. */
	c->sd_ns = fmax((high - low) / 0.8317, 1000);
	/* A sample that is late by more than half a revolution looks early. */
	while (early + 1 < n && rest[early] < low - 4 * c->sd_ns)
		early++;
	c->floor_ns = sp__low_quantile(rest + early, n - early, SP__EARLY) - rest[early];
	for (size_t i = 0; i < n; i++)
		late += rest[i] > low + 4 * c->sd_ns;
	c->tail = (double)late / (double)n;
	c->agree = c->tail > 0.035 ? 3 : 2;
	many = sp__angle_error(tm, EXACT_MIN) / EXACT_REV;
	c->exact = (unsigned)fmin(fmax(ceil(EXACT_MIN * many * many), EXACT_MIN), EXACT_MAX);
	c->tol_rev = 3 * c->sd_ns / tm->spin.period_ns;
	c->jump_rev = fmin(fmax(6 * c->sd_ns / tm->spin.period_ns, 0.01), 0.06);
	/* Minimum of a jump, in deviations of the difference of two angles. */
	many = JUMP_ERRORS * AGREED_ERROR * M_SQRT2 * c->sd_ns / tm->spin.period_ns / c->jump_rev;
	c->agree = (unsigned)fmin(fmax(ceil(many * many), c->agree), SP__AGREE_MAX / 2);
}

/* On a slow platter a reading takes long. */
static void set_due(struct sp__timing *tm)
{
	double least = TURNS_MIN * tm->spin.period_ns;

	tm->spin.due_ns = tm->target->ops->now(tm->target) +
			  (uint64_t)fmax((double)tm->spin.interval_ns, least);
}

/* Extends the baseline: reads after 1, 3 and 9 times the time spanned so far. */
static int extend(struct sp__timing *tm, struct times *t)
{
	const struct sp__target_ops *ops = tm->target->ops;
	double span = fmax(0.7e9, TURNS_MIN * tm->spin.period_ns);
	int rc = 0;

	for (unsigned e = 0; e < EXTENSIONS && !rc; e++, span *= 3) {
		uint64_t until = ops->now(tm->target) + (uint64_t)span;

		/* In short waits, so that a request to stop is noticed. */
		while (!rc && ops->now(tm->target) < until) {
			uint64_t now = ops->now(tm->target);

			rc = sp__timing_stopped(tm);
			ops->wait(tm->target,
				  until - now > SECOND / 10 ? now + SECOND / 10 : until);
		}
		if (!rc)
			rc = collect(tm, t, t->n + EXTENSION_READS);
		if (!rc)
			tm->spin.period_ppm = fit(tm, t);
		sp__timing_progress(tm, SP_PROBE_PERIOD, (e + 1.0) / EXTENSIONS);
	}
	return rc;
}

int sp__spin_find(struct sp__timing *tm, struct sp_probe_evidence *e)
{
	struct times t = { .n = 0 };
	size_t first;
	int rc;

	tm->spin.epoch_ns = tm->target->ops->now(tm->target);
	for (size_t n = SAMPLES_FIRST; n <= SAMPLES_MAX && e->concentration < ROTATES; n *= 4) {
		rc = collect(tm, &t, n);
		if (rc)
			return rc;
		search(&t, e);
	}
	if (e->concentration < ROTATES)
		return -ENODATA;
	tm->spin.period_ns = e->best_period_ns;
	tm->spin.anchor_ns = t.at_ns[0];
	fit(tm, &t);
	first = t.n;
	rc = extend(tm, &t);
	if (rc)
		return rc;
	scatter(tm, &t, first);
	tm->spin.interval_ns = SECOND;
	set_due(tm);
	tm->spin.found = true;
	return 0;
}

/* Makes space for another passing: drops every other one of the older half. */
static void thin(struct sp__spin *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (i < s->n / 2 && i % 2)
			continue;
		s->turn[kept] = s->turn[i];
		s->at_ns[kept++] = s->at_ns[i];
	}
	s->n = kept;
}

static void forget(struct sp__spin *s)
{
	size_t drop = s->n > 8 ? s->n / 2 : 0;

	memmove(s->turn, s->turn + drop, (s->n - drop) * sizeof(*s->turn));
	memmove(s->at_ns, s->at_ns + drop, (s->n - drop) * sizeof(*s->at_ns));
	s->n -= drop;
}

/* Measures the deviation of the reference block from the line. */
static int offset(struct sp__timing *tm, unsigned n, double *off_ns, double *at_ns)
{
	uint64_t done_ns;
	double rev;
	int rc = sp__angle_read(tm, tm->spin.ref_lbn, n, &rev, &done_ns);

	if (rc)
		return rc;
	*off_ns = sp__wrap(rev) * tm->spin.period_ns;
	*at_ns = (double)(done_ns - tm->spin.epoch_ns);
	return 0;
}

/* A deviation of this size is not chance. */
static double allowed(const struct sp__timing *tm, unsigned n)
{
	return fmax(6 * sp__angle_error(tm, n) * tm->spin.period_ns, tm->spin.period_ns / 500);
}

int sp__spin_look(struct sp__timing *tm)
{
	struct sp__spin *s = &tm->spin;
	double off, at, error;
	bool drifted = false;
	int rc;

	if (tm->target->ops->now(tm->target) < s->due_ns)
		return 0;
	s->looks++;
	rc = offset(tm, LOOK_READS, &off, &at);
	/* Dropping correct passings does more harm than a second reading. */
	if (!rc && fabs(off) > allowed(tm, LOOK_READS)) {
		rc = offset(tm, 4 * LOOK_READS, &off, &at);
		drifted = fabs(off) > allowed(tm, 4 * LOOK_READS);
	}
	if (rc)
		return rc;
	if (s->n == SP__SPIN_POINTS)
		thin(s);
	s->turn[s->n] = turn_of(s, at);
	s->at_ns[s->n] = s->anchor_ns + s->turn[s->n] * s->period_ns + off;
	s->n++;
	if (drifted) {
		forget(s);
		s->interval_ns =
			s->interval_ns > 2 * (uint64_t)SECOND ? s->interval_ns / 2 : SECOND;
	} else if (s->interval_ns < 16 * (uint64_t)SECOND) {
		s->interval_ns *= 2;
	}
	error = line(s, s->turn, s->at_ns, s->n);
	tm->spin.period_ppm = error / s->period_ns * 1e6;
	set_due(tm);
	return 0;
}
