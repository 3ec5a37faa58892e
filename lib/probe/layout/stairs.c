/* SPDX-License-Identifier: MIT */
/*
 * Finds cylinders by the times of hops alone, if track skew and cylinder skew are nearly equal:
 * each cylinder is a step in these times.
 */
#include "probe/layout/layout.h"

/* True if cylinders of s surfaces explain the times of hops of 1 ... n - 1 tracks. */
static bool explains(const double *ns, uint32_t n, uint32_t s, double little)
{
	for (uint32_t k = 1; k < n; k++) {
		uint32_t first = k / s * s;

		if (k % s == 0)
			continue;
		/* On one cylinder all other heads are equally near. */
		if (k > first + 1 && fabs(ns[k] - ns[first + 1]) > little)
			return false;
		/* The same head is nearer, or equally near if a seek takes longer than a switch. */
		if (first && ns[first] > ns[first + 1] + little)
			return false;
		if (first && ns[first + 1] > ns[1] + little && fabs(ns[first] - ns[k]) > little)
			return false;
	}
	return true;
}

/* True if the time of a hop of k tracks is nearer to the first time than to the other. */
static int nearer(struct sp__tracklayout *l, uint64_t first, uint64_t k, double to, double than,
		  bool *yes)
{
	double ns = 0;
	int rc = *yes ? sp__hop_time(l->hops, first, first + k, false, &ns) : 0;

	*yes &= fabs(ns - to) < fabs(than - to) / 3;
	return rc;
}

/*
 * Distinguishes cylinders of s surfaces from those of more or fewer, and from a step of the seek
 * curve, by hops from other tracks.  The step is at the same distance from a track s or 2s on, and
 * at another one from the next track, or from one where only a cylinder of fewer surfaces would
 * begin.
 */
static int verify(struct sp__tracklayout *l, uint64_t first, const double *ns, uint32_t s,
		  double little, bool *yes)
{
	double most = 0, rise = 1.4 * little;
	uint32_t at = 0;
	int rc = 0;

	/* The same head can be nearer anywhere: a step must last. */
	for (uint32_t k = 1; k + 1 < SP__STAIRS; k++) {
		if (k > 1 && k % s == 0 && fmin(ns[k], ns[k + 1]) - most > rise) {
			rise = fmin(ns[k], ns[k + 1]) - most;
			at = k;
		}
		most = fmax(most, ns[k]);
	}
	*yes = at > 0;
	if (!at)
		return 0;
	for (uint64_t from = first + s; from <= first + 2 * s && *yes && !rc; from += s) {
		rc = nearer(l, from, at - 1, ns[at - 1], ns[at], yes);
		if (!rc)
			rc = nearer(l, from, at, ns[at], ns[at - 1], yes);
	}
	for (uint32_t parts = 2; parts <= s && !rc; parts++)
		if (s % parts == 0)
			rc = nearer(l, first + s / parts, at - 1, ns[at], ns[at - 1], yes);
	return rc;
}

int sp__stairs_find(struct sp__tracklayout *l, uint64_t first)
{
	double ns[SP__STAIRS] = { 0 },
	       little = SP__HOP_SURE * sp__hop_error(l->hops) * l->tm->spin.period_ns;
	bool yes = false;
	uint32_t s;
	int rc = 0;

	for (uint32_t k = 1; k < SP__STAIRS && !rc; k++)
		rc = sp__hop_time(l->hops, first, first + k, false, &ns[k]);
	for (s = SP__STAIRS / 2; s >= 1 && !rc && !yes; s--)
		if (s == 1 || explains(ns, SP__STAIRS, s, little))
			rc = verify(l, first, ns, s, little, &yes);
	if (!rc && yes)
		l->order = (struct sp__trackorder){ .kind = SP__ORDER_CYLINDER, .surfaces = s + 1 };
	return rc;
}
