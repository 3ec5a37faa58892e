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

#define RANDOMS 120
#define REPEATS 24
#define FAST_NS 1e6
#define NOISE_SHARE 8 /* of a revolution */

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
