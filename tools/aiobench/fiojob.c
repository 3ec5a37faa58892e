/* SPDX-License-Identifier: MIT */
/*
 * Replaces options by a job file of fio.
 *
 * Values are set when the option is parsed, so later options override them.  Classes and files are
 * set last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "outputs.h"
#include "aiobench.h"

/* The file that was read last; several settings or runs of a process use it. */
static struct {
	const char *path;
	struct sp_fiojob *job;
	bool reported;
	size_t run;
	char *names[4]; /* outputs of this run */
} last;

size_t fiojob_runs(void)
{
	return last.job ? sp_fiojob_runs(last.job) : 1;
}

void fiojob_select(size_t run)
{
	last.run = run;
}

void fiojob_check_inputs(struct sp_output_set *set, struct sp_fiojob *job)
{
	for (size_t i = 0; i < sp_fiojob_runs(job); i++) {
		struct sp_bench_opts run = { .ntargets = 0 };

		sp_fiojob_apply(job, i, &run);
		for (size_t k = 0; k < run.ntargets; k++)
			outputs_check_volume(set, run.targets[k]);
	}
}

static void read_job(const char *path)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	if (last.path && !strcmp(last.path, path))
		return;
	last.path = path;
	last.reported = false;
	rc = sp_fiojob_load(&last.job, path, &err);
	if (rc < 0)
		die_of(rc, &err);
}

void fiojob_load(void *load, const char *option, const char *path)
{
	struct config *o = load;
	struct sp_bench_opts said = o->bench;

	if (o->job)
		die("more than one %s", option);
	read_job(path);
	o->job = last.job;
	sp_fiojob_apply(o->job, last.run, &said);
	said.targets = o->bench.targets;
	said.ntargets = o->bench.ntargets;
	said.create = o->bench.create;
	o->bench = said;
	o->job_path = path;
	o->depth_given = o->runtime_given = true;
}

/* Reports lines that are not understood, and ignored keys. */
static void report_lines(const struct config *o)
{
	const struct sp_fiojob_line *lines;
	size_t n = sp_fiojob_lines(o->job, &lines);

	if (last.reported)
		return;
	last.reported = true;
	for (size_t i = 0; i < n; i++)
		msg("%s:%u: not understood: %s: %s", quote_file(o->job_path), lines[i].line,
		    quote(lines[i].text), lines[i].reason);
	if (n && !o->job_ignore)
		die("%zu of its lines not understood (--fio-job-ignore continues)", n);
	if (*sp_fiojob_ignored(o->job))
		msg("%s: ignored keys that change nothing here: %s", quote_file(o->job_path),
		    sp_fiojob_ignored(o->job));
}

/* Inserts the number of the run before the suffix of a name; the new name replaces *numbered. */
static void number(const char **name, char **numbered)
{
	const char *base, *dot;
	size_t bytes;
	char *to;

	if (!*name || !strcmp(*name, "-") || !strncmp(*name, "/dev/", 5))
		return;
	base = strrchr(*name, '/');
	base = base ? base + 1 : *name;
	dot = strrchr(base, '.');
	if (!dot || dot == base)
		dot = base + strlen(base);
	bytes = strlen(*name) + 24;
	to = must_alloc(NULL, bytes, 1);
	snprintf(to, bytes, "%.*s.%zu%s", (int)(dot - *name), *name, last.run + 1, dot);
	free(*numbered);
	*name = *numbered = to;
}

/* Gives each run its own output files. */
static void number_outputs(struct config *o)
{
	if (sp_fiojob_runs(o->job) == 1)
		return;
	number(&o->stats, &last.names[0]);
	number(&o->status, &last.names[1]);
	number(&o->plot, &last.names[2]);
	number(&o->bench.trace, &last.names[3]);
}

static void need_targets(const struct config *o)
{
	for (size_t i = sp_fiojob_runs(o->job); i-- > 0;) {
		struct sp_bench_opts run = { .targets = o->bench.targets,
					     .ntargets = o->bench.ntargets };

		sp_fiojob_apply(o->job, i, &run);
		if (!run.ntargets)
			die("missing target: %s names none", quote_file(o->job_path));
	}
}

void fiojob_finish(struct config *o)
{
	struct sp_bench_opts said = o->bench;

	if (o->nclass_text || o->plain_given || o->bytes_given)
		die("--fio-job describes the requests: --rw, --bs, --class and similar options "
		    "cannot be used with it");
	report_lines(o);
	need_targets(o);
	sp_fiojob_apply(o->job, last.run, &said);
	o->bench.targets = said.targets;
	o->bench.ntargets = said.ntargets;
	o->bench.create = said.create;
	memcpy(o->classes, said.classes, said.nclasses * sizeof(o->classes[0]));
	o->bench.classes = o->classes;
	o->bench.nclasses = said.nclasses;
	for (size_t i = 0; o->bench.total_bytes && i < o->bench.nclasses; i++)
		o->classes[i].total_bytes = 0;
	if (!strncmp(said.targets[0], "sim:", 4))
		o->bench.engine = NULL;
	number_outputs(o);
}
