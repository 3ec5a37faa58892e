/* SPDX-License-Identifier: MIT */
/*
 * A job file of fio in place of options.  Its values are set when the option is
 * parsed, so that later options override them; its classes and files are set
 * last.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "msg.h"
#include "quote.h"
#include "aiobench.h"

void fiojob_load(void *load, const char *option, const char *path)
{
	struct load_options *o = load;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_bench_opts said = o->bench;
	int rc;

	if (o->job)
		die("more than one %s", option);
	rc = sp_fiojob_load(&o->job, path, &err);
	if (rc < 0)
		die_of(rc, &err);
	sp_fiojob_apply(o->job, &said);
	said.targets = o->bench.targets;
	said.ntargets = o->bench.ntargets;
	o->bench = said;
	o->job_path = path;
	o->depth_given = o->runtime_given = true;
}

static void tell_lines(const struct load_options *o)
{
	const struct sp_fiojob_line *lines;
	size_t n = sp_fiojob_lines(o->job, &lines);

	for (size_t i = 0; i < n; i++)
		msg("%s:%u: not understood: %s: %s", quote_file(o->job_path), lines[i].line,
		    lines[i].text, lines[i].why);
	if (n && !o->job_ignore)
		die("%zu of its lines not understood (--fio-job-ignore goes on)", n);
}

void fiojob_finish(struct load_options *o)
{
	struct sp_bench_opts said = o->bench;
	bool simulated;

	if (o->nclass_text || o->plain_given || o->bytes_given)
		die("--fio-job says what is asked for: --rw, --bs, --class and the like do not go "
		    "with it");
	tell_lines(o);
	sp_fiojob_apply(o->job, &said);
	if (!said.ntargets)
		die("missing target: %s names none", quote_file(o->job_path));
	simulated = !strncmp(said.targets[0], "sim:", 4);
	o->bench.targets = said.targets;
	o->bench.ntargets = said.ntargets;
	o->bench.classes = said.classes;
	o->bench.nclasses = said.nclasses;
	if (simulated)
		o->bench.engine = NULL;
}
