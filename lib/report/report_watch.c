/* SPDX-License-Identifier: MIT */
/*
 * What was seen of others, as a document and as a histogram for people.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "report/report_bench.h"

#define ROWS_MAX 20

static double known(double v)
{
	return v >= 0 ? v : NAN;
}

struct sp_report *sp_report_watch(const struct sp_watch_opts *opts, const struct sp_watch_result *r)
{
	struct sp__doc doc, o;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.aiobench/1", "aiobench", &failed, &doc);

	if (!report)
		return NULL;
	sp__doc_text(doc, "kind", "watch");
	o = sp__doc_object(doc, "config");
	sp__doc_text(o, "target", opts->target);
	sp__doc_real(o, "sample_rate", opts->rate > 0 ? opts->rate : 1000);
	sp__doc_real(o, "runtime_s", opts->runtime_ns ? (double)opts->runtime_ns / 1e9 : NAN);
	o = sp__doc_object(doc, "result");
	sp__doc_text(o, "name", r->name);
	sp__doc_text(o, "source", sp_watch_source_name(r->source));
	sp__doc_text(o, "counts", sp_watch_source_about(r->source));
	sp__doc_bool(o, "stopped", r->stopped);
	sp__doc_bool(o, "ended", r->ended);
	sp__doc_known(o, "rings", r->rings);
	sp__doc_real(o, "elapsed_s", (double)r->elapsed_ns / 1e9);
	sp__doc_count(o, "samples", r->samples);
	sp__doc_count(o, "missed", r->missed);
	sp__doc_real(o, "cpu_share", (double)r->cpu_ns / (double)r->elapsed_ns);
	sp__doc_real(o, "depth_mean", r->depth_mean);
	sp__doc_real(o, "depth_mean_exact", known(r->depth_mean_exact));
	sp__doc_count(o, "depth_p50", r->depth_p50);
	sp__doc_count(o, "depth_p90", r->depth_p90);
	sp__doc_count(o, "depth_p99", r->depth_p99);
	sp__doc_count(o, "depth_max", r->depth_max);
	sp__report_depths(o, "depth_histogram", r->depth_ns, r->depths);
	if (r->source == SP_WATCH_STAT)
		sp__doc_count(o, "requests", r->requests);
	else
		sp__doc_put(o, "requests", json_null());
	sp__doc_real(o, "iops", r->source == SP_WATCH_STAT ? r->iops : NAN);
	sp__doc_real(o, "latency_mean_ns", r->requests ? r->latency_mean_ns : NAN);
	return sp__report_done(report, failed);
}

int sp_report_watch_interval(const struct sp_watch_interval *i, FILE *out)
{
	bool failed = false;
	struct sp__doc doc = { json_object(), &failed };

	sp__doc_real(doc, "begin_s", (double)i->begin_ns / 1e9);
	sp__doc_real(doc, "end_s", (double)i->end_ns / 1e9);
	sp__doc_count(doc, "samples", i->samples);
	sp__doc_real(doc, "depth_mean", i->depth_mean);
	sp__doc_real(doc, "depth_mean_exact", known(i->depth_mean_exact));
	sp__doc_count(doc, "depth_max", i->depth_max);
	sp__doc_count(doc, "outstanding", i->depth_last);
	return sp__doc_line(doc, out);
}

/* One row: the depths from a to b, their share, and a bar as long as it is of the largest. */
static void row(size_t a, size_t b, double share, double largest, int width, FILE *out)
{
	char range[32];
	int room = width - 22, bar;

	if (a == b)
		snprintf(range, sizeof(range), "%zu", a);
	else
		snprintf(range, sizeof(range), "%zu-%zu", a, b);
	fprintf(out, "%11s %7.2f %%", range, share * 100);
	bar = room > 0 && largest > 0 ? (int)ceil(share / largest * room - 1e-9) : 0;
	if (bar > 0)
		putc(' ', out);
	while (bar-- > 0)
		putc('#', out);
	putc('\n', out);
}

static void histogram(const struct sp_watch_result *r, int width, FILE *out)
{
	double share[ROWS_MAX] = { 0 }, largest = 0;
	size_t first = 0, step, n;

	while (first + 1 < r->depths && !r->depth_ns[first])
		first++;
	n = r->depths - first;
	step = (n + ROWS_MAX - 1) / ROWS_MAX;
	n = step ? (n + step - 1) / step : 0;
	for (size_t i = first; i < r->depths; i++)
		share[(i - first) / step] += (double)r->depth_ns[i] / (double)r->elapsed_ns;
	for (size_t i = 0; i < n; i++)
		if (share[i] > largest)
			largest = share[i];
	fprintf(out, "%11s %9s\n", "outstanding", "of time");
	for (size_t i = 0; i < n; i++) {
		size_t a = first + i * step, b = a + step - 1;

		row(a, b < r->depths ? b : r->depths - 1, share[i], largest, width, out);
	}
}

int sp_report_watch_text(const struct sp_watch_result *r, FILE *out, int width)
{
	double seconds = (double)r->elapsed_ns / 1e9;

	fprintf(out, "%s: %.2f s, %llu samples, %.2f %% of a processor\n", r->name, seconds,
		(unsigned long long)r->samples,
		seconds > 0 ? (double)r->cpu_ns / (double)r->elapsed_ns * 100 : 0);
	fprintf(out, "%s: %s\n", sp_watch_source_name(r->source), sp_watch_source_about(r->source));
	fprintf(out, "mean %.2f", r->depth_mean);
	if (r->depth_mean_exact >= 0)
		fprintf(out, " (exact: %.2f)", r->depth_mean_exact);
	fprintf(out, ", p50 %u, p90 %u, p99 %u, max %u\n", r->depth_p50, r->depth_p90, r->depth_p99,
		r->depth_max);
	if (r->requests)
		fprintf(out, "completed: %.1f/s in %.3f ms each\n", r->iops,
			r->latency_mean_ns / 1e6);
	if (r->elapsed_ns)
		histogram(r, width > 0 ? width : 80, out);
	if (r->missed)
		fprintf(out, "missed: %llu samples\n", (unsigned long long)r->missed);
	if (r->ended)
		fprintf(out, "%s has ended\n", r->name);
	return ferror(out) || fflush(out) ? -EIO : 0;
}
