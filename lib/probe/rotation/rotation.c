/* SPDX-License-Identifier: MIT */
/*
 * Decides whether the device rotates.  Four values are measured and reported; the first decides:
 *
 *  - the concentration of the phases at which one block passes (spin.c): nearly 1 on a platter at
 *    its period, otherwise the value of chance;
 *  - the share of random reads that take less than a millisecond: a few per cent on a platter,
 *    nearly all on flash;
 *  - the time of reading one block repeatedly, compared with random blocks: a revolution on a
 *    platter, unless its cache answers;
 *  - the growth of latency with distance: seeks, or nothing.
 *
 * Rejected: the flag of the system (queue/rotational), since it is wrong for virtual disks and loop
 * devices.
 */
#include "base/minmax.h"
#include "probe/rotation/rotation.h"

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

#define FEW 32
#define MANY 64
#define SINGLES (2 * MANY)
#define QUICK 0.1    /* quantile of single reads */
#define TURN 0.16    /* revolutions: the delay of a quick read, and twice its error */
#define TOGETHER 0.6 /* share of a seek within which two reads count as one */
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

/*
 * Finds the reason why no track was seen: blocks are scattered, as on a layer above several disks,
 * or nothing shows where tracks begin.
 */

#define PLACES 9
#define STEPS 6
#define STEP_BLOCKS 40 /* in a step: a layer often goes on elsewhere after 128 */
#define OFF 0.1	       /* rev */

/*
 * True if blocks from here on follow one another: their angles are then on a line, except for
 * skews too small to be seen.
 */
static int on_a_line(struct sp__timing *tm, uint64_t lbn, bool *yes)
{
	double first, step = 0, rev;
	int rc = sp__angle_exact(tm, lbn, tm->scatter.exact, &first);

	for (unsigned i = 1; i <= STEPS && !rc; i++) {
		rc = sp__angle_exact(tm, lbn + i * STEP_BLOCKS, tm->scatter.exact, &rev);
		if (i == 1)
			step = rev - first;
		*yes &= !rc && fabs(sp__wrap(rev - first - i * step)) < OFF;
	}
	return rc;
}

int sp__line_find(struct sp__rotation *ro)
{
	struct sp__timing *tm = ro->tm;
	uint64_t span = STEPS * STEP_BLOCKS;
	unsigned off = 0;
	int rc = 0;

	for (unsigned i = 0; i < PLACES && tm->target->blocks > span && !rc; i++) {
		bool yes = true;

		rc = on_a_line(tm, sp__rng_below(&tm->rng, tm->target->blocks - span), &yes);
		off += !rc && !yes;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	ro->verdict = off > 1 ? SP_PROBE_LAYERED : SP_PROBE_INCONCLUSIVE;
	return rc;
}

#define RANDOMS 120
#define REPEATS 24
#define FAST_NS 1e6
#define NOISE_SHARE 8 /* noise beyond 1/8 of a revolution is too much */

/* Measures latencies of random reads, with the distance from the previous read. */
struct randoms {
	double took[RANDOMS], near[RANDOMS], far[RANDOMS];
	size_t n, nnear, nfar;
};

static int random_reads(struct sp__timing *tm, struct randoms *r)
{
	uint64_t blocks = tm->target->blocks, last = 0, lbn;
	struct sp__shot s;
	int rc;

	for (unsigned i = 0; i < RANDOMS; i++) {
		/* Every other read is close to the previous one. */
		lbn = sp__rng_below(&tm->rng, blocks);
		if (i % 2)
			lbn = (last + sp__rng_below(&tm->rng, blocks / 100 + 1)) % blocks;
		rc = sp__timing_read(tm, lbn, &s);
		if (rc == -EIO)
			continue;
		if (rc)
			return rc;
		r->took[r->n++] = (double)(s.done_ns - s.issue_ns);
		if (i % 2)
			r->near[r->nnear++] = r->took[r->n - 1];
		else if (i && sp__absdiff(lbn, last) > blocks / 2)
			r->far[r->nfar++] = r->took[r->n - 1];
		last = lbn;
		if (i % 16 == 0)
			sp__timing_progress(tm, SP_PROBE_ROTATION, 0.2 * i / RANDOMS);
	}
	return 0;
}

/* Measures how late the host returns from waiting. */
static int clock_reads(struct sp__timing *tm, struct sp_probe_evidence *e)
{
	double late[48];
	uint64_t until;

	for (unsigned i = 0; i < 48; i++) {
		until = tm->target->ops->now(tm->target) + 500000 +
			sp__rng_below(&tm->rng, 1000000);
		tm->target->ops->wait(tm->target, until);
		late[i] = (double)(tm->target->ops->now(tm->target) - until);
		if (sp__timing_stopped(tm))
			return -EINTR;
	}
	e->clock_p99_ns = sp__quantile(late, 48, 0.99);
	return 0;
}

/* Reads one block n times; the host needs the time from a completion to the next issue. */
static int same_reads(struct sp__timing *tm, double *took, double *between, unsigned n)
{
	struct sp__shot s;
	uint64_t last = 0;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		rc = sp__timing_read(tm, tm->spin.ref_lbn, &s);
		if (rc)
			return rc;
		took[i] = (double)(s.done_ns - s.issue_ns);
		between[i] = i ? (double)(s.issue_ns - last) : 0;
		last = s.done_ns;
	}
	return 0;
}

/* Blocks near the start may be unreadable. */
static int choose_reference(struct sp__timing *tm)
{
	struct sp__shot s;
	uint64_t lbn = 0;
	int rc = sp__timing_read(tm, 0, &s);

	for (unsigned i = 0; i < 16 && rc == -EIO; i++) {
		lbn = sp__rng_below(&tm->rng, tm->target->blocks);
		rc = sp__timing_read(tm, lbn, &s);
	}
	tm->spin.ref_lbn = lbn;
	return rc;
}

static int gather(struct sp__timing *tm, struct sp_probe_evidence *e)
{
	struct randoms r = { .n = 0 };
	double same[REPEATS], between[REPEATS];
	size_t fast = 0;
	int rc = choose_reference(tm);

	if (!rc)
		rc = clock_reads(tm, e);
	if (!rc)
		rc = random_reads(tm, &r);
	if (!rc && !r.n)
		rc = -EIO;
	if (!rc)
		rc = same_reads(tm, same, between, REPEATS);
	if (rc)
		return rc;
	for (size_t i = 0; i < r.n; i++)
		fast += r.took[i] < FAST_NS;
	e->fast_share = (double)fast / (double)r.n;
	e->other_ns = sp__quantile(r.took, r.n, 0.5);
	e->near_ns = r.nnear ? sp__quantile(r.near, r.nnear, 0.5) : 0;
	e->far_ns = r.nfar ? sp__quantile(r.far, r.nfar, 0.5) : 0;
	e->same_ns = sp__quantile(same, REPEATS, 0.5);
	tm->turnaround_ns = sp__quantile(between + 1, REPEATS - 1, 0.5);
	return sp__cache_find(tm, e, same, REPEATS);
}

int sp__rotation_find(struct sp__rotation *ro)
{
	struct sp_probe_evidence *e = &ro->evidence;
	struct sp__timing *tm = ro->tm;
	int rc = gather(tm, e);

	if (!rc)
		rc = sp__spin_find(tm, e);
	if (rc && rc != -ENODATA)
		return rc;
	if (rc)
		ro->verdict = e->concentration > 1.5 * e->chance ? SP_PROBE_INCONCLUSIVE
								 : SP_PROBE_NOT_ROTATING;
	else if (tm->scatter.sd_ns > tm->spin.period_ns / NOISE_SHARE / 3 ||
		 e->clock_p99_ns > tm->spin.period_ns / NOISE_SHARE)
		ro->verdict = SP_PROBE_INCONCLUSIVE;
	else
		ro->verdict = SP_PROBE_ROTATING;
	return 0;
}
