/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the commands of aiobench.
 */
#pragma once

#include <stdnoreturn.h>
#include <stdio.h>
#include <spindle/benchset.h>
#include <spindle/fiojob.h>
#include <spindle/policy.h>
#include <spindle/report.h>
#include "commands.h"
#include "msg.h"
#include "signals.h"
#include "number.h"
#include "progress.h"
#include "statsfile.h"

/* Requests, p50 and p99 over time; a full series is halved (plot_time.c). */
#define TIME_SERIES_MAX 512
struct time_series {
	size_t n;
	unsigned each, last; /* intervals per point, and in the last point */
	struct time_point {
		uint64_t begin_ns, end_ns, requests, p99_ns;
		double p50_ns;
	} points[TIME_SERIES_MAX];
};

/* Options of the commands that measure several settings. */
struct set_options {
	struct sp_benchset_mix mix;
	double shares[SP_BENCHSET_SHARES_MAX];
	const char *a, *b;
	unsigned pairs;
};

enum priorities { PRIORITIES_DEFAULT, PRIORITIES_NO, PRIORITIES_YES, PRIORITIES_BOTH };

/* Options of policy that only some runs use. */
struct policy_partial {
	bool urgent, background, ahead, clients, query, batch, buffer, steal, flow, preflush,
		victims, frames_needed, threads, extent_threshold, log;
};

/* The policies to run; 0: the default. */
struct policy_options {
	struct sp_policy_opts policy;
	unsigned loads, submissions; /* bits */
	enum priorities priorities;
	struct policy_partial given;
};

/* The load that the options describe, with a class for each --class. */
struct config {
	struct sp_bench_class plain; /* the values that classes start from */
	const char *class_text[SP_BENCH_CLASSES_MAX];
	size_t nclass_text;
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	const char *targets[SP_BENCH_TARGETS_MAX];
	struct sp_bench_opts bench; /* complete after load_options_finish() */
	const char *stats, *status, *plot;
	bool fio_json; /* --output-format=fio-json */
	enum progress_mode progress;
	struct statsfile stats_file;
	struct time_series series;	 /* for --plot */
	struct sp_no_effects no_effects; /* found in the options alone */
	FILE *status_file;
	struct sp_outfile *status_out;
	bool status_failed;
	double mix; /* --rwmixread; negative: not given */
	const char *distribution;
	bool depth_given, runtime_given, bytes_given;
	struct sp_bench_replay replay;
	struct sp_fiojob *job; /* NULL: no job file */
	const char *job_path;
	bool job_ignore, plain_given;
	struct sp_watch_opts watch;
	struct set_options set;
	int argc; /* the command line, for compare */
	char **argv;
	struct policy_options policy;
};

/* fio_report.c: adds a measurement to the report in fio's format; writes it, if there is one. */
void fio_report_add(const struct config *o, const struct sp_bench *bench);
void fio_report_finish(void);
extern const struct sp_enum_value fio_report_formats[];

enum command_bit {
	RUN = 1,
	SWEEP = 2,
	MIX = 4,
	COMPARE = 8,
	PREFLIGHT = 16,
	REPLAY = 32,
	WATCH = 64,
	POLICY = 128,
	ALL = 255
};

/* options.c: the rows of struct config. */
extern const struct setting load_settings[];
void load_options_init(struct config *o);
void load_options_targets(struct config *o, const struct operands *operands);
/* Combines classes and targets; depth and runtime_ns are defaults.  Errors end the program. */
void load_options_finish(struct config *o, unsigned depth, uint64_t runtime_ns);
/* aiobench.c: parses a whole command line and returns its command. */
const struct command *load_options_read(struct config *o, int argc, char **argv);

/*
 * fiojob.c: reads the values of a job, and later its targets and classes.  Errors end the program.
 */
void fiojob_load(void *load, const char *option, const char *path);
void fiojob_finish(struct config *o);
/* Prevents outputs from overwriting files of a run. */
struct sp_output_set;
void fiojob_check_inputs(struct sp_output_set *set, struct sp_fiojob *job);
/* Returns the number of runs of the last job file; selects the run for the next options. */
size_t fiojob_runs(void);
void fiojob_select(size_t run);

/*
 * run.c: opens the file for intervals, if requested.  The first write error is printed immediately;
 * the program continues, and fails at its end.
 */
void open_status(struct config *o);
void check_status(struct config *o, int rc);
int close_status(struct config *o); /* returns the exit status */
/* Ends the program with an error of a run; for a missing target, names the option that makes it. */
noreturn void bench_die(const struct config *o, int rc, const struct sp_errinfo *err);

/* output.c */
/* Ends the program if an output is another output, or an input. */
void check_outputs(const struct config *o);
/*
 * Writes text to standard output, JSON to the file of --stats, and a line for each option without
 * effect.  Frees both; before, which was printed before the run, and no_effects can be NULL.
 */
void write_report(struct config *o, struct sp_report *report, struct sp_preflight *before,
		  const struct sp_no_effects *no_effects);

/*
 * preflight.c: prints whether the priorities of a run can act; the caller frees.  NULL: no
 * priorities.
 */
struct sp_preflight *preflight_before(const struct config *o);
/* Prints whether the priorities of two classes can act, in place of the classes of the run. */
struct sp_preflight *preflight_pair(const struct config *o, const struct sp_bench_class pair[2]);

/* set.c */
/*
 * Adapts a job file of fio to many short measurements: they end by time, not by bytes, and the
 * depth of the run is that of the only job.
 */
void set_options_load(struct config *o);
/*
 * Writes the report of a set, draws it if requested (plot can be NULL), and frees it.  Returns the
 * exit status; a failure, rc, ends the program.
 */
typedef void set_plot(const struct config *o, const struct sp_benchset_result *r);
int set_finish(struct config *o, struct sp_benchset *set, struct sp_report *report,
	       struct sp_preflight *before, set_plot *plot, int rc, const struct sp_errinfo *err);

/* output.c: shows the state of a measurement in the progress line */
#define LIVE_NS 500000000 /* default interval */
bool live_wanted(void);
void live_set(enum progress_mode mode);
__attribute__((format(printf, 1, 2))) void show_live(const char *fmt, ...);
void show_progress(void *arg, double share_done);

/*
 * plot.c: draws o->plot with gnuplot; failure ends the program.  The title names the target, the
 * access pattern (NULL: by the classes), the request size, and the engine.
 */
struct gnuplot;
void time_series_add(struct time_series *s, const struct sp_bench_interval *i);
void plot_time(struct gnuplot *g, const struct time_series *s);
struct gnuplot_layout;
void plot_open(struct gnuplot *g, const struct config *o, const char *what, const char *engine,
	       struct gnuplot_layout layout);
void plot_run(const struct config *o, const struct sp_bench *bench);
void plot_sweep(const struct config *o, const struct sp_benchset_result *r);
void plot_mix(const struct config *o, const struct sp_benchset_result *r);
/* Makes the y axis one of these latencies, in seconds. */
struct gnuplot_range;
void plot_latency_axis(struct gnuplot *g, const struct gnuplot_range *r);
/* Draws one plot: the share of the time with each number outstanding; n > 0. */
void plot_depths(struct gnuplot *g, const uint64_t *ns, size_t n);

/* watch.c */
#define WATCH_SERIES_MAX 600
struct watch_series {
	size_t n, each, last; /* points; intervals in each, and in the last */
	struct sp_watch_interval points[WATCH_SERIES_MAX];
};
void watch_series_add(struct watch_series *s, const struct sp_watch_interval *i);
void plot_watch(const struct config *o, const struct sp_watch_result *r,
		const struct watch_series *s);

/* policy.c */
void plot_policy(const struct config *o, const struct sp_policy *const *p, size_t n);

int command_run(struct config *o);
int command_preflight(struct config *o);
int command_replay(struct config *o);
int command_watch(struct config *o);
int command_sweep(struct config *o);
int command_mix(struct config *o);
int command_compare(struct config *o);
int command_policy(struct config *o);
