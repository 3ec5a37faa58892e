/* SPDX-License-Identifier: MIT */
/*
 * Verifies a geometry: compares predicted and measured responses.
 *
 * Random pairs of blocks are read.  For the second block, the geometry gives the times at which
 * its start passes the head, and the time of the arm.  The first passing after that is the
 * prediction.
 *
 * Compared are the distributions of response times (the demerit of Ruemmler and Wilkes: the rms
 * distance between the two curves) and, for each pair, whether the number of lost revolutions was
 * as predicted.
 *
 * The angles of the geometry count from block 0.  The angle of block 0 is measured first, and
 * again from time to time.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "dev/geometry.h"
#include "probe/rotation/rotation.h"

#define PAIRS_MAX 100000

struct forecast {
	struct sp__timing *tm;
	const struct sp_geometry *g;
	double zero_rev; /* angle of block 0's start, as the host sees it */
};

/* Time of the arm for a distance in tracks; the curve is extrapolated beyond its ends. */
static double arm_ns(const struct sp_geometry *g, uint64_t tracks)
{
	uint64_t d = tracks;
	const struct sp__geoseek *s = g->seeks;

	if (!g->seek_in_tracks && g->surfaces)
		d = tracks / g->surfaces;
	if (!d || !g->nseeks)
		return 0;
	if (d <= s[0].distance || g->nseeks == 1)
		return s[0].ns;
	for (size_t i = 1; i < g->nseeks; i++)
		if (s[i].distance >= d || i + 1 == g->nseeks)
			return s[i - 1].ns + (s[i].ns - s[i - 1].ns) *
						     ((double)d - (double)s[i - 1].distance) /
						     (double)(s[i].distance - s[i - 1].distance);
	return 0;
}

/* Response of a read that is issued at a time, the arm being at another track. */
static int predict(const struct forecast *f, uint64_t from, uint64_t to, uint64_t issue_ns,
		   double *ns)
{
	const struct sp__spin *s = &f->tm->spin;
	struct sp_track a, b;
	double need, first, at, issue = (double)(issue_ns - s->epoch_ns), rev;
	int rc = sp_geometry_track(f->g, from, &a);

	if (!rc)
		rc = sp_geometry_track(f->g, to, &b);
	if (rc)
		return rc;
	/* A passing is seen after the bus has transferred the block. */
	need = f->g->overhead_ns[SP_GEOMETRY_READ] + f->tm->cache.bus_ns +
	       arm_ns(f->g, a.number > b.number ? a.number - b.number : b.number - a.number);
	rev = f->zero_rev + b.angle_deg / 360 + (double)(to - b.first) / b.blocks;
	first = s->anchor_ns + rev * s->period_ns;
	at = first + ceil((issue + need - first) / s->period_ns) * s->period_ns;
	*ns = at - issue + s->period_ns / b.blocks;
	return 0;
}

static void compare(double *was, double *predicted, unsigned n, struct sp_probe_verify *v)
{
	double square = 0;

	sp__doubles_sort(was, n);
	sp__doubles_sort(predicted, n);
	for (unsigned i = 0; i < n; i++) {
		square += (was[i] - predicted[i]) * (was[i] - predicted[i]);
		v->mean_ns += was[i] / n;
		v->predicted_ns += predicted[i] / n;
	}
	v->demerit_ns = n ? sqrt(square / n) : 0;
}

/* Returns a random block whose track is known. */
static uint64_t random_block(struct forecast *f)
{
	const struct sp__geozone *z = &f->g->zones[sp__rng_below(&f->tm->rng, f->g->nzones)];

	return z->first_lbn + sp__rng_below(&f->tm->rng, z->map->blocks);
}

static int pairs(struct forecast *f, unsigned n, double *was, double *predicted,
		 struct sp_probe_verify *v)
{
	double period = f->tm->spin.period_ns, off;
	struct sp__shot s;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		uint64_t a = random_block(f), b = random_block(f);

		rc = sp__spin_look(f->tm);
		if (!rc)
			rc = sp__timing_read(f->tm, a, &s);
		if (!rc)
			rc = sp__timing_read(f->tm, b, &s);
		if (!rc)
			rc = predict(f, a, b, s.issue_ns, &predicted[v->pairs]);
		v->errors += rc == -EIO;
		if (rc) {
			rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
			continue;
		}
		was[v->pairs] = (double)(s.done_ns - s.issue_ns);
		off = was[v->pairs] - predicted[v->pairs];
		v->revolutions_right += fabs(off) < period / 2;
		v->within_share += fabs(off) < period / 10;
		v->pairs++;
		if (i % 32 == 0)
			sp__timing_progress(f->tm, SP_PROBE_CHECKS, (double)i / n);
	}
	return rc;
}

static int verify(struct sp__rotation *ro, const struct sp_geometry *g, unsigned n,
		  struct sp_probe_verify *v, struct sp_errinfo *err)
{
	struct sp__timing *tm = ro->tm;
	struct forecast f = { .tm = tm, .g = g };
	double *was = calloc(2 * (size_t)n, sizeof(*was)), *predicted = was + n;
	struct sp_track zero;
	int rc = was ? sp__rotation_find(ro) : -ENOMEM;

	if (!rc && ro->verdict != SP_PROBE_ROTATING)
		rc = sp__errf(err, SP_EUNSUP, "probe", tm->opts->device, -1,
			      "does not rotate, but the geometry is that of a rotating drive");
	if (!rc)
		rc = sp_geometry_track(g, tm->spin.ref_lbn, &zero);
	if (!rc) {
		/* Our angles count from the end of the reference block. */
		f.zero_rev = -zero.angle_deg / 360 -
			     (double)(tm->spin.ref_lbn + 1 - zero.first) / zero.blocks;
		rc = pairs(&f, n, was, predicted, v);
	}
	if (rc == -EINTR && v->pairs)
		rc = 0;
	if (!rc && v->pairs) {
		compare(was, predicted, v->pairs, v);
		v->revolutions_right /= v->pairs;
		v->within_share /= v->pairs;
	}
	free(was);
	return rc;
}

int sp_probe_verify(const struct sp_probe_opts *opts, const struct sp_geometry *geometry,
		    unsigned n, struct sp_probe_verify *result, struct sp_errinfo *err)
{
	struct sp__timing tm;
	struct sp__rotation rotation = { .tm = &tm };
	struct sp__target *t;
	int rc;

	*result = (struct sp_probe_verify){ 0 };
	if (!geometry->nzones)
		return sp__errf(err, SP_EUNSUP, "probe", opts->device, -1,
				"the geometry has no tracks");
	if (!n || n > PAIRS_MAX)
		return sp__err(err, -EINVAL, "probe", opts->device, -1);
	rc = sp__target_open(&t, opts, err);
	if (rc)
		return rc;
	sp__timing_begin(&tm, t, opts);
	if (geometry->blocks != t->blocks || geometry->block_bytes != t->block_bytes)
		rc = sp__errf(err, SP_EFORMAT, "probe", opts->device, -1,
			      "the geometry is not one of this device");
	else
		rc = verify(&rotation, geometry, n, result, err);
	sp__target_close(t);
	return rc ? sp__err(err, rc, "probe", opts->device, -1) : 0;
}
