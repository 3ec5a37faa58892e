/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of a measurement.
 */
#include <math.h>
#include "report/doc.h"

static const struct sp_report_field class_config_fields[] = {
	MEMBER(bench_class, STRING, name, "name of the class"),
	LATER("share", REAL, "share of the common requests; null: requests of its own"),
	MEMBER(bench_class, KNOWN, depth,
	       "outstanding requests of its own; null: a share of the common ones"),
	FIELD(bench_class, "rate_iops", POSITIVE, rate,
	      "requests per second; null: each follows a completion"),
	MEMBER(bench_class, PRIO, prio, "I/O priority"),
	FIELD(bench_class, "read_share", REAL, reads, "share of reads"),
	FIELD(bench_class, "request_bytes", COUNT, bytes, "size of a request"),
	MEMBER(bench_class, WORD, pattern, "order of offsets", .values = sp_bench_pattern_values),
	MEMBER(bench_class, KNOWN, stride_bytes,
	       "distance of requests of a strided pattern; null: another pattern"),
	LATER("theta", REAL, "skew of a zipf pattern; null: another pattern"),
	MEMBER(bench_class, KNOWN, target, "number of the target; null: all alternately"),
	MEMBER(bench_class, COUNT, offset_bytes, "begin of its range in a target"),
	MEMBER(bench_class, KNOWN, range_bytes, "length of its range; null: to the end"),
	{ 0 },
};

static void put_class_config(struct sp__doc doc, json_t *array, const struct sp_bench_class *c)
{
	struct sp__doc row = sp__doc_element(doc, array);

	sp__doc_fields(row, class_config_fields, c);
	sp__doc_real(row, "share", c->depth || c->rate > 0 ? NAN : c->share);
	sp__doc_real(row, "theta", c->pattern == SP_BENCH_ZIPF ? c->theta : NAN);
}

const struct sp_report_field sp__bench_config_fields[] = {
	LATER("targets", TEXTS, "targets"),
	LATER("engine", TEXT, "requested I/O engine"),
	MEMBER(bench_opts, COUNT, depth, "outstanding requests of classes with a share"),
	FIELD(bench_opts, "rate_iops", POSITIVE, rate,
	      "their requests per second; null: each follows a completion"),
	LATER("rate_process", WORD, "intervals of requests at a rate",
	      .values = sp_bench_process_values),
	LATER("direct", BOOL, "true if the page cache is bypassed"),
	MEMBER(bench_opts, BOOL, fixed_buffers,
	       "true if buffers are to be registered with the kernel"),
	MEMBER(bench_opts, BOOL, register_files,
	       "true if files are to be registered with the kernel"),
	LATER("batch_submit", COUNT, "maximum number of requests submitted in one call"),
	LATER("batch_min", COUNT, "completions waited for in one call"),
	MEMBER(bench_opts, KNOWN, batch_max,
	       "maximum number of completions taken in one call; null: the minimum"),
	LATER("runtime_s", REAL, "duration; null: until all bytes are transferred"),
	FIELD(bench_opts, "ramp_s", SECONDS, ramp_ns, "time before the measurement"),
	MEMBER(bench_opts, KNOWN, total_bytes,
	       "bytes of all requests; null: until the end of the duration"),
	LATER("steady_round_s", REAL, "round of the search for a steady state; null: none"),
	MEMBER(bench_opts, COUNT, offset_bytes, "begin of the used part of each target"),
	MEMBER(bench_opts, COUNT, seed, "seed of all random choices"),
	LATER("classes", LIST, "classes of requests", .fields = class_config_fields,
	      .optional = true),
	{ 0 },
};

void sp__report_bench_config(struct sp__doc doc, const char *key, const struct sp_bench_opts *o)
{
	struct sp__doc c = sp__doc_object(doc, key);
	json_t *classes;

	sp__doc_fields(c, sp__bench_config_fields, o);
	sp__doc_names(c, "targets", o->targets, o->ntargets);
	sp__doc_text(c, "engine", o->engine ? o->engine : "auto");
	sp__doc_text(c, "rate_process", sp_bench_process_name(o->poisson));
	sp__doc_bool(c, "direct", !o->buffered);
	sp__doc_count(c, "batch_submit", o->batch_submit ? o->batch_submit : 1);
	sp__doc_count(c, "batch_min", o->batch_min ? o->batch_min : 1);
	sp__doc_real(c, "runtime_s", o->runtime_ns ? (double)o->runtime_ns / 1e9 : NAN);
	sp__doc_real(c, "steady_round_s", o->steady_ns ? (double)o->steady_ns / 1e9 : NAN);
	classes = sp__doc_array(c, "classes");
	for (size_t i = 0; i < o->nclasses; i++)
		put_class_config(c, classes, &o->classes[i]);
}

const struct sp_report_field sp__report_depth_fields[] = {
	LATER("depth", COUNT, "outstanding requests"),
	LATER("share", REAL, "share of the time with this number"),
	{ 0 },
};

/* Adds pairs of depth and share of the time; omits depths that did not occur. */
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
	MEMBER(bench_stats, REAL, latency_mean_ns, "mean latency"),
	MEMBER(bench_stats, COUNT, latency_min_ns, "lowest latency"),
	MEMBER(bench_stats, COUNT, latency_p50_ns, "median latency"),
	MEMBER(bench_stats, COUNT, latency_p90_ns, "90th percentile of the latency"),
	MEMBER(bench_stats, COUNT, latency_p99_ns, "99th percentile of the latency"),
	MEMBER(bench_stats, COUNT, latency_p999_ns, "99.9th percentile of the latency"),
	MEMBER(bench_stats, COUNT, latency_p9999_ns, "99.99th percentile of the latency"),
	MEMBER(bench_stats, COUNT, latency_max_ns, "highest latency"),
	{ 0 },
};

static const struct sp_report_field side_latency_fields[] = {
	MEMBER(bench_side, REAL, latency_mean_ns, "mean latency"),
	MEMBER(bench_side, REAL, latency_stddev_ns, "standard deviation of the latency"),
	MEMBER(bench_side, COUNT, latency_min_ns, "lowest latency"),
	MEMBER(bench_side, COUNT, latency_p50_ns, "median latency"),
	MEMBER(bench_side, COUNT, latency_p90_ns, "90th percentile of the latency"),
	MEMBER(bench_side, COUNT, latency_p99_ns, "99th percentile of the latency"),
	MEMBER(bench_side, COUNT, latency_p999_ns, "99.9th percentile of the latency"),
	MEMBER(bench_side, COUNT, latency_p9999_ns, "99.99th percentile of the latency"),
	MEMBER(bench_side, COUNT, latency_max_ns, "highest latency"),
	{ 0 },
};

static const struct sp_report_field side_fields[] = {
	MEMBER(bench_side, COUNT, requests, "completed requests"),
	MEMBER(bench_side, COUNT, bytes, "bytes of the completed requests"),
	MEMBER(bench_side, REAL, iops, "completed requests per second"),
	MEMBER(bench_side, REAL, bandwidth_bytes_per_s, "bytes of completed requests per second"),
	INCLUDE(side_latency_fields),
	{ 0 },
};

static void put_side(struct sp__doc doc, const char *key, const struct sp_bench_side *s)
{
	struct sp__doc side = sp__doc_object(doc, key);

	sp__doc_fields(side, side_fields, s);
	if (!s->requests)
		sp__doc_nulls(side, side_latency_fields);
}

static const struct sp_report_field window_fields[] = {
	FIELD(bench_window, "end_s", SECONDS, end_ns, "end since the measurement began"),
	MEMBER(bench_window, COUNT, requests, "requests completed in the window"),
	MEMBER(bench_window, COUNT, latency_sum_ns, "sum of their latencies"),
	{ 0 },
};

static const struct sp_report_field stats_fields[] = {
	MEMBER(bench_stats, COUNT, requests, "completed requests"),
	MEMBER(bench_stats, COUNT, read_requests, "completed reads"),
	MEMBER(bench_stats, COUNT, bytes, "bytes of the completed requests"),
	MEMBER(bench_stats, COUNT, errors, "requests that failed"),
	MEMBER(bench_stats, COUNT, unfinished, "requests outstanding at the end"),
	MEMBER(bench_stats, REAL, iops, "completed requests per second"),
	MEMBER(bench_stats, REAL, bandwidth_bytes_per_s, "bytes of completed requests per second"),
	INCLUDE(latency_fields),
	MEMBER(bench_stats, COUNT, longest_wait_ns,
	       "highest latency, unfinished and overdue requests included"),
	MEMBER(bench_stats, COUNT, longest_gap_ns,
	       "longest time without a completion while a request was outstanding"),
	MEMBER(bench_stats, COUNT, passed_over,
	       "maximum number of completions of other classes in such a time"),
	MEMBER(bench_stats, BOOL, starved, "true if the class starved"),
	MEMBER(bench_stats, REAL, depth_mean, "mean number of outstanding requests"),
	LATER("depth_histogram", LIST, "share of the time by outstanding requests",
	      .fields = sp__report_depth_fields),
	ELEMENTS(bench_stats, "windows", LIST, windows, nwindows, window_fields,
		 "parts of the measurement, at most 64"),
	GROUP("reads", OBJECT, side_fields, "completed reads"),
	GROUP("writes", OBJECT, side_fields, "completed writes"),
	{ 0 },
};

static void put_stats(struct sp__doc doc, const struct sp_bench_stats *s)
{
	sp__doc_fields(doc, stats_fields, s);
	if (!s->requests)
		sp__doc_nulls(doc, latency_fields);
	sp__report_depths(doc, "depth_histogram", s->depth_ns, s->depths);
	put_side(doc, "reads", &s->sides[SP_BENCH_READS]);
	put_side(doc, "writes", &s->sides[SP_BENCH_WRITES]);
}

static const struct sp_report_field result_fields[] = {
	GROUP("result", OBJECT, NULL, "results of all classes together"),
	RESULT(bench_result, STRING, engine, "I/O engine in use"),
	RESULT(bench_result, BOOL, simulated, "true if times are virtual"),
	RESULT(bench_result, BOOL, fixed_buffers, "true if the kernel has registered the buffers"),
	RESULT(bench_result, BOOL, stopped, "true if it ended before its time"),
	RESULT(bench_result, BOOL, prio_fallback,
	       "true if class rt was not permitted, and be and idle were used"),
	ELEMENTS(bench_result, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields, "options that had no effect", .optional = true),
	RESULT(bench_result, COUNT, size_bytes, "used part of the targets"),
	FIELD(bench_result, "result.elapsed_s", SECONDS, elapsed_ns, "duration of the measurement"),
	RESULT(bench_result, COUNT, overdue,
	       "requests at a rate that were due before the end and not submitted"),
	{ 0 },
};

static const struct sp_report_field round_fields[] = {
	FIELD(bench_round, "end_s", SECONDS, end_ns, "end since the measurement began"),
	MEMBER(bench_round, REAL, iops, "completed requests per second"),
	{ 0 },
};

static const struct sp_report_field steady_fields[] = {
	GROUP("result.steady", OBJECT, NULL, "steady state; only with --steady", .optional = true),
	FIELD(bench_steady, "result.steady.reached", BOOL, reached,
	      "true if a steady state was reached"),
	FIELD(bench_steady, "result.steady.rounds", COUNT, rounds, "number of rounds"),
	ELEMENTS(bench_steady, "result.steady.window", ARRAY, window, nwindow, round_fields,
		 "the last five rounds"),
	FIELD(bench_steady, "result.steady.iops", REAL, iops,
	      "mean of their requests per second; null: fewer rounds"),
	FIELD(bench_steady, "result.steady.range", REAL, range,
	      "highest less lowest value as a share of the mean; null: fewer rounds"),
	FIELD(bench_steady, "result.steady.slope", REAL, slope,
	      "rise of the least-squares line as a share of the mean; null: fewer rounds"),
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

static const struct sp_report_field cpu_fields[] = {
	LATER("cpu_us_per_request", REAL, "processor time of the process per request"),
	LATER("cpu_user_us_per_request", REAL, "its part in user mode"),
	LATER("cpu_system_us_per_request", REAL, "its part in the kernel"),
	LATER("cpu_ms_per_mb", REAL, "processor time of the process per 10^6 bytes"),
	{ 0 },
};

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

static const struct sp_report_field class_fields[] = {
	MEMBER(bench_stats, STRING, name, "name of the class"),
	MEMBER(bench_stats, PRIO, prio, "I/O priority in effect"),
	INCLUDE(stats_fields),
	{ 0 },
};

static void put_classes(struct sp__doc doc, const struct sp_bench_result *r)
{
	json_t *classes = sp__doc_array(doc, "classes");

	for (size_t i = 0; i < r->nclasses; i++) {
		struct sp__doc row = sp__doc_element(doc, classes);

		sp__doc_fields(row, class_fields, &r->classes[i]);
		put_stats(row, &r->classes[i]);
	}
}

static const char *error_kind(int code)
{
	return code == SP_EFORMAT ? "short transfer" : sp_strerror(code);
}

const struct sp_report_field sp__report_error_fields[] = {
	FIELD(bench_error, "kind", WORD, code, "kind of failure", .name = error_kind),
	MEMBER(bench_error, COUNT, count, "requests that failed in this way"),
	{ 0 },
};

static const struct sp_report_field volume_fields[] = {
	MEMBER(bench_volume, STRING, name, "file of the trace"),
	MEMBER(bench_volume, STRING, target, "target of its requests"),
	MEMBER(bench_volume, COUNT, begin_bytes, "begin of its range in the target"),
	MEMBER(bench_volume, COUNT, bytes, "length of its range"),
	{ 0 },
};

static const struct sp_report_field replayed_fields[] = {
	GROUP("replay", OBJECT, NULL, "replay of the trace"),
	LATER("replay.trace", TEXT, "path of the trace"),
	LATER("replay.recorded_times", BOOL, "true if requests were due at their recorded times"),
	LATER("replay.time_scale", REAL, "divisor of the recorded times"),
	FIELD(bench_replayed, "replay.depth", COUNT, depth,
	      "maximum number of outstanding requests"),
	FIELD(bench_replayed, "replay.recorded_depth", COUNT, recorded_depth,
	      "maximum number of outstanding requests of the trace"),
	FIELD(bench_replayed, "replay.recorded_s", SECONDS, recorded_ns, "duration of the trace"),
	FIELD(bench_replayed, "replay.recorded_requests", COUNT, requests, "requests of the trace"),
	FIELD(bench_replayed, "replay.skipped", COUNT, skipped,
	      "requests of the trace that failed or moved no bytes"),
	FIELD(bench_replayed, "replay.extended", COUNT, extended,
	      "requests rounded outward to the alignment of the target"),
	ELEMENTS(bench_replayed, "replay.volumes", LIST, volumes, nvolumes, volume_fields,
		 "one object for each file of the trace"),
	{ 0 },
};

static void put_replay(struct sp__doc doc, const struct sp_bench_replay *r,
		       const struct sp_bench_replayed *replayed)
{
	sp__doc_fields(doc, replayed_fields, replayed);
	sp__doc_text(doc, "replay.trace", r->trace);
	sp__doc_bool(doc, "replay.recorded_times", !r->no_stall);
	sp__doc_real(doc, "replay.time_scale", r->time_scale > 0 ? r->time_scale : 1);
}

static const struct sp_report_field sim_fields[] = {
	GROUP("sim", OBJECT, NULL, "simulated machine", .optional = true),
	FIELD(bench_result, "sim.dispatched", COUNT, dispatched,
	      "requests received by the device, after merging and splitting"),
	FIELD(bench_result, "sim.merges", COUNT, merges, "requests merged into another one"),
	FIELD(bench_result, "sim.seeks", COUNT, seeks,
	      "requests of the device that did not begin where the previous one ended"),
	FIELD(bench_result, "sim.io_time_ns", COUNT, busy_ns, "time in which the device was busy"),
	{ 0 },
};

static const struct sp_report_field errors[] = {
	ELEMENTS(bench_result, "errors", ARRAY, errors, nerrors, sp__report_error_fields,
		 "failed requests by kind", .optional = true),
	{ 0 },
};

const struct sp_report_field sp__bench_result_fields[] = {
	INCLUDE(result_fields),
	GROUP("result", OBJECT, stats_fields, NULL),
	INCLUDE(steady_fields),
	GROUP("result", OBJECT, cpu_fields, NULL),
	GROUP("classes", LIST, class_fields, "results of each class"),
	INCLUDE(errors),
	INCLUDE(sim_fields),
	LATER("sim.device_depth_histogram", LIST,
	      "share of the time by requests inside the window of the device",
	      .fields = sp__report_depth_fields),
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

const struct sp_report_field sp__run_document[] = {
	GROUP("config", OBJECT, sp__bench_config_fields, "options in effect"),
	INCLUDE(sp__bench_result_fields),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};
const struct sp_report_field sp__replay_document[] = {
	GROUP("config", OBJECT, sp__bench_config_fields, "options in effect"),
	INCLUDE(replayed_fields),
	INCLUDE(sp__bench_result_fields),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

struct sp_report *sp_report_bench(const struct sp_bench_opts *opts,
				  const struct sp_bench_result *result)
{
	struct sp__doc doc = sp__report_new(result->replay ? SP__DOC_REPLAY : SP__DOC_RUN);

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
