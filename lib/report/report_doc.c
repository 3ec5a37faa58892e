/* SPDX-License-Identifier: MIT */
/*
 * Builds JSON documents by tables of fields, and writes them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/version.h>
#include "base/loaded.h"
#include "base/printable.h"
#include "report/doc.h"

static json_t *printable(const char *text, unsigned flags)
{
	size_t bytes = sp_printable(NULL, 0, text, flags) + 1;
	char *shown = malloc(bytes);
	json_t *string;

	if (!shown)
		return NULL;
	sp_printable(shown, bytes, text, flags);
	string = json_string_nocheck(shown); /* not UTF-8 if the locale has another encoding */
	free(shown);
	return string;
}

void sp__doc_put(struct sp__doc doc, const char *key, json_t *value)
{
	const char *dot = strchr(key, '.');
	char outer[64];

	if (dot) {
		snprintf(outer, sizeof(outer), "%.*s", (int)(dot - key), key);
		sp__doc_put(sp__doc_object(doc, outer), dot + 1, value);
	} else if (json_object_set_new(doc.object, key, value) && doc.report) {
		doc.report->failed = true;
	}
}

void sp__doc_append(struct sp__doc doc, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) && doc.report)
		doc.report->failed = true;
}

/* Returns a string.  File names are any bytes, JSON is UTF-8: other bytes become escapes of C. */
static json_t *text(const char *value)
{
	json_t *string = value ? json_string(value) : json_null();

	return string ? string : printable(value, SP_PRINTABLE_UTF8);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *known(uint64_t value)
{
	return value ? json_integer((json_int_t)value) : json_null();
}

static json_t *not_negative(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static double positive(double value)
{
	return value > 0 ? value : NAN;
}

void sp__doc_text(struct sp__doc doc, const char *key, const char *value)
{
	sp__doc_put(doc, key, text(value));
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
	sp__doc_put(doc, key, known(value));
}

void sp__doc_real(struct sp__doc doc, const char *key, double value)
{
	sp__doc_put(doc, key, real(value));
}

void sp__doc_null(struct sp__doc doc, const char *key)
{
	sp__doc_put(doc, key, json_null());
}

static uint64_t integer(const struct sp_report_field *f, const void *at)
{
	return f->bytes == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static json_t *word_of(const struct sp_report_field *f, int value)
{
	const char *word = f->values ? sp_enum_name(f->values(), value) : f->name(value);

	return word || f->type == SP_REPORT_WORD ? text(word) : json_integer(value);
}

static json_t *scalar(const struct sp_report_field *f, const void *at)
{
	char prio[16];

	switch (f->type) {
	case SP_REPORT_COUNT:
		return json_integer((json_int_t)integer(f, at));
	case SP_REPORT_KNOWN:
		return known(integer(f, at));
	case SP_REPORT_SIGNED:
		return not_negative(*(const int64_t *)at);
	case SP_REPORT_REAL:
		return real(*(const double *)at);
	case SP_REPORT_POSITIVE:
		return real(positive(*(const double *)at));
	case SP_REPORT_SECONDS:
		return real((double)*(const uint64_t *)at / 1e9);
	case SP_REPORT_DURATION:
		return real(*(const double *)at / 1e9);
	case SP_REPORT_POSITIVE_DURATION:
		return real(positive(*(const double *)at) / 1e9);
	case SP_REPORT_BOOL:
		return json_boolean(*(const bool *)at);
	case SP_REPORT_TEXT:
		return text(*(const char *)at ? at : NULL);
	case SP_REPORT_STRING:
		return text(*(const char *const *)at);
	case SP_REPORT_WORD:
	case SP_REPORT_LEVEL:
		return word_of(f, *(const int *)at);
	case SP_REPORT_PRIO:
		return text(sp_bench_prio_name(*(const uint16_t *)at, prio));
	default:
		return json_null();
	}
}

static void put_elements(struct sp__doc doc, const struct sp_report_field *f, const char *elements,
			 size_t n)
{
	json_t *array = sp__doc_array(doc, f->key);

	for (size_t i = 0; i < n; i++)
		sp__doc_fields(sp__doc_element(doc, array), f->fields, elements + i * f->bytes);
}

void sp__doc_fields(struct sp__doc doc, const struct sp_report_field *f, const void *base)
{
	for (; f->type != SP_REPORT_END; f++) {
		const char *at = (const char *)base + f->offset;
		const size_t *count = (const void *)((const char *)base + f->count);

		if (f->type == SP_REPORT_OBJECT)
			sp__doc_fields(f->key ? sp__doc_object(doc, f->key) : doc, f->fields, at);
		else if (f->type == SP_REPORT_ARRAY)
			put_elements(doc, f, at, *count);
		else if (f->type == SP_REPORT_LIST)
			put_elements(doc, f, *(const char *const *)(const void *)at, *count);
		else if (f->type != SP_REPORT_GROUP)
			sp__doc_put(doc, f->key, scalar(f, at));
	}
}

void sp__doc_nulls(struct sp__doc doc, const struct sp_report_field *fields)
{
	for (; fields->key; fields++)
		sp__doc_null(doc, fields->key);
}

struct sp__doc sp__doc_object(struct sp__doc doc, const char *key)
{
	struct sp__doc child = { json_object_get(doc.object, key), doc.report };

	if (!json_is_object(child.object)) {
		child.object = json_object();
		sp__doc_put(doc, key, child.object);
	}
	return child;
}

const struct sp_report_field sp__no_effect_fields[] = {
	MEMBER(no_effect, TEXT, option, "name of the option", .required = true),
	MEMBER(no_effect, TEXT, reason, "reason for which it had no effect", .required = true),
	{ 0 },
};

json_t *sp__doc_array(struct sp__doc doc, const char *key)
{
	json_t *array = json_array();

	sp__doc_put(doc, key, array);
	return array;
}

void sp__doc_names(struct sp__doc doc, const char *key, const char *const *names, size_t n)
{
	json_t *array = sp__doc_array(doc, key);

	for (size_t i = 0; i < n; i++)
		sp__doc_append(doc, array, text(names[i]));
}

struct sp__doc sp__doc_element(struct sp__doc doc, json_t *array)
{
	struct sp__doc child = { json_object(), doc.report };

	sp__doc_append(doc, array, child.object);
	return child;
}

int sp_report_check(struct sp_errinfo *err)
{
	return sp__library_load(SP__LIB_JANSSON, err);
}

struct sp__doc sp__report_empty(void)
{
	struct sp__doc doc = { .report = NULL };

	if (!sp_report_check(NULL))
		doc.report = calloc(1, sizeof(*doc.report));
	if (doc.report)
		doc.object = doc.report->doc = json_object();
	return doc;
}

struct sp__doc sp__report_named(const char *schema, const char *tool)
{
	struct sp__doc doc = sp__report_empty();

	sp__doc_text(doc, "schema", schema);
	sp__doc_text(doc, "tool", tool);
	sp__doc_text(doc, "version", SP_VERSION);
	return doc;
}

struct sp__doc sp__report_new(enum sp__document_kind kind)
{
	const struct sp__document *d = &sp__documents[kind];
	struct sp__doc doc = sp__report_named(d->schema, d->tool);

	if (d->kind)
		sp__doc_text(doc, "kind", d->kind);
	return doc;
}

struct sp_report *sp__report_done(struct sp__doc doc)
{
	if (!doc.report || !doc.report->failed)
		return doc.report;
	sp_report_free(doc.report);
	return NULL;
}

static json_t *shown(const json_t *value)
{
	return printable(json_string_value(value), 0);
}

static bool make_printable(json_t *value)
{
	bool made = true;
	const char *key;
	json_t *member;
	void *next;
	size_t i;

	json_object_foreach_safe(value, next, key, member) made &=
		json_is_string(member) ? !json_object_set_new(value, key, shown(member))
				       : make_printable(member);
	json_array_foreach(value, i, member) made &=
		json_is_string(member) ? !json_array_set_new(value, i, shown(member))
				       : make_printable(member);
	return made;
}

json_t *sp__doc_printable(const struct sp_report *report)
{
	json_t *doc = json_deep_copy(report->doc);

	if (doc && !make_printable(doc)) {
		json_decref(doc);
		doc = NULL;
	}
	return doc;
}

void sp_report_free(struct sp_report *report)
{
	if (!report)
		return;
	json_decref(report->doc);
	free(report);
}

/* Writes the document and a newline. */
static int dump(const struct sp_report *report, FILE *out, size_t flags)
{
	errno = 0;
	if (json_dump_callback(report->doc, sp__json_write, out, flags | JSON_REAL_PRECISION(10)) ||
	    putc('\n', out) == EOF || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}

int sp_report_json(const struct sp_report *report, FILE *out)
{
	return dump(report, out, JSON_INDENT(2));
}

int sp__report_line(struct sp__doc doc, FILE *out)
{
	struct sp_report *report = sp__report_done(doc);
	int rc = report ? dump(report, out, JSON_COMPACT) : -ENOMEM;

	sp_report_free(report);
	return rc;
}
