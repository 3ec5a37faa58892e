/* SPDX-License-Identifier: MIT */
/*
 * Reads the fields of JSON objects.
 *
 * An object records which fields were requested, so that a field that was never requested is
 * unknown, and refused when the object is closed.  The object keeps the first failure.  From then
 * on each read returns its default without a look-up, so that a caller reads all fields in sequence
 * and checks once.
 */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/loaded.h"
#include "base/utf8mark.h"
#include "dev/model_json.h"

/* The parser does not always report that memory was refused. */
int sp__json_result(const json_t *doc, const char *file, const json_error_t *why,
		    struct sp_errinfo *err)
{
	if (doc)
		return 0;
	if (!*why->text || json_error_code(why) == json_error_out_of_memory)
		return sp__err(err, -ENOMEM, "malloc", file, -1);
	return sp__errf(err, SP_EFORMAT, "read", file, why->position, "line %d: %s", why->line,
			why->text);
}

int sp__json_load(json_t **doc, const char *path, struct sp_errinfo *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? sp__err(err, -errno, "open", path, -1) : sp__json_read(doc, fd, path, err);
}

int sp__json_read(json_t **doc, int fd, const char *path, struct sp_errinfo *err)
{
	int rc = sp__library_load(SP__LIB_JANSSON, err);
	FILE *f = rc ? NULL : fdopen(fd, "r");
	json_error_t why;

	if (!f) {
		rc = rc ? rc : sp__err(err, -errno, "open", path, -1);
		close(fd);
		return rc;
	}
	errno = 0;
	sp__skip_mark(f);
	*doc = json_loadf(f, JSON_REJECT_DUPLICATES, &why);
	if (ferror(f))
		rc = sp__err(err, errno ? -errno : -EIO, "read", path, -1);
	fclose(f);
	if (!rc)
		return sp__json_result(*doc, path, &why, err);
	json_decref(*doc);
	return rc;
}

int sp__jfail(struct sp__jobj *o, const char *field, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	if (o->rc)
		return o->rc;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	o->rc = sp__errf(o->err, SP_EFORMAT, "read", o->file, -1, "%.40s%.40s: %s", o->where,
			 field ? field : "model", why);
	return o->rc;
}

int sp__jnomem(struct sp__jobj *o)
{
	if (!o->rc)
		o->rc = sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	return o->rc;
}

void sp__jopen(struct sp__jobj *o, const json_t *obj, const char *file, const char *where,
	       struct sp_errinfo *err)
{
	*o = (struct sp__jobj){ .obj = obj, .file = file, .err = err };
	if (!json_is_object(obj)) {
		sp__jfail(o, *where ? where : NULL, "must be an object");
		o->obj = NULL;
	}
	if (*where)
		snprintf(o->where, sizeof(o->where), "%.60s.", where);
}

const json_t *sp__jget(struct sp__jobj *o, const char *field)
{
	if (o->nasked < SP__JFIELDS_MAX)
		o->asked[o->nasked++] = field;
	return o->rc ? NULL : json_object_get(o->obj, field);
}

bool sp__jchild(struct sp__jobj *o, struct sp__jobj *top, const char *field)
{
	const json_t *v = sp__jget(top, field);

	if (!v || top->rc)
		return false;
	sp__jopen(o, v, top->file, field, top->err);
	return true;
}

bool sp__jhas(const struct sp__jobj *o, const char *field)
{
	return json_object_get(o->obj, field);
}

static bool asked(const struct sp__jobj *o, const char *field)
{
	for (unsigned i = 0; i < o->nasked; i++) {
		if (!strcmp(o->asked[i], field))
			return true;
	}
	return false;
}

int sp__jclose(struct sp__jobj *o)
{
	const char *key;
	json_t *value, *obj;

	/* The iterator's type has no const. */
	memcpy(&obj, &o->obj, sizeof(obj));
	if (o->rc)
		return o->rc;
	json_object_foreach(obj, key, value)
	{
		if (!asked(o, key))
			return sp__jfail(o, key, "is not known");
	}
	return 0;
}

double sp__jreal(struct sp__jobj *o, const char *field, double min, double max, double dflt)
{
	const json_t *v = sp__jget(o, field);
	double x;

	if (o->rc)
		return dflt;
	if (!v) {
		if (dflt == SP__JREQUIRED)
			sp__jfail(o, field, "is missing");
		return dflt;
	}
	x = json_number_value(v);
	if (!json_is_number(v))
		sp__jfail(o, field, "must be a number");
	else if (!(x >= min && x <= max))
		sp__jfail(o, field, "%.10g is not between %.10g and %.10g", x, min, max);
	else
		return x;
	return dflt;
}

int64_t sp__jint(struct sp__jobj *o, const char *field, int64_t min, int64_t max, int64_t dflt)
{
	double x = sp__jreal(o, field, (double)min, (double)max, (double)dflt);

	if (o->rc)
		return dflt;
	if (x != floor(x)) {
		sp__jfail(o, field, "%.10g is not a whole number", x);
		return dflt;
	}
	return (int64_t)x;
}

uint64_t sp__jms(struct sp__jobj *o, const char *field, double dflt_ms)
{
	double ms = sp__jreal(o, field, 0, 3.6e6, dflt_ms);

	return ms > 0 ? (uint64_t)llround(ms * 1e6) : 0;
}

bool sp__jbool(struct sp__jobj *o, const char *field)
{
	const json_t *v = sp__jget(o, field);

	if (v && !json_is_boolean(v))
		sp__jfail(o, field, "must be true or false");
	return v && json_is_true(v);
}

const char *sp__jstring(struct sp__jobj *o, const char *field)
{
	const json_t *v = sp__jget(o, field);

	if (v && !json_is_string(v))
		sp__jfail(o, field, "must be a string");
	return v ? json_string_value(v) : NULL;
}

int sp__jword(struct sp__jobj *o, const char *field, const char *const *words, int dflt)
{
	const char *s = sp__jstring(o, field);
	char list[128] = "";

	if (!s)
		return dflt;
	for (int i = 0; words[i]; i++) {
		size_t len = strlen(list);

		if (!strcmp(words[i], s))
			return i;
		snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", words[i]);
	}
	sp__jfail(o, field, "'%.20s' is not one of: %s", s, list);
	return dflt;
}

const json_t *sp__jarray(struct sp__jobj *o, const char *field, size_t min, size_t max)
{
	const json_t *v = sp__jget(o, field);

	if (!v)
		return NULL;
	if (!json_is_array(v))
		sp__jfail(o, field, "must be an array");
	else if (json_array_size(v) < min || json_array_size(v) > max)
		sp__jfail(o, field, "has %zu members, not %zu to %zu", json_array_size(v), min,
			  max);
	return o->rc ? NULL : v;
}

bool sp__jnumber(struct sp__jobj *o, const char *field, size_t i, const json_t *v, double min,
		 double max, double *out)
{
	*out = json_number_value(v);
	if (!json_is_number(v))
		sp__jfail(o, field, "member %zu is not a number, or not an array of numbers", i);
	else if (!(*out >= min && *out <= max))
		sp__jfail(o, field, "member %zu: %.10g is not between %.10g and %.10g", i, *out,
			  min, max);
	return !o->rc;
}

#define ROWS_MAX 10000000

static void read_row(struct sp__jobj *o, const char *field, size_t i, const json_t *v, size_t n,
		     double max, uint64_t *row)
{
	double x;

	for (size_t k = 0; k < n && !o->rc; k++) {
		const json_t *member = json_is_array(v) ? json_array_get(v, k) : v;

		if (sp__jnumber(o, field, i, member, 0, max, &x) && x != floor(x))
			sp__jfail(o, field, "member %zu: %.10g is not a whole number", i, x);
		row[k] = o->rc ? 0 : (uint64_t)x;
	}
}

uint64_t *sp__jrows(struct sp__jobj *o, const char *field, size_t least, size_t most,
		    const char *form, double max, size_t *n)
{
	const json_t *list = sp__jarray(o, field, 0, ROWS_MAX);
	uint64_t *rows;

	*n = json_array_size(list);
	if (!*n)
		return NULL;
	rows = calloc(*n, most * sizeof(*rows));
	if (!rows)
		sp__jnomem(o);
	for (size_t i = 0; i < *n && !o->rc; i++) {
		const json_t *v = json_array_get(list, i);
		size_t given = json_is_array(v) ? json_array_size(v) : 1;

		if (given < least || given > most || (!json_is_array(v) && !json_is_number(v)))
			sp__jfail(o, field, "member %zu is not %s", i, form);
		else
			read_row(o, field, i, v, given, max, &rows[i * most]);
	}
	if (!o->rc)
		return rows;
	free(rows);
	*n = 0;
	return NULL;
}
