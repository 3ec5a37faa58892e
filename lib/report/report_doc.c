/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <spindle/version.h>
#include "report/doc.h"

void sp__doc_put(struct sp__doc doc, const char *key, json_t *value)
{
	if (json_object_set_new(doc.object, key, value))
		*doc.failed = true;
}

void sp__doc_text(struct sp__doc doc, const char *key, const char *value)
{
	json_t *text;

	if (!value) {
		sp__doc_put(doc, key, json_null());
		return;
	}
	/* File names may be any bytes; JSON holds UTF-8 alone. */
	text = json_string(value);
	if (!text)
		text = json_string("(not UTF-8)");
	sp__doc_put(doc, key, text);
}

void sp__doc_bool(struct sp__doc doc, const char *key, bool value)
{
	sp__doc_put(doc, key, json_boolean(value));
}

void sp__doc_count(struct sp__doc doc, const char *key, uint64_t value)
{
	sp__doc_put(doc, key, json_integer((json_int_t)value));
}

void sp__doc_known(struct sp__doc doc, const char *key, uint64_t value)
{
	sp__doc_put(doc, key, value ? json_integer((json_int_t)value) : json_null());
}

void sp__doc_real(struct sp__doc doc, const char *key, double value)
{
	sp__doc_put(doc, key, isfinite(value) ? json_real(value) : json_null());
}

static void put_field(struct sp__doc doc, const struct sp_report_field *f, const void *member)
{
	switch (f->type) {
	case SP_REPORT_UNSIGNED:
		sp__doc_count(doc, f->key, *(const unsigned *)member);
		break;
	case SP_REPORT_COUNT:
		sp__doc_count(doc, f->key, *(const uint64_t *)member);
		break;
	case SP_REPORT_KNOWN:
		sp__doc_known(doc, f->key, *(const uint64_t *)member);
		break;
	case SP_REPORT_SIGNED:
		sp__doc_put(doc, f->key,
			    *(const int64_t *)member < 0 ? json_null()
							 : json_integer(*(const int64_t *)member));
		break;
	case SP_REPORT_REAL:
		sp__doc_real(doc, f->key, *(const double *)member);
		break;
	case SP_REPORT_TEXT:
		sp__doc_text(doc, f->key, *(const char *)member ? member : NULL);
		break;
	case SP_REPORT_END:
		break;
	}
}

void sp__doc_fields(struct sp__doc doc, const struct sp_report_field *fields, const void *base)
{
	for (; fields->key; fields++)
		put_field(doc, fields, (const char *)base + fields->offset);
}

struct sp__doc sp__doc_object(struct sp__doc doc, const char *key)
{
	struct sp__doc child = { json_object(), doc.failed };

	sp__doc_put(doc, key, child.object);
	return child;
}

json_t *sp__doc_array(struct sp__doc doc, const char *key)
{
	json_t *array = json_array();

	sp__doc_put(doc, key, array);
	return array;
}

struct sp__doc sp__doc_element(struct sp__doc doc, json_t *array)
{
	struct sp__doc child = { json_object(), doc.failed };

	if (json_array_append_new(array, child.object))
		*doc.failed = true;
	return child;
}

int sp__doc_line(struct sp__doc doc, FILE *out)
{
	int rc = *doc.failed ? -ENOMEM : 0;

	errno = 0;
	if (rc == 0 && (json_dumpf(doc.object, out, JSON_COMPACT | JSON_REAL_PRECISION(10)) ||
			putc('\n', out) == EOF || fflush(out)))
		rc = errno ? -errno : -EIO;
	json_decref(doc.object);
	return rc;
}

struct sp_report *sp__report_new(const char *schema, const char *tool, bool *failed,
				 struct sp__doc *doc)
{
	struct sp_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->doc = json_object();
	*failed = !report->doc;
	*doc = (struct sp__doc){ report->doc, failed };
	sp__doc_text(*doc, "schema", schema);
	sp__doc_text(*doc, "tool", tool);
	sp__doc_text(*doc, "version", SP_VERSION);
	return report;
}

struct sp_report *sp__report_done(struct sp_report *report, bool failed)
{
	if (!failed)
		return report;
	sp_report_free(report);
	return NULL;
}

void sp_report_free(struct sp_report *report)
{
	if (!report)
		return;
	json_decref(report->doc);
	free(report);
}

int sp_report_json(const struct sp_report *report, FILE *out)
{
	errno = 0;
	if (json_dumpf(report->doc, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) ||
	    putc('\n', out) == EOF || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}
