/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of sets of measurements.
 */
#include <math.h>
#include "report/report_bench.h"

static const struct sp_report_field stats_fields[] = {
	FIELD(benchset_stats, "requests", COUNT, requests, "completed requests"),
	FIELD(benchset_stats, "bytes", COUNT, bytes, "bytes of the completed requests"),
	FIELD(benchset_stats, "errors", COUNT, errors, "requests that failed"),
	FIELD(benchset_stats, "iops", REAL, iops.value,
	      "mean of the completed requests per second"),
	FIELD(benchset_stats, "iops_low", REAL, iops.low, "lower end of the interval of iops"),
	FIELD(benchset_stats, "iops_high", REAL, iops.high, "upper end of the interval of iops"),
	FIELD(benchset_stats, "bandwidth_bytes_per_s", REAL, bandwidth_bytes_per_s,
	      "bytes of completed requests per second"),
	FIELD(benchset_stats, "latency_mean_ns", REAL, latency_mean_ns.value, "mean latency"),
	FIELD(benchset_stats, "latency_mean_low_ns", REAL, latency_mean_ns.low,
	      "lower end of the interval of the mean latency"),
	FIELD(benchset_stats, "latency_mean_high_ns", REAL, latency_mean_ns.high,
	      "upper end of the interval of the mean latency"),
	FIELD(benchset_stats, "wait_mean_ns", REAL, wait_mean_ns,
	      "mean latency; a slice without a completion counts with the age of its oldest "
	      "request"),
	FIELD(benchset_stats, "unanswered", COUNT, unanswered, "slices without a completion"),
	FIELD(benchset_stats, "latency_p50_ns", KNOWN, latency_p50_ns, "median latency"),
	FIELD(benchset_stats, "latency_p99_ns", KNOWN, latency_p99_ns,
	      "99th percentile of the latency"),
	FIELD(benchset_stats, "latency_p999_ns", KNOWN, latency_p999_ns,
	      "99.9th percentile of the latency"),
	FIELD(benchset_stats, "longest_wait_ns", COUNT, longest_wait_ns,
	      "highest latency, unfinished requests included"),
	FIELD(benchset_stats, "longest_gap_ns", COUNT, longest_gap_ns,
	      "longest time without a completion while a request was outstanding"),
	FIELD(benchset_stats, "starved", BOOL, starved, "true if the class starved in a slice"),
	{ 0 },
};

static const struct sp_report_field class_fields[] = {
	FIELD(benchset_stats, "name", STRING, name, "name of the class"),
	FIELD(benchset_stats, "prio", PRIO, prio, "I/O priority in effect"),
	INCLUDE(stats_fields),
	{ 0 },
};

static const struct sp_report_field ratio_fields[] = {
	FIELD(benchset_estimate, "ratio", REAL, value, "ratio; null: unknown"),
	FIELD(benchset_estimate, "ratio_low", REAL, low, "lower end of the interval of the ratio"),
	FIELD(benchset_estimate, "ratio_high", REAL, high,
	      "upper end of the interval of the ratio"),
	{ 0 },
};

static const struct sp_report_field point_fields[] = {
	FIELD(benchset_point, "name", STRING, name, "name of scans; null: another kind"),
	FIELD(benchset_point, "depth", COUNT, depth, "outstanding requests"),
	FIELD(benchset_point, "share", REAL, share,
	      "share of requests of high priority; null: none"),
	FIELD(benchset_point, "slices", COUNT, slices, "number of slices"),
	FIELD(benchset_point, "elapsed_s", REAL, elapsed_s, "duration of all slices"),
	FIELD(benchset_point, NULL, OBJECT, total, NULL, .fields = stats_fields),
	FIELD(benchset_point, "cpu_us_per_request", REAL, cpu_us_per_request,
	      "processor time of the process per request"),
	FIELD(benchset_point, NULL, OBJECT, ratio, NULL, .fields = ratio_fields),
	ELEMENTS(benchset_point, "classes", LIST, classes, nclasses, class_fields,
		 "results of each class", .optional = true),
	{ 0 },
};

static const struct sp_report_field errors[] = {
	ELEMENTS(benchset_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields,
		 "failed requests by kind", .optional = true),
	{ 0 },
};

/* Adds the points; omits those that were not reached. */
static void put_points(struct sp__doc doc, const struct sp_benchset_result *r)
{
	json_t *points = sp__doc_array(doc, "points");

	for (size_t i = 0; i < r->npoints; i++)
		if (r->points[i].slices)
			sp__doc_fields(sp__doc_element(doc, points), point_fields, &r->points[i]);
	sp__doc_fields(doc, errors, r);
}

static const struct sp_report_field result_fields[] = {
	GROUP("result", OBJECT, NULL, "results of the set"),
	FIELD(benchset_result, "result.engine", STRING, engine, "I/O engine in use"),
	FIELD(benchset_result, "result.simulated", BOOL, simulated, "true if times are virtual"),
	FIELD(benchset_result, "result.stopped", BOOL, stopped, "true if it ended before its time"),
	FIELD(benchset_result, "result.prio_fallback", BOOL, prio_fallback,
	      "true if class rt was not permitted, and be and idle were used"),
	ELEMENTS(benchset_result, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields, "options that had no effect", .optional = true),
	FIELD(benchset_result, "result.size_bytes", COUNT, size_bytes, "used part of the targets"),
	FIELD(benchset_result, "result.elapsed_s", REAL, elapsed_s,
	      "duration, times that were not measured included"),
	FIELD(benchset_result, "result.rounds", COUNT, rounds, "number of rounds"),
	{ 0 },
};

static const struct sp_report_field knee_fields[] = {
	FIELD(benchset_knee, "depth", COUNT, depth, "outstanding requests"),
	FIELD(benchset_knee, "depth_low", COUNT, low, "lower end of the interval of the depth"),
	FIELD(benchset_knee, "depth_high", COUNT, high, "upper end of the interval of the depth"),
	FIELD(benchset_knee, "iops", REAL, iops, "completed requests per second at this depth"),
	FIELD(benchset_knee, "latency_mean_ns", REAL, latency_mean_ns,
	      "mean latency at this depth"),
	{ 0 },
};

static const struct sp_report_field knees[] = {
	FIELD(benchset_result, "result.latency_knee", OBJECT, latency_knee,
	      "depth beyond which latency rises; null: unknown", .fields = knee_fields,
	      .optional = true),
	FIELD(benchset_result, "result.throughput_knee", OBJECT, throughput_knee,
	      "depth beyond which throughput does not rise; null: unknown", .fields = knee_fields,
	      .optional = true),
	FIELD(benchset_result, "result.recommended", OBJECT, recommended,
	      "recommended depth; null: unknown", .fields = knee_fields, .optional = true),
	{ 0 },
};

static const struct sp_report_field sweep_fields[] = {
	FIELD(benchset_result, "result.rising", BOOL, rising,
	      "true if throughput still rises at the maximum depth"),
	FIELD(benchset_result, "result.noise_hides", WORD, noise,
	      "differences that are smaller than the noise; null: none",
	      .values = sp_benchset_noise_values),
	FIELD(benchset_result, "result.alike_depth_low", KNOWN, alike_low,
	      "lowest depth that does not differ from the recommended one by more than noise; "
	      "null: unknown"),
	FIELD(benchset_result, "result.alike_depth_high", KNOWN, alike_high,
	      "highest depth that does not differ from the recommended one by more than noise; "
	      "null: unknown"),
	{ 0 },
};

static const struct sp_report_field points[] = {
	GROUP("points", LIST, point_fields, "one object for each measurement"),
	INCLUDE(errors),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

const struct sp_report_field sp__sweep_document[] = {
	GROUP("config", OBJECT, sp__bench_config_fields, "options in effect"),
	INCLUDE(result_fields),
	INCLUDE(knees),
	INCLUDE(sweep_fields),
	INCLUDE(points),
	{ 0 },
};

struct sp_report *sp_report_sweep(const struct sp_bench_opts *opts,
				  const struct sp_benchset_result *r)
{
	struct sp__doc doc = sp__report_new(SP__DOC_SWEEP);

	sp__report_bench_config(doc, "config", opts);
	sp__doc_fields(doc, result_fields, r);
	if (r->knees)
		sp__doc_fields(doc, knees, r);
	else
		sp__doc_nulls(doc, knees);
	sp__doc_fields(doc, sweep_fields, r);
	put_points(doc, r);
	return sp__report_done(doc);
}

static const struct sp_report_field mix_fields[] = {
	FIELD(benchset_result, "result", OBJECT, ratio, "results of the set",
	      .fields = ratio_fields),
	FIELD(benchset_result, "result.ratio_share", REAL, ratio_share,
	      "share of high priority at which the effect is surest; null: the mean of all"),
	FIELD(benchset_result, "result.effect", WORD, effect, "effect of priorities",
	      .values = sp_benchset_effect_values),
	{ 0 },
};

static const struct sp_report_field mixed_fields[] = {
	LATER("of", TEXT, "requests that shares count: outstanding or issued; or scans"),
	FIELD(benchset_mix, "high", PRIO, high, "I/O priority of high requests"),
	FIELD(benchset_mix, "low", PRIO, low, "I/O priority of low requests"),
	LATER("readers", COUNT, "sequential readers of scans; null: no scans"),
	LATER("rate_iops", REAL, "requests per second of each reader; null: as the depth allows"),
	{ 0 },
};

static void put_mix(struct sp__doc doc, const struct sp_benchset_mix *mix)
{
	bool scans = mix->kind == SP_BENCHSET_SCANS;

	sp__doc_fields(doc, mixed_fields, mix);
	sp__doc_text(doc, "of", scans ? "scans" : sp_benchset_share_of_name(mix->of_issued));
	sp__doc_known(doc, "readers", scans ? mix->readers : 0);
	sp__doc_real(doc, "rate_iops", scans && mix->rate > 0 ? mix->rate : NAN);
}

const struct sp_report_field sp__mix_document[] = {
	GROUP("config", OBJECT, sp__bench_config_fields, "options in effect"),
	GROUP("mix", OBJECT, mixed_fields, "priorities and shares"),
	INCLUDE(result_fields),
	INCLUDE(mix_fields),
	INCLUDE(points),
	{ 0 },
};

struct sp_report *sp_report_mix(const struct sp_bench_opts *opts, const struct sp_benchset_mix *mix,
				const struct sp_benchset_result *r)
{
	struct sp__doc doc = sp__report_new(SP__DOC_MIX);

	sp__report_bench_config(doc, "config", opts);
	put_mix(sp__doc_object(doc, "mix"), mix);
	sp__doc_fields(doc, result_fields, r);
	sp__doc_fields(doc, mix_fields, r);
	put_points(doc, r);
	return sp__report_done(doc);
}

const struct sp_report_field sp__report_row_fields[] = {
	FIELD(benchset_row, "name", STRING, name, "name of the class, or total"),
	FIELD(benchset_row, "key", STRING, key, "name of the value"),
	FIELD(benchset_row, "a", REAL, a, "value of A"),
	FIELD(benchset_row, "b", REAL, b, "value of B"),
	FIELD(benchset_row, NULL, OBJECT, ratio, NULL, .fields = ratio_fields),
	{ 0 },
};

static const struct sp_report_field comparison_fields[] = {
	ELEMENTS(benchset_result, "rows", LIST, rows, nrows, sp__report_row_fields,
		 "one object for each value"),
	ELEMENTS(benchset_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields,
		 "failed requests by kind", .optional = true),
	{ 0 },
};

/* A comparison of two runs, or of two files. */
const struct sp_report_field sp__compare_document[] = {
	LATER("file_a", TEXT, "file A; only of two files", .optional = true),
	LATER("file_b", TEXT, "file B; only of two files", .optional = true),
	GROUP("config_a", OBJECT, sp__bench_config_fields, "options of A"),
	GROUP("config_b", OBJECT, sp__bench_config_fields, "options of B"),
	GROUP("result", OBJECT, NULL, "results of the set; not of two files", .optional = true),
	INCLUDE(result_fields),
	INCLUDE(comparison_fields),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

struct sp_report *sp_report_comparison(const struct sp_bench_opts *a, const struct sp_bench_opts *b,
				       const struct sp_benchset_result *r)
{
	struct sp__doc doc = sp__report_new(SP__DOC_COMPARE);

	sp__report_bench_config(doc, "config_a", a);
	sp__report_bench_config(doc, "config_b", b);
	sp__doc_fields(doc, result_fields, r);
	sp__doc_fields(doc, comparison_fields, r);
	return sp__report_done(doc);
}
