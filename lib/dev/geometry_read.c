/* SPDX-License-Identifier: MIT */
/*
 * Reads geometry files, spindle-geometry(5), from JSON.  Each part of the document has a function
 * that checks types and ranges; sealing checks the consistency of the parts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "base/err.h"
#include "base/owndir.h"
#include "dev/geometry.h"
#include "dev/model_json.h"
#include "dev/raid.h"

#define COUNT_MAX ((int64_t)1 << 52)
#define PERIOD_MAX ((int64_t)1 << 62) /* exact as a double for every rpm of a model */
#define NS_MAX 1e10
#define DEG_MAX 36000
#define LIST_MAX 100000000

static const json_t *pair(const json_t *v, size_t i)
{
	return json_array_size(v) == 2 ? json_array_get(v, i) : NULL;
}

static bool whole(struct sp__jobj *o, const char *field, size_t i, const json_t *v, double min,
		  double max, double *out)
{
	if (!sp__jnumber(o, field, i, v, min, max, out))
		return false;
	if (*out != (double)(uint64_t)*out)
		sp__jfail(o, field, "member %zu is not a whole number", i);
	return !o->rc;
}

/* Reads sixteen hexadecimal digits: units of 2^-64 revolution. */
static sp__angle read_angle(struct sp__jobj *o, const char *field)
{
	const char *s = sp__jstring(o, field);

	if (o->rc)
		return 0;
	if (!s || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16) {
		sp__jfail(o, field, s ? "is not made of 16 hexadecimal digits" : "is missing");
		return 0;
	}
	return strtoull(s, NULL, 16);
}

static int read_pattern(struct sp__jobj *o, struct sp__region *r)
{
	static const char field[] = "pattern";
	const json_t *list = sp__jarray(o, field, 1, LIST_MAX);
	double blocks, skew;

	if (!list)
		return sp__jfail(o, field, "is missing");
	r->npattern = (uint32_t)json_array_size(list);
	r->pattern = calloc(r->npattern, sizeof(*r->pattern));
	if (!r->pattern)
		return -ENOMEM;
	for (size_t i = 0; i < r->npattern; i++) {
		const json_t *v = json_array_get(list, i);

		if (!whole(o, field, i, pair(v, 0), 1, UINT32_MAX, &blocks) ||
		    !whole(o, field, i, pair(v, 1), 0, r->skew_den - 1.0, &skew))
			return o->rc;
		r->pattern[i] = (struct sp__trackkind){ (uint32_t)blocks, (uint32_t)skew };
	}
	return 0;
}

static int read_slips(struct sp__jobj *o, uint64_t **slips, size_t *n)
{
	static const char field[] = "slips";
	const json_t *list = sp__jarray(o, field, 1, LIST_MAX);
	double sector;

	*n = list ? json_array_size(list) : 0;
	*slips = *n ? calloc(*n, sizeof(**slips)) : NULL;
	if (*n && !*slips)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i++) {
		if (!whole(o, field, i, json_array_get(list, i), 0, (double)COUNT_MAX, &sector))
			return o->rc;
		(*slips)[i] = (uint64_t)sector;
	}
	return o->rc;
}

static int read_zone(struct sp_geometry *g, const json_t *v, const char *path,
		     struct sp_errinfo *err)
{
	struct sp__region r = { 0 };
	struct sp__geozone z = { 0 };
	uint64_t *slips = NULL;
	size_t nslips = 0;
	struct sp__jobj o;
	char where[32];
	int rc;

	snprintf(where, sizeof(where), "zones[%zu]", g->nzones);
	sp__jopen(&o, v, path, where, err);
	z.first_lbn = (uint64_t)sp__jint(&o, "first_lbn", 0, COUNT_MAX, SP__JREQUIRED);
	r.tracks = (uint64_t)sp__jint(&o, "tracks", 1, COUNT_MAX, SP__JREQUIRED);
	r.start = read_angle(&o, "start");
	r.skew_den = (uint32_t)sp__jint(&o, "skew_den", 1, UINT32_MAX, SP__JREQUIRED);
	z.apart = sp__jbool(&o, "apart");
	z.round = (uint64_t)sp__jint(&o, "round", 1, COUNT_MAX, 0);
	rc = o.rc ? o.rc : read_pattern(&o, &r);
	if (!rc)
		rc = read_slips(&o, &slips, &nslips);
	if (!rc)
		rc = sp__jclose(&o);
	if (!rc)
		rc = sp__geometry_add_zone(g, z, &r, slips, nslips, err);
	free(r.pattern);
	free(slips);
	return rc;
}

static int read_zones(struct sp_geometry *g, struct sp__jobj *top)
{
	const json_t *list = sp__jarray(top, "zones", 0, LIST_MAX);
	int rc = top->rc;

	for (size_t i = 0; i < json_array_size(list) && !rc; i++)
		rc = read_zone(g, json_array_get(list, i), top->file, top->err);
	return rc;
}

static int read_curve(struct sp__hops *h, const json_t *v, const char *where, const char *path,
		      struct sp_errinfo *err)
{
	static const char field[] = "steps";
	const json_t *list;
	struct sp__jobj o;
	double k, w;

	sp__jopen(&o, v, path, where, err);
	h->aim_deg = sp__jreal(&o, "aim_deg", 0, DEG_MAX, SP__JREQUIRED);
	h->estimated = sp__jbool(&o, "estimated");
	list = sp__jarray(&o, field, 1, LIST_MAX);
	if (!list)
		return sp__jfail(&o, field, "is missing");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *step = json_array_get(list, i);
		const struct sp__hopstep *last = h->nsteps ? &h->steps[h->nsteps - 1] : NULL;

		if (!whole(&o, field, i, pair(step, 0), 1, (double)COUNT_MAX, &k) ||
		    !sp__jnumber(&o, field, i, pair(step, 1), 0, DEG_MAX, &w))
			return o.rc;
		if (last && (k <= (double)last->tracks || w <= last->w_deg))
			return sp__jfail(&o, field, "member %zu does not ascend", i);
		if (sp__hops_add(h, (uint64_t)k, w))
			return -ENOMEM;
	}
	return sp__jclose(&o);
}

static int read_hops(struct sp_geometry *g, struct sp__jobj *top)
{
	struct sp__jobj o;
	int rc = 0;

	if (!sp__jchild(&o, top, "hops"))
		return top->rc;
	for (size_t i = 0; i < SP__CURVES && !rc; i++) {
		const char *where = sp__curve_names[i];
		const json_t *c = sp__jget(&o, where + strlen("hops."));

		if (c)
			rc = read_curve(&g->curves[i], c, where, top->file, top->err);
	}
	return rc ? rc : sp__jclose(&o);
}

static int read_seek(struct sp_geometry *g, struct sp__jobj *top)
{
	static const char *const units[] = { "cylinders", "tracks", NULL };
	static const char field[] = "points";
	const json_t *v, *list;
	double distance, ns;
	struct sp__jobj o;

	if (!sp__jchild(&o, top, "seek"))
		return top->rc;
	g->seek_in_tracks = sp__jword(&o, "unit", units, 0) == 1;
	list = sp__jarray(&o, field, 1, LIST_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		v = json_array_get(list, i);
		if (!whole(&o, field, i, pair(v, 0), 0, (double)COUNT_MAX, &distance) ||
		    !sp__jnumber(&o, field, i, pair(v, 1), 0, NS_MAX, &ns))
			return o.rc;
		if (sp__geometry_add_seek(g, (uint64_t)distance, ns))
			return -ENOMEM;
	}
	return sp__jclose(&o);
}

static int read_period(struct sp_geometry *g, struct sp__jobj *top)
{
	struct sp__jobj o;

	if (!sp__jchild(&o, top, "period"))
		return top->rc;
	if (sp__jhas(&o, "ns")) {
		g->period_ns = sp__jreal(&o, "ns", 1, NS_MAX, SP__JREQUIRED);
	} else {
		g->period_num = (uint64_t)sp__jint(&o, "num", 1, PERIOD_MAX, SP__JREQUIRED);
		g->period_den = (uint64_t)sp__jint(&o, "den", 1, PERIOD_MAX, SP__JREQUIRED);
	}
	return sp__jclose(&o);
}

static int read_overhead(struct sp_geometry *g, struct sp__jobj *top)
{
	struct sp__jobj o;

	if (!sp__jchild(&o, top, "overhead_ns"))
		return top->rc;
	g->overhead_ns[SP_GEOMETRY_READ] = sp__jreal(&o, "read", 0, NS_MAX, 0);
	g->overhead_ns[SP_GEOMETRY_WRITE] = sp__jreal(&o, "write", 0, NS_MAX, 0);
	return sp__jclose(&o);
}

static int read_remarks(struct sp_geometry *g, struct sp__jobj *top)
{
	const json_t *list = sp__jarray(top, "unknown", 0, LIST_MAX);
	const json_t *evidence = sp__jget(top, "evidence");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_string(v))
			return sp__jfail(top, "unknown", "member %zu is not a string", i);
		if (sp__geometry_add_unknown(g, json_string_value(v)))
			return -ENOMEM;
	}
	if (!evidence)
		return top->rc;
	if (!json_is_object(evidence))
		return sp__jfail(top, "evidence", "must be an object");
	json_decref(g->evidence);
	g->evidence = json_deep_copy(evidence);
	return g->evidence ? top->rc : -ENOMEM;
}

static int read_scalars(struct sp_geometry *g, struct sp__jobj *top)
{
	const char *schema = sp__jstring(top, "schema");
	/* The key of files written of older versions. */
	const char *stripes = sp__jhas(top, "abreast") ? "abreast" : "stripe_drives";

	if (!top->rc && (!schema || strcmp(schema, "spindle.geometry/1") != 0))
		sp__jfail(top, "schema", "is not \"spindle.geometry/1\"");
	g->partial = sp__jbool(top, "partial");
	g->blocks = (uint64_t)sp__jint(top, "blocks", 1, COUNT_MAX, SP__JREQUIRED);
	g->block_bytes = (uint32_t)sp__jint(top, "block_bytes", 1, 1 << 20, SP__JREQUIRED);
	g->surfaces = (unsigned)sp__jint(top, "surfaces", 0, 1000, 0);
	g->stripe_drives = (unsigned)sp__jint(top, stripes, 1, SP__RAID_DRIVES_MAX, 1);
	g->transfer_s_per_mib = sp__jreal(top, "transfer_s_per_mb", 0, 1e6, 0);
	g->seek_s = sp__jreal(top, "seek_s", 0, 1e6, 0);
	g->latency_s = sp__jreal(top, "latency_s", 0, 1e6, 0);
	g->requests_s = sp__jreal(top, "requests_s", 0, 1e12, 0);
	if (sp__jhas(top, "miss_rate"))
		g->miss_rate = sp__jreal(top, "miss_rate", 0, 1, 0);
	if (sp__geometry_text(&g->device, sp__jstring(top, "device")) ||
	    sp__geometry_text(&g->source, sp__jstring(top, "source")) ||
	    sp__geometry_text(&g->verdict, sp__jstring(top, "verdict")) ||
	    sp__geometry_text(&g->layout, sp__jstring(top, "layout")))
		return -ENOMEM;
	return top->rc;
}

static int read_all(struct sp_geometry *g, const json_t *doc, const char *path,
		    struct sp_errinfo *err)
{
	static int (*const parts[])(struct sp_geometry *, struct sp__jobj *) = {
		read_scalars, read_period, read_overhead, read_zones,
		read_hops,    read_seek,   read_remarks,
	};
	struct sp__jobj top;
	int rc = 0;

	sp__jopen(&top, doc, path, "", err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !rc; i++)
		rc = parts[i](g, &top);
	if (!rc)
		rc = sp__jclose(&top);
	return rc ? rc : sp__geometry_seal(g, err);
}

int sp__geometry_parse(struct sp_geometry **g, const struct json_t *doc, const char *path,
		       struct sp_errinfo *err)
{
	int rc;

	*g = NULL;
	if (!json_is_object(doc))
		return sp__errf(err, SP_EFORMAT, "read", path, -1, "is not a JSON object");
	*g = sp__geometry_alloc();
	rc = *g ? read_all(*g, doc, path, err) : -ENOMEM;
	if (!rc)
		return 0;
	sp_geometry_free(*g);
	*g = NULL;
	if (err && !*err->path)
		snprintf(err->path, sizeof(err->path), "%s", path);
	return rc == -ENOMEM ? sp__err(err, rc, "malloc", path, -1) : rc;
}

static int parse_loaded(struct sp_geometry **g, json_t *doc, const char *path,
			struct sp_errinfo *err)
{
	int rc = sp__geometry_parse(g, doc, path, err);

	json_decref(doc);
	return rc;
}

int sp_geometry_load(struct sp_geometry **g, const char *path, struct sp_errinfo *err)
{
	json_t *doc;
	int rc;

	*g = NULL;
	rc = sp__json_load(&doc, path, err);
	return rc ? rc : parse_loaded(g, doc, path, err);
}

int sp_geometry_resume(struct sp_geometry **g, const char *path, struct sp_errinfo *err)
{
	json_t *doc;
	int rc;

	*g = NULL;
	rc = sp__ownfile_open(path, err);
	if (rc >= 0)
		rc = sp__json_read(&doc, rc, path, err);
	return rc ? rc : parse_loaded(g, doc, path, err);
}
