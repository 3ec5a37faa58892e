/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents and the texts of a watch, with a histogram, and of a preflight.
 */
#include <math.h>
#include <string.h>
#include "report/read.h"
#include "report/doc.h"

static const struct sp_report_field layer_fields[] = {
	MEMBER(preflight_layer, COUNT, level, "level below the target"),
	MEMBER(preflight_layer, TEXT, name, "name of the device"),
	MEMBER(preflight_layer, TEXT, kind, "kind of the device", .required = true),
	MEMBER(preflight_layer, TEXT, scheduler, "scheduler; null: none"),
	FIELD(preflight_layer, "scheduler_requests", KNOWN, requests,
	      "request slots of the scheduler; null: unknown"),
	FIELD(preflight_layer, "hardware_queues", KNOWN, queues, "hardware queues; null: unknown"),
	FIELD(preflight_layer, "hardware_window", KNOWN, window,
	      "requests inside the device; null: unknown"),
	MEMBER(preflight_layer, KNOWN, outstanding,
	       "outstanding requests of the measurement; null: unknown"),
	FIELD(preflight_layer, "others_outstanding", COUNT, others,
	      "outstanding requests of other programs"),
	MEMBER(preflight_layer, WORD, verdict, "effect of priorities at this device",
	       .values = sp_preflight_verdict_values),
	{ 0 },
};

static const struct sp_report_field remark_fields[] = {
	MEMBER(preflight_remark, BOOL, obstacle, "true if it is an obstacle to priorities"),
	MEMBER(preflight_remark, TEXT, text, "the remark"),
	MEMBER(preflight_remark, TEXT, advice, "remedy; null: none"),
	{ 0 },
};

static const struct sp_report_field preflight_fields[] = {
	FIELD(preflight, "priorities_act", WORD, verdict, "effect of priorities",
	      .values = sp_preflight_verdict_values),
	FIELD(preflight, "best_latency_share", POSITIVE, best_share,
	      "lowest latency of the highest class as a share of the mean; null: unknown"),
	MEMBER(preflight, TEXT, filesystem, "file system of the target; null: none"),
	ELEMENTS(preflight, "layers", ARRAY, layers, nlayers, layer_fields,
		 "devices below the target", .optional = true),
	ELEMENTS(preflight, "remarks", ARRAY, remarks, nremarks, remark_fields, "remarks",
		 .optional = true),
	{ 0 },
};

const struct sp_report_field sp__preflight_fields[] = {
	GROUP("preflight", OBJECT, preflight_fields,
	      "preflight; of a measurement, if its classes have different priorities",
	      .optional = true),
	{ 0 },
};

int sp_report_add_preflight(struct sp_report *report, const struct sp_preflight *preflight)
{
	struct sp__doc doc = { report->doc, report };

	sp__doc_fields(sp__doc_object(doc, "preflight"), preflight_fields, preflight);
	return report->failed ? -ENOMEM : 0;
}

const struct sp_report_field sp__preflight_document[] = {
	GROUP("config", OBJECT, NULL, "options in effect"),
	LATER("config.target", TEXT, "target"),
	LATER("config.engine", TEXT, "requested I/O engine"),
	LATER("config.direct", BOOL, "true if the page cache is bypassed"),
	LATER("config.outstanding", COUNT, "outstanding requests; null: undecided"),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

struct sp_report *sp_report_preflight(const struct sp_preflight_opts *opts,
				      const struct sp_preflight *preflight)
{
	struct sp__doc doc = sp__report_new(SP__DOC_PREFLIGHT);

	sp__doc_text(doc, "config.target", opts->target);
	sp__doc_text(doc, "config.engine", opts->engine ? opts->engine : "auto");
	sp__doc_bool(doc, "config.direct", !opts->buffered);
	sp__doc_known(doc, "config.outstanding", opts->outstanding);
	sp__doc_fields(sp__doc_object(doc, "preflight"), preflight_fields, preflight);
	return sp__report_done(doc);
}

static void layers(const struct sp_preflight *p, FILE *out)
{
	fprintf(out, "%-16s %-10s %-12s %7s %7s %7s %s\n", "device", "kind", "scheduler",
		"nr_requests", "window", "queues", "act");
	for (size_t i = 0; i < p->nlayers; i++) {
		const struct sp_preflight_layer *l = &p->layers[i];
		const uint64_t numbers[] = { l->requests, l->window, l->queues };

		fprintf(out, "%*s%-*s %-10s %-12s", (int)l->level, "", 16 - (int)l->level,
			printable(l->name).text, printable(l->kind).text,
			*l->scheduler ? printable(l->scheduler).text : "-");
		for (size_t k = 0; k < 3; k++)
			if (numbers[k])
				fprintf(out, " %7llu", (unsigned long long)numbers[k]);
			else
				fprintf(out, " %7s", "-");
		fprintf(out, " %s\n", sp_preflight_verdict_name(l->verdict));
	}
}

int sp_report_preflight_text(const struct sp_preflight *p, const char *target, bool all, FILE *out)
{
	static const char *const words[] = { "do not act", "may act or not", "act weakly", "act" };

	fprintf(out, "%s: priorities %s", printable(target).text, words[p->verdict]);
	if (p->best_share > 0)
		fprintf(out, ": latency of the highest at best %.0f %% of the mean",
			p->best_share * 100);
	putc('\n', out);
	if (all && p->nlayers)
		layers(p, out);
	for (size_t i = 0; i < p->nremarks; i++) {
		const struct sp_preflight_remark *r = &p->remarks[i];
		/* an obstacle at one device does not count if the whole path honours priorities */
		bool obstacle = r->obstacle && p->verdict != SP_PREFLIGHT_YES;

		if (!all && !obstacle)
			continue;
		fprintf(out, "%s %s\n", obstacle ? "!" : "-", printable(r->text).text);
		if (*r->advice && (obstacle || !r->obstacle))
			fprintf(out, "  -> %s\n", printable(r->advice).text);
	}
	return ferror(out) || fflush(out) ? -EIO : 0;
}

#define ROWS_MAX 20

static const struct sp_report_field result_fields[] = {
	GROUP("result", OBJECT, NULL, "outstanding requests of the device or process"),
	RESULT(watch_result, TEXT, name, "name of the device or process"),
	RESULT(watch_result, WORD, source, "source of the samples",
	       .values = sp_watch_source_values),
	LATER("result.counts", TEXT, "requests that the source counts, in words"),
	RESULT(watch_result, BOOL, stopped, "true if it was interrupted"),
	RESULT(watch_result, BOOL, ended, "true if the process has ended"),
	RESULT(watch_result, KNOWN, rings, "io_uring rings of the process; null: a device"),
	FIELD(watch_result, "result.elapsed_s", SECONDS, elapsed_ns, "duration"),
	RESULT(watch_result, COUNT, samples, "samples; of the source trace, changes"),
	RESULT(watch_result, COUNT, missed, "missed samples"),
	LATER("result.cpu_share", REAL, "share of a processor that sampling took"),
	RESULT(watch_result, REAL, depth_mean, "mean number of outstanding requests"),
	RESULT(watch_result, REAL, depth_mean_exact,
	       "mean number by the counters of the kernel; null: unknown"),
	RESULT(watch_result, COUNT, depth_p50, "median number of outstanding requests"),
	RESULT(watch_result, COUNT, depth_p90, "90th percentile of outstanding requests"),
	RESULT(watch_result, COUNT, depth_p99, "99th percentile of outstanding requests"),
	RESULT(watch_result, COUNT, depth_max, "maximum number of outstanding requests"),
	LATER("result.depth_histogram", LIST, "share of the time by outstanding requests",
	      .fields = sp__report_depth_fields),
	RESULT(watch_result, COUNT, requests, "completed requests; null: unknown to the source"),
	RESULT(watch_result, REAL, iops,
	       "completed requests per second; null: unknown to the source"),
	RESULT(watch_result, REAL, latency_mean_ns, "mean latency; null: unknown to the source"),
	{ 0 },
};

const struct sp_report_field sp__watch_document[] = {
	GROUP("config", OBJECT, NULL, "options in effect"),
	LATER("config.target", TEXT, "device or process"),
	LATER("config.sample_rate", REAL, "samples per second"),
	LATER("config.runtime_s", REAL, "duration; null: until interrupted"),
	INCLUDE(result_fields),
	{ 0 },
};

struct sp_report *sp_report_watch(const struct sp_watch_opts *opts, const struct sp_watch_result *r)
{
	struct sp__doc doc = sp__report_new(SP__DOC_WATCH);

	sp__doc_text(doc, "config.target", opts->target);
	sp__doc_real(doc, "config.sample_rate", opts->rate > 0 ? opts->rate : 1000);
	sp__doc_real(doc, "config.runtime_s",
		     opts->runtime_ns ? (double)opts->runtime_ns / 1e9 : NAN);
	sp__doc_fields(doc, result_fields, r);
	sp__doc_text(doc, "result.counts", sp_watch_source_about(r->source));
	sp__doc_real(doc, "result.cpu_share", (double)r->cpu_ns / (double)r->elapsed_ns);
	sp__report_depths(doc, "result.depth_histogram", r->depth_ns, r->depths);
	if (r->source != SP_WATCH_STAT) {
		sp__doc_null(doc, "result.requests");
		sp__doc_null(doc, "result.iops");
	}
	return sp__report_done(doc);
}

static const struct sp_report_field interval_fields[] = {
	FIELD(watch_interval, "begin_s", SECONDS, begin_ns, "begin of the interval"),
	FIELD(watch_interval, "end_s", SECONDS, end_ns, "end of the interval"),
	MEMBER(watch_interval, COUNT, samples, "samples"),
	MEMBER(watch_interval, REAL, depth_mean, "mean number of outstanding requests"),
	MEMBER(watch_interval, REAL, depth_mean_exact,
	       "mean number by the counters of the kernel; null: unknown"),
	MEMBER(watch_interval, COUNT, depth_max, "maximum number of outstanding requests"),
	FIELD(watch_interval, "outstanding", COUNT, depth_last, "outstanding requests at the end"),
	{ 0 },
};

int sp_report_watch_interval(const struct sp_watch_interval *i, FILE *out)
{
	struct sp__doc doc = sp__report_empty();

	sp__doc_fields(doc, interval_fields, i);
	return sp__report_line(doc, out);
}

/* Writes a row: the depths from a to b, their share, and a bar with length share / largest. */
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

	fprintf(out, "%s: %.2f s, %llu samples, %.2f %% of a processor\n", printable(r->name).text,
		seconds, (unsigned long long)r->samples,
		seconds > 0 ? (double)r->cpu_ns / (double)r->elapsed_ns * 100 : 0);
	fprintf(out, "%s: %s\n", sp_watch_source_name(r->source), sp_watch_source_about(r->source));
	fprintf(out, "mean %.2f", r->depth_mean);
	if (!isnan(r->depth_mean_exact))
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
		fprintf(out, "%s has ended\n", printable(r->name).text);
	return ferror(out) || fflush(out) ? -EIO : 0;
}
