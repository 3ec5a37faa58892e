/* SPDX-License-Identifier: MIT */
/*
 * Measures the angle of a block.
 *
 * The time at which the read of a block completes, modulo the period, is the angle of the block's
 * end, for any seek: seek and rotation add up to whole revolutions.  For decisions, a few samples
 * must agree.  For exact angles, a low circular quantile of many samples is taken (sample.c).
 */
#include "probe/timing/timing.h"

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
