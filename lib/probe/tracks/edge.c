/* SPDX-License-Identifier: MIT */
/*
 * Finds the boundaries of tracks.
 *
 * Within a track, the angle of block b is that of block b-1 plus one block.  Where a track begins,
 * it also jumps by the skew: a tenth of a revolution or more, ten times the noise.  Jumps are seen
 * exactly, positions only to several blocks, so boundaries are found by jumps.
 *
 * Algorithm: the next boundary after a track's start is found by doubling.  Angles at distances m
 * and 2m are on one line until a boundary comes between them.  Then bisection follows, between the
 * last distance on the line and the first one off it.  The slope of the line (blocks per
 * revolution) becomes more exact as m grows.
 *
 * A hint, the length of a track nearby, is tried first: at that length, then in windows of 4, 16
 * and 64 blocks around it, since slipped blocks make a track a few blocks shorter.
 */
#include "probe/tracks/tracks.h"

#define TRIES 3
#define UNSURE 4	  /* deviations of an angle by samples that agree: more than its error */
#define SHORT_STEP 0.0125 /* blocks of shorter tracks are longer */

/* A line of angles from the start of a track. */
struct ray {
	uint64_t from;
	double rev;   /* at from */
	uint64_t far; /* the farthest distance known to be on the line, and its revolutions */
	double revs;
};

/*
 * Returns the minimum of a jump.  On short tracks a block is long, and the jump of one slipped
 * block must not be taken for a skew.
 */
static double min_jump(const struct sp__tracks *tr, double block_rev)
{
	return fmax(tr->tm->scatter.jump_rev, 1.5 * block_rev);
}

static int ask(struct sp__tracks *tr, uint64_t lbn, bool exact, double *rev)
{
	return exact ? sp__angle_exact(tr->tm, lbn, tr->tm->scatter.exact, rev)
		     : sp__angle_agreed(tr->tm, lbn, rev);
}

/*
 * How much larger than the least jump is what happens at lbn?  If the length is not what is
 * believed, a step on a short track may look like a jump: there two are compared.
 */
static int excess(struct sp__tracks *tr, uint64_t lbn, uint32_t length, bool exact, double *over)
{
	double before, here, more, step = 1.0 / length;
	int rc = ask(tr, lbn - 1, exact, &before);

	if (!rc)
		rc = ask(tr, lbn, exact, &here);
	if (rc)
		return rc;
	*over = fabs(sp__wrap(here - before - step)) - min_jump(tr, step);
	if (*over <= 0 || lbn < 2 || step < SHORT_STEP)
		return 0;
	rc = ask(tr, lbn - 2, exact, &more);
	step = fmax(step, fabs(sp__wrap(before - more)));
	*over = fabs(sp__wrap(here - before - (before - more))) - min_jump(tr, step);
	return rc;
}

int sp__edge_at(struct sp__tracks *tr, uint64_t lbn, uint32_t length, bool *is)
{
	double over, unsure = UNSURE * tr->tm->scatter.sd_ns / tr->tm->spin.period_ns /
			      sqrt(tr->tm->scatter.agree);
	int rc = excess(tr, lbn, length, false, &over);

	if (!rc && fabs(over) < unsure)
		rc = excess(tr, lbn, length, true, &over);
	*is = !rc && over > 0;
	return rc;
}

/* True if the block at this distance is on the line; a farther block improves the line. */
static int on_line(struct sp__tracks *tr, struct ray *ray, uint64_t distance, bool *on)
{
	double rev, expect, off;
	int rc = sp__angle_agreed(tr->tm, ray->from + distance, &rev);

	if (rc)
		return rc;
	expect = ray->revs * (double)distance / (double)ray->far;
	off = sp__wrap(rev - ray->rev - expect);
	*on = fabs(off) < min_jump(tr, fabs(ray->revs) / (double)ray->far);
	if (*on && distance > ray->far) {
		ray->far = distance;
		ray->revs = expect + off;
	}
	return 0;
}

/* lo is on the line, hi is not. */
static int bisect(struct sp__tracks *tr, struct ray *ray, uint64_t lo, uint64_t hi, uint64_t *edge)
{
	bool on;
	int rc;

	while (hi - lo > 1) {
		uint64_t mid = lo + (hi - lo) / 2;

		rc = on_line(tr, ray, mid, &on);
		if (rc)
			return rc;
		if (on)
			lo = mid;
		else
			hi = mid;
	}
	*edge = ray->from + hi;
	return 0;
}

/* Estimates the slope from blocks close together, until a better one is known. */
static int begin(struct sp__tracks *tr, struct ray *ray, uint64_t first)
{
	double rev;
	int rc = sp__angle_agreed(tr->tm, ray->from, &ray->rev);

	if (!rc)
		rc = sp__angle_agreed(tr->tm, ray->from + first, &rev);
	if (rc)
		return rc;
	ray->far = first;
	/* Noise can move a close block backwards; forwards it is never far. */
	ray->revs = sp__wrap(rev - ray->rev);
	return 0;
}

static int search(struct sp__tracks *tr, uint64_t from, uint64_t *next)
{
	struct ray ray = { .from = from };
	uint64_t rest = tr->blocks - from, hi = 0;
	bool on = true;
	int rc;

	if (rest < 3) {
		*next = tr->blocks;
		return 0;
	}
	rc = begin(tr, &ray, 1);
	while (!rc && on) {
		if (ray.far == rest - 1) {
			*next = tr->blocks;
			return 0;
		}
		/* More than a revolution without a jump: boundaries are invisible. */
		if (ray.revs > 1.5)
			return -ENODATA;
		hi = ray.far * 2 < rest - 1 ? ray.far * 2 : rest - 1;
		rc = on_line(tr, &ray, hi, &on);
	}
	return rc ? rc : bisect(tr, &ray, ray.far, hi, next);
}

/*
 * A boundary within `window` blocks of the hint, seen from a line laid through
 * the first half of the track.
 */
static int search_near(struct sp__tracks *tr, struct ray *ray, uint32_t hint, uint32_t window,
		       bool *found, uint64_t *next)
{
	uint64_t lo = hint > 2 * window ? hint - window : hint / 2, hi = (uint64_t)hint + window;
	bool on;
	int rc;

	*found = false;
	if (ray->from + hi >= tr->blocks)
		return 0;
	rc = on_line(tr, ray, lo, &on);
	if (rc || !on)
		return rc;
	rc = on_line(tr, ray, hi, &on);
	if (rc || on)
		return rc;
	*found = true;
	return bisect(tr, ray, lo, hi, next);
}

static int search_hinted(struct sp__tracks *tr, uint64_t from, uint32_t hint, bool *found,
			 uint64_t *next)
{
	static const uint32_t windows[] = { 4, 16, 64 };
	struct ray ray = { .from = from };
	int rc = begin(tr, &ray, hint / 2);

	*found = false;
	if (rc)
		return rc;
	/* If the length is near the hint, half of it is half a revolution. */
	ray.revs = 0.5 + sp__wrap(ray.revs - 0.5);
	if (fabs(ray.revs - 0.5) > 0.1)
		return 0;
	for (unsigned i = 0; i < 3 && !*found && !rc; i++)
		rc = search_near(tr, &ray, hint, windows[i], found, next);
	return rc;
}

/* A wrong angle misleads the search, so its result must be a jump. */
static int is_edge(struct sp__tracks *tr, uint64_t lbn, uint64_t next, bool *is)
{
	*is = next == tr->blocks;
	return *is ? 0 : sp__edge_at(tr, next, (uint32_t)(next - lbn), is);
}

/* Finds the end of a track of about this length. */
static int hinted_edge(struct sp__tracks *tr, uint64_t lbn, uint32_t hint, bool *found,
		       uint64_t *next)
{
	int rc;

	rc = is_edge(tr, lbn, lbn + hint, found);
	if (*found)
		*next = lbn + hint;
	if (rc || *found)
		return rc;
	rc = search_hinted(tr, lbn, hint, found, next);
	return rc || !*found ? rc : is_edge(tr, lbn, *next, found);
}

/* On short tracks a jump can be smaller than a block: a result found twice counts too. */
static int next_edge(struct sp__tracks *tr, uint64_t lbn, uint32_t hint, uint64_t *next)
{
	bool found = false, brief = hint > 8 && hint * SHORT_STEP < 1;
	uint64_t before;
	int rc = 0;

	*next = 0;
	if (hint > 8 && lbn + hint < tr->blocks)
		rc = hinted_edge(tr, lbn, hint, &found, next);
	for (unsigned i = 0; i < TRIES && !rc && !found; i++) {
		before = *next;
		rc = search(tr, lbn, next);
		if (!rc)
			rc = is_edge(tr, lbn, *next, &found);
		found |= brief && *next == before;
	}
	return rc || found ? rc : -ENODATA;
}

/* The end of a zone and the start of the next one measure the same boundary. */
int sp__edge_next(struct sp__tracks *tr, uint64_t lbn, uint32_t hint, uint64_t *next)
{
	int rc = 0;

	if (tr->last_next > lbn && tr->last_asked == lbn)
		*next = tr->last_next;
	else
		rc = next_edge(tr, lbn, hint, next);
	tr->last_asked = lbn;
	tr->last_next = rc ? 0 : *next;
	return rc;
}

int sp__edge_fine(struct sp__tracks *tr, uint64_t lbn, uint32_t length, bool *is)
{
	unsigned n = 2 * tr->tm->scatter.exact;
	double before, here, step = 1.0 / length;
	double least = fmax(8 * sp__angle_error(tr->tm, n), tr->tm->scatter.jump_rev / 4);
	int rc = sp__angle_exact(tr->tm, lbn - 1, n, &before);

	if (!rc)
		rc = sp__angle_exact(tr->tm, lbn, n, &here);
	if (rc)
		return rc;
	*is = fabs(sp__wrap(here - before - step)) > fmax(least, 1.5 * step);
	return 0;
}
