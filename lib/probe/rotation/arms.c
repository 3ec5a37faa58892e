/* SPDX-License-Identifier: MIT */
/*
 * Decides whether the device has one arm or several.
 *
 * Two requests far apart are submitted concurrently.  With one arm, one of them waits until the
 * arm has come from the other, so they complete at least a seek apart.  If they are served
 * concurrently, as by the disks of an array, many complete together.
 *
 * Far reads that are made one at a time show the time of a seek: that of the fast ones without the
 * rotational delay, which is most of it on slow disks.  Few pairs suffice to find one arm.  More
 * pairs, and single reads, are made only if the result is in doubt.
 */
#include "probe/rotation/rotation.h"

#define FEW 32
#define MANY 64
#define SINGLES (2 * MANY)
#define QUICK 0.1    /* quantile of single reads */
#define TURN 0.16    /* of rotational delays that one, and twice its error */
#define TOGETHER 0.6 /* of a seek */
#define CHANCE 3     /* excess of pairs over single reads of equal duration */

/* Between two completions, or of single reads. */
struct times {
	double ns[SINGLES];
	unsigned n;
};

static unsigned below(const struct times *t, double ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n; i++)
		n += t->ns[i] < ns;
	return n;
}

/* A block near the start of the device, and one near its end. */
static void choose(struct sp__timing *tm, uint64_t pair[2])
{
	uint64_t quarter = tm->target->blocks / 4;

	pair[0] = sp__rng_below(&tm->rng, quarter);
	pair[1] = tm->target->blocks - 1 - sp__rng_below(&tm->rng, quarter);
}

/* Unreadable blocks are skipped, here and below. */
static int read_pairs(struct sp__timing *tm, struct times *t, unsigned n)
{
	struct sp__shot s[2];
	uint64_t pair[2];
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		choose(tm, pair);
		rc = sp__timing_stopped(tm);
		if (!rc)
			rc = tm->target->ops->pair(tm->target, pair, s);
		if (!rc) {
			tm->cost.reads += 2;
			t->ns[t->n++] = fabs((double)s[0].done_ns - (double)s[1].done_ns);
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

static int read_singly(struct sp__timing *tm, struct times *t)
{
	struct sp__shot s;
	uint64_t pair[2];
	int rc = 0;

	for (unsigned i = 0; i < SINGLES && !rc; i++) {
		if (i % 2 == 0)
			choose(tm, pair);
		rc = sp__timing_read(tm, pair[i % 2], &s);
		if (!rc)
			t->ns[t->n++] = (double)(s.done_ns - s.issue_ns);
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

int sp__arms_find(struct sp__rotation *ro)
{
	struct sp_probe_evidence *e = &ro->evidence;
	struct sp__timing *tm = ro->tm;
	struct times pairs = { .n = 0 }, single = { .n = 0 };
	double period = tm->spin.period_ns, seek;
	int rc = read_pairs(tm, &pairs, FEW);

	e->pairs = pairs.n;
	if (rc || !below(&pairs, (e->far_ns - period / 2) / 2))
		return rc;
	rc = read_singly(tm, &single);
	if (!rc)
		rc = read_pairs(tm, &pairs, MANY - FEW);
	if (rc || !single.n)
		return rc;
	e->pairs = pairs.n;
	seek = TOGETHER * (sp__quantile(single.ns, single.n, QUICK) - TURN * period);
	e->pairs_together = below(&pairs, seek);
	if (e->pairs_together > below(&single, seek) + CHANCE)
		ro->verdict = SP_PROBE_LAYERED;
	return rc;
}
