/* SPDX-License-Identifier: MIT */
/*
 * Finds the reason why no track was seen: blocks are scattered, as on a layer above several disks,
 * or nothing shows where tracks begin.
 */
#include "probe/rotation/rotation.h"

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
