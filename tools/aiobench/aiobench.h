/* SPDX-License-Identifier: MIT */
/*
 * What the commands of aiobench share.
 */
#ifndef AIOBENCH_H
#define AIOBENCH_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <stdio.h>
#include <spindle/bench.h>
#include <spindle/fiojob.h>
#include <spindle/report.h>

/* The load that options describe; --class makes several out of one. */
struct load_options {
	struct sp_bench_class plain; /* what classes are made from */
	const char *class_text[SP_BENCH_CLASSES_MAX];
	size_t nclass_text;
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	const char *targets[SP_BENCH_TARGETS_MAX];
	struct sp_bench_opts bench; /* complete after load_options_finish() */
	const char *stats, *status;
	FILE *status_file;
	double mix; /* --rwmixread; negative: not given */
	const char *distribution;
	bool depth_given, runtime_given;
	struct sp_bench_replay replay;
	struct sp_fiojob *job; /* or NULL */
	const char *job_path;
	bool job_ignore, plain_given;
	struct sp_watch_opts watch;
};

/* Options of the load itself, and those of what is written about it. */
extern const struct argp load_argp, replay_argp, fiojob_argp, watch_argp;
void load_options_init(struct load_options *o);
/* Classes and targets are put together; the end of the program if they cannot be. */
void load_options_finish(struct load_options *o);

/* class.c: NAME:KEY=VALUE,...; dies if it is wrong. */
void class_parse(struct sp_bench_class *c, char *text);
void class_set_rw(struct sp_bench_class *c, const char *option, const char *word);
void class_set_distribution(struct sp_bench_class *c, const char *option, const char *text);

/* values.c; all die with a message if text is no such thing. */
double number_value(const char *option, const char *text, double min, double max);
double percent_value(const char *option, const char *text); /* "10%" or "10": 0.1 */
uint64_t bytes_value(const char *option, const char *text);
uint64_t time_value(const char *option, const char *text); /* ns; seconds without a unit */
bool bool_value(const char *option, const char *text);	   /* NULL: true */
uint16_t prio_value(const char *option, const char *text);

/* fiojob.c: targets and classes are those of the job; dies if that cannot be. */
void fiojob_finish(struct load_options *o);

/* run.c: the file for intervals, if they are wanted; their function as of a run. */
void open_status(struct load_options *o);

/* output.c */
extern volatile sig_atomic_t interrupted;
void catch_signals(void);
noreturn void die_of(int rc, const struct sp_errinfo *err);
void say_error(int rc, const struct sp_errinfo *err);
/* Text on standard output, JSON where --stats says. */
void write_report(const struct load_options *o, const struct sp_report *report);
/* The JSON alone. */
void write_stats(const struct load_options *o, const struct sp_report *report);

/* preflight.c: what is to be said before a run with priorities; NULL: nothing.  To be freed. */
struct sp_preflight *preflight_before(const struct load_options *o);

int command_run(struct load_options *o);
int command_preflight(struct load_options *o);
int command_replay(struct load_options *o);
int command_watch(struct load_options *o);

#endif
