/* SPDX-License-Identifier: MIT */
/*
 * Refuses Spindle's options that other options make ineffective.
 */
#include "xsort.h"

/* Refuses options of runs and merges if nothing is sorted. */
static void check_work(const struct settings *set, const char *by)
{
	const struct sp_sort_opts *o = &set->opts;

	args_exclude(o->formation != SP_FORM_AUTO, "--run-formation", true, by);
	args_exclude(o->run_bytes, "--run-size", true, by);
	args_exclude(o->policy != SP_MERGE_AUTO, "--merge-policy", true, by);
	args_exclude(o->fan_in, "--fan-in", true, by);
	args_exclude(o->merge_bytes, "--merge-buffer", true, by);
	args_exclude(o->readahead != SP_READ_AUTO, "--readahead", true, by);
	args_exclude(o->recycle != SP_RECYCLE_AUTO, "--recycle", true, by);
	args_exclude(o->run.compression != SP_SPILL_RAW, "--spill-compression", true, by);
	args_exclude(o->run.page_bytes, "--page-size", true, by);
	args_exclude(o->run.direct > 0, "--direct", true, by);
	args_exclude(o->run.volume, "--volume", true, by);
	args_exclude(set->common.geometry, "--geometry", true, by);
	args_exclude(o->run.placement != SP_PLACE_CONTIGUOUS, "--placement", true, by);
}

/* Refuses options that a check does not use. */
static void check_reports(const struct settings *set, const char *by)
{
	args_exclude(set->common.stats || set->common.stats_text, "--stats", true, by);
	args_exclude(set->opts.run.trace_path, runplot_option(&set->common), true, by);
	args_exclude(set->opts.run.trace_tasks_path, "--trace-tasks", true, by);
	args_exclude(set->common.progress == PROGRESS_ALWAYS, "--progress=always", true, by);
}

/* Refuses options that a compress program, which uses streams and the page cache, cannot have. */
static void check_program(const struct settings *set)
{
	static const char by[] = "--compress-program";
	const struct sp_sort_opts *o = &set->opts;

	args_exclude(o->run.compression != SP_SPILL_RAW, "--spill-compression", true, by);
	args_exclude(o->recycle >= 0, "--recycle", true, by);
	args_exclude(o->readahead > SP_READ_NONE, "--readahead", true, by);
	args_exclude(o->formation == SP_FORM_REPLACEMENT, "--run-formation=replacement", true, by);
	args_exclude(o->run.direct > 0, "--direct", true, by);
}

void unused_check(const struct settings *set)
{
	const struct sp_sort_opts *o = &set->opts;
	const char check[] = { '-', set->check, '\0' };

	if (set->check) {
		check_work(set, check);
		check_reports(set, check);
	}
	if (set->splitters)
		check_work(set, "--splitters");
	if (o->compress_program)
		check_program(set);
	args_exclude(set->merge, "-m", o->formation != SP_FORM_AUTO, "--run-formation");
	args_exclude(set->merge, "-m", o->run_bytes, "--run-size");
	args_exclude(set->resume, "--resume", o->recycle >= 0, "--recycle");
	args_exclude(set->common.seeded && !set->splitters && !set->cut_into, "--seed",
		     set->random_source, "--random-source");
	if (o->batch_size && o->fan_in > o->batch_size)
		die("--fan-in=%u is more than --batch-size=%u allows", o->fan_in, o->batch_size);
}
