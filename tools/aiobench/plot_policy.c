/* SPDX-License-Identifier: MIT */
/*
 * Draws policies: the distribution of outstanding requests of each load, and throughput against the
 * latency of critical reads.
 */
#include <string.h>
#include "gnuplot.h"
#include "aiobench.h"

static const char colours[][8] = {
	"#606060", "#d08020", "#2060a0", "#c04040", "#408040", "#a04080"
};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

static enum sp_policy_load load_of(const struct sp_policy *p)
{
	return sp_policy_result(p)->opts.load;
}

/* Writes steps that begin half a request lower, so 0 can be drawn on a logarithmic axis. */
static void put_depths(struct gnuplot *g, size_t i, const struct sp_bench_stats *s)
{
	double all = 0, sum = 0;

	for (size_t k = 0; k < s->depths; k++)
		all += (double)s->depth_ns[k];
	fprintf(g->in, "$depths%zu << EOD\n0.5 0\n", i);
	for (size_t k = 0; k < s->depths && all > 0; k++) {
		sum += (double)s->depth_ns[k];
		if (s->depth_ns[k])
			fprintf(g->in, "%.1f %.6g\n", (double)k + 0.5, 100 * sum / all);
	}
	fprintf(g->in, "EOD\n");
}

/* Returns the critical reads; NULL: there are none in this load. */
static const struct sp_bench_stats *critical_of(const struct sp_policy_result *r)
{
	const struct sp_bench_stats *c = &r->bench->classes[0];

	return strcmp(c->name, "critical") ? NULL : c;
}

static void put_run(struct gnuplot *g, size_t i, const struct sp_policy_result *r)
{
	const struct sp_bench_stats *c = critical_of(r);

	put_depths(g, i, &r->bench->total);
	fprintf(g->in, "$gain%zu << EOD\n", i);
	if (!c)
		fprintf(g->in, "%.6g %.6g\n", r->bandwidth_bytes_per_s / 1e6, r->idle * 100);
	else if (c->requests)
		fprintf(g->in, "%.6g %.6g\n", r->bandwidth_bytes_per_s / 1e6,
			c->latency_mean_ns / 1e9);
	else
		fputs("NaN NaN\n", g->in);
	fprintf(g->in, "EOD\nname%zu = '%s%s%s'\n", i,
		sp_policy_submission_name(r->opts.submission),
		r->opts.priorities ? ", priorities" : "",
		c && !c->requests ? ": none completed" : "");
}

/*
 * Draws one line or point for each run of the load.  Later lines are narrower and later points
 * smaller, so earlier ones with equal values stay visible.
 */
static void plot_runs(struct gnuplot *g, const struct sp_policy *const *p, size_t n,
		      enum sp_policy_load load, const char *data, const char *with, double widest,
		      double narrowest)
{
	const char *before = "plot ";
	size_t colour = 0, runs = 0;
	double shrink;

	for (size_t i = 0; i < n; i++)
		runs += load_of(p[i]) == load;
	shrink = runs > 1 ? (widest - narrowest) / (double)(runs - 1) : 0;

	for (size_t i = 0; i < n; i++) {
		if (load_of(p[i]) != load)
			continue;
		fprintf(g->in, "%s$%s%zu %s %.1f lc rgb '%s' title name%zu", before, data, i, with,
			widest - shrink * (double)colour, colours[colour % COLOURS], i);
		before = ", ";
		colour++;
	}
	fputc('\n', g->in);
}

static void plot_load(struct gnuplot *g, const struct sp_policy *const *p, size_t n,
		      enum sp_policy_load load, bool critical)
{
	struct gnuplot_range range = { 0 };
	double most = 0; /* MB/s */

	for (size_t i = 0; i < n; i++) {
		const struct sp_policy_result *r = sp_policy_result(p[i]);

		if (load_of(p[i]) != load)
			continue;
		if (most < r->bandwidth_bytes_per_s / 1e6)
			most = r->bandwidth_bytes_per_s / 1e6;
		if (critical_of(r))
			gnuplot_range_add(&range, critical_of(r)->latency_mean_ns / 1e9);
	}
	fprintf(g->in,
		"set title '%s: outstanding requests'\n"
		"set xlabel 'outstanding'\n"
		"set ylabel 'at most this number, %% of the time'\n"
		"set logscale x\n"
		"set format y '%%g'\n"
		"set xtics ('0' 0.5, '1' 1.5, '2' 2.5, '4' 4.5, '8' 8.5, '16' 16.5, '32' 32.5, "
		"'64' 64.5, '128' 128.5, '256' 256.5, '1024' 1024.5)\n"
		"set xrange [0.4:*]\n"
		"set yrange [0:102]\n"
		"unset key\n",
		sp_policy_load_name(load));
	plot_runs(g, p, n, load, "depths", "with steps lw", 8, 1.5);
	fprintf(g->in,
		"set title '%s: throughput and cost'\n"
		"set xlabel 'pages worked on, MB/s'\n"
		"unset logscale x\n"
		"set xtics autofreq\n"
		"set xrange [0:%.6g]\n"
		"set key\n",
		sp_policy_load_name(load), most > 0 ? most * 1.1 : 1);
	if (critical)
		plot_latency_axis(g, &range);
	fputs(critical ? "set ylabel 'critical reads, mean latency'\n"
		       : "set ylabel 'nothing outstanding, % of the time'\n"
			 "set yrange [0:100]\n",
	      g->in);
	plot_runs(g, p, n, load, "gain", "with points pt 7 ps", 2.4, 1);
	fputs("unset logscale y\n", g->in);
}

void plot_policy(const struct config *o, const struct sp_policy *const *p, size_t n)
{
	unsigned loads = 0;
	struct gnuplot g;
	int rows;

	for (size_t i = 0; i < n; i++)
		loads |= 1u << load_of(p[i]);
	rows = __builtin_popcount(loads);
	plot_open(&g, o, "loads of a database", sp_policy_result(p[0])->bench->engine,
		  (struct gnuplot_layout){ rows, 2, 1400, 100 + 350 * rows });
	for (size_t i = 0; i < n; i++)
		put_run(&g, i, sp_policy_result(p[i]));
	for (int load = SP_POLICY_SCAN; load <= SP_POLICY_UPDATE; load++)
		if (loads & 1u << load)
			plot_load(&g, p, n, (enum sp_policy_load)load,
				  sp_policy_result(p[0])->opts.critical_rate > 0);
	gnuplot_close(&g, o->plot);
}
