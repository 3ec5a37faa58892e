/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "msg.h"
#include "aiobench.h"

static void show_interval(void *arg, const struct sp_bench_interval *i)
{
	struct load_options *o = arg;
	int rc = sp_report_bench_interval(i, o->status_file);

	if (rc < 0)
		die_sys(-rc, "%s", o->status ? o->status : "standard error");
}

void open_status(struct load_options *o)
{
	if (o->status && !o->bench.interval_ns)
		die("--status needs --status-interval");
	if (!o->bench.interval_ns)
		return;
	o->status_file = o->status ? fopen(o->status, "we") : stderr;
	if (!o->status_file)
		die_sys(errno, "%s", o->status);
	o->bench.interval = show_interval;
	o->bench.interval_arg = o;
}

int command_run(struct load_options *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_preflight *preflight = preflight_before(o);
	struct sp_report *report;
	struct sp_bench *bench;
	int rc;

	open_status(o);
	catch_signals();
	rc = sp_bench_run(&bench, &o->bench, &err);
	if (!bench)
		die_of(rc, &err);
	report = sp_report_bench(&o->bench, sp_bench_result(bench));
	if (report && preflight && sp_report_add_preflight(report, preflight) < 0)
		die("memory exhausted");
	free(preflight);
	write_report(o, report);
	sp_report_free(report);
	if (o->set.plot)
		plot_run(o->set.plot, o->bench.targets[0], bench);
	sp_bench_free(bench);
	if (o->status && fclose(o->status_file))
		die_sys(errno, "%s", o->status);
	if (rc < 0)
		die_of(rc, &err);
	return 0;
}
