/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench watch: requests that another process or a device has outstanding.
 */
#include <unistd.h>
#include "aiobench.h"
#include "gnuplot.h"

/*
 * Draws a watch: outstanding requests over time, and their distribution.
 *
 * Algorithm: the duration is unknown, so a full series is halved.  Each point then stands for twice
 * as many intervals.
 */

/* Joins interval a and the next one, b. */
static struct sp_watch_interval joined(const struct sp_watch_interval *a,
				       const struct sp_watch_interval *b)
{
	double a_ns = (double)(a->end_ns - a->begin_ns), b_ns = (double)(b->end_ns - b->begin_ns);
	struct sp_watch_interval i = *b;

	i.begin_ns = a->begin_ns;
	i.depth_mean = (a->depth_mean * a_ns + b->depth_mean * b_ns) / (a_ns + b_ns);
	i.depth_max = a->depth_max > b->depth_max ? a->depth_max : b->depth_max;
	return i;
}

void watch_series_add(struct watch_series *s, const struct sp_watch_interval *i)
{
	if (s->n && s->last < s->each) {
		s->points[s->n - 1] = joined(&s->points[s->n - 1], i);
		s->last++;
		return;
	}
	if (s->n == WATCH_SERIES_MAX) {
		s->n /= 2;
		for (size_t k = 0; k < s->n; k++)
			s->points[k] = joined(&s->points[2 * k], &s->points[2 * k + 1]);
		s->each *= 2;
	}
	s->each = s->each ? s->each : 1;
	s->points[s->n++] = *i;
	s->last = 1;
}

static void put_series(struct gnuplot *g, const struct watch_series *s)
{
	const struct sp_watch_interval *last = &s->points[s->n - 1];

	fprintf(g->in, "$series << EOD\n");
	for (size_t i = 0; i < s->n; i++)
		fprintf(g->in, "%.9g %.6g %u\n", (double)s->points[i].begin_ns / 1e9,
			s->points[i].depth_mean, s->points[i].depth_max);
	fprintf(g->in, "%.9g %.6g %u\nEOD\n", (double)last->end_ns / 1e9, last->depth_mean,
		last->depth_max);
}

void plot_watch(const struct config *o, const struct sp_watch_result *r,
		const struct watch_series *s)
{
	struct gnuplot g;
	char title[128];

	if (!s->n) {
		msg("%s: no measurement to draw", quote_file(o->plot));
		return;
	}
	snprintf(title, sizeof(title), "%s: watched by %s", r->name,
		 sp_watch_source_name(r->source));
	gnuplot_open(&g, o->plot, title, (struct gnuplot_layout){ 1, 2, 1200, 450 });
	put_series(&g, s);
	fprintf(g.in, "greatest = %u\n", r->depth_max ? r->depth_max : 1);
	fputs("set title 'Outstanding requests over time'\n"
	      "set xlabel 's'\n"
	      "set ylabel 'outstanding'\n"
	      "set yrange [0:1.05 * greatest]\n"
	      "plot $series using 1:3 with steps ls 3 title 'greatest', \\\n"
	      "     $series using 1:2 with steps ls 1 title 'mean'\n",
	      g.in);
	plot_depths(&g, r->depth_ns, r->depths);
	gnuplot_close(&g, o->plot);
}

#define PLOT_NS 100000000 /* default interval of a picture */

static struct watch_series series;

static void show_state(const struct sp_watch_interval *i)
{
	show_live("%.1f s, outstanding: mean %.2f, at most %u, now %u", (double)i->end_ns / 1e9,
		  i->depth_mean, i->depth_max, i->depth_last);
}

static void take_interval(void *arg, const struct sp_watch_interval *i)
{
	struct config *o = arg;

	if (o->plot)
		watch_series_add(&series, i);
	if (!o->status_file)
		show_state(i);
	else if (!o->status_failed)
		check_status(o, sp_report_watch_interval(i, o->status_file));
}

static uint64_t interval_ns(const struct config *o)
{
	if (o->status_file)
		return o->bench.interval_ns;
	return o->plot ? PLOT_NS : live_wanted() ? LIVE_NS : 0;
}

int command_watch(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_watch_opts *w = &o->watch;
	struct sp_report *report;
	struct sp_watch *watch;
	int rc;

	if (o->bench.ntargets > 1)
		die("watch takes one device or process");
	if (w->source == SP_WATCH_TRACE && w->rate > 0)
		die("--sample_rate and --source=trace are incompatible: a trace has every request");
	w->target = o->bench.targets[0];
	w->runtime_ns = o->runtime_given ? o->bench.runtime_ns : 0;
	w->stop = &interrupted;
	open_status(o);
	w->interval = take_interval;
	w->interval_arg = o;
	w->interval_ns = interval_ns(o);
	signals_interrupt();
	rc = sp_watch_run(&watch, w, &err);
	progress_wipe();
	if (rc < 0)
		die_of(rc, &err);
	(void)sp_report_watch_text(sp_watch_result(watch), stdout, terminal_columns(STDOUT_FILENO));
	report = sp_report_watch(w, sp_watch_result(watch));
	statsfile_finish(&o->stats_file, report);
	if (o->plot)
		plot_watch(o, sp_watch_result(watch), &series);
	sp_watch_free(watch);
	return close_status(o);
}
