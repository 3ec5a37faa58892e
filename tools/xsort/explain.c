/* SPDX-License-Identifier: MIT */
/*
 * Explains the plan for --explain, and checks the temporary space that it needs.
 */
#include <stdio.h>
#include <string.h>
#include <spindle/report.h>
#include "statsfile.h"
#include "tmpadvice.h"
#include "xsort.h"

#define LITTLE_SECONDS 0.1

static void plan(const struct settings *set, struct sp_sort_opts *opts, struct sp_sort_plan *p)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*opts = set->opts;
	sp_sort_expect(opts, set->files, set->nfiles);
	if (sp_sort_plan(opts, p, &err))
		failure(set, &err, 0);
}

/* Temporary space. */

uint64_t space_need(const struct settings *set)
{
	struct sp_sort_opts opts = set->opts;
	struct sp_sort_plan p;

	sp_sort_expect(&opts, set->files, set->nfiles);
	return sp_sort_plan(&opts, &p, NULL) ? 0 : p.spill_bytes;
}

void space_check(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_run_space space;
	struct sp_sort_opts opts;
	struct sp_sort_plan p;
	bool warn = !set->merge && !set->opts.run.volume && strcmp(msg_program(), "sort") != 0;

	if (!set->require_space && !warn)
		return;
	plan(set, &opts, &p);
	if (set->require_space && !opts.input_bytes && !p.in_memory)
		die("--require-space: the size of the input is unknown: not all of it is in "
		    "regular files that are read as they are");
	if (!p.spill_bytes)
		return;
	if (sp_run_space(&opts.run, &space, &err) < 0) {
		if (set->require_space)
			failure(set, &err, 0);
		return;
	}
	if (p.spill_bytes <= space.free_bytes)
		return;
	msg("%sthe sort might need %s of temporary space, and %s are free%s",
	    set->require_space ? "" : "warning: ", size_of(p.spill_bytes).text,
	    size_of(space.free_bytes).text,
	    tmpadvice(&opts.run, -ENOSPC, set->output, p.spill_bytes));
	if (set->require_space)
		die("nothing was sorted, because of --require-space");
}

/* True if the input would fit into memory if the page cache held nothing. */
static bool fits(const struct sp_sort_opts *o)
{
	struct sp_sort_opts uncached = *o;
	struct sp_sort_plan p;

	uncached.cached_bytes = 0;
	return sp_sort_plan(&uncached, &p, NULL) == 0 && p.in_memory;
}

static void tell_input(const struct sp_sort_opts *o, const struct sp_sort_plan *p)
{
	const struct size memory = size_of(p->memory_bytes);

	if (!p->input_bytes && !p->in_memory)
		fprintf(stderr,
			"  The size of the input is unknown: not all of it is in regular files\n"
			"  that are read as they are.  Data that does not fit into %s of\n"
			"  memory is sorted in runs, which go to temporary files and are merged.\n",
			memory.text);
	else if (p->in_memory)
		fprintf(stderr, "  The input, %s%s, fits into %s of memory: no temporary files.\n",
			o->input_bytes == 1 ? "at most " : "", size_of(o->input_bytes).text,
			memory.text);
	else
		fprintf(stderr,
			"  The input, %s, %s into %s of memory%s: it is\n"
			"  sorted in about %llu runs, which go to temporary files and are "
			"merged.\n",
			size_of(o->input_bytes).text, fits(o) ? "fits" : "does not fit",
			memory.text,
			fits(o) ? ", but\n  temporary files in the page cache are faster" : "",
			(unsigned long long)p->runs);
}

static void tell_threads(const struct sp_sort_plan *p)
{
	if (p->threads < p->max_threads && p->formation == SP_FORM_LOAD)
		fprintf(stderr,
			"  At most %u of %u threads form runs; each needs a part of the memory "
			"(-S) and\n"
			"  of the input.\n",
			p->threads, p->max_threads);
}

static void tell_merges(const struct sp_sort_plan *p)
{
	if (p->in_memory || !p->input_bytes)
		return;
	if (p->passes > 1)
		fprintf(stderr,
			"  At most %u runs can be merged at once, so all data is read from\n"
			"  temporary files about %u times; more memory (-S) reduces that.\n",
			p->fan_in, p->passes);
	else
		fprintf(stderr, "  All runs are merged at once; the limit is %u runs.\n",
			p->fan_in);
}

static void tell_space(const struct sp_sort_opts *o, const struct sp_sort_plan *p)
{
	struct sp_run_space space;

	if (p->in_memory || o->run.volume || sp_run_space(&o->run, &space, NULL) < 0)
		return;
	if (p->spill_bytes)
		fprintf(stderr, "  Temporary space: at most %s needed; ",
			size_of(p->spill_bytes).text);
	else
		fprintf(stderr, "  Temporary space: the need is unknown; ");
	fprintf(stderr, "%s free", size_of(space.free_bytes).text);
	if (space.memory_bytes)
		fprintf(stderr, ", %s of it memory", size_of(space.memory_bytes).text);
	fprintf(stderr, ".\n%s",
		p->spill_bytes > space.free_bytes ? "  That might not be enough.\n" : "");
}

static void tell_reading(const struct settings *set, const struct sp_sort_plan *p)
{
	if (p->in_memory)
		return;
	fprintf(stderr, "  While merging, data is read ahead by the strategy %s, ",
		sp_readahead_name(p->readahead));
	if (set->opts.readahead != SP_READ_AUTO)
		fprintf(stderr, "as requested.\n");
	else
		fprintf(stderr, "which\n  has the shortest predicted time of the feasible ones.\n");
	if (p->seconds > 0 && p->seconds < LITTLE_SECONDS)
		fprintf(stderr, "  All reading and writing should take less than %.1f s.\n",
			LITTLE_SECONDS);
	else if (p->seconds > 0)
		fprintf(stderr, "  All reading and writing should take about %.*f s.\n",
			p->seconds < 10 ? 1 : 0, p->seconds);
}

/* Prints the source of the times. */
static void tell_device(const struct sp_sort_opts *o, const struct sp_sort_plan *p)
{
	if (o->run.geometry || !(p->seconds > 0))
		return;
	fprintf(stderr,
		"  The device is unknown; the plan assumes %.0f MB per second, and %.2f ms per\n"
		"  cluster.\n",
		1.048576 / p->transfer_s_per_mib, p->seek_s * 1000);
}

int explain(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct statsfile stats;
	struct sp_sort_opts opts;
	struct sp_sort_plan p;

	report_need();
	statsfile_open(&stats, set->common.stats);
	plan(set, &opts, &p);
	if (sp_sort_predict(&opts, &p, &err))
		failure(set, &err, 0);
	if (!set->common.stats) {
		fprintf(stderr, "Estimates, made before any data is read:\n");
		tell_input(&opts, &p);
		tell_threads(&p);
		tell_merges(&p);
		tell_space(&opts, &p);
		tell_reading(set, &p);
		tell_device(&opts, &p);
		if (set->infer)
			infer_print(set);
	}
	statsfile_tell(&stats, sp_report_sort_plan(&p), set->common.details);
	return 0;
}
