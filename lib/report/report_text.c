/* SPDX-License-Identifier: MIT */
/*
 * Formats any document as text.
 *
 * An object becomes a heading with its members below, an array of objects becomes a table.  Units
 * come from the suffixes of keys (_bytes, _s), so a new key needs no code here.
 */
#include <stdlib.h>
#include <string.h>
#include "report/doc.h"

#define INDENT 2
#define LABEL_WIDTH 26
#define CELL 24
#define COLUMNS 16

static bool ends(const char *key, const char *suffix)
{
	size_t n = strlen(key), m = strlen(suffix);

	return n > m && !strcmp(key + n - m, suffix);
}

/* Writes the key as words, without its unit. */
static void label(const char *key, char *buf, size_t bytes)
{
	static const char *const units[] = { "_bytes", "_s", "_count" };
	size_t n = strlen(key), i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ends(key, units[i])) {
			n -= strlen(units[i]);
			break;
		}
	if (n >= bytes)
		n = bytes - 1;
	for (i = 0; i < n; i++)
		buf[i] = key[i] == '_' ? ' ' : key[i];
	buf[n] = '\0';
}

static void format_bytes(double v, char *buf, size_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t u = 0;

	while (v >= 1024 && u + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		u++;
	}
	snprintf(buf, bytes, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void format_seconds(double v, char *buf, size_t bytes)
{
	if (v != 0 && v < 0.1)
		snprintf(buf, bytes, "%.3f ms", v * 1e3);
	else
		snprintf(buf, bytes, "%.2f s", v);
}

void sp__doc_format(const char *key, const json_t *v, char *buf, size_t bytes)
{
	if (!v || json_is_null(v))
		snprintf(buf, bytes, "-");
	else if (json_is_string(v))
		snprintf(buf, bytes, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		snprintf(buf, bytes, "%s", json_is_true(v) ? "yes" : "no");
	else if (ends(key, "_bytes") || ends(key, "_bytes_mean"))
		format_bytes(json_number_value(v), buf, bytes);
	else if (ends(key, "_s"))
		format_seconds(json_number_value(v), buf, bytes);
	else if (json_is_integer(v))
		snprintf(buf, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		snprintf(buf, bytes, "%.*f", json_real_value(v) < 0.1 ? 4 : 1, json_real_value(v));
}

/* Measures a cell in round 0, writes it in round 1; left: aligned to the left. */
static void cell(FILE *out, const char *text, int *width, int round, bool left)
{
	int len = (int)strlen(text);

	if (!round) {
		if (len > *width)
			*width = len;
	} else {
		fprintf(out, "%*s%*s", INDENT, "", left ? -*width : *width, text);
	}
}

/* Writes rows with equal keys; a column is as wide as its widest cell. */
static void table(json_t *rows, FILE *out)
{
	int width[COLUMNS] = { 0 }, line, c;
	char text[CELL];
	size_t count = json_array_size(rows);
	const char *key;
	json_t *value;

	/* Line -1 is the heading; the first round measures. */
	for (int round = 0; round < 2; round++) {
		for (line = -1; line < (int)count; line++) {
			c = 0;
			json_object_foreach(json_array_get(rows, line < 0 ? 0 : (size_t)line), key,
					    value)
			{
				if (line < 0)
					label(key, text, sizeof(text));
				else
					sp__doc_format(key, value, text, sizeof(text));
				cell(out, text, &width[c++ % COLUMNS], round,
				     json_is_string(value));
			}
			if (round)
				putc('\n', out);
		}
	}
}

static bool is_table(const json_t *v)
{
	return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

static void member(const char *key, const json_t *v, FILE *out, int width)
{
	char name[LABEL_WIDTH], text[512];
	int room = width - INDENT - LABEL_WIDTH;

	label(key, name, sizeof(name));
	if (json_is_array(v))
		v = json_array_get(v, 0);
	sp__doc_format(key, v, text, sizeof(text));
	fprintf(out, "%*s%-*s%.*s\n", INDENT, "", LABEL_WIDTH, name, room > 8 ? room : 8, text);
}

/* Writes "measured (predicted ...)" on one line. */
static bool pair(const char *key, const json_t *v, FILE *out)
{
	const json_t *measured = json_object_get(v, "measured");
	const json_t *predicted = json_object_get(v, "predicted");
	char name[LABEL_WIDTH], a[CELL], b[CELL];

	if (!measured || !predicted)
		return false;
	label(key, name, sizeof(name));
	sp__doc_format(key, measured, a, sizeof(a));
	sp__doc_format(key, predicted, b, sizeof(b));
	fprintf(out, "%*s%-*s%s (predicted %s)\n", INDENT, "", LABEL_WIDTH, name, a, b);
	return true;
}

static void object(const char *title, json_t *object_, FILE *out, int width)
{
	char name[LABEL_WIDTH];
	const char *key;
	json_t *v;

	label(title, name, sizeof(name));
	fprintf(out, "%s\n", name);
	json_object_foreach(object_, key, v) if (!json_is_object(v) && !is_table(v))
		member(key, v, out, width);
	json_object_foreach(object_, key, v)
	{
		if (is_table(v)) {
			fprintf(out, "%s\n", key);
			table(v, out);
		} else if (json_is_object(v) && !pair(key, v, out)) {
			object(key, v, out, width);
		}
	}
}

int sp_report_text(const struct sp_report *report, FILE *out, int width)
{
	json_t *doc = sp__doc_printable(report), *v;
	const char *key;

	if (!doc)
		return -ENOMEM;
	if (width <= 0)
		width = 80;
	json_object_foreach(doc, key, v)
	{
		if (json_is_object(v)) {
			object(key, v, out, width);
		} else if (is_table(v)) {
			fprintf(out, "%s\n", key);
			table(v, out);
		}
	}
	json_decref(doc);
	return ferror(out) || fflush(out) ? -EIO : 0;
}
