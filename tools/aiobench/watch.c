/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench watch: requests that another process or a device has outstanding.
 */
#include <unistd.h>
#include "aiobench.h"

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
		die("--sample_rate and --source=trace exclude each other: a trace has each "
		    "request");
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
