/* SPDX-License-Identifier: MIT */
/*
 * Builds a document with the members of the JSON output of fio(1), for programs that read it.
 *
 * Each class is a job.  Numbers that a measurement does not have are 0 as in fio's output of a job
 * without them, or their members are missing; aiobench(1) lists both.  Keys can have a point, so
 * members are set without sp__doc_put().
 */
#include <math.h>
#include <string.h>
#include <time.h>
#include <sys/time.h>
#include <spindle/version.h>
#include "report/doc.h"

static void put(struct sp__doc doc, const char *key, json_t *value)
{
	if (json_object_set_new(doc.object, key, value))
		doc.report->failed = true;
}

static struct sp__doc object(struct sp__doc doc, const char *key)
{
	struct sp__doc inner = { .object = json_object(), .report = doc.report };

	put(doc, key, inner.object);
	return inner;
}

static void put_count(struct sp__doc doc, const char *key, uint64_t value)
{
	put(doc, key, json_integer((json_int_t)value));
}

static void put_real(struct sp__doc doc, const char *key, double value)
{
	put(doc, key, json_real(isfinite(value) ? value : 0));
}

__attribute__((format(printf, 3, 4))) static void put_text(struct sp__doc doc, const char *key,
							   const char *fmt, ...)
{
	char text[4200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sp__doc_text(doc, key, text); /* names that are not UTF-8, too; these keys have no point */
}

static struct sp__doc put_times(struct sp__doc doc, const char *key, const struct sp_bench_times *t)
{
	struct sp__doc o = object(doc, key);

	put_count(o, "min", t->min_ns);
	put_count(o, "max", t->max_ns);
	put_real(o, "mean", t->mean_ns);
	put_real(o, "stddev", t->stddev_ns);
	put_count(o, "N", t->count);
	return o;
}

static void put_percentiles(struct sp__doc clat, const struct sp_bench *bench, size_t class,
			    enum sp_bench_side_of side)
{
	static const double list[] = { 1,  5,  10, 20, 30,   40,   50,	  60,	70,
				       80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 };
	struct sp__doc o = object(clat, "percentile");
	char key[16];

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(key, sizeof(key), "%.6f", list[i]);
		put_count(o, key, sp_bench_side_quantile(bench, class, side, list[i] / 100));
	}
}

/* Members that fio fills from samples of the bandwidth, which it does not take in short jobs. */
static void put_unsampled(struct sp__doc o)
{
	static const char *const counts[] = { "bw_min",	  "bw_max",   "bw_samples",
					      "iops_min", "iops_max", "iops_samples" };
	static const char *const reals[] = { "bw_agg", "bw_mean", "bw_dev", "iops_mean",
					     "iops_stddev" };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		put_count(o, counts[i], 0);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		put_real(o, reals[i], 0);
}

static struct sp__doc put_transfers(struct sp__doc job, const char *key,
				    const struct sp_bench_side *s, uint64_t elapsed_ns)
{
	struct sp__doc o = object(job, key);

	put_count(o, "io_bytes", s->bytes);
	put_count(o, "io_kbytes", s->bytes / 1024);
	put_count(o, "bw_bytes", (uint64_t)s->bandwidth_bytes_per_s);
	put_count(o, "bw", (uint64_t)(s->bandwidth_bytes_per_s / 1024));
	put_real(o, "iops", s->iops);
	put_count(o, "runtime", s->requests ? (elapsed_ns + 999999) / 1000000 : 0);
	put_count(o, "total_ios", s->requests);
	put_count(o, "short_ios", 0);
	put_count(o, "drop_ios", 0);
	return o;
}

static void put_fio_side(struct sp__doc job, const char *key, const struct sp_bench *bench,
			 size_t class, enum sp_bench_side_of side)
{
	const struct sp_bench_stats *stats = &sp_bench_result(bench)->classes[class];
	const struct sp_bench_side *s = &stats->sides[side];
	const struct sp_bench_times latency = { s->requests, s->latency_min_ns, s->latency_max_ns,
						s->latency_mean_ns, s->latency_stddev_ns };
	struct sp__doc o = put_transfers(job, key, s, stats->elapsed_ns), clat;

	put_times(o, "slat_ns", &s->submission);
	clat = put_times(o, "clat_ns", s->completion.count ? &s->completion : &latency);
	if (s->requests)
		put_percentiles(clat, bench, class, side);
	put_times(o, "lat_ns", &latency);
	put_unsampled(o);
}

static void put_fio_trim(struct sp__doc job)
{
	static const struct sp_bench_side none;
	struct sp__doc o = put_transfers(job, "trim", &none, 0);

	put_times(o, "slat_ns", &none.submission);
	put_times(o, "clat_ns", &none.completion);
	put_times(o, "lat_ns", &none.completion);
	put_unsampled(o);
}

static uint64_t below(const struct sp_bench *bench, size_t class, uint64_t limit_ns)
{
	return sp_bench_side_below(bench, class, SP_BENCH_READS, limit_ns) +
	       sp_bench_side_below(bench, class, SP_BENCH_WRITES, limit_ns);
}

/* Adds shares of the requests below each limit and not below the one before it, in per cent. */
static void put_buckets(struct sp__doc job, const struct sp_bench *bench, size_t class)
{
	static const char *const names[] = { "latency_ns", "latency_us", "latency_ms" };
	static const unsigned limits[] = { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, 0 };
	double all = (double)sp_bench_result(bench)->classes[class].requests;
	uint64_t unit = 1, before = 0;

	for (int u = 0; u < 3; u++, unit *= 1000) {
		struct sp__doc o = object(job, names[u]);

		for (int i = 0; limits[i] && (u == 2 || limits[i] <= 1000); i++) {
			uint64_t n = below(bench, class, limits[i] * unit);
			char key[16];

			snprintf(key, sizeof(key), "%u", limits[i]);
			put_real(o, key, 100 * (double)(n - before) / all);
			before = n;
		}
		if (u == 2)
			put_real(o, ">=2000", 100 * (all - (double)before) / all);
	}
}

/* Adds shares of the time with requests outstanding, in per cent. */
static void put_levels(struct sp__doc job, const struct sp_bench_stats *s)
{
	static const char *const names[] = { "1", "2", "4", "8", "16", "32", ">=64" };
	struct sp__doc o = object(job, "iodepth_level");
	double sums[7] = { 0 }, all = 0;

	for (size_t i = 1; i < s->depths; i++) {
		int level = 63 - __builtin_clzll((unsigned long long)i);

		sums[level < 6 ? level : 6] += (double)s->depth_ns[i];
		all += (double)s->depth_ns[i];
	}
	for (int i = 0; i < 7; i++)
		put_real(o, names[i], 100 * sums[i] / all);
}

/* Processor time and context switches belong to the process: to the only class, or to none. */
static void put_process(struct sp__doc job, const struct sp_bench_result *r)
{
	double percent = r->nclasses == 1 && r->elapsed_ns ? 100 / (double)r->elapsed_ns : 0;

	put_real(job, "usr_cpu", percent * (double)r->user_ns);
	put_real(job, "sys_cpu", percent * (double)r->system_ns);
	put_count(job, "ctx", r->nclasses == 1 ? r->switches : 0);
}

static const char *rw_of(const struct sp_bench_class *c)
{
	int op = c->reads >= 1	 ? SP_BENCH_OP_READ
		 : c->reads <= 0 ? SP_BENCH_OP_WRITE
				 : SP_BENCH_OP_RW;
	bool ordered = c->pattern == SP_BENCH_SEQUENTIAL || c->pattern == SP_BENCH_STRIDED;

	return sp_bench_rw_name(ordered ? op : op | SP_BENCH_OP_RANDOM);
}

/* Adds the options of a class as texts.  The classes of a replay have none. */
static void put_job_options(struct sp__doc job, const struct sp_bench_opts *o,
			    const struct sp_bench_result *r, size_t class)
{
	struct sp__doc to = object(job, "job options");
	const struct sp_bench_class *c = &o->classes[class];
	bool one = !strcmp(r->engine, "sync");

	put_text(to, "name", "%s", r->classes[class].name);
	put_text(to, "numjobs", "1");
	if (r->replay)
		return;
	put_text(to, "rw", "%s", rw_of(c));
	put_text(to, "bs", "%u", c->bytes);
	put_text(to, "iodepth", "%u", one ? 1 : c->depth ? c->depth : o->depth);
	if (c->reads > 0 && c->reads < 1)
		put_text(to, "rwmixread", "%g", 100 * c->reads);
	if (c->rate > 0 || (!c->depth && o->rate > 0))
		put_text(to, "rate_iops", "%g", c->rate > 0 ? c->rate : o->rate);
	if (c->target || o->ntargets == 1)
		put_text(to, "filename", "%s", o->targets[c->target ? c->target - 1 : 0]);
}

static void put_job(struct sp__doc job, const struct sp_bench_opts *o, const struct sp_bench *bench,
		    size_t class)
{
	const struct sp_bench_result *r = sp_bench_result(bench);
	const struct sp_bench_stats *s = &r->classes[class];

	put_job_options(job, o, r, class);
	put_fio_side(job, "read", bench, class, SP_BENCH_READS);
	put_fio_side(job, "write", bench, class, SP_BENCH_WRITES);
	put_fio_trim(job);
	put_count(job, "job_runtime", (s->elapsed_ns + 999999) / 1000000);
	put_process(job, r);
	put_levels(job, s);
	put_buckets(job, bench, class);
	put_count(job, "latency_depth", o->depth);
}

int sp_report_add_fio(struct sp_report *report, const struct sp_bench_opts *opts,
		      const struct sp_bench *bench)
{
	json_t *jobs = json_object_get(report->doc, "jobs"), *last;
	const struct sp_bench_result *r = sp_bench_result(bench);
	size_t n = json_array_size(jobs);
	json_int_t group = 0;

	last = n ? json_array_get(jobs, n - 1) : NULL;
	if (last)
		group = json_integer_value(json_object_get(last, "groupid")) + 1;
	for (size_t i = 0; i < r->nclasses; i++) {
		const struct sp_bench_stats *s = &r->classes[i];
		struct sp__doc job = { .object = json_object(), .report = report };

		if (json_array_append_new(jobs, job.object))
			return -ENOMEM;
		put_text(job, "jobname", "%s", s->name);
		put_count(job, "groupid", (uint64_t)group);
		put_count(job, "error", s->errors ? EIO : 0);
		put_count(job, "eta", 0);
		put_count(job, "elapsed", (s->elapsed_ns + 999999999) / 1000000000);
		put_job(job, opts, bench, i);
	}
	return report->failed ? -ENOMEM : 0;
}

struct sp_report *sp_report_fio(const struct sp_bench_opts *opts)
{
	struct sp__doc doc = sp__report_empty(), global;
	struct timeval now;
	char text[64] = "";
	struct tm local;

	if (!doc.report)
		return NULL;
	gettimeofday(&now, NULL);
	if (localtime_r(&now.tv_sec, &local))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	put_text(doc, "fio version", "aiobench-%s", SP_VERSION);
	put_count(doc, "timestamp", (uint64_t)now.tv_sec);
	put_count(doc, "timestamp_ms", (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000);
	put_text(doc, "time", "%s", text);
	global = object(doc, "global options");
	put_text(global, "ioengine", "%s", opts->engine ? opts->engine : "auto");
	put_text(global, "direct", "%d", !opts->buffered);
	if (opts->runtime_ns)
		put_text(global, "runtime", "%g", (double)opts->runtime_ns / 1e9);
	put(doc, "jobs", json_array());
	return sp__report_done(doc);
}
