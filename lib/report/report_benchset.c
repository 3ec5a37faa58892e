/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of sets of measurements, and compares two documents of runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "benchset/stat.h"
#include "report/documents.h"
#include "report/read.h"
#include "report/doc.h"

/*
 * Two documents of runs are compared.  Throughput and mean latency have an interval.  A run is
 * divided into windows, and up to twenty groups of them count as one measurement each (batch
 * means).  The relative errors of A and B add up by squares, with Student's t of the smaller
 * number.  Percentiles and CPU time only have a ratio.
 *
 * Not modelled: changes between the runs.  The interval covers the variation within each run;
 * alternate runs to average out the others.
 */
#define GROUPS 20
#define GROUPS_MIN 5

/* Refuses a run with options without effect, which did not measure the requested load. */
static int refuse_no_effect(const json_t *doc, const char *path, struct sp_errinfo *err)
{
	const json_t *list = json_object_get(json_object_get(doc, "result"), "no_effect");
	const json_t *e = json_array_get(list, 0);

	return e ? sp__errf(err, SP_EUNSUP, "read", path, -1,
			    "cannot be compared: %s had no effect: %s", word(e, "option"),
			    word(e, "reason"))
		 : 0;
}

static int load(json_t **doc, const char *path, struct sp_errinfo *err)
{
	int rc = sp__report_load(doc, SP__DOC_RUN, path, err);

	return rc ? rc : refuse_no_effect(*doc, path, err);
}

/* Computes requests per second of each group of windows, or their mean latency. */
static size_t groups(double *v, const json_t *stats, bool latency)
{
	const json_t *windows = json_object_get(stats, "windows");
	size_t n = json_array_size(windows), each = (n + GROUPS - 1) / GROUPS, used = 0;
	double begin = 0;

	for (size_t i = 0; each && i + each <= n; i += each) {
		double requests = 0, sum = 0, end = 0;

		for (size_t k = i; k < i + each; k++) {
			const json_t *w = json_array_get(windows, k);

			requests += number(w, "requests");
			sum += number(w, "latency_sum_ns");
			end = number(w, "end_s");
		}
		if (!latency)
			v[used++] = requests / (end - begin);
		else if (requests > 0)
			v[used++] = sum / requests;
		begin = end;
	}
	return used;
}

/* Returns the standard error of the mean divided by the mean; NaN: too few groups. */
static double relative_error(const json_t *stats, bool latency, size_t *n)
{
	double v[GROUPS], mean = 0, squares = 0;

	*n = groups(v, stats, latency);
	if (*n < GROUPS_MIN)
		return NAN;
	for (size_t i = 0; i < *n; i++)
		mean += v[i] / (double)*n;
	for (size_t i = 0; i < *n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return sqrt(squares / (double)(*n * (*n - 1))) / mean;
}

static double figure(const json_t *o, const char *key)
{
	return known(o, key) ? number(o, key) : NAN;
}

static void put_row(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b,
		    const char *name, const char *key)
{
	struct sp_benchset_row row = { .key = key,
				       .name = name,
				       .a = figure(a, key),
				       .b = figure(b, key),
				       .ratio = { NAN, NAN, NAN } };
	bool latency = !strcmp(key, "latency_mean_ns");
	size_t na, nb;
	double half;

	if (isnan(row.a) && isnan(row.b))
		return;
	row.ratio.value = row.b / row.a;
	if (latency || !strcmp(key, "iops")) {
		half = hypot(relative_error(a, latency, &na), relative_error(b, latency, &nb));
		if (!isnan(half))
			half *= sp__stat_t((na < nb ? na : nb) - 1);
		row.ratio.low = row.ratio.value * exp(-half);
		row.ratio.high = row.ratio.value * exp(half);
	}
	sp__doc_fields(sp__doc_element(doc, rows), sp__report_row_fields, &row);
}

static void put_rows(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b,
		     const char *name)
{
	static const char *const keys[] = {
		"iops",		  "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p50_ns",
		"latency_p90_ns", "latency_p99_ns",	   "latency_p999_ns", "cpu_us_per_request"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		put_row(doc, rows, a, b, name, keys[i]);
}

/* Adds a row for all classes, then for those that both runs have, if there are several. */
static void put_classes(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b)
{
	const json_t *as = json_object_get(a, "classes"), *bs = json_object_get(b, "classes");
	const json_t *x, *y;

	put_rows(doc, rows, json_object_get(a, "result"), json_object_get(b, "result"), "total");
	for (size_t i = 0; json_array_size(as) > 1 && (x = json_array_get(as, i)); i++)
		for (size_t k = 0; (y = json_array_get(bs, k)); k++)
			if (!strcmp(word(x, "name"), word(y, "name")))
				put_rows(doc, rows, x, y, word(x, "name"));
}

static struct sp_report *build(const char *file_a, const char *file_b, json_t *a, json_t *b)
{
	struct sp__doc doc = sp__report_new(SP__DOC_COMPARE);

	sp__doc_text(doc, "file_a", file_a);
	sp__doc_text(doc, "file_b", file_b);
	sp__doc_put(doc, "config_a", json_incref(json_object_get(a, "config")));
	sp__doc_put(doc, "config_b", json_incref(json_object_get(b, "config")));
	put_classes(doc, sp__doc_array(doc, "rows"), a, b);
	return sp__report_done(doc);
}

int sp_report_compare_files(struct sp_report **report, const char *file_a, const char *file_b,
			    struct sp_errinfo *err)
{
	json_t *a = NULL, *b = NULL;
	int rc = load(&a, file_a, err);

	*report = NULL;
	if (rc == 0)
		rc = load(&b, file_b, err);
	if (rc == 0) {
		*report = build(file_a, file_b, a, b);
		if (!*report)
			rc = sp__err(err, -ENOMEM, "compare", "", -1);
	}
	json_decref(a);
	json_decref(b);
	return rc;
}

static const struct sp_report_field stats_fields[] = {
	MEMBER(benchset_stats, COUNT, requests, "completed requests"),
	MEMBER(benchset_stats, COUNT, bytes, "bytes of the completed requests"),
	MEMBER(benchset_stats, COUNT, errors, "requests that failed"),
	FIELD(benchset_stats, "iops", REAL, iops.value,
	      "mean of the completed requests per second"),
	FIELD(benchset_stats, "iops_low", REAL, iops.low, "lower end of the interval of iops"),
	FIELD(benchset_stats, "iops_high", REAL, iops.high, "upper end of the interval of iops"),
	MEMBER(benchset_stats, REAL, bandwidth_bytes_per_s,
	       "bytes of completed requests per second"),
	FIELD(benchset_stats, "latency_mean_ns", REAL, latency_mean_ns.value, "mean latency"),
	FIELD(benchset_stats, "latency_mean_low_ns", REAL, latency_mean_ns.low,
	      "lower end of the interval of the mean latency"),
	FIELD(benchset_stats, "latency_mean_high_ns", REAL, latency_mean_ns.high,
	      "upper end of the interval of the mean latency"),
	MEMBER(benchset_stats, REAL, wait_mean_ns,
	       "mean latency; a slice without a completion counts with the age of its oldest "
	       "request"),
	MEMBER(benchset_stats, COUNT, unanswered, "slices without a completion"),
	MEMBER(benchset_stats, KNOWN, latency_p50_ns, "median latency"),
	MEMBER(benchset_stats, KNOWN, latency_p99_ns, "99th percentile of the latency"),
	MEMBER(benchset_stats, KNOWN, latency_p999_ns, "99.9th percentile of the latency"),
	MEMBER(benchset_stats, COUNT, longest_wait_ns,
	       "highest latency, unfinished requests included"),
	MEMBER(benchset_stats, COUNT, longest_gap_ns,
	       "longest time without a completion while a request was outstanding"),
	MEMBER(benchset_stats, BOOL, starved, "true if the class starved in a slice"),
	{ 0 },
};

static const struct sp_report_field class_fields[] = {
	MEMBER(benchset_stats, STRING, name, "name of the class"),
	MEMBER(benchset_stats, PRIO, prio, "I/O priority in effect"),
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
	MEMBER(benchset_point, STRING, name, "name of scans; null: another kind"),
	MEMBER(benchset_point, COUNT, depth, "outstanding requests"),
	MEMBER(benchset_point, REAL, share, "share of requests of high priority; null: none"),
	MEMBER(benchset_point, COUNT, slices, "number of slices"),
	MEMBER(benchset_point, REAL, elapsed_s, "duration of all slices"),
	FIELD(benchset_point, NULL, OBJECT, total, NULL, .fields = stats_fields),
	MEMBER(benchset_point, REAL, cpu_us_per_request,
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
	RESULT(benchset_result, STRING, engine, "I/O engine in use"),
	RESULT(benchset_result, BOOL, simulated, "true if times are virtual"),
	RESULT(benchset_result, BOOL, stopped, "true if it ended before its time"),
	RESULT(benchset_result, BOOL, prio_fallback,
	       "true if class rt was not permitted, and be and idle were used"),
	ELEMENTS(benchset_result, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields, "options that had no effect", .optional = true),
	RESULT(benchset_result, COUNT, size_bytes, "used part of the targets"),
	RESULT(benchset_result, REAL, elapsed_s, "duration, times that were not measured included"),
	RESULT(benchset_result, COUNT, rounds, "number of rounds"),
	{ 0 },
};

static const struct sp_report_field knee_fields[] = {
	MEMBER(benchset_knee, COUNT, depth, "outstanding requests"),
	FIELD(benchset_knee, "depth_low", COUNT, low, "lower end of the interval of the depth"),
	FIELD(benchset_knee, "depth_high", COUNT, high, "upper end of the interval of the depth"),
	MEMBER(benchset_knee, REAL, iops, "completed requests per second at this depth"),
	MEMBER(benchset_knee, REAL, latency_mean_ns, "mean latency at this depth"),
	{ 0 },
};

static const struct sp_report_field knees[] = {
	RESULT(benchset_result, OBJECT, latency_knee,
	       "depth beyond which latency rises; null: unknown", .fields = knee_fields,
	       .optional = true),
	RESULT(benchset_result, OBJECT, throughput_knee,
	       "depth beyond which throughput does not rise; null: unknown", .fields = knee_fields,
	       .optional = true),
	RESULT(benchset_result, OBJECT, recommended, "recommended depth; null: unknown",
	       .fields = knee_fields, .optional = true),
	{ 0 },
};

static const struct sp_report_field sweep_fields[] = {
	RESULT(benchset_result, BOOL, rising,
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
	RESULT(benchset_result, REAL, ratio_share,
	       "share of high priority at which the effect is surest; null: the mean of all"),
	RESULT(benchset_result, WORD, effect, "effect of priorities",
	       .values = sp_benchset_effect_values),
	{ 0 },
};

static const struct sp_report_field mixed_fields[] = {
	LATER("of", TEXT, "requests that shares count: outstanding or issued; or scans"),
	MEMBER(benchset_mix, PRIO, high, "I/O priority of high requests"),
	MEMBER(benchset_mix, PRIO, low, "I/O priority of low requests"),
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
	MEMBER(benchset_row, STRING, name, "name of the class, or total"),
	MEMBER(benchset_row, STRING, key, "name of the value"),
	MEMBER(benchset_row, REAL, a, "value of A"),
	MEMBER(benchset_row, REAL, b, "value of B"),
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
