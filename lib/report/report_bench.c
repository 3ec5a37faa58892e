/* SPDX-License-Identifier: MIT */
/*
 * The documents of measurements; their keys are those of spindle-report(5).
 */
#include <math.h>
#include "report/doc.h"
#include "report/report_bench.h"

static void put_class_config(struct sp__doc doc, json_t *array, const struct sp_bench_class *c)
{
	struct sp__doc row = sp__doc_element(doc, array);
	char prio[16];

	sp__doc_text(row, "name", c->name);
	sp__doc_real(row, "share", c->depth || c->rate > 0 ? NAN : c->share);
	sp__doc_known(row, "depth", c->depth);
	sp__doc_real(row, "rate_iops", c->rate > 0 ? c->rate : NAN);
	sp__doc_text(row, "prio", sp_bench_prio_name(c->prio, prio));
	sp__doc_real(row, "read_share", c->reads);
	sp__doc_count(row, "request_bytes", c->bytes);
	sp__doc_text(row, "pattern", sp_bench_pattern_name(c->pattern));
	sp__doc_known(row, "stride_bytes", c->stride_bytes);
	sp__doc_real(row, "theta", c->pattern == SP_BENCH_ZIPF ? c->theta : NAN);
	sp__doc_known(row, "target", c->target);
	sp__doc_count(row, "offset_bytes", c->offset_bytes);
	sp__doc_known(row, "range_bytes", c->range_bytes);
}

void sp__report_bench_config(struct sp__doc doc, const char *key, const struct sp_bench_opts *o)
{
	struct sp__doc c = sp__doc_object(doc, key);
	json_t *classes;

	sp__doc_names(c, "targets", o->targets, o->ntargets);
	sp__doc_text(c, "engine", o->engine ? o->engine : "auto");
	sp__doc_count(c, "depth", o->depth);
	sp__doc_real(c, "rate_iops", o->rate > 0 ? o->rate : NAN);
	sp__doc_text(c, "rate_process", sp_bench_process_name(o->poisson));
	sp__doc_bool(c, "direct", !o->buffered);
	sp__doc_bool(c, "fixed_buffers", o->fixed_buffers);
	sp__doc_bool(c, "register_files", o->register_files);
	sp__doc_count(c, "batch_submit", o->batch_submit ? o->batch_submit : 1);
	sp__doc_count(c, "batch_min", o->batch_min ? o->batch_min : 1);
	sp__doc_known(c, "batch_max", o->batch_max);
	sp__doc_real(c, "runtime_s", o->runtime_ns ? (double)o->runtime_ns / 1e9 : NAN);
	sp__doc_real(c, "ramp_s", (double)o->ramp_ns / 1e9);
	sp__doc_known(c, "total_bytes", o->total_bytes);
	sp__doc_real(c, "steady_round_s", o->steady_ns ? (double)o->steady_ns / 1e9 : NAN);
	sp__doc_count(c, "offset_bytes", o->offset_bytes);
	sp__doc_count(c, "seed", o->seed);
	classes = sp__doc_array(c, "classes");
	for (size_t i = 0; i < o->nclasses; i++)
		put_class_config(c, classes, &o->classes[i]);
}

/* Pairs of a depth and the share of the time; what never was is left out. */
void sp__report_depths(struct sp__doc doc, const char *key, const uint64_t *ns, size_t n)
{
	json_t *array = sp__doc_array(doc, key);
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)ns[i];
	for (size_t i = 0; i < n; i++) {
		struct sp__doc row;

		if (!ns[i])
			continue;
		row = sp__doc_element(doc, array);
		sp__doc_count(row, "depth", i);
		sp__doc_real(row, "share", (double)ns[i] / all);
	}
}

static const struct sp_report_field latency_fields[] = {
	FIELD(bench_stats, "latency_mean_ns", REAL, latency_mean_ns),
	FIELD(bench_stats, "latency_min_ns", COUNT, latency_min_ns),
	FIELD(bench_stats, "latency_p50_ns", COUNT, latency_p50_ns),
	FIELD(bench_stats, "latency_p90_ns", COUNT, latency_p90_ns),
	FIELD(bench_stats, "latency_p99_ns", COUNT, latency_p99_ns),
	FIELD(bench_stats, "latency_p999_ns", COUNT, latency_p999_ns),
	FIELD(bench_stats, "latency_p9999_ns", COUNT, latency_p9999_ns),
	FIELD(bench_stats, "latency_max_ns", COUNT, latency_max_ns),
	{ 0 },
};

static const struct sp_report_field window_fields[] = {
	FIELD(bench_window, "end_s", SECONDS, end_ns),
	FIELD(bench_window, "requests", COUNT, requests),
	FIELD(bench_window, "latency_sum_ns", COUNT, latency_sum_ns),
	{ 0 },
};

static const struct sp_report_field stats_fields[] = {
	FIELD(bench_stats, "requests", COUNT, requests),
	FIELD(bench_stats, "read_requests", COUNT, read_requests),
	FIELD(bench_stats, "bytes", COUNT, bytes),
	FIELD(bench_stats, "errors", COUNT, errors),
	FIELD(bench_stats, "unfinished", COUNT, unfinished),
	FIELD(bench_stats, "iops", REAL, iops),
	FIELD(bench_stats, "bandwidth_bytes_per_s", REAL, bandwidth_bytes_per_s),
	{ .type = SP_REPORT_OBJECT, .fields = latency_fields },
	FIELD(bench_stats, "longest_wait_ns", COUNT, longest_wait_ns),
	FIELD(bench_stats, "longest_gap_ns", COUNT, longest_gap_ns),
	FIELD(bench_stats, "passed_over", COUNT, passed_over),
	FIELD(bench_stats, "starved", BOOL, starved),
	FIELD(bench_stats, "depth_mean", REAL, depth_mean),
	LATER("depth_histogram"),
	ELEMENTS(bench_stats, "windows", LIST, windows, nwindows, window_fields),
	{ 0 },
};

static void put_stats(struct sp__doc doc, const struct sp_bench_stats *s)
{
	sp__doc_fields(doc, stats_fields, s);
	if (!s->requests)
		sp__doc_nulls(doc, latency_fields);
	sp__report_depths(doc, "depth_histogram", s->depth_ns, s->depths);
}

static const struct sp_report_field result_fields[] = {
	FIELD(bench_result, "result.engine", STRING, engine),
	FIELD(bench_result, "result.simulated", BOOL, simulated),
	FIELD(bench_result, "result.fixed_buffers", BOOL, fixed_buffers),
	FIELD(bench_result, "result.stopped", BOOL, stopped),
	FIELD(bench_result, "result.prio_fallback", BOOL, prio_fallback),
	ELEMENTS(bench_result, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields),
	FIELD(bench_result, "result.size_bytes", COUNT, size_bytes),
	FIELD(bench_result, "result.elapsed_s", SECONDS, elapsed_ns),
	FIELD(bench_result, "result.overdue", COUNT, overdue),
	{ 0 },
};

static const struct sp_report_field round_fields[] = {
	FIELD(bench_round, "end_s", SECONDS, end_ns),
	FIELD(bench_round, "iops", REAL, iops),
	{ 0 },
};

static const struct sp_report_field steady_fields[] = {
	FIELD(bench_steady, "result.steady.reached", BOOL, reached),
	FIELD(bench_steady, "result.steady.rounds", COUNT, rounds),
	ELEMENTS(bench_steady, "result.steady.window", ARRAY, window, nwindow, round_fields),
	FIELD(bench_steady, "result.steady.iops", REAL, iops),
	FIELD(bench_steady, "result.steady.range", REAL, range),
	FIELD(bench_steady, "result.steady.slope", REAL, slope),
	{ 0 },
};

static void put_steady(struct sp__doc doc, const struct sp_bench_steady *s)
{
	static const char *const judged[] = { "iops", "range", "slope" };
	bool full = s->nwindow == SP_BENCH_STEADY_WINDOW;

	sp__doc_fields(doc, steady_fields, s);
	for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]) && !full; i++)
		sp__doc_null(sp__doc_object(doc, "result.steady"), judged[i]);
}

static void put_result(struct sp__doc doc, const struct sp_bench_result *r)
{
	double requests = r->simulated ? NAN : (double)r->total.requests;
	double user_ns = (double)r->user_ns, system_ns = (double)r->system_ns;
	double cpu_ns = (double)(r->user_ns + r->system_ns);

	sp__doc_fields(doc, result_fields, r);
	put_stats(sp__doc_object(doc, "result"), &r->total);
	if (r->steady)
		put_steady(doc, r->steady);
	sp__doc_real(doc, "result.cpu_us_per_request", cpu_ns / 1e3 / requests);
	sp__doc_real(doc, "result.cpu_user_us_per_request", user_ns / 1e3 / requests);
	sp__doc_real(doc, "result.cpu_system_us_per_request", system_ns / 1e3 / requests);
	sp__doc_real(doc, "result.cpu_ms_per_mb",
		     r->simulated ? NAN : cpu_ns / 1e6 / ((double)r->total.bytes / 1e6));
}

static void put_classes(struct sp__doc doc, const struct sp_bench_result *r)
{
	json_t *classes = sp__doc_array(doc, "classes");
	char prio[16];

	for (size_t i = 0; i < r->nclasses; i++) {
		struct sp__doc row = sp__doc_element(doc, classes);

		sp__doc_text(row, "name", r->classes[i].name);
		sp__doc_text(row, "prio", sp_bench_prio_name(r->classes[i].prio, prio));
		put_stats(row, &r->classes[i]);
	}
}

static const char *error_kind(int code)
{
	return code == SP_EFORMAT ? "short transfer" : sp_strerror(code);
}

const struct sp_report_field sp__report_error_fields[] = {
	FIELD(bench_error, "kind", WORD, code, .name = error_kind),
	FIELD(bench_error, "count", COUNT, count),
	{ 0 },
};

static const struct sp_report_field volume_fields[] = {
	FIELD(bench_volume, "name", STRING, name),
	FIELD(bench_volume, "target", STRING, target),
	FIELD(bench_volume, "begin_bytes", COUNT, begin_bytes),
	FIELD(bench_volume, "bytes", COUNT, bytes),
	{ 0 },
};

static const struct sp_report_field replayed_fields[] = {
	FIELD(bench_replayed, "replay.depth", COUNT, depth),
	FIELD(bench_replayed, "replay.recorded_depth", COUNT, recorded_depth),
	FIELD(bench_replayed, "replay.recorded_s", SECONDS, recorded_ns),
	FIELD(bench_replayed, "replay.recorded_requests", COUNT, requests),
	FIELD(bench_replayed, "replay.left_out", COUNT, left_out),
	FIELD(bench_replayed, "replay.extended", COUNT, extended),
	ELEMENTS(bench_replayed, "replay.volumes", LIST, volumes, nvolumes, volume_fields),
	{ 0 },
};

static void put_replay(struct sp__doc doc, const struct sp_bench_replay *r,
		       const struct sp_bench_replayed *replayed)
{
	sp__doc_text(doc, "replay.trace", r->trace);
	sp__doc_bool(doc, "replay.recorded_times", !r->no_stall);
	sp__doc_real(doc, "replay.time_scale", r->time_scale > 0 ? r->time_scale : 1);
	sp__doc_fields(doc, replayed_fields, replayed);
}

static const struct sp_report_field sim_fields[] = {
	FIELD(bench_result, "sim.dispatched", COUNT, dispatched),
	FIELD(bench_result, "sim.merges", COUNT, merges),
	FIELD(bench_result, "sim.seeks", COUNT, seeks),
	FIELD(bench_result, "sim.io_time_ns", COUNT, busy_ns),
	{ 0 },
};

static const struct sp_report_field errors[] = {
	ELEMENTS(bench_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields),
	{ 0 },
};

void sp__report_bench_result(struct sp__doc doc, const struct sp_bench_result *r)
{
	put_result(doc, r);
	put_classes(doc, r);
	sp__doc_fields(doc, errors, r);
	if (!r->simulated)
		return;
	sp__doc_fields(doc, sim_fields, r);
	sp__report_depths(doc, "sim.device_depth_histogram", r->device_depth_ns, r->device_depths);
}

struct sp__doc sp__report_bench_new(const char *kind)
{
	struct sp__doc doc = sp__report_new("spindle.aiobench/1", "aiobench");

	sp__doc_text(doc, "kind", kind);
	return doc;
}

struct sp_report *sp_report_bench(const struct sp_bench_opts *opts,
				  const struct sp_bench_result *result)
{
	struct sp__doc doc = sp__report_bench_new(result->replay ? "replay" : "run");

	sp__report_bench_config(doc, "config", opts);
	if (result->replay)
		put_replay(doc, opts->replay, result->replay);
	sp__report_bench_result(doc, result);
	return sp__report_done(doc);
}

static void put_slice(struct sp__doc row, const struct sp_bench_slice *s, double seconds)
{
	sp__doc_count(row, "requests", s->requests);
	sp__doc_count(row, "bytes", s->bytes);
	sp__doc_real(row, "iops", (double)s->requests / seconds);
	sp__doc_real(row, "bandwidth_bytes_per_s", (double)s->bytes / seconds);
	sp__doc_real(row, "latency_mean_ns", s->requests ? s->latency_mean_ns : NAN);
	sp__doc_known(row, "latency_p50_ns", s->latency_p50_ns);
	sp__doc_known(row, "latency_p99_ns", s->latency_p99_ns);
	sp__doc_known(row, "latency_max_ns", s->latency_max_ns);
	sp__doc_count(row, "outstanding", s->outstanding);
}

int sp_report_bench_interval(const struct sp_bench_interval *i, FILE *out)
{
	double seconds = (double)(i->end_ns - i->begin_ns) / 1e9;
	struct sp__doc doc = sp__report_empty();
	json_t *classes;

	sp__doc_real(doc, "begin_s", (double)i->begin_ns / 1e9);
	sp__doc_real(doc, "end_s", (double)i->end_ns / 1e9);
	put_slice(doc, &i->total, seconds);
	classes = sp__doc_array(doc, "classes");
	for (size_t k = 0; k < i->nclasses; k++) {
		struct sp__doc row = sp__doc_element(doc, classes);

		sp__doc_text(row, "name", i->classes[k].name);
		put_slice(row, &i->classes[k], seconds);
	}
	return sp__report_line(doc, out);
}
