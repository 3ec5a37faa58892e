/* SPDX-License-Identifier: MIT */
/*
 * Formats policies as text: the gain and the cost of each, then the distribution of outstanding
 * requests.
 */
#include <string.h>
#include "report/report_bench.h"
#include "report/read.h"

/* First number of outstanding requests of each column. */
static const unsigned columns[] = { 0, 1, 2, 3, 5, 9, 17, 33, 65 };
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Returns the class of critical reads, or NULL. */
static const json_t *critical(const json_t *run)
{
	const json_t *first = json_array_get(json_object_get(run, "classes"), 0);

	return strcmp(word(first, "name"), "critical") ? NULL : first;
}

static void name(const json_t *run, FILE *out)
{
	fprintf(out, "%-7s %-13s %-5s", word(run, "load"), word(run, "submission"),
		truth(run, "priorities") ? "yes" : "no");
}

static void line(const json_t *run, FILE *out)
{
	const json_t *result = json_object_get(run, "result"), *c = critical(run);
	char mean[16], p99[16];

	name(run, out);
	fprintf(out, " %9.0f %8.2f %6.1f %8.1f", number(run, "pages_per_s"),
		number(run, "page_bandwidth_bytes_per_s") / 1e6, number(run, "idle_share") * 100,
		number(result, "depth_mean"));
	fprintf(out, " %9s %9s%s\n", c ? duration(c, "latency_mean_ns", mean) : "-",
		c ? duration(c, "latency_p99_ns", p99) : "-",
		truth(result, "stopped") ? "  (stopped)" : "");
}

static void distribution(const json_t *run, FILE *out)
{
	const json_t *row,
		*all = json_object_get(json_object_get(run, "result"), "depth_histogram");
	double share[COLUMNS] = { 0 };
	size_t i, k;

	for (i = 0; (row = json_array_get(all, i)); i++) {
		for (k = COLUMNS - 1; number(row, "depth") < columns[k];)
			k--;
		share[k] += number(row, "share");
	}
	name(run, out);
	for (k = 0; k < COLUMNS; k++)
		fprintf(out, " %6.1f", share[k] * 100);
	fputc('\n', out);
}

static void heads(FILE *out)
{
	fprintf(out, "%-7s %-13s %-5s", "", "", "");
	for (size_t k = 0; k < COLUMNS; k++) {
		char text[16];

		if (k + 1 == COLUMNS)
			snprintf(text, sizeof(text), "%u-", columns[k]);
		else if (columns[k + 1] == columns[k] + 1)
			snprintf(text, sizeof(text), "%u", columns[k]);
		else
			snprintf(text, sizeof(text), "%u-%u", columns[k], columns[k + 1] - 1);
		fprintf(out, " %6s", text);
	}
	fputc('\n', out);
}

static bool failed(const json_t *runs)
{
	const json_t *row;

	for (size_t i = 0; (row = json_array_get(runs, i)); i++)
		if (json_array_size(json_object_get(row, "errors")))
			return true;
	return false;
}

void sp__report_policy_text(const json_t *doc, FILE *out)
{
	const json_t *config = json_object_get(doc, "config");
	const json_t *runs = json_object_get(doc, "runs"), *row;
	const json_t *result = json_object_get(json_array_get(runs, 0), "result");
	size_t i;

	if (!result)
		return;
	fputs(word(config, "target"), out);
	sp__report_head(config, result, out);
	fprintf(out, "pages of %.0f bytes, a table of %.1f MB%s\n", number(config, "page_bytes"),
		number(json_array_get(runs, 0), "table_bytes") / 1e6,
		truth(result, "simulated") ? ", virtual time" : "");
	fprintf(out, "%-7s %-13s %-5s %9s %8s %6s %8s %9s %9s\n", "", "", "", "", "", "", "mean",
		"critical", "reads");
	fprintf(out, "%-7s %-13s %-5s %9s %8s %6s %8s %9s %9s\n", "load", "submission", "prio",
		"pages/s", "MB/s", "idle %", "outst.", "mean", "p99");
	for (i = 0; (row = json_array_get(runs, i)); i++)
		line(row, out);
	fputs("\nshare of the time (%) by number of requests outstanding\n", out);
	heads(out);
	for (i = 0; (row = json_array_get(runs, i)); i++)
		distribution(row, out);
	if (failed(runs))
		fputs("\nrequests failed: the report of --stats says which\n", out);
}
