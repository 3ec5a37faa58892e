/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench run and replay, with their intervals and pictures.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "outputs.h"
#include "aiobench.h"

static struct sp_preflight *preflight;

void check_status(struct config *o, int rc)
{
	if (rc == 0 || o->status_failed)
		return;
	progress_wipe();
	msg_sys(-rc, "%s", o->status ? quote_file(o->status) : "standard error");
	o->status_failed = true;
}

static void show_interval(void *arg, const struct sp_bench_interval *i)
{
	struct config *o = arg;

	if (o->plot)
		time_series_add(&o->series, i);
	if (!o->status_failed)
		check_status(o, sp_report_bench_interval(i, o->status_file));
}

static void show_state(void *arg, const struct sp_bench_interval *i)
{
	struct config *o = arg;
	double seconds = (double)(i->end_ns - i->begin_ns) / 1e9;
	char of[32] = "";

	if (o->plot)
		time_series_add(&o->series, i);
	if (o->bench.runtime_ns)
		snprintf(of, sizeof(of), " of %g", (double)o->bench.runtime_ns / 1e9);
	show_live("%.1f%s s, %.0f IOPS, mean latency %.3f ms, %u outstanding",
		  (double)i->end_ns / 1e9, of, (double)i->total.requests / seconds,
		  i->total.latency_mean_ns / 1e6, i->total.outstanding);
}

void open_status(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (o->status && !o->bench.interval_ns)
		die("--status needs --status-interval");
	if (!o->bench.interval_ns)
		return;
	o->status_file = stderr;
	if (o->status && (sp_outfile_open(&o->status_out, o->status, SP_OUTFILE_LIVE, &err) < 0 ||
			  sp_outfile_stream(o->status_out, &o->status_file, &err) < 0))
		output_die(&err);
}

int close_status(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	check_status(o, sp_outfile_commit(o->status_out, &err));
	sp_outfile_close(o->status_out, &err);
	return o->status_failed ? 2 : 0;
}

/* Returns the interval of a point in a picture: a hundredth of the run, at least 10 ms. */
static uint64_t drawn_ns(uint64_t runtime_ns)
{
	const uint64_t least = 10000000;

	if (!runtime_ns)
		return LIVE_NS / 10;
	return runtime_ns / 100 > least ? runtime_ns / 100 : least;
}

static void tell_intervals(struct config *o)
{
	open_status(o);
	o->bench.interval = o->status_file ? show_interval : show_state;
	o->bench.interval_arg = o;
	if (!o->status_file && o->plot)
		o->bench.interval_ns = drawn_ns(o->bench.runtime_ns);
	else if (!o->status_file && live_wanted())
		o->bench.interval_ns = LIVE_NS;
}

/* Notes the classes of a replay, which are known once its trace has been read. */
static void settled(void *arg, const struct sp_bench_opts *opts)
{
	struct config asked = *(const struct config *)arg;

	asked.bench = *opts;
	preflight = preflight_before(&asked);
	fflush(stdout);
}

/* Fails if all requests failed: the report is not a measurement. */
static void refuse_failures(const struct sp_bench_result *r)
{
	if (r->total.errors && !r->total.requests)
		die("all requests failed: %s",
		    sp_strerror(r->nerrors && r->errors[0].code < 0 ? r->errors[0].code : -EIO));
}

/* True if --create could make this file. */
static bool can_create(const struct config *o, const char *target)
{
	char *copy = must_copy(target);
	bool can = !o->bench.create && !o->job && strncmp(target, "/dev/", 5) &&
		   access(dirname(copy), W_OK) == 0;

	free(copy);
	return can;
}

void bench_die(const struct config *o, int rc, const struct sp_errinfo *err)
{
	for (size_t i = 0; i < o->bench.ntargets; i++) {
		die_next(err, -EEXIST, o->bench.targets[i],
			 "--overwrite instead of --create allows to write to it");
		if (can_create(o, o->bench.targets[i]))
			die_next(err, -ENOENT, o->bench.targets[i],
				 "--create --size=SIZE creates it");
	}
	die_of(rc, err);
}

int command_run(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_report *report;
	struct sp_bench *bench;
	int rc;

	o->bench.time_submissions = o->fio_json;
	if (!o->bench.replay)
		preflight = preflight_before(o);
	else
		o->bench.settled = settled;
	o->bench.settled_arg = o;
	tell_intervals(o);
	signals_interrupt();
	rc = sp_bench_run(&bench, &o->bench, &err);
	progress_wipe();
	if (!bench)
		bench_die(o, rc, &err);
	report = sp_report_bench(&o->bench, sp_bench_result(bench));
	write_report(o, report, preflight, &sp_bench_result(bench)->no_effects);
	if (o->plot)
		plot_run(o, bench);
	if (rc < 0)
		die_of(rc, &err);
	refuse_failures(sp_bench_result(bench));
	if (o->fio_json)
		fio_report_add(o, bench);
	sp_bench_free(bench);
	return close_status(o);
}

/* the first argument is the trace, the others are targets */
int command_replay(struct config *o)
{
	struct sp_bench_opts *b = &o->bench;

	if (b->ntargets < 2)
		die("replay needs a trace and a target");
	o->replay.trace = b->targets[0];
	b->targets++;
	b->ntargets--;
	b->nclasses = 0;
	b->replay = &o->replay;
	if (!o->depth_given)
		b->depth = 0;
	if (!o->runtime_given)
		b->runtime_ns = 0;
	return command_run(o);
}
