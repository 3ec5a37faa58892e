/* SPDX-License-Identifier: MIT */
/*
 * Formats any document as text, and summarizes that of any operator.
 *
 * An object becomes a heading with its members below, an array of objects becomes a table.  Units
 * come from the suffixes of keys (_bytes, _s), so a new key needs no code here.
 */
#include <stdlib.h>
#include <string.h>
#include "base/host.h"
#include "report/doc.h"
#include "report/read.h"

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

/* Formats a value for a text; the suffix of its key is its unit. */
static void doc_format(const char *key, const json_t *v, char *buf, size_t bytes)
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
					doc_format(key, value, text, sizeof(text));
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
	doc_format(key, v, text, sizeof(text));
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
	doc_format(key, measured, a, sizeof(a));
	doc_format(key, predicted, b, sizeof(b));
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

/*
 * The summary has five lines, from the keys that the documents of all operators share.
 *
 * Assumptions: a run is limited by processors if they were busy for 80 % of the time of its
 * threads, and by one thread if they were busy for 80 % to 120 % of its duration.
 */
#define BUSY 0.8

struct source {
	const json_t *doc;
	double cpu_s;
	FILE *out;
};

static const json_t *group(const struct source *s, const char *name)
{
	return json_object_get(s->doc, name);
}

/* Writes a member, formatted by its key, between two texts. */
static void put(const struct source *s, const char *before, const json_t *o, const char *key,
		const char *after)
{
	char text[24];

	doc_format(key, json_object_get(o, key), text, sizeof(text));
	fprintf(s->out, "%s%s%s", before, text, after);
}

static void put_data(const struct source *s)
{
	const json_t *r = group(s, "result");
	const bool two = known(r, "records_1");

	if (two) {
		put(s, "", r, "records_1", " and ");
		put(s, "", r, "records_2", " records, ");
		put(s, "", r, "input_1_bytes", " and ");
		put(s, "", r, "input_2_bytes", " in; ");
	} else {
		put(s, "", r, "records", " records, ");
		put(s, "", r, "input_bytes", " in; ");
	}
	put(s, "", r, "output_records", " records, ");
	put(s, "", r, "output_bytes", " out");
}

static void put_time(const struct source *s)
{
	const json_t *r = group(s, "result");
	const double bytes =
		number(r, "input_bytes") + number(r, "input_1_bytes") + number(r, "input_2_bytes");
	const double elapsed = number(r, "elapsed_s");
	json_t *rate = elapsed > 0 ? json_real(bytes / elapsed) : json_null();
	char text[24];

	put(s, "", r, "elapsed_s", group(s, "sim") ? " of virtual time, " : ", ");
	doc_format("rate_bytes", rate, text, sizeof(text));
	fprintf(s->out, "%s of input per second", text);
	json_decref(rate);
}

static void put_spill(const struct source *s)
{
	const json_t *spill = group(s, "spill");

	if (number(spill, "write_bytes") <= 0) {
		fputs("none", s->out);
		return;
	}
	put(s, "", spill, "write_bytes", " written, ");
	put(s, "", spill, "read_bytes", " read, at most ");
	put(s, "", spill, "peak_bytes", " at a time");
}

static void put_memory(const struct source *s)
{
	const json_t *memory = group(s, "memory");

	put(s, "at most ", memory, "peak_bytes", " resident; ");
	put(s, "-S is ", memory, "limit_bytes", " and 16 MiB for the program");
}

static void put_simulated_bound(const struct source *s, const json_t *sim)
{
	const double device = number(sim, "io_time_ns") * 1e-9;
	const double cpu = number(sim, "cpu_time_ns") * 1e-9;

	fprintf(s->out, "the simulated %s: device busy for %.2f s, processor for %.2f s",
		device >= cpu ? "device" : "processor", device, cpu);
}

/* Returns what a run waited for, if its processors were not busy. */
static const char *waiting(const struct source *s)
{
	const json_t *config = group(s, "config"), *io = group(s, "io");
	const json_t *plan = json_object_get(config, "plan");
	const json_t *form = json_array_get(group(s, "phases"), 0);
	const bool forming =
		number(form, "elapsed_s") > number(group(s, "result"), "elapsed_s") / 2;

	if (forming && plan && !known(plan, "input_bytes"))
		return "waiting for the input, probably a pipe";
	if (known(io, "device_read_bytes") &&
	    number(io, "device_read_bytes") + number(io, "device_write_bytes") <= 0)
		return "waiting for a pipe or for other programs";
	return known(config, "output")
		       ? "waiting for the device or for other programs"
		       : "waiting for the device, standard output or other programs";
}

static void put_bound(const struct source *s)
{
	const double elapsed = number(group(s, "result"), "elapsed_s");
	const double threads = known(group(s, "config"), "parallel")
				       ? number(group(s, "config"), "parallel")
				       : sp__host_processors("");
	const double busy = elapsed > 0 ? s->cpu_s / elapsed : 0;
	const char *reason = "processors and waiting";

	if (group(s, "sim")) {
		put_simulated_bound(s, group(s, "sim"));
		return;
	}
	if (busy < BUSY)
		reason = waiting(s);
	else if (threads > 1 && busy < 2 - BUSY)
		reason = "one thread at a time";
	else if (busy >= BUSY * threads)
		reason = "processors";
	fprintf(s->out, "%s: %.2f s of %.0f processor%s in %.2f s", reason, s->cpu_s, threads,
		threads > 1 ? "s" : "", elapsed);
}

int sp_report_summary(const struct sp_report *report, double cpu_s, FILE *out)
{
	static const struct {
		const char *label;
		void (*put)(const struct source *s);
	} lines[] = { { "data", put_data },
		      { "time", put_time },
		      { "temporary data", put_spill },
		      { "memory", put_memory },
		      { "limited by", put_bound } };
	json_t *doc = sp__doc_printable(report);
	struct source s = { doc, cpu_s, out };

	if (!doc)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fprintf(out, "%-15s ", lines[i].label);
		lines[i].put(&s);
		putc('\n', out);
	}
	json_decref(doc);
	return ferror(out) || fflush(out) ? -EIO : 0;
}
