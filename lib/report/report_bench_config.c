/* SPDX-License-Identifier: MIT */
/*
 * Builds the object of the options of a measurement.
 */
#include <math.h>
#include "report/report_bench.h"

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
