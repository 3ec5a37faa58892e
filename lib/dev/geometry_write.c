/* SPDX-License-Identifier: MIT */
/*
 * Writes geometry files, spindle-geometry(5), as JSON.
 *
 * Unknown members are omitted.  Real numbers are written with 15 digits, which survive a conversion
 * to double, so a file that is loaded and saved does not change.
 *
 * Each member of the document and each zone has its own line, so that files can be read and
 * compared by line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include <jansson.h>
#include "base/err.h"
#include "base/printable.h"
#include "dev/geometry.h"

#define FORMAT (JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

/* An object under construction; records a failed allocation. */
struct doc {
	json_t *obj;
	bool failed;
};

static void put(struct doc *d, const char *key, json_t *value)
{
	if (json_object_set_new(d->obj, key, value))
		d->failed = true;
}

static void put_text(struct doc *d, const char *key, const char *text)
{
	json_t *v = text ? json_string(text) : NULL;
	char shown[1024];

	/*
	 * File names can be any bytes; JSON holds only UTF-8, so other bytes become escapes of C.
	 */
	if (text && !v) {
		sp_printable(shown, sizeof(shown), text, SP_PRINTABLE_UTF8);
		v = json_string(shown);
	}
	if (text)
		put(d, key, v);
}

static void put_count(struct doc *d, const char *key, uint64_t n)
{
	put(d, key, json_integer((json_int_t)n));
}

static void put_real(struct doc *d, const char *key, double v)
{
	put(d, key, json_real(v));
}

static void append(struct doc *d, json_t *list, json_t *value)
{
	if (json_array_append_new(list, value))
		d->failed = true;
}

static void put_child(struct doc *d, const char *key, struct doc *child)
{
	d->failed |= child->failed;
	put(d, key, child->obj);
}

static json_t *zone_json(struct doc *top, const struct sp__geozone *z)
{
	const struct sp__region *r = z->map->regions;
	struct doc d = { json_object(), false };
	json_t *pattern = json_array(), *slips = json_array();
	char angle[17];

	put_count(&d, "first_lbn", z->first_lbn);
	put_count(&d, "tracks", r->tracks);
	snprintf(angle, sizeof(angle), "%016" PRIx64, r->start);
	put_text(&d, "start", angle);
	put_count(&d, "skew_den", r->skew_den);
	for (uint32_t i = 0; i < r->npattern; i++)
		append(&d, pattern,
		       json_pack("[I,I]", (json_int_t)r->pattern[i].blocks,
				 (json_int_t)r->pattern[i].skew));
	put(&d, "pattern", pattern);
	for (size_t i = 0; i < z->map->nslips; i++)
		append(&d, slips, json_integer((json_int_t)z->map->slips[i]));
	if (z->map->nslips)
		put(&d, "slips", slips);
	else
		json_decref(slips);
	if (z->apart)
		put(&d, "apart", json_true());
	if (z->round)
		put_count(&d, "round", z->round);
	top->failed |= d.failed;
	return d.obj;
}

static void put_zones(struct doc *top, const struct sp_geometry *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->nzones; i++)
		append(top, list, zone_json(top, &g->zones[i]));
	put(top, "zones", list);
}

static void put_curve(struct doc *top, const char *key, const struct sp__hops *h)
{
	struct doc d = { json_object(), false };
	json_t *steps = json_array();

	put_real(&d, "aim_deg", h->aim_deg);
	put(&d, "estimated", json_boolean(h->estimated));
	for (size_t i = 0; i < h->nsteps; i++)
		append(&d, steps,
		       json_pack("[I,f]", (json_int_t)h->steps[i].tracks, h->steps[i].w_deg));
	put(&d, "steps", steps);
	put_child(top, key, &d);
}

static void put_hops(struct doc *top, const struct sp_geometry *g)
{
	struct doc d = { json_object(), false };

	for (size_t i = 0; i < SP__CURVES; i++)
		if (g->curves[i].nsteps)
			put_curve(&d, sp__curve_names[i] + strlen("hops."), &g->curves[i]);
	put_child(top, "hops", &d);
}

static void put_seek(struct doc *top, const struct sp_geometry *g)
{
	struct doc d = { json_object(), false };
	json_t *points = json_array();

	put_text(&d, "unit", g->seek_in_tracks ? "tracks" : "cylinders");
	for (size_t i = 0; i < g->nseeks; i++)
		append(&d, points,
		       json_pack("[I,f]", (json_int_t)g->seeks[i].distance, g->seeks[i].ns));
	put(&d, "points", points);
	put_child(top, "seek", &d);
}

static void put_period(struct doc *top, const struct sp_geometry *g)
{
	struct doc d = { json_object(), false };

	if (g->period_den) {
		put_count(&d, "num", g->period_num);
		put_count(&d, "den", g->period_den);
	} else {
		put_real(&d, "ns", g->period_ns);
	}
	put_child(top, "period", &d);
}

static void put_scalars(struct doc *top, const struct sp_geometry *g)
{
	put_text(top, "schema", "spindle.geometry/1");
	put_text(top, "source", g->source);
	put_text(top, "device", g->device);
	put_text(top, "verdict", g->verdict);
	put(top, "partial", json_boolean(g->partial));
	put_count(top, "blocks", g->blocks);
	put_count(top, "block_bytes", g->block_bytes);
	if (g->period_ns > 0)
		put_period(top, g);
	if (g->surfaces)
		put_count(top, "surfaces", g->surfaces);
	if (g->stripe_drives > 1 && g->nzones)
		put_count(top, "stripe_drives", g->stripe_drives);
	put_text(top, "layout", g->layout);
	put(top, "overhead_ns",
	    json_pack("{s:f,s:f}", "read", g->overhead_ns[SP_GEOMETRY_READ], "write",
		      g->overhead_ns[SP_GEOMETRY_WRITE]));
	if (g->transfer_s_per_mib > 0)
		put_real(top, "transfer_s_per_mb", g->transfer_s_per_mib);
	if (g->seek_s > 0)
		put_real(top, "seek_s", g->seek_s);
	if (g->latency_s > 0)
		put_real(top, "latency_s", g->latency_s);
	if (g->requests_s > 0)
		put_real(top, "requests_s", g->requests_s);
	if (g->miss_rate >= 0)
		put_real(top, "miss_rate", g->miss_rate);
}

struct json_t *sp__geometry_document(const struct sp_geometry *g)
{
	struct doc top = { json_object(), false };
	json_t *unknown = json_array();

	put_scalars(&top, g);
	put_hops(&top, g);
	if (g->nseeks)
		put_seek(&top, g);
	for (size_t i = 0; i < g->nunknown; i++)
		append(&top, unknown, json_string(g->unknown[i]));
	put(&top, "unknown", unknown);
	put(&top, "evidence", json_deep_copy(g->evidence));
	put_zones(&top, g);
	if (!top.failed)
		return top.obj;
	json_decref(top.obj);
	return NULL;
}

static void print_list(const json_t *list, FILE *out)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		fputs(i ? ",\n    " : "[\n    ", out);
		(void)json_dump_callback(json_array_get(list, i), sp__json_write, out, FORMAT);
	}
	fputs(json_array_size(list) ? "\n  ]" : "[]", out);
}

int sp_geometry_json(const struct sp_geometry *g, FILE *out)
{
	json_t *doc = sp__geometry_document(g), *value;
	const char *key, *comma = "{\n";

	if (!doc)
		return -ENOMEM;
	json_object_foreach(doc, key, value)
	{
		fprintf(out, "%s  \"%s\": ", comma, key);
		if (strcmp(key, "zones") == 0)
			print_list(value, out);
		else
			(void)json_dump_callback(value, sp__json_write, out, FORMAT);
		comma = ",\n";
	}
	fputs("\n}\n", out);
	json_decref(doc);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

int sp_geometry_save(const struct sp_geometry *g, const char *path, struct sp_errinfo *err)
{
	struct sp_outfile *out;
	int rc = sp_outfile_open(&out, path, 0, err);
	FILE *f = NULL;

	if (!rc)
		rc = sp_outfile_stream(out, &f, err);
	if (rc) {
		sp_outfile_close(out, err);
		return rc;
	}
	errno = 0;
	rc = sp_geometry_json(g, f);
	if (rc == -EIO && errno)
		rc = -errno;
	/* A device or a FIFO cannot be synchronized. */
	if (!rc && !sp_outfile_in_place(out) && fsync(fileno(f)))
		rc = -errno;
	rc = rc ? sp__err(err, rc, "write", path, -1) : sp_outfile_commit(out, err);
	sp_outfile_close(out, err);
	return rc;
}
