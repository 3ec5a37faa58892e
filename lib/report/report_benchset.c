/* SPDX-License-Identifier: MIT */
/*
 * The documents of sets of measurements.
 */
#include <math.h>
#include "report/report_bench.h"

static const struct sp_report_field stats_fields[] = {
	FIELD(benchset_stats, "requests", COUNT, requests),
	FIELD(benchset_stats, "bytes", COUNT, bytes),
	FIELD(benchset_stats, "errors", COUNT, errors),
	FIELD(benchset_stats, "iops", REAL, iops.value),
	FIELD(benchset_stats, "iops_low", REAL, iops.low),
	FIELD(benchset_stats, "iops_high", REAL, iops.high),
	FIELD(benchset_stats, "bandwidth_bytes_per_s", REAL, bandwidth_bytes_per_s),
	FIELD(benchset_stats, "latency_mean_ns", REAL, latency_mean_ns.value),
	FIELD(benchset_stats, "latency_mean_low_ns", REAL, latency_mean_ns.low),
	FIELD(benchset_stats, "latency_mean_high_ns", REAL, latency_mean_ns.high),
	FIELD(benchset_stats, "wait_mean_ns", REAL, wait_mean_ns),
	FIELD(benchset_stats, "unanswered", COUNT, unanswered),
	FIELD(benchset_stats, "latency_p50_ns", KNOWN, latency_p50_ns),
	FIELD(benchset_stats, "latency_p99_ns", KNOWN, latency_p99_ns),
	FIELD(benchset_stats, "latency_p999_ns", KNOWN, latency_p999_ns),
	FIELD(benchset_stats, "longest_wait_ns", COUNT, longest_wait_ns),
	FIELD(benchset_stats, "longest_gap_ns", COUNT, longest_gap_ns),
	FIELD(benchset_stats, "starved", BOOL, starved),
	{ 0 },
};

static const struct sp_report_field class_fields[] = {
	FIELD(benchset_stats, "name", STRING, name),
	FIELD(benchset_stats, "prio", PRIO, prio),
	{ .type = SP_REPORT_OBJECT, .fields = stats_fields },
	{ 0 },
};

static const struct sp_report_field ratio_fields[] = {
	FIELD(benchset_estimate, "ratio", REAL, value),
	FIELD(benchset_estimate, "ratio_low", REAL, low),
	FIELD(benchset_estimate, "ratio_high", REAL, high),
	{ 0 },
};

static const struct sp_report_field point_fields[] = {
	FIELD(benchset_point, "name", STRING, name),
	FIELD(benchset_point, "depth", COUNT, depth),
	FIELD(benchset_point, "share", REAL, share),
	FIELD(benchset_point, "slices", COUNT, slices),
	FIELD(benchset_point, "elapsed_s", REAL, elapsed_s),
	FIELD(benchset_point, NULL, OBJECT, total, .fields = stats_fields),
	FIELD(benchset_point, "cpu_us_per_request", REAL, cpu_us_per_request),
	FIELD(benchset_point, NULL, OBJECT, ratio, .fields = ratio_fields),
	ELEMENTS(benchset_point, "classes", LIST, classes, nclasses, class_fields),
	{ 0 },
};

static const struct sp_report_field errors[] = {
	ELEMENTS(benchset_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields),
	{ 0 },
};

/* Points that were not reached are left out. */
static void put_points(struct sp__doc doc, const struct sp_benchset_result *r)
{
	json_t *points = sp__doc_array(doc, "points");

	for (size_t i = 0; i < r->npoints; i++)
		if (r->points[i].slices)
			sp__doc_fields(sp__doc_element(doc, points), point_fields, &r->points[i]);
	sp__doc_fields(doc, errors, r);
}

static const struct sp_report_field result_fields[] = {
	FIELD(benchset_result, "result.engine", STRING, engine),
	FIELD(benchset_result, "result.simulated", BOOL, simulated),
	FIELD(benchset_result, "result.stopped", BOOL, stopped),
	FIELD(benchset_result, "result.prio_fallback", BOOL, prio_fallback),
	ELEMENTS(benchset_result, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields),
	FIELD(benchset_result, "result.size_bytes", COUNT, size_bytes),
	FIELD(benchset_result, "result.elapsed_s", REAL, elapsed_s),
	FIELD(benchset_result, "result.rounds", COUNT, rounds),
	{ 0 },
};

static const struct sp_report_field knee_fields[] = {
	FIELD(benchset_knee, "depth", COUNT, depth),
	FIELD(benchset_knee, "depth_low", COUNT, low),
	FIELD(benchset_knee, "depth_high", COUNT, high),
	FIELD(benchset_knee, "iops", REAL, iops),
	FIELD(benchset_knee, "latency_mean_ns", REAL, latency_mean_ns),
	{ 0 },
};

static const struct sp_report_field knees[] = {
	FIELD(benchset_result, "result.latency_knee", OBJECT, latency_knee, .fields = knee_fields),
	FIELD(benchset_result, "result.throughput_knee", OBJECT, throughput_knee,
	      .fields = knee_fields),
	FIELD(benchset_result, "result.recommended", OBJECT, recommended, .fields = knee_fields),
	{ 0 },
};

static const struct sp_report_field sweep_fields[] = {
	FIELD(benchset_result, "result.rising", BOOL, rising),
	FIELD(benchset_result, "result.noise_hides", WORD, noise, .name = sp_benchset_noise_name),
	FIELD(benchset_result, "result.alike_depth_low", KNOWN, alike_low),
	FIELD(benchset_result, "result.alike_depth_high", KNOWN, alike_high),
	{ 0 },
};

struct sp_report *sp_report_sweep(const struct sp_bench_opts *opts,
				  const struct sp_benchset_result *r)
{
	struct sp__doc doc = sp__report_bench_new("sweep");

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
	FIELD(benchset_result, "result", OBJECT, ratio, .fields = ratio_fields),
	FIELD(benchset_result, "result.ratio_share", REAL, ratio_share),
	FIELD(benchset_result, "result.effect", WORD, effect, .name = sp_benchset_effect_name),
	{ 0 },
};

struct sp_report *sp_report_mix(const struct sp_bench_opts *opts, const struct sp_benchset_mix *mix,
				const struct sp_benchset_result *r)
{
	bool scans = mix->kind == SP_BENCHSET_SCANS;
	struct sp__doc doc = sp__report_bench_new("mix");
	char prio[16];

	sp__report_bench_config(doc, "config", opts);
	sp__doc_text(doc, "mix.of", scans ? "scans" : sp_benchset_share_of_name(mix->of_issued));
	sp__doc_text(doc, "mix.high", sp_bench_prio_name(mix->high, prio));
	sp__doc_text(doc, "mix.low", sp_bench_prio_name(mix->low, prio));
	sp__doc_known(doc, "mix.readers", scans ? mix->readers : 0);
	sp__doc_real(doc, "mix.rate_iops", scans && mix->rate > 0 ? mix->rate : NAN);
	sp__doc_fields(doc, result_fields, r);
	sp__doc_fields(doc, mix_fields, r);
	put_points(doc, r);
	return sp__report_done(doc);
}

const struct sp_report_field sp__report_row_fields[] = {
	FIELD(benchset_row, "name", STRING, name),
	FIELD(benchset_row, "key", STRING, key),
	FIELD(benchset_row, "a", REAL, a),
	FIELD(benchset_row, "b", REAL, b),
	FIELD(benchset_row, NULL, OBJECT, ratio, .fields = ratio_fields),
	{ 0 },
};

static const struct sp_report_field comparison_fields[] = {
	ELEMENTS(benchset_result, "rows", LIST, rows, nrows, sp__report_row_fields),
	ELEMENTS(benchset_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields),
	{ 0 },
};

struct sp_report *sp_report_comparison(const struct sp_bench_opts *a, const struct sp_bench_opts *b,
				       const struct sp_benchset_result *r)
{
	struct sp__doc doc = sp__report_bench_new("compare");

	sp__report_bench_config(doc, "config_a", a);
	sp__report_bench_config(doc, "config_b", b);
	sp__doc_fields(doc, result_fields, r);
	sp__doc_fields(doc, comparison_fields, r);
	return sp__report_done(doc);
}
