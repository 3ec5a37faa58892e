/* SPDX-License-Identifier: MIT */
/*
 * The documents of sets of measurements.
 */
#include <math.h>
#include <string.h>
#include "report/report_bench.h"

static void put_estimate(struct sp__doc doc, const char *key, const char *low, const char *high,
			 struct sp_benchset_estimate e)
{
	sp__doc_real(doc, key, e.value);
	sp__doc_real(doc, low, e.low);
	sp__doc_real(doc, high, e.high);
}

static void put_ratio(struct sp__doc doc, struct sp_benchset_estimate e)
{
	put_estimate(doc, "ratio", "ratio_low", "ratio_high", e);
}

static void put_stats(struct sp__doc doc, const struct sp_benchset_stats *s)
{
	sp__doc_count(doc, "requests", s->requests);
	sp__doc_count(doc, "bytes", s->bytes);
	sp__doc_count(doc, "errors", s->errors);
	put_estimate(doc, "iops", "iops_low", "iops_high", s->iops);
	sp__doc_real(doc, "bandwidth_bytes_per_s", s->bandwidth_bytes_per_s);
	put_estimate(doc, "latency_mean_ns", "latency_mean_low_ns", "latency_mean_high_ns",
		     s->latency_mean_ns);
	sp__doc_real(doc, "wait_mean_ns", s->wait_mean_ns);
	sp__doc_count(doc, "unanswered", s->unanswered);
	sp__doc_known(doc, "latency_p50_ns", s->latency_p50_ns);
	sp__doc_known(doc, "latency_p99_ns", s->latency_p99_ns);
	sp__doc_known(doc, "latency_p999_ns", s->latency_p999_ns);
	sp__doc_count(doc, "longest_wait_ns", s->longest_wait_ns);
	sp__doc_count(doc, "longest_gap_ns", s->longest_gap_ns);
	sp__doc_bool(doc, "starved", s->starved);
}

static void put_point(struct sp__doc row, const struct sp_benchset_point *p)
{
	json_t *classes;
	char prio[16];

	sp__doc_text(row, "name", p->name);
	sp__doc_count(row, "depth", p->depth);
	sp__doc_real(row, "share", p->share);
	sp__doc_count(row, "slices", p->slices);
	sp__doc_real(row, "elapsed_s", p->elapsed_s);
	put_stats(row, &p->total);
	sp__doc_real(row, "cpu_us_per_request", p->cpu_us_per_request);
	put_ratio(row, p->ratio);
	classes = sp__doc_array(row, "classes");
	for (size_t i = 0; i < p->nclasses; i++) {
		struct sp__doc class = sp__doc_element(row, classes);

		sp__doc_text(class, "name", p->classes[i].name);
		sp__doc_text(class, "prio", sp_bench_prio_name(p->classes[i].prio, prio));
		put_stats(class, &p->classes[i]);
	}
}

/* Points that were not reached are left out. */
static void put_points(struct sp__doc doc, const struct sp_benchset_result *r)
{
	json_t *points = sp__doc_array(doc, "points");

	for (size_t i = 0; i < r->npoints; i++)
		if (r->points[i].slices)
			put_point(sp__doc_element(doc, points), &r->points[i]);
	sp__report_errors(doc, r->errors, r->nerrors);
}

static struct sp__doc put_result(struct sp__doc doc, const struct sp_benchset_result *r)
{
	struct sp__doc o = sp__doc_object(doc, "result");

	sp__doc_text(o, "engine", r->engine);
	sp__doc_bool(o, "simulated", r->simulated);
	sp__doc_bool(o, "stopped", r->stopped);
	sp__doc_bool(o, "prio_fallback", r->prio_fallback);
	sp__doc_count(o, "size_bytes", r->size_bytes);
	sp__doc_real(o, "elapsed_s", r->elapsed_s);
	sp__doc_count(o, "rounds", r->rounds);
	return o;
}

static void put_knee(struct sp__doc doc, const char *key, bool any,
		     const struct sp_benchset_knee *k)
{
	struct sp__doc o;

	if (!any) {
		sp__doc_put(doc, key, json_null());
		return;
	}
	o = sp__doc_object(doc, key);
	sp__doc_count(o, "depth", k->depth);
	sp__doc_count(o, "depth_low", k->low);
	sp__doc_count(o, "depth_high", k->high);
	sp__doc_real(o, "iops", k->iops);
	sp__doc_real(o, "latency_mean_ns", k->latency_mean_ns);
}

static struct sp_report *start(const char *kind, bool *failed, struct sp__doc *doc)
{
	struct sp_report *report = sp__report_new("spindle.aiobench/1", "aiobench", failed, doc);

	if (report)
		sp__doc_text(*doc, "kind", kind);
	return report;
}

/* What is smaller than the noise. */
static const char *noise(enum sp_benchset_noise n)
{
	static const char *const names[] = { NULL, "smaller", "all", "tenth" };

	return names[n];
}

struct sp_report *sp_report_sweep(const struct sp_bench_opts *opts,
				  const struct sp_benchset_result *r)
{
	struct sp__doc doc, result;
	bool failed;
	struct sp_report *report = start("sweep", &failed, &doc);

	if (!report)
		return NULL;
	sp__report_bench_config(doc, "config", opts);
	result = put_result(doc, r);
	put_knee(result, "latency_knee", r->knees, &r->latency_knee);
	put_knee(result, "throughput_knee", r->knees, &r->throughput_knee);
	put_knee(result, "recommended", r->knees, &r->recommended);
	sp__doc_bool(result, "rising", r->rising);
	sp__doc_text(result, "noise_hides", noise(r->noise));
	sp__doc_known(result, "alike_depth_low", r->alike_low);
	sp__doc_known(result, "alike_depth_high", r->alike_high);
	put_points(doc, r);
	return sp__report_done(report, failed);
}

static const char *effect(enum sp_benchset_effect e)
{
	static const char *const names[] = { "unknown", "no", "yes" };

	return names[e];
}

struct sp_report *sp_report_mix(const struct sp_bench_opts *opts, const struct sp_benchset_mix *mix,
				const struct sp_benchset_result *r)
{
	bool scans = mix->kind == SP_BENCHSET_SCANS, failed;
	struct sp__doc doc, o;
	struct sp_report *report = start("mix", &failed, &doc);
	char prio[16];

	if (!report)
		return NULL;
	sp__report_bench_config(doc, "config", opts);
	o = sp__doc_object(doc, "mix");
	sp__doc_text(o, "of", scans ? "scans" : mix->of_issued ? "issued" : "outstanding");
	sp__doc_text(o, "high", sp_bench_prio_name(mix->high, prio));
	sp__doc_text(o, "low", sp_bench_prio_name(mix->low, prio));
	sp__doc_known(o, "readers", scans ? mix->readers : 0);
	sp__doc_real(o, "rate_iops", scans && mix->rate > 0 ? mix->rate : NAN);
	o = put_result(doc, r);
	put_ratio(o, r->ratio);
	sp__doc_real(o, "ratio_share", r->ratio_share);
	sp__doc_text(o, "effect", effect(r->effect));
	put_points(doc, r);
	return sp__report_done(report, failed);
}

void sp__report_row(struct sp__doc doc, json_t *array, const struct sp_benchset_row *row)
{
	struct sp__doc o = sp__doc_element(doc, array);

	sp__doc_text(o, "name", row->name);
	sp__doc_text(o, "key", row->key);
	sp__doc_real(o, "a", row->a);
	sp__doc_real(o, "b", row->b);
	put_ratio(o, row->ratio);
}

struct sp_report *sp_report_comparison(const struct sp_bench_opts *a, const struct sp_bench_opts *b,
				       const struct sp_benchset_result *r)
{
	json_t *rows;
	bool failed;
	struct sp__doc doc;
	struct sp_report *report = start("compare", &failed, &doc);

	if (!report)
		return NULL;
	sp__report_bench_config(doc, "config_a", a);
	sp__report_bench_config(doc, "config_b", b);
	put_result(doc, r);
	rows = sp__doc_array(doc, "rows");
	for (size_t i = 0; i < r->nrows; i++)
		sp__report_row(doc, rows, &r->rows[i]);
	sp__report_errors(doc, r->errors, r->nerrors);
	return sp__report_done(report, failed);
}
