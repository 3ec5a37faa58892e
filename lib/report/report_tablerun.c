/* SPDX-License-Identifier: MIT */
/*
 * Builds the document of a run of clients on tables.
 */
#include <spindle/tablerun.h>
#include "report/report_run.h"

#define LATENCIES(of)                                                                              \
	FIELD(of, "transactions", COUNT, latencies.transactions,                                   \
	      "transactions that ended while the run was measured"),                               \
		FIELD(of, "transactions_per_s", REAL, latencies.per_s, "these per second"),        \
		FIELD(of, "latency_mean_ns", REAL, latencies.mean_ns,                              \
		      "mean duration of a transaction; null: none ended"),                         \
		FIELD(of, "latency_min_ns", COUNT, latencies.min_ns, "lowest duration"),           \
		FIELD(of, "latency_p50_ns", COUNT, latencies.p50_ns, "median duration"),           \
		FIELD(of, "latency_p90_ns", COUNT, latencies.p90_ns, "90th percentile"),           \
		FIELD(of, "latency_p99_ns", COUNT, latencies.p99_ns, "99th percentile"),           \
		FIELD(of, "latency_p999_ns", COUNT, latencies.p999_ns, "99.9th percentile"),       \
		FIELD(of, "latency_max_ns", COUNT, latencies.max_ns, "highest duration")

static const struct sp_report_field line_fields[] = {
	MEMBER(table_run_line, STRING, text, "the steps of the transaction"),
	MEMBER(table_run_line, REAL, weight, "its weight"),
	LATENCIES(table_run_line),
	{ 0 },
};

static const struct sp_report_field kind_fields[] = {
	MEMBER(table_run_kind, COUNT, clients, "clients of this kind"),
	MEMBER(table_run_kind, COUNT, think_ns, "time between two transactions of a client"),
	LATENCIES(table_run_kind),
	FIELD(table_run_kind, "starved", COUNT, nstarved, "clients that ended no transaction"),
	ELEMENTS(table_run_kind, "lines", LIST, lines, nlines, line_fields,
		 "the transactions that they make"),
	{ 0 },
};

static const struct sp_report_field config_fields[] = {
	FIELD(table_run_opts, "volume", STRING, run.volume, "simulated volume; null: none given"),
	FIELD(table_run_opts, "seed", COUNT, run.seed, "seed of all random choices"),
	FIELD(table_run_opts, "runtime_s", SECONDS, runtime_ns, "time to measure"),
	FIELD(table_run_opts, "ramp_s", SECONDS, ramp_ns, "time before it"),
	MEMBER(table_run_opts, COUNT, changed_bytes,
	       "changed cells that stay in memory; 0: changes are made through the journal"),
	{ 0 },
};

static const struct sp_report_field result_fields[] = {
	RESULT(table_run_result, REAL, measured_s, "time that was measured"),
	RESULT(table_run_result, BOOL, stopped, "true if the run was ended early"),
	RESULT(table_run_result, COUNT, requests, "reads and writes of that time"),
	RESULT(table_run_result, COUNT, request_bytes, "bytes of these requests"),
	FIELD(table_run_result, "result.elapsed_s", REAL, stats.run.elapsed_s,
	      "duration of the whole run"),
	FIELD(table_run_result, "result.records_read", COUNT, stats.records_read,
	      "records read by scans, gets and updates in the whole run"),
	FIELD(table_run_result, "result.records_written", COUNT, stats.records_written,
	      "records inserted, changed or deleted in the whole run"),
	ELEMENTS(table_run_result, "kinds", LIST, kinds, nkinds, kind_fields,
		 "one object for each kind of client"),
	{ 0 },
};

const struct sp_report_field sp__table_run_document[] = {
	GROUP("config", OBJECT, config_fields, "the run"),
	INCLUDE(sp__used_fields),
	INCLUDE(sp__pool_fields),
	INCLUDE(result_fields),
	{ 0 },
};

struct sp_report *sp_report_table_run(const struct sp_table_run_opts *opts,
				      const struct sp_table_run_result *result)
{
	struct sp__doc doc = sp__report_new(SP__DOC_TABLE_RUN);

	sp__doc_fields(sp__doc_object(doc, "config"), config_fields, opts);
	sp__report_used(doc, &result->stats.run);
	sp__doc_fields(doc, sp__pool_fields, &result->stats);
	sp__doc_fields(doc, result_fields, result);
	return sp__report_done(doc);
}
