/* SPDX-License-Identifier: MIT */
/*
 * The keys of a sort's report are a contract: tests/golden/report.keys.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <math.h>
#include <spindle/report.h>
#include "tap.h"

static char *render(const struct sp_report *report, int (*how)(const struct sp_report *, FILE *))
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (how(report, f))
		ok(false, "a report can be written to memory");
	fclose(f);
	return text;
}

static int as_text(const struct sp_report *report, FILE *f)
{
	return sp_report_text(report, f, 80);
}

static int as_summary(const struct sp_report *report, FILE *f)
{
	return sp_report_summary(report, 1.9, f);
}

static void shown(void)
{
	char text[16];

	ok(sp_printable(NULL, 0, "a\033\\", 0) == 7, "a text is measured without a buffer");
	ok(sp_printable(text, sizeof(text), "a\n\033\\b", 0) == 10 &&
		   !strcmp(text, "a\\n\\033\\\\b"),
	   "control characters become escapes, and a backslash two");
	ok(sp_printable(text, 6, "ab\033c", SP_PRINTABLE_ESCAPED) == 7 && !strcmp(text, "ab"),
	   "no escape is cut in two");
	sp_printable(text, sizeof(text), "\xc3\xa4\xc2\x9b\xe2\x82", SP_PRINTABLE_UTF8);
	ok(!strcmp(text, "\xc3\xa4\\302\\233\\342"), "UTF-8 stays, without its control characters");
}

/* Every path to a value that is not an object; members of arrays as []. */
static void paths(const char *prefix, json_t *v, FILE *out)
{
	char path[256];
	const char *key;
	json_t *member;

	if (json_is_array(v)) {
		snprintf(path, sizeof(path), "%s[]", prefix);
		paths(path, json_array_get(v, 0), out);
		return;
	}
	if (!json_is_object(v)) {
		fprintf(out, "%s\n", prefix);
		return;
	}
	json_object_foreach(v, key, member)
	{
		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key);
		paths(path, member, out);
	}
}

static char *key_list(const char *json)
{
	json_t *doc = json_loads(json, 0, NULL);
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	paths("", doc, f);
	fclose(f);
	json_decref(doc);
	return text;
}

/* Keys of a sort on real files: all of the list but the simulated machine's. */
static char *golden_keys(void)
{
	static const char head[] = "[spindle.sort/1] ";
	char *text = NULL, line[256];
	size_t bytes;
	FILE *f = fopen("tests/golden/report.keys", "r"), *out = open_memstream(&text, &bytes);

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, head, strlen(head)) != 0 || strstr(line, " sim?"))
			continue;
		for (const char *c = line + strlen(head); *c; c++)
			if (*c != '?')
				putc(*c, out);
	}
	if (f)
		fclose(f);
	fclose(out);
	return text;
}

static const char *const dirs[] = { "/var/tmp", "\xff" };
static const char *const inputs[] = { "-" };
static const struct sp_sort_io io = { .inputs = inputs, .ninputs = 1, .header_records = 3 };

static struct sp_sort_stats some_stats(void)
{
	struct sp_sort_stats s = { .records = 12, .input_bytes = 1200, .runs = 4 };

	s.plan.runs = 5;
	s.plan.readahead = SP_READ_CLUSTER;
	s.plan.recycle = 2;
	s.replan.runs = 4;
	s.replan.readahead = SP_READ_CLUSTER;
	s.replan.strategy[SP_READ_CLUSTER].feasible = true;
	s.replan.strategy[SP_READ_CLUSTER].cluster_reads = 7.5;
	s.plan.strategy[SP_READ_NONE].seconds = NAN;
	s.spilled_runs = 4;
	s.run.spill_write_bytes = 1200;
	s.prediction = (struct sp_prediction){
		.transfer_s_per_mib = 0.0005, .early_s = 1.75, .seconds = 1.5, .revised_s = 1.25
	};
	s.cluster_reads = 9;
	s.run.device_read_bytes = -1;
	sp_no_effects_add(&s.run.no_effects, "--seed", "nothing is random");
	return s;
}

static json_t *at(json_t *doc, const char *a, const char *b)
{
	return json_object_get(json_object_get(doc, a), b);
}

static void document(void)
{
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	struct sp_sort_stats stats = some_stats();
	struct sp_report *report, *several;
	char *json, *keys, *golden, *text;
	json_t *doc, *pair;

	opts.run.tmpdirs = dirs;
	opts.run.ntmpdirs = 2;
	report = sp_report_sort(&opts, &io, &stats);
	text = render(report, as_summary);
	ok(!strncmp(text, "data            12 records, 1.2 KiB in; 0 records, 0 bytes out\n", 63) &&
		   strstr(text, "\nlimited by "),
	   "the summary begins with the data and ends with the limit");
	free(text);
	json = render(report, sp_report_json);
	keys = key_list(json);
	golden = golden_keys();
	ok(!strcmp(keys, golden), "the keys of a sort's report are those of the golden list");
	if (strcmp(keys, golden))
		diag("keys now:\n%s", keys);
	doc = json_loads(json, 0, NULL);
	ok(doc && json[strlen(json) - 1] == '\n', "it is JSON that ends with a newline");
	ok(!strcmp(json_string_value(json_object_get(doc, "schema")), "spindle.sort/1"),
	   "it names its schema");
	ok(json_is_null(at(doc, "io", "device_read_bytes")), "an unknown value is null");
	ok(json_is_null(at(doc, "spill", "extents_count")),
	   "regions of spilled data that could not be counted are null");
	pair = at(doc, "comparison", "cluster_reads");
	ok(json_real_value(json_object_get(pair, "predicted")) == 7.5 &&
		   json_integer_value(json_object_get(pair, "measured")) == 9,
	   "predicted cluster reads are next to the measured ones");
	stats.merges = 3;
	stats.plan.cluster_reads = 21;
	several = sp_report_sort(&opts, &io, &stats);
	text = render(several, as_text);
	ok(strstr(text, "9 (predicted 21") != NULL,
	   "cluster reads of several merges are the plan's");
	free(text);
	sp_report_free(several);
	text = render(report, as_text);
	ok(strstr(text, "9 (predicted 7.5") != NULL, "the text form says the same");
	json_decref(doc);
	free(text);
	free(golden);
	free(keys);
	free(json);
	sp_report_free(report);
}

static void plan(void)
{
	struct sp_sort_stats stats = some_stats();
	struct sp_report *report = sp_report_sort_plan(&stats.plan);
	char *text = render(report, as_text), *json = render(report, sp_report_json), *line;
	size_t longest = 0;

	ok(strstr(json, "spindle.sort-plan/1") && strstr(json, "\"recycle\": 2"),
	   "a plan has its own schema");
	ok(!strstr(json, "nan") && !strstr(json, "NaN"), "a number that is none is null");
	for (line = text; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > longest)
			longest = strcspn(line, "\n");
	ok(longest <= 80, "the text form keeps to the width");
	ok(strstr(text, "extended") && strstr(text, "cluster"), "every strategy is in the text");
	free(json);
	free(text);
	sp_report_free(report);
}

struct part {
	uint32_t count;
	uint64_t known, time_ns;
	double real, positive, duration_ns;
	bool yes;
};

struct all {
	struct part whole;
	size_t n;
	struct part array[3];
	const struct part *list;
	int64_t unknown;
	char text[8], empty[8];
	const char *string, *none;
	int recycle, level;
	uint16_t prio;
};

static const struct sp_report_field part_fields[] = {
	SP_REPORT_FIELD(struct part, "c", COUNT, count, "a value"),
	SP_REPORT_FIELD(struct part, "k", KNOWN, known, "a value"),
	SP_REPORT_FIELD(struct part, "t", SECONDS, time_ns, "a value"),
	SP_REPORT_FIELD(struct part, "r", REAL, real, "a value"),
	SP_REPORT_FIELD(struct part, "p", POSITIVE, positive, "a value"),
	SP_REPORT_FIELD(struct part, "d", DURATION, duration_ns, "a value"),
	SP_REPORT_FIELD(struct part, "pd", POSITIVE_DURATION, duration_ns, "a value"),
	SP_REPORT_FIELD(struct part, "y", BOOL, yes, "a value"),
	{ 0 },
};

static const struct sp_report_field all_fields[] = {
	SP_REPORT_FIELD(struct all, "in.text", TEXT, text, "a value"),
	SP_REPORT_FIELD(struct all, "in.empty", TEXT, empty, "a value"),
	SP_REPORT_FIELD(struct all, "in", OBJECT, whole, "a value", .fields = part_fields),
	SP_REPORT_FIELD(struct all, NULL, OBJECT, whole, NULL, .fields = part_fields),
	SP_REPORT_FIELD(struct all, "in.s", STRING, string, "a value"),
	SP_REPORT_FIELD(struct all, "none", STRING, none, "a value"),
	SP_REPORT_FIELD(struct all, "unknown", SIGNED, unknown, "a value"),
	SP_REPORT_FIELD(struct all, "word", WORD, recycle, "a value", .name = sp_recycle_name),
	SP_REPORT_FIELD(struct all, "level", LEVEL, level, "a value", .values = sp_recycle_values),
	{ .key = "not written", .type = SP_REPORT_GROUP, .as = SP_REPORT_OBJECT },
	SP_REPORT_FIELD(struct all, "prio", PRIO, prio, "a value"),
	{ .key = "array",
	  .type = SP_REPORT_ARRAY,
	  .offset = offsetof(struct all, array),
	  .bytes = sizeof(struct part),
	  .count = offsetof(struct all, n),
	  .fields = part_fields },
	{ .key = "list",
	  .type = SP_REPORT_LIST,
	  .offset = offsetof(struct all, list),
	  .bytes = sizeof(struct part),
	  .count = offsetof(struct all, n),
	  .fields = part_fields },
	{ .key = "later", .type = SP_REPORT_NULL },
	{ 0 },
};

/* Every type of member. */
static void table(void)
{
	static const char part1[] = "\"c\":1,\"k\":2,\"t\":1.5,\"r\":null,\"p\":0.5,\"d\":0.0,"
				    "\"pd\":null,\"y\":true";
	static const char part2[] = "\"c\":0,\"k\":null,\"t\":0.0,\"r\":0.0,\"p\":null,\"d\":2.0,"
				    "\"pd\":2.0,\"y\":false";
	const struct part parts[] = { { 1, 2, 1500000000, NAN, 0.5, 0, true },
				      { .duration_ns = 2e9 } };
	const struct sp_run_stats run = { .elapsed_s = 3 };
	const struct all all = { .whole = parts[0],
				 .n = 2,
				 .array = { parts[0], parts[1] },
				 .list = parts,
				 .unknown = -1,
				 .text = "text",
				 .string = "\xff",
				 .recycle = SP_RECYCLE_NONE,
				 .level = 2,
				 .prio = SP_BENCH_PRIO(SP_BENCH_BE, 2) };
	struct sp_report *report = sp_report_run("x/1", "x", all_fields, &all, &run);
	char *json = render(report, sp_report_json), *result, want[1024];
	json_t *doc = json_loads(json, 0, NULL);

	snprintf(want, sizeof(want),
		 "{\"in\":{\"text\":\"text\",\"empty\":null,%s,\"s\":\"\\\\377\"},%s,\"none\":null,"
		 "\"unknown\":null,\"word\":\"none\",\"level\":2,\"prio\":\"be/"
		 "2\",\"array\":[{%s},{%s}],"
		 "\"list\":[{%s},{%s}],\"later\":null,\"elapsed_s\":3.0,\"no_effect\":[]}",
		 part1, part1, part1, part2, part1, part2);
	result = json_dumps(json_object_get(doc, "result"), JSON_COMPACT);
	ok(!strcmp(result, want), "a table says how every member is reported, in its order");
	if (strcmp(result, want))
		diag("%s\n%s", result, want);
	free(result);
	json_decref(doc);
	free(json);
	sp_report_free(report);
}

int main(void)
{
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	struct sp_sort_stats stats = some_stats();
	struct sp_report *report = sp_report_sort(&opts, &io, &stats);
	FILE *full = fopen("/dev/full", "w");

	shown();
	document();
	plan();
	table();
	ok(sp_report_json(report, full) < 0, "a full device is an error");
	fclose(full);
	sp_report_free(report);
	sp_report_free(NULL);
	return done();
}
