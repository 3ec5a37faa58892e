/* SPDX-License-Identifier: MIT */
/*
 * Summarizes the document of any operator in five lines, from the keys that all of them share.
 *
 * Assumptions: a run is limited by processors if they were busy for 80 % of the time of its
 * threads, and by one thread if they were busy for 80 % to 120 % of its duration.
 */
#include <string.h>
#include "base/host.h"
#include "report/doc.h"
#include "report/read.h"

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

	sp__doc_format(key, json_object_get(o, key), text, sizeof(text));
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
	sp__doc_format("rate_bytes", rate, text, sizeof(text));
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
