/* SPDX-License-Identifier: MIT */
/*
 * Builds the document of several policies on one target, and its text: the gain and the cost of
 * each, then the distribution of outstanding requests.
 */
#include <math.h>
#include <string.h>
#include "report/read.h"
#include "report/doc.h"

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

static const struct sp_report_field target_fields[] = {
	LATER("target", TEXT, "target"),
	LATER("engine", TEXT, "requested I/O engine"),
	LATER("direct", BOOL, "true if the page cache is bypassed"),
	MEMBER(bench_opts, BOOL, fixed_buffers,
	       "true if buffers are to be registered with the kernel"),
	MEMBER(bench_opts, BOOL, register_files,
	       "true if files are to be registered with the kernel"),
	MEMBER(bench_opts, COUNT, depth, "maximum number of outstanding requests"),
	LATER("runtime_s", REAL, "duration of a run; null: until all passes are done"),
	FIELD(bench_opts, "ramp_s", SECONDS, ramp_ns, "time before the measurement"),
	MEMBER(bench_opts, COUNT, offset_bytes, "begin of the used part of the target"),
	MEMBER(bench_opts, COUNT, seed, "seed of all random choices"),
	{ 0 },
};

static const struct sp_report_field config_fields[] = {
	MEMBER(policy_opts, PRIO, high_prio, "I/O priority of high requests"),
	MEMBER(policy_opts, PRIO, low_prio, "I/O priority of low requests"),
	MEMBER(policy_opts, COUNT, page_bytes, "size of a page"),
	MEMBER(policy_opts, COUNT, extent_pages, "pages of an extent"),
	MEMBER(policy_opts, COUNT, ahead,
	       "extents requested ahead by an aggressive scan or update"),
	MEMBER(policy_opts, COUNT, clients, "concurrent range queries"),
	MEMBER(policy_opts, COUNT, query_pages, "pages of a range query"),
	MEMBER(policy_opts, COUNT, batch, "pages requested together by an aggressive range query"),
	MEMBER(policy_opts, REAL, buffer, "buffer of an update as a share of the table"),
	MEMBER(policy_opts, COUNT, steal, "pages written when no frame is free"),
	MEMBER(policy_opts, COUNT, flow, "outstanding writes of an aggressive update"),
	FIELD(policy_opts, "preflush_s", SECONDS, preflush_ns,
	      "interval of inspection of an adaptive update"),
	MEMBER(policy_opts, WORD, victims, "choice of the pages written when no frame is free",
	       .values = sp_policy_victims_values),
	MEMBER(policy_opts, WORD, frames_needed, "free frames needed before a request",
	       .values = sp_policy_frames_values),
	MEMBER(policy_opts, COUNT, threads,
	       "threads of each kind of request; 0: asynchronous requests"),
	MEMBER(policy_opts, COUNT, extent_threshold,
	       "pages of an extent beyond which it is requested as a whole; 0: never"),
	MEMBER(policy_opts, KNOWN, table_bytes,
	       "requested size of the table; null: all of the target"),
	MEMBER(policy_opts, COUNT, log_bytes, "bytes of the log per changed page; 0: no log"),
	FIELD(policy_opts, "compute_s", SECONDS, compute_ns, "time that a query works on a page"),
	FIELD(policy_opts, "critical_rate_iops", REAL, critical_rate,
	      "critical reads per second; 0: none"),
	MEMBER(policy_opts, KNOWN, passes,
	       "passes or queries after which a run ends; null: the duration"),
	{ 0 },
};

static void put_config(struct sp__doc c, const struct sp_bench_opts *t,
		       const struct sp_policy_opts *o)
{
	sp__doc_fields(c, target_fields, t);
	sp__doc_text(c, "target", t->targets[0]);
	sp__doc_text(c, "engine", t->engine ? t->engine : "auto");
	sp__doc_bool(c, "direct", !t->buffered);
	sp__doc_real(c, "runtime_s", t->runtime_ns ? (double)t->runtime_ns / 1e9 : NAN);
	sp__doc_fields(c, config_fields, o);
}

static const struct sp_report_field run_fields[] = {
	FIELD(policy_result, "load", WORD, opts.load, "load", .values = sp_policy_load_values),
	FIELD(policy_result, "submission", WORD, opts.submission, "submission of requests",
	      .values = sp_policy_submission_values),
	FIELD(policy_result, "priorities", BOOL, opts.priorities,
	      "true if requests have priorities"),
	MEMBER(policy_result, COUNT, table_bytes, "size of the table"),
	MEMBER(policy_result, COUNT, pages, "pages processed"),
	MEMBER(policy_result, COUNT, queries, "range queries completed"),
	MEMBER(policy_result, REAL, pages_per_s, "pages per second"),
	FIELD(policy_result, "page_bandwidth_bytes_per_s", REAL, bandwidth_bytes_per_s,
	      "bytes of pages per second"),
	FIELD(policy_result, "idle_share", REAL, idle,
	      "share of the time without outstanding requests"),
	{ 0 },
};

static const struct sp_report_field policy_fields[] = {
	INCLUDE(run_fields),
	INCLUDE(sp__bench_result_fields),
	{ 0 },
};

const struct sp_report_field sp__policy_document[] = {
	GROUP("config", OBJECT, target_fields, "options in effect"),
	GROUP("config", OBJECT, config_fields, NULL),
	GROUP("runs", LIST, policy_fields, "one object for each policy, in the order of execution"),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

struct sp_report *sp_report_policy(const struct sp_bench_opts *target,
				   const struct sp_policy *const *policies, size_t n)
{
	struct sp__doc doc = sp__report_new(SP__DOC_POLICY);
	json_t *runs;

	if (n)
		put_config(sp__doc_object(doc, "config"), target,
			   &sp_policy_result(policies[0])->opts);
	runs = sp__doc_array(doc, "runs");
	for (size_t i = 0; i < n; i++) {
		const struct sp_policy_result *r = sp_policy_result(policies[i]);
		struct sp__doc row = sp__doc_element(doc, runs);

		sp__doc_fields(row, run_fields, r);
		sp__report_bench_result(row, r->bench);
	}
	return sp__report_done(doc);
}
