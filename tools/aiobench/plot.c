/* SPDX-License-Identifier: MIT */
/*
 * Draws runs (throughput, p50 and p99 over time, latency distribution), sweeps (throughput and
 * latency by depth, knees) and mixes (throughput and latency of both classes).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gnuplot.h"
#include "aiobench.h"

/* colours of classes; reused if there are more classes */
static const char colours[][8] = { "#2060a0", "#d08020", "#408040", "#a04080",
				   "#806020", "#208080", "#606060", "#c04040" };
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

/* Returns fio's name of the access pattern; "mixed" if fio has none. */
static const char *word_of(const struct sp_bench_class *c)
{
	for (const struct sp_enum_value *w = sp_bench_rw_values(); w->name; w++) {
		struct sp_bench_class like = *c;

		sp_bench_class_rw(&like, w->value);
		if (like.reads == c->reads && like.pattern == c->pattern)
			return w->name;
	}
	return "mixed";
}

/* Describes the access pattern of all classes. */
static const char *what_is_done(const struct config *o)
{
	const char *word = word_of(&o->bench.classes[0]);

	if (o->bench.replay)
		return "replay";
	for (size_t i = 1; i < o->bench.nclasses; i++)
		if (word_of(&o->bench.classes[i]) != word)
			return "mixed";
	return word;
}

/* Writes the request size, if all requests have the same. */
static void write_size(const struct config *o, char *text, size_t room)
{
	uint32_t bytes = o->bench.classes[0].bytes;

	*text = '\0';
	for (size_t i = 0; i < o->bench.nclasses; i++)
		if (o->bench.classes[i].bytes != bytes)
			return;
	if (!o->bench.replay)
		snprintf(text, room, bytes % 1024 ? ", %u bytes" : ", %uK",
			 bytes % 1024 ? bytes : bytes / 1024);
}

void plot_open(struct gnuplot *g, const struct config *o, const char *what, const char *engine,
	       struct gnuplot_layout layout)
{
	char *title, bytes[32];

	write_size(o, bytes, sizeof(bytes));
	if (asprintf(&title, "%s: %s%s, %s", o->bench.targets[0], what ? what : what_is_done(o),
		     bytes, engine) < 0)
		die("memory exhausted");
	gnuplot_open(g, o->plot, title, layout);
	free(title);
}

void plot_latency_axis(struct gnuplot *g, const struct gnuplot_range *r)
{
	gnuplot_decades(g, 'y', r);
	fputs("set format y '%.0s %cs'\n", g->in);
}

void plot_depths(struct gnuplot *g, const uint64_t *ns, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)ns[i];
	fprintf(g->in, "$depths << EOD\n");
	for (size_t i = 0; i < n && all > 0; i++)
		if (ns[i])
			fprintf(g->in, "%zu %.6g\n", i, 100 * (double)ns[i] / all);
	fprintf(g->in, "EOD\nmost = %zu\n", n - 1);
	fputs("set title 'Outstanding requests'\n"
	      "set xlabel 'outstanding'\n"
	      "set ylabel '% of the time'\n"
	      "set xrange [-0.5:most + 0.5]\n"
	      "set yrange [0:*]\n"
	      "unset key\n"
	      "plot $depths with impulses lw 3 lc rgb '#2060a0', $depths with points ls 1\n",
	      g->in);
}

/* Writes latencies; each decade of the axis has a tenth of the requests of the previous decade. */
static void put_latencies(struct gnuplot *g, const struct sp_bench *bench, size_t class,
			  uint64_t requests, struct gnuplot_range *range)
{
	fprintf(g->in, "$latency%zu << EOD\n", class);
	for (double rest = 1; rest * (double)requests >= 1; rest *= 0.9) {
		double latency = (double)sp_bench_quantile(bench, class, 1 - rest) / 1e9;

		fprintf(g->in, "%.9g %.9g\n", 1 / rest, latency);
		gnuplot_range_add(range, latency);
	}
	fprintf(g->in, "EOD\n");
}

static void plot_latencies(struct gnuplot *g, const struct sp_bench_result *r,
			   const struct gnuplot_range *range)
{
	const char *before = "plot ";

	plot_latency_axis(g, range);
	fputs("set title 'Latency'\n"
	      "set xlabel 'share of the requests that are not slower'\n"
	      "unset ylabel\n"
	      "set logscale x\n"
	      "set xtics ('50 %%' 2, '90 %%' 10, '99 %%' 100, '99.9 %%' 1e3, '' 1e4, "
	      "'99.999 %%' 1e5, '' 1e6)\n",
	      g->in);
	if (r->nclasses > 1)
		fputs("set key\n", g->in);
	for (size_t i = 0; i < r->nclasses; i++) {
		if (!r->classes[i].requests)
			continue;
		fprintf(g->in,
			"%s$latency%zu with lines lw 2 lc rgb '%s' title class%zu noenhanced",
			before, i, colours[i % COLOURS], i);
		before = ", ";
	}
	if (r->nclasses > 1)
		fprintf(g->in, "%s$latency%zu with lines ls 4 title 'total'", before, r->nclasses);
	fputc('\n', g->in);
}

void plot_run(const struct config *o, const struct sp_bench *bench)
{
	const struct sp_bench_result *r = sp_bench_result(bench);
	struct gnuplot_range range = { 0 };
	struct gnuplot g;
	char name[32];

	if (!r->total.requests) {
		msg("%s: no measurement to draw", quote_file(o->plot));
		return;
	}
	plot_open(&g, o, NULL, r->engine, (struct gnuplot_layout){ 1, 3, 1600, 450 });
	plot_time(&g, &o->series);
	for (size_t i = 0; i < r->nclasses; i++) {
		snprintf(name, sizeof(name), "class%zu", i);
		gnuplot_string(&g, name, r->classes[i].name);
		put_latencies(&g, bench, i, r->classes[i].requests, &range);
	}
	put_latencies(&g, bench, r->nclasses, r->total.requests, &range);
	fputs("set xrange [1:*]\n", g.in);
	plot_latencies(&g, r, &range);
	gnuplot_close(&g, o->plot);
}

/* Writes a named point of the curve. */
static void put_knee(struct gnuplot *g, const char *which, const char *name,
		     const struct sp_benchset_knee *k)
{
	fprintf(g->in, "$%s << EOD\n%u %.6g %.6g\nEOD\n%s = '%s: %u'\n", which, k->depth, k->iops,
		k->latency_mean_ns / 1e9, which, name, k->depth);
}

/* Writes value and interval in units of scale; without an interval, the value three times. */
static void put_estimate(struct gnuplot *g, struct sp_benchset_estimate e, double scale)
{
	fprintf(g->in, " %.6g %.6g %.6g", e.value / scale, (isnan(e.low) ? e.value : e.low) / scale,
		(isnan(e.high) ? e.value : e.high) / scale);
}

static void put_sweep(struct gnuplot *g, const struct sp_benchset_result *r,
		      struct gnuplot_range *range)
{
	fprintf(g->in, "$points << EOD\n");
	for (size_t i = 0; i < r->npoints; i++) {
		const struct sp_benchset_point *p = &r->points[i];

		if (!p->total.requests)
			continue;
		fprintf(g->in, "%u", p->depth);
		put_estimate(g, p->total.iops, 1);
		put_estimate(g, p->total.latency_mean_ns, 1e9);
		fprintf(g->in, " %.6g %.6g\n", (double)p->total.latency_p50_ns / 1e9,
			(double)p->total.latency_p99_ns / 1e9);
		gnuplot_range_add(range, (double)p->total.latency_p50_ns / 1e9);
		gnuplot_range_add(range, p->total.latency_mean_ns.value / 1e9);
		gnuplot_range_add(range, (double)p->total.latency_p99_ns / 1e9);
	}
	fprintf(g->in, "EOD\n");
}

static bool any_request(const char *file, const struct sp_benchset_result *r)
{
	for (size_t i = 0; i < r->npoints; i++)
		if (r->points[i].slices && r->points[i].total.requests)
			return true;
	msg("%s: no measurement to draw", quote_file(file));
	return false;
}

static const char knee_points[] =
	", \\\n"
	"     $knee1 using 1:2 with points pt 4 ps 2.2 lw 2 lc rgb '#d08020' title knee1, \\\n"
	"     $knee2 using 1:2 with points pt 6 ps 2.6 lw 2 lc rgb '#c02020' title knee2, \\\n"
	"     $knee3 using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb '#408040' title knee3";

void plot_sweep(const struct config *o, const struct sp_benchset_result *r)
{
	struct gnuplot_range range = { 0 };
	struct gnuplot g;

	if (!any_request(o->plot, r))
		return;
	plot_open(&g, o, NULL, r->engine, (struct gnuplot_layout){ 1, 2, 1200, 500 });
	put_sweep(&g, r, &range);
	if (r->knees) {
		put_knee(&g, "knee1", "latency knee", &r->latency_knee);
		put_knee(&g, "knee2", "recommended", &r->recommended);
		put_knee(&g, "knee3", "throughput knee", &r->throughput_knee);
	}
	fputs("set xlabel 'outstanding requests'\nset logscale x 2\nset title 'Requests per "
	      "second'\nset format y '%.0s%c'\nset yrange [0:*]\nplot $points using 1:2:3:4 with "
	      "yerrorlines ls 1 title 'measured, 95 %'",
	      g.in);
	if (r->knees)
		fputs(knee_points, g.in);
	fputs("\n", g.in);
	plot_latency_axis(&g, &range);
	fputs("set title 'Latency'\n"
	      "plot $points using 1:9 with linespoints ls 2 title 'p99', \\\n"
	      "     $points using 1:5 with linespoints ls 1 title 'mean', \\\n"
	      "     $points using 1:8 with linespoints ls 3 title 'p50'\n",
	      g.in);
	gnuplot_close(&g, o->plot);
}

/* Returns the class of this name, or NULL. */
static const struct sp_benchset_stats *class_of(const struct sp_benchset_point *p, const char *name)
{
	for (size_t i = 0; i < p->nclasses; i++)
		if (!strcmp(p->classes[i].name, name) && p->classes[i].requests)
			return &p->classes[i];
	return NULL;
}

static void put_class(struct gnuplot *g, const struct sp_benchset_result *r, const char *name)
{
	fprintf(g->in, "$%s << EOD\n", name);
	for (size_t i = 0; i < r->npoints; i++) {
		const struct sp_benchset_stats *s = class_of(&r->points[i], name);

		if (!s)
			continue;
		fprintf(g->in, "%.6g %.6g", 100 * r->points[i].share,
			s->bandwidth_bytes_per_s / 1e6);
		put_estimate(g, s->latency_mean_ns, 1e6);
		fputc('\n', g->in);
	}
	fprintf(g->in, "EOD\n");
}

static void plot_shares(struct gnuplot *g, const struct sp_benchset_result *r)
{
	put_class(g, r, "high");
	put_class(g, r, "low");
	fprintf(g->in, "$total << EOD\n");
	for (size_t i = 0; i < r->npoints; i++)
		if (r->points[i].slices)
			fprintf(g->in, "%.6g %.6g\n", 100 * r->points[i].share,
				r->points[i].total.bandwidth_bytes_per_s / 1e6);
	fputs("EOD\n"
	      "set xlabel 'requests of high priority, %'\n"
	      "set xrange [0:100]\n"
	      "set title 'Throughput'\n"
	      "set ylabel 'MB/s'\n"
	      "set yrange [0:*]\n"
	      "plot $total using 1:2 with linespoints ls 4 title 'total', \\\n"
	      "     $high using 1:2 with linespoints ls 1 title 'high', \\\n"
	      "     $low using 1:2 with linespoints ls 2 title 'low'\n"
	      "set title 'Mean latency, 95 %'\n"
	      "set ylabel 'ms'\n"
	      "plot $low using 1:3:4:5 with yerrorlines ls 2 title 'low', \\\n"
	      "     $high using 1:3:4:5 with yerrorlines ls 1 title 'high'\n",
	      g->in);
}

/* Writes random requests, then the mean of the readers. */
static void put_scans(struct gnuplot *g, const struct sp_benchset_result *r)
{
	fputs("$scans << EOD\n", g->in);
	for (size_t i = 0; i < r->npoints; i++) {
		const struct sp_benchset_point *p = &r->points[i];
		double latency = 0, bytes = 0;

		if (!p->slices)
			continue;
		for (size_t k = 1; k < p->nclasses; k++) {
			latency += p->classes[k].latency_mean_ns.value / (double)(p->nclasses - 1);
			bytes += p->classes[k].bandwidth_bytes_per_s;
		}
		fprintf(g->in, "%s %.6g %.6g %.6g %.6g\n", p->name,
			p->classes[0].latency_mean_ns.value / 1e6, latency / 1e6,
			p->classes[0].bandwidth_bytes_per_s / 1e6, bytes / 1e6);
	}
	fputs("EOD\n", g->in);
}

static void plot_scans(struct gnuplot *g, const struct sp_benchset_result *r)
{
	put_scans(g, r);
	fputs("set style data histogram\n"
	      "set style fill solid 0.8 noborder\n"
	      "set boxwidth 0.9\n"
	      "set yrange [0:*]\n"
	      "set title 'Mean latency'\n"
	      "set ylabel 'ms'\n"
	      "plot $scans using 2:xtic(1) title 'random' lc rgb '#2060a0', \\\n"
	      "     $scans using 3 title 'sequential' lc rgb '#d08020'\n"
	      "set title 'Throughput'\n"
	      "set ylabel 'MB/s'\n"
	      "plot $scans using 4:xtic(1) title 'random' lc rgb '#2060a0', \\\n"
	      "     $scans using 5 title 'sequential' lc rgb '#d08020'\n",
	      g->in);
}

void plot_mix(const struct config *o, const struct sp_benchset_result *r)
{
	struct gnuplot g;

	if (!any_request(o->plot, r))
		return;
	plot_open(&g, o, NULL, r->engine, (struct gnuplot_layout){ 1, 2, 1200, 500 });
	if (o->set.mix.kind == SP_BENCHSET_SCANS)
		plot_scans(&g, r);
	else
		plot_shares(&g, r);
	gnuplot_close(&g, o->plot);
}
