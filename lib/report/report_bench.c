/* SPDX-License-Identifier: MIT */
/*
 * The documents of measurements; their keys are those of spindle-report(5).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "report/doc.h"
#include "report/report_bench.h"

static const char tool[] = "aiobench";

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
	json_t *targets, *classes;

	targets = sp__doc_array(c, "targets");
	for (size_t i = 0; i < o->ntargets; i++) {
		json_t *name = json_string(o->targets[i]);

		if (json_array_append_new(targets, name ? name : json_string("(not UTF-8)")))
			*doc.failed = true;
	}
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

static void put_latency(struct sp__doc doc, const struct sp_bench_stats *s)
{
	bool any = s->requests > 0;
	const struct {
		const char *key;
		uint64_t ns;
	} rows[] = {
		{ "latency_min_ns", s->latency_min_ns },
		{ "latency_p50_ns", s->latency_p50_ns },
		{ "latency_p90_ns", s->latency_p90_ns },
		{ "latency_p99_ns", s->latency_p99_ns },
		{ "latency_p999_ns", s->latency_p999_ns },
		{ "latency_p9999_ns", s->latency_p9999_ns },
		{ "latency_max_ns", s->latency_max_ns },
	};

	sp__doc_real(doc, "latency_mean_ns", any ? s->latency_mean_ns : NAN);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (any)
			sp__doc_count(doc, rows[i].key, rows[i].ns);
		else
			sp__doc_put(doc, rows[i].key, json_null());
	}
}

static void put_windows(struct sp__doc doc, const struct sp_bench_stats *s)
{
	json_t *array = sp__doc_array(doc, "windows");

	for (size_t i = 0; i < s->nwindows; i++) {
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_real(row, "end_s", (double)s->windows[i].end_ns / 1e9);
		sp__doc_count(row, "requests", s->windows[i].requests);
		sp__doc_count(row, "latency_sum_ns", s->windows[i].latency_sum_ns);
	}
}

static void put_stats(struct sp__doc doc, const struct sp_bench_stats *s)
{
	sp__doc_count(doc, "requests", s->requests);
	sp__doc_count(doc, "read_requests", s->read_requests);
	sp__doc_count(doc, "bytes", s->bytes);
	sp__doc_count(doc, "errors", s->errors);
	sp__doc_count(doc, "unfinished", s->unfinished);
	sp__doc_real(doc, "iops", s->iops);
	sp__doc_real(doc, "bandwidth_bytes_per_s", s->bandwidth_bytes_per_s);
	put_latency(doc, s);
	sp__doc_count(doc, "longest_wait_ns", s->longest_wait_ns);
	sp__doc_count(doc, "longest_gap_ns", s->longest_gap_ns);
	sp__doc_count(doc, "passed_over", s->passed_over);
	sp__doc_bool(doc, "starved", s->starved);
	sp__doc_real(doc, "depth_mean", s->depth_mean);
	sp__report_depths(doc, "depth_histogram", s->depth_ns, s->depths);
	put_windows(doc, s);
}

static void put_result(struct sp__doc doc, const struct sp_bench_result *r)
{
	struct sp__doc o = sp__doc_object(doc, "result");
	double requests = (double)r->total.requests, cpu_ns = (double)(r->user_ns + r->system_ns);

	sp__doc_text(o, "engine", r->engine);
	sp__doc_bool(o, "simulated", r->simulated);
	sp__doc_bool(o, "fixed_buffers", r->fixed_buffers);
	sp__doc_bool(o, "stopped", r->stopped);
	sp__doc_bool(o, "prio_fallback", r->prio_fallback);
	sp__doc_count(o, "size_bytes", r->size_bytes);
	sp__doc_real(o, "elapsed_s", (double)r->elapsed_ns / 1e9);
	sp__doc_count(o, "overdue", r->overdue);
	put_stats(o, &r->total);
	sp__doc_real(o, "cpu_us_per_request", r->simulated ? NAN : cpu_ns / 1e3 / requests);
	sp__doc_real(o, "cpu_user_us_per_request",
		     r->simulated ? NAN : (double)r->user_ns / 1e3 / requests);
	sp__doc_real(o, "cpu_system_us_per_request",
		     r->simulated ? NAN : (double)r->system_ns / 1e3 / requests);
	sp__doc_real(o, "cpu_ms_per_mb",
		     r->simulated ? NAN : cpu_ns / 1e6 / ((double)r->total.bytes / 1e6));
}

static void put_lists(struct sp__doc doc, const struct sp_bench_result *r)
{
	json_t *classes = sp__doc_array(doc, "classes");
	char prio[16];

	for (size_t i = 0; i < r->nclasses; i++) {
		struct sp__doc row = sp__doc_element(doc, classes);

		sp__doc_text(row, "name", r->classes[i].name);
		sp__doc_text(row, "prio", sp_bench_prio_name(r->classes[i].prio, prio));
		put_stats(row, &r->classes[i]);
	}
	sp__report_errors(doc, r->errors, r->nerrors);
}

void sp__report_errors(struct sp__doc doc, const struct sp_bench_error *errors, size_t n)
{
	json_t *array = sp__doc_array(doc, "errors");

	for (size_t i = 0; i < n; i++) {
		struct sp__doc row = sp__doc_element(doc, array);
		bool moved = errors[i].code == SP_EFORMAT;

		sp__doc_text(row, "kind", moved ? "short transfer" : sp_strerror(errors[i].code));
		sp__doc_count(row, "count", errors[i].count);
	}
}

static void put_replay(struct sp__doc doc, const struct sp_bench_opts *o,
		       const struct sp_bench_result *result)
{
	const struct sp_bench_replayed *r = result->replay;
	struct sp__doc replay = sp__doc_object(doc, "replay");
	json_t *volumes;

	sp__doc_text(replay, "trace", o->replay->trace);
	sp__doc_bool(replay, "recorded_times", !o->replay->no_stall);
	sp__doc_real(replay, "time_scale", o->replay->time_scale > 0 ? o->replay->time_scale : 1);
	sp__doc_count(replay, "depth", r->depth);
	sp__doc_count(replay, "recorded_depth", r->recorded_depth);
	sp__doc_real(replay, "recorded_s", (double)r->recorded_ns / 1e9);
	sp__doc_count(replay, "recorded_requests", r->requests);
	sp__doc_count(replay, "left_out", r->left_out);
	sp__doc_count(replay, "extended", r->extended);
	volumes = sp__doc_array(replay, "volumes");
	for (size_t i = 0; i < r->nvolumes; i++) {
		struct sp__doc row = sp__doc_element(replay, volumes);

		sp__doc_text(row, "name", r->volumes[i].name);
		sp__doc_text(row, "target", r->volumes[i].target);
		sp__doc_count(row, "begin_bytes", r->volumes[i].begin_bytes);
		sp__doc_count(row, "bytes", r->volumes[i].bytes);
	}
}

static void put_device(struct sp__doc doc, const struct sp_bench_result *r)
{
	struct sp__doc sim;

	if (!r->simulated)
		return;
	sim = sp__doc_object(doc, "sim");
	sp__doc_count(sim, "dispatched", r->dispatched);
	sp__doc_count(sim, "merges", r->merges);
	sp__doc_count(sim, "seeks", r->seeks);
	sp__doc_count(sim, "io_time_ns", r->busy_ns);
	sp__report_depths(sim, "device_depth_histogram", r->device_depth_ns, r->device_depths);
}

void sp__report_bench_result(struct sp__doc doc, const struct sp_bench_result *r)
{
	put_result(doc, r);
	put_lists(doc, r);
	put_device(doc, r);
}

struct sp_report *sp_report_bench(const struct sp_bench_opts *opts,
				  const struct sp_bench_result *result)
{
	struct sp__doc doc;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.aiobench/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	sp__doc_text(doc, "kind", result->replay ? "replay" : "run");
	sp__report_bench_config(doc, "config", opts);
	if (result->replay)
		put_replay(doc, opts, result);
	sp__report_bench_result(doc, result);
	return sp__report_done(report, failed);
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
	bool failed = false;
	struct sp__doc doc = { json_object(), &failed };
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
	return sp__doc_line(doc, out);
}
