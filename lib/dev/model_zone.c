/* SPDX-License-Identifier: MIT */
/*
 * Reads the part of a model file that describes one zone of a rotating drive.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "dev/drive_impl.h"
#include "dev/model_json.h"

#define SPT_MAX 1000000
#define SECTORS_MAX 0x1p52

/* Reads one number for all heads, or one per head. */
static void zone_spt(struct sp__jobj *o, const struct sp__drive *d, struct sp__zone *z)
{
	const json_t *v = sp__jget(o, "spt");
	double x;

	z->spt = calloc(d->surfaces, sizeof(*z->spt));
	if (!z->spt) {
		sp__jnomem(o);
		return;
	}
	if (!json_is_array(v)) {
		x = (double)sp__jint(o, "spt", 1, SPT_MAX, SP__JREQUIRED);
		for (uint32_t h = 0; h < d->surfaces && !o->rc; h++)
			z->spt[h] = (uint32_t)x;
		return;
	}
	if (json_array_size(v) != d->surfaces) {
		sp__jfail(o, "spt", "%zu numbers for %u surfaces", json_array_size(v), d->surfaces);
		return;
	}
	for (uint32_t h = 0; h < d->surfaces; h++) {
		if (!sp__jnumber(o, "spt", h, json_array_get(v, h), 1, SPT_MAX, &x))
			return;
		z->spt[h] = (uint32_t)x;
		if (z->spt[h] != x)
			sp__jfail(o, "spt", "member %u: %.10g is not a whole number", h, x);
	}
}

/* Reads skews: blocks of head 0; thousandths if a fraction is given. */
static void zone_skews(struct sp__jobj *o, struct sp__zone *z)
{
	static const char *const names[4] = { "track_skew", "cyl_skew", "band_skew", "start_skew" };
	uint32_t *to[4] = { &z->track_skew, &z->cyl_skew, &z->band_skew, &z->start_skew };
	double v[4] = { 0 };
	bool whole = true;

	for (int i = 0; i < 4; i++) {
		v[i] = sp__jreal(o, names[i], 0, z->spt[0],
				 i == 2	  ? v[1]
				 : i == 3 ? 0
					  : SP__JREQUIRED);
		if (o->rc)
			return;
		if (v[i] >= z->spt[0])
			sp__jfail(o, names[i], "is a revolution or more");
		whole = whole && v[i] == floor(v[i]);
	}
	z->skew_den = z->spt[0] * (whole ? 1 : 1000);
	for (int i = 0; i < 4; i++)
		*to[i] = (uint32_t)llround(v[i] * (whole ? 1 : 1000)) % z->skew_den;
}

/* Reads the sectors without a block number, and the remapped blocks. */
static void zone_sectors(struct sp__jobj *o, struct sp__zone *z)
{
	z->slips = sp__jrows(o, "slips", 1, 2, "a sector or [first, sectors]", SECTORS_MAX,
			     &z->nslips);
	z->spares = sp__jrows(o, "spares", 2, 3, "[first, sectors] or [first, sectors, every]",
			      SECTORS_MAX, &z->nspares);
	z->remaps = sp__jrows(o, "remaps", 2, 3, "[sector, to] or [first, to, sectors]",
			      SECTORS_MAX, &z->nremaps);
}

int sp__zone_parse(struct sp__jobj *top, struct sp__drive *d, size_t i, const json_t *v)
{
	struct sp__zone *z = &d->zones[i];
	uint32_t next = i ? d->zones[i - 1].last_cyl + 1 : 0;
	char where[32];
	struct sp__jobj o;
	int64_t first, last;

	snprintf(where, sizeof(where), "zones[%zu]", i);
	sp__jopen(&o, v, top->file, where, top->err);
	first = sp__jint(&o, "first_cyl", 0, SP__CYLINDERS_MAX - 1, SP__JREQUIRED);
	last = sp__jint(&o, "last_cyl", 0, SP__CYLINDERS_MAX - 1, SP__JREQUIRED);
	if (!o.rc && first != next)
		sp__jfail(&o, "first_cyl", "%lld, but %s %u: zones %s", (long long)first,
			  i ? "the zone before ends at" : "the drive begins at", i ? next - 1 : 0,
			  first > next ? "leave a gap" : "overlap");
	if (!o.rc && last < first)
		sp__jfail(&o, "last_cyl", "%lld is less than first_cyl", (long long)last);
	z->first_cyl = (uint32_t)first;
	z->last_cyl = (uint32_t)last;
	if (!o.rc)
		zone_spt(&o, d, z);
	if (!o.rc)
		zone_skews(&o, z);
	zone_sectors(&o, z);
	return sp__jclose(&o);
}
