/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether the drive answers repeated reads from its memory, and how many reads elsewhere
 * flush a block from it.
 *
 * The number is found by trial, and both results are checked on other blocks.  Answers from memory
 * also show the speed of the bus: each further block takes the same time longer.
 */
#include "probe/timing/timing.h"

#define SLOW_NS 2e6   /* reads elsewhere, of a disk */
#define LOOKS 8	      /* reads of each kind */
#define BUS_BLOCKS 64 /* in a long read */
#define BUS_READS 128
#define BUS_WARM 8 /* reads of the bus until the drive has all blocks in its cache */
#define BUS_ERRORS 10
#define BUS_EXACT 60	   /* the standard error of what the blocks take is not more than 1/60 */
#define HALF_NORMAL 0.5742 /* its deviations from the early quantile to the median */

/* Finds the number of reads elsewhere that flush a block from the cache. */
static int find_flush(struct sp__timing *tm, double hit_ns)
{
	static const unsigned counts[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128 };
	struct sp__shot s;
	int rc = 0;

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]) && !rc; i++) {
		unsigned hits = 0;

		tm->cache.flush = counts[i];
		for (unsigned j = 0; j < 4 && !rc; j++) {
			rc = sp__timing_flush(tm, tm->spin.ref_lbn);
			if (!rc)
				rc = sp__timing_read(tm, tm->spin.ref_lbn, &s);
			hits += !rc && (double)(s.done_ns - s.issue_ns) < hit_ns;
		}
		if (!hits)
			break;
	}
	return rc;
}

/* Checks that a random block is answered from memory after a read, but not after a flush. */
static int look_again(struct sp__timing *tm, double hit_ns)
{
	struct sp__cachefact *c = &tm->cache;
	struct sp__shot s;
	int rc = 0;

	for (unsigned i = 0; i < LOOKS && !rc; i++) {
		uint64_t lbn = sp__rng_below(&tm->rng, tm->target->blocks);

		rc = sp__timing_read(tm, lbn, &s);
		for (unsigned flushed = 0; flushed < 2 && !rc; flushed++) {
			rc = flushed ? sp__timing_flush(tm, lbn) : 0;
			if (!rc)
				rc = sp__timing_read(tm, lbn, &s);
			if (rc)
				break;
			c->looks++;
			c->look_misses += ((double)(s.done_ns - s.issue_ns) < hit_ns) == flushed;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

/* Measures the time of reads of n blocks from the cache, with its standard error. */
static int hits_of(struct sp__timing *tm, uint32_t n, double *ns, double *error_ns)
{
	const unsigned samples = BUS_READS - BUS_WARM;
	uint64_t lbns[BUS_READS], elapsed;
	struct sp__shot s[BUS_READS];
	double took[BUS_READS];
	int rc;

	for (unsigned i = 0; i < BUS_READS; i++)
		lbns[i] = tm->spin.ref_lbn;
	rc = tm->target->ops->stream(tm->target, lbns, BUS_READS, n, 1, s, &elapsed);
	tm->cost.reads += BUS_READS;
	for (unsigned i = BUS_WARM; i < BUS_READS && !rc; i++)
		took[i - BUS_WARM] = (double)(s[i].done_ns - s[i].issue_ns);
	if (rc)
		return rc;
	*ns = sp__low_quantile(took, samples, SP__EARLY);
	*error_ns = (sp__quantile(took, samples, 0.5) - *ns) / HALF_NORMAL * 0.34 / sqrt(samples);
	return 0;
}

/*
 * Half as many blocks must take half as much more: all came from the cache.  Through much noise a
 * fast bus does not show.
 */
static int find_bus(struct sp__timing *tm)
{
	uint32_t most = tm->target->blocks - tm->spin.ref_lbn > BUS_BLOCKS ? BUS_BLOCKS : 0;
	double one, half, all, each, error[3];
	int rc = most ? hits_of(tm, 1, &one, &error[0]) : -EIO;

	if (!rc)
		rc = hits_of(tm, most / 2, &half, &error[1]);
	if (!rc)
		rc = hits_of(tm, most, &all, &error[2]);
	if (rc)
		return rc == -EIO ? 0 : rc;
	each = (all - one) / (most - 1);
	if (BUS_EXACT * hypot(error[0], error[2]) < all - one &&
	    fabs(half - one - each * (most / 2 - 1)) < (all - one) / BUS_ERRORS)
		tm->cache.bus_ns = each;
	return 0;
}

/* True if the second read of a block is fast, on a device that is slow elsewhere. */
int sp__cache_find(struct sp__timing *tm, const struct sp_probe_evidence *e, double *same, size_t n)
{
	double low, high, hit;
	int rc;

	low = sp__quantile(same, n, 0.25);
	high = sp__quantile(same, n, 0.75);
	if (e->same_ns > 0.4 * e->other_ns || e->other_ns < SLOW_NS)
		return 0;
	hit = high + 4 * (high - low) + 50000;
	rc = find_flush(tm, hit);
	if (!rc)
		rc = look_again(tm, hit);
	if (rc) {
		tm->cache.flush = 0;
		return rc;
	}
	tm->cache.hit_ns = (uint64_t)hit;
	tm->cache.on = true;
	return find_bus(tm);
}
