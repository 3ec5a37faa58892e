/* SPDX-License-Identifier: MIT */
/*
 * Reads the part of a model file that describes a rotating drive.
 *
 * Times become integers of ns, skews integers of a fraction of a revolution, and the period a
 * fraction in lowest terms, so that later computations are exact.  Zones must follow each other
 * without gaps.  The number of blocks of zones and slips must be that of the file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
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

/* Parses zone i of the model file, after the previous ones.  Returns 0, SP_EFORMAT or -ENOMEM. */
static int zone_parse(struct sp__jobj *top, struct sp__drive *d, size_t i, const json_t *v)
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

#define SURFACES_MAX 255
#define ZONES_MAX 100000

/* Refuses both of two names for one field. */
static bool both(struct sp__jobj *o, const char *a, const char *b)
{
	if (sp__jhas(o, a) && sp__jhas(o, b))
		sp__jfail(o, a, "contradicts %s: give one of them", b);
	return o->rc;
}

/* Refuses a field that has no effect without another one. */
static void needs(struct sp__jobj *o, const char *name, bool there, const char *what)
{
	if (!there && sp__jhas(o, name))
		sp__jfail(o, name, "without %s", what);
}

/* Reads rpm to a millionth, or the period to a millionth of a nanosecond, as a fraction. */
static void period(struct sp__jobj *o, struct sp__drive *d)
{
	uint64_t g;

	if (both(o, "rpm", "period_ns"))
		return;
	if (sp__jhas(o, "period_ns")) {
		double ns = sp__jreal(o, "period_ns", 1e5, 1e9, SP__JREQUIRED);

		d->period_den = (uint64_t)llround(fmax(ns, 1) * 1e6);
		d->period_num = 1000000;
	} else {
		double rpm = sp__jreal(o, "rpm", 60, 600000, SP__JREQUIRED);

		d->period_den = UINT64_C(60000000000000000);
		d->period_num = (uint64_t)llround(fmax(rpm, 1) * 1e6);
	}
	g = sp__gcd(d->period_den, d->period_num);
	d->period_den /= g;
	d->period_num /= g;
	/* Two nanoseconds. */
	d->slack = (sp__angle)(((unsigned __int128)(2 * d->period_num) << 64) / d->period_den);
}

static void zones(struct sp__jobj *o, struct sp__drive *d)
{
	const json_t *list = sp__jarray(o, "zones", 1, ZONES_MAX);

	if (!list) {
		sp__jfail(o, "zones", "is missing");
		return;
	}
	d->nzones = json_array_size(list);
	d->zones = calloc(d->nzones, sizeof(*d->zones));
	if (!d->zones)
		sp__jnomem(o);
	for (size_t i = 0; i < d->nzones && !o->rc; i++)
		o->rc = zone_parse(o, d, i, json_array_get(list, i));
	if (o->rc)
		return;
	d->cylinders = d->zones[d->nzones - 1].last_cyl + 1;
	if (sp__jint(o, "cylinders", 1, SP__CYLINDERS_MAX, d->cylinders) != d->cylinders)
		sp__jfail(o, "cylinders", "the zones have %u", d->cylinders);
}

static void seek(struct sp__jobj *o, const char *name, struct sp__seekcurve *c)
{
	const json_t *list = sp__jarray(o, name, 1, 1000000), *v;
	double cyl, ms;

	if (!list)
		return;
	c->n = json_array_size(list);
	c->points = calloc(c->n, sizeof(*c->points));
	if (!c->points)
		sp__jnomem(o);
	for (size_t i = 0; i < c->n && !o->rc; i++) {
		v = json_array_get(list, i);
		if (json_array_size(v) != 2)
			sp__jfail(o, name, "member %zu is not a pair of cylinders and ms", i);
		else if (sp__jnumber(o, name, i, json_array_get(v, 0), 1, SP__CYLINDERS_MAX,
				     &cyl) &&
			 sp__jnumber(o, name, i, json_array_get(v, 1), 0, 1e4, &ms)) {
			c->points[i].cylinders = (uint32_t)cyl;
			c->points[i].ns = (uint64_t)llround(ms * 1e6);
			if (c->points[i].cylinders != cyl)
				sp__jfail(o, name, "member %zu: %.10g cylinders", i, cyl);
			if (i && cyl <= c->points[i - 1].cylinders)
				sp__jfail(o, name, "member %zu: distances do not ascend", i);
		}
	}
}

/* Reads the settle times.  Settling can save time of the arm's movement, but not more than that. */
static void settle(struct sp__jobj *o, struct sp__drive *d)
{
	static const char name[] = "write_settle_ms";
	const struct sp__seekcurve *c = &d->seek[d->seek[1].n > 0];
	int64_t ns;

	ns = d->write_settle_ns = llround(sp__jreal(o, name, -1e4, 3.6e6, 0) * 1e6);
	if (!o->rc && d->surfaces > 1 && (int64_t)d->head_switch_ns + ns < 0)
		sp__jfail(o, name, "the time of a head switch for a write would be negative");
	for (size_t i = 0; i < c->n && !o->rc; i++)
		if ((int64_t)c->points[i].ns + ns < 0)
			sp__jfail(o, name,
				  "the time of a seek over %u cylinders for a write would be "
				  "negative",
				  c->points[i].cylinders);
}

const char *const sp__layout_names[] = {
	[SP__LAYOUT_CYLINDER] = "cylinder",
	[SP__LAYOUT_CYLINDER_SERPENTINE] = "cylinder-serpentine",
	[SP__LAYOUT_SURFACE_SERPENTINE] = "surface-serpentine",
	[SP__LAYOUT_HYBRID_SERPENTINE] = "hybrid-serpentine",
	NULL,
};

static void layout(struct sp__jobj *o, struct sp__drive *d)
{
	bool hybrid;

	if (both(o, "layout", "layout_mapping"))
		return;
	d->layout = (enum sp__lbn_layout)sp__jint(o, "layout_mapping", 0, 1, 0);
	d->layout = (enum sp__lbn_layout)sp__jword(o, "layout", sp__layout_names, (int)d->layout);
	hybrid = d->layout == SP__LAYOUT_HYBRID_SERPENTINE;
	d->band_tracks = (uint32_t)sp__jint(o, "band_tracks", 1, 4096, hybrid ? SP__JREQUIRED : 1);
	if (sp__jhas(o, "band_tracks") && !hybrid)
		sp__jfail(o, "band_tracks", "applies to hybrid-serpentine only");
	d->descends = sp__jbool(o, "first_head_descends");
	if (d->descends && d->layout < SP__LAYOUT_SURFACE_SERPENTINE)
		sp__jfail(o, "first_head_descends", "applies to serpentines of surfaces only");
}

static void bus(struct sp__jobj *o, const struct sp__model *m, struct sp__drive *d)
{
	static const char *const words[] = { "both", "reads", "writes", "none", NULL };
	double ms, rate;
	int overlap;

	if (both(o, "bus_ms_per_block", "bus_mb_s"))
		return;
	ms = sp__jreal(o, "bus_ms_per_block", 0, 1000, 0);
	rate = sp__jreal(o, "bus_mb_s", 0.001, 1e6, 0);
	d->bus_ps = (uint64_t)llround(rate > 0 ? m->block_bytes / rate * 1e6 : ms * 1e9);
	overlap = sp__jword(o, "bus_overlap", words, 0);
	d->bus_apart[0] = overlap & 2;
	d->bus_apart[1] = overlap & 1;
	needs(o, "bus_overlap", d->bus_ps, "a bus time above 0");
}

static void cache_reads(struct sp__jobj *o, struct sp__cache_config *c)
{
	static const char *const until[] = { "request", "track", "end", NULL };
	static const char *const within[] = { "drive", "cylinder", "track", NULL };
	static const char *const ahead[] = { "readahead_until", "readahead_within",
					     "readahead_streams", "readahead_misses",
					     "keep_reads" };

	c->segments = (unsigned)sp__jint(o, "segments", 0, 65536, 0);
	c->segment_blocks =
		(uint32_t)sp__jint(o, "segment_blocks", 1, 1 << 24, c->segments ? -1 : 1);
	needs(o, "segment_blocks", c->segments, "segments");
	c->readahead_blocks = (uint32_t)sp__jint(o, "readahead_blocks", 0, 1 << 24, 0);
	needs(o, "readahead_blocks", c->segments, "segments");
	if (!o->rc && c->readahead_blocks > c->segment_blocks)
		sp__jfail(o, "readahead_blocks", "%u blocks are more than a segment has",
			  c->readahead_blocks);
	c->readahead_until = (enum sp__readahead_until)sp__jword(o, ahead[0], until, 0);
	c->readahead_within = (enum sp__readahead_within)sp__jword(o, ahead[1], within, 0);
	c->readahead_streams = sp__jbool(o, ahead[2]);
	c->readahead_misses = sp__jbool(o, ahead[3]);
	c->keep_reads = sp__jbool(o, ahead[4]);
	for (size_t i = 0; i < 5; i++)
		needs(o, ahead[i], c->readahead_blocks, "readahead_blocks");
	c->keep_passing = sp__jbool(o, "keep_passing");
	needs(o, "keep_passing", c->segments, "segments");
}

static void cache_writes(struct sp__jobj *o, struct sp__cache_config *c)
{
	bool behind = sp__jbool(o, "write_behind");

	c->write_blocks = (uint32_t)sp__jint(o, "write_blocks", 1, 1 << 24,
					     c->segments ? c->segment_blocks : 256);
	c->write_segments = (unsigned)sp__jint(o, "write_segments", 1, SP__WRITE_SEGMENTS_MAX, 0);
	c->write_hit_ns = sp__jms(o, "write_hit_ms", 0);
	needs(o, "write_blocks", behind, "write_behind");
	needs(o, "write_segments", behind, "write_behind");
	needs(o, "write_hit_ms", behind, "write_behind");
	c->keep_writes = sp__jbool(o, "keep_writes");
	needs(o, "keep_writes", c->segments, "segments");
	c->write_drops = sp__jbool(o, "write_drops");
	needs(o, "write_drops", c->segments, "segments");
	if (!behind)
		c->write_blocks = 0;
}

static void cache(struct sp__jobj *top, struct sp__drive *d)
{
	const json_t *v = sp__jget(top, "cache");
	const char *word = json_string_value(v);
	struct sp__cache_config *c = &d->cache;
	struct sp__jobj o;

	if (!v || top->rc || (word && !strcmp(word, "off")))
		return;
	if (!json_is_object(v)) {
		sp__jfail(top, "cache", "must be \"off\" or an object");
		return;
	}
	sp__jopen(&o, v, top->file, "cache", top->err);
	d->zero_latency[0] = sp__jbool(&o, "zero_latency");
	d->zero_latency[1] = sp__jbool(&o, "zero_latency_writes");
	cache_reads(&o, c);
	cache_writes(&o, c);
	c->read_hit_ns = sp__jms(&o, "read_hit_ms", 0);
	needs(&o, "read_hit_ms", c->segments || c->write_blocks, "segments or write_behind");
	top->rc = sp__jclose(&o);
}

/* Reads one time, or [after a read, after a write].  True if one is more than 0. */
static bool overhead(struct sp__jobj *o, const char *name, uint64_t ns[2])
{
	const json_t *v = sp__jget(o, name);

	if (!v)
		return false;
	if (json_is_array(v) && json_array_size(v) != 2)
		sp__jfail(o, name, "is not a time or [after a read, after a write]");
	for (size_t i = 0; i < 2 && !o->rc; i++) {
		double ms;

		if (sp__jnumber(o, name, i, json_is_array(v) ? json_array_get(v, i) : v, 0, 3.6e6,
				&ms))
			ns[i] = (uint64_t)llround(ms * 1e6);
	}
	return ns[0] || ns[1];
}

/* Reads the overheads.  Those of hits need a cache, and each overhead has one field. */
static void overheads(struct sp__jobj *top, struct sp__drive *d)
{
	struct sp__overheads *to = &d->overheads;
	const struct sp__cache_config *c = &d->cache;
	struct sp__jobj o;

	if (!sp__jchild(&o, top, "overheads"))
		return;
	to->any |= overhead(&o, "read_miss_ms", to->begin_ns[0][0]);
	to->any |= overhead(&o, "read_hit_ms", to->begin_ns[0][1]);
	to->any |= overhead(&o, "write_miss_ms", to->begin_ns[1][0]);
	to->any |= overhead(&o, "write_hit_ms", to->begin_ns[1][1]);
	to->end_ns[0] = sp__jms(&o, "read_end_ms", 0);
	to->end_ns[1] = sp__jms(&o, "write_end_ms", 0);
	needs(&o, "read_hit_ms", c->segments || c->write_blocks, "a cache");
	needs(&o, "write_hit_ms", c->write_blocks, "write_behind");
	if (sp__jhas(&o, "read_hit_ms") && c->read_hit_ns)
		sp__jfail(&o, "read_hit_ms", "contradicts that of the cache: give one of them");
	if (sp__jhas(&o, "write_hit_ms") && c->write_hit_ns)
		sp__jfail(&o, "write_hit_ms", "contradicts that of the cache: give one of them");
	top->rc = sp__jclose(&o);
}

static struct sp__slip *slips(struct sp__jobj *o, size_t *n)
{
	uint64_t *rows;
	struct sp__slip *s;

	rows = sp__jrows(o, "slips", 3, 3, "[cylinder, head, sector]", SP__CYLINDERS_MAX, n);
	s = rows ? calloc(*n, sizeof(*s)) : NULL;
	if (rows && !s)
		sp__jnomem(o);
	for (size_t i = 0; s && i < *n; i++)
		s[i] = (struct sp__slip){ (uint32_t)rows[3 * i], (uint32_t)rows[3 * i + 1],
					  (uint32_t)rows[3 * i + 2] };
	free(rows);
	return s;
}

static int build(struct sp__jobj *o, struct sp__model *m, struct sp__drive *d)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp__slip *s;
	size_t n;
	int rc;

	s = slips(o, &n);
	rc = o->rc ? o->rc : sp__drive_build(d, s, n, &cause);
	free(s);
	if (rc == SP_EFORMAT)
		sp__jfail(o, NULL, "%s", cause.text);
	else if (rc)
		sp__jnomem(o);
	if (o->rc)
		return o->rc;
	m->blocks = d->map->blocks;
	if (sp__jreal(o, "total_blocks", 1, 1e18, (double)m->blocks) != (double)m->blocks)
		sp__jfail(o, "total_blocks", "the zones and slips give %llu",
			  (unsigned long long)m->blocks);
	return o->rc;
}

int sp__drive_parse(struct sp__jobj *o, struct sp__model *m)
{
	struct sp__drive *d = calloc(1, sizeof(*d));

	m->ops = &sp__drive_ops;
	m->impl = d;
	if (!d)
		return sp__jnomem(o);
	d->surfaces = (uint32_t)sp__jint(o, "surfaces", 1, SURFACES_MAX, SP__JREQUIRED);
	period(o, d);
	layout(o, d);
	d->head_switch_ns = sp__jms(o, "head_switch_ms", SP__JREQUIRED);
	if (!both(o, "read_overhead_ms", "read_miss_overhead_ms"))
		m->overhead_ns[0] =
			sp__jms(o,
				sp__jhas(o, "read_overhead_ms") ? "read_overhead_ms"
								: "read_miss_overhead_ms",
				0);
	m->overhead_ns[1] = sp__jms(o, "write_overhead_ms", 0);
	bus(o, m, d);
	cache(o, d);
	overheads(o, d);
	seek(o, "seek_ms", &d->seek[0]);
	if (!d->seek[0].n)
		sp__jfail(o, "seek_ms", "is missing");
	seek(o, "write_seek_ms", &d->seek[1]);
	settle(o, d);
	if (!o->rc)
		zones(o, d);
	return o->rc ? o->rc : build(o, m, d);
}
