/* SPDX-License-Identifier: MIT */
/*
 * Refuses incompatible options.
 */
#include "xsort.h"

/*
 * Refuses Spindle's options that other options make ineffective.
 */

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

static void check_fixed(const struct settings *set)
{
	static const char fixed[] = "--record-size";

	args_exclude(set->debug, "--debug", true, fixed);
	args_exclude(set->opts.count, "--count", true, fixed);
	if (!sp_order_is_default(&set->order.global))
		die("with %s the order is given by --bkey; of the ordering letters only -r "
		    "is allowed",
		    fixed);
}

/* True if the order is random and differs in each run. */
static bool random_order(const struct settings *set)
{
	return sp_order_has_letter(&set->order, 'R') && !set->random_source;
}

static void check_resume(const struct settings *set, const char *check)
{
	static const char resume[] = "--resume";
	char policy[40];

	args_exclude(set->merge, "-m", true, resume);
	args_exclude(set->check, check, true, resume);
	args_exclude(set->debug, "--debug", true, resume);
	args_exclude(set->split, "--split", true, resume);
	args_exclude(set->cut_into, "--parts", true, resume);
	args_exclude(set->splitters, "--splitters", true, resume);
	args_exclude(set->opts.run.volume, "--volume", true, resume);
	/* an offset in a compressed input or output cannot be found again */
	args_exclude(set->opts.run.decompress, "--decompress", true, resume);
	args_exclude(set->common.auto_compression, "--auto-compression", true, resume);
	args_exclude(set->opts.run.compress_output, "--compress-output", true, resume);
	args_exclude(set->opts.compress_program, "--compress-program", true, resume);
	args_exclude(set->opts.formation == SP_FORM_REPLACEMENT, "--run-formation=replacement",
		     true, resume);
	snprintf(policy, sizeof(policy), "--merge-policy=%s",
		 sp_merge_policy_name(set->opts.policy));
	args_exclude(set->opts.policy > SP_MERGE_LAZY, policy, true, resume);
	if (!set->output)
		die("%s needs -o: the file that a later run continues", resume);
	if (random_order(set))
		die("%s with -R needs --random-source", resume);
}

/* Refuses what needs sorted records, or a plan of one sort. */
static void check_keep_order(const struct settings *set, const char *check)
{
	static const char keep[] = "--keep-order";

	if (!set->order.unique)
		die("%s needs --unique", keep);
	args_exclude(set->opts.count, "--count", true, keep);
	args_exclude(set->check, check, true, keep);
	args_exclude(set->merge, "-m", true, keep);
	args_exclude(set->split, "--split", true, keep);
	args_exclude(set->cut_into, "--parts", true, keep);
	args_exclude(set->splitters, "--splitters", true, keep);
	args_exclude(set->resume, "--resume", true, keep);
	args_exclude(set->common.explain, "--explain", true, keep);
	args_exclude(set->require_space, "--require-space", true, keep);
	args_exclude(set->opts.run.volume, "--volume", true, keep);
	args_exclude(set->opts.run.trace_path, runplot_option(&set->common), true, keep);
	args_exclude(set->opts.run.trace_tasks_path, "--trace-tasks", true, keep);
}

/* Refuses what reads inputs in another way than a sort. */
static void check_where(const struct settings *set, const char *check)
{
	const char *where = set->where ? "--where" : "--skip-invalid";

	args_exclude(set->check, check, true, where);
	args_exclude(set->merge, "-m", true, where);
	args_exclude(set->resume, "--resume", true, where);
	args_exclude(set->splitters, "--splitters", true, where);
	args_exclude(set->cut_into, "--parts", true, where);
	args_exclude(set->debug, "--debug", true, where);
	args_exclude(set->common.explain, "--explain", true, where);
	args_exclude(set->order.record_bytes, "--record-size", true, where);
}

void options_check(const struct settings *set)
{
	const char *c = set->check == 'C' ? "-C" : "-c", *a, *b;

	if (sp_order_conflict(&set->order, &a, &b))
		args_exclude(true, a, true, b);
	if (set->order.record_bytes)
		check_fixed(set);
	else if (set->order.nbkeys)
		die("--bkey needs --record-size");
	args_exclude(set->order.csv, "--csv", set->debug, "--debug");
	args_exclude(set->order.json, "--json", set->debug, "--debug");
	if (set->opts.count && !set->order.unique)
		die("--count needs --unique");
	if (set->count_name && !(set->order.csv && set->order.header_records))
		die("--count=NAME needs --csv and --header");
	args_exclude(set->opts.count, "--count", set->check, c);
	args_exclude(set->top, "--limit", set->check, c);
	args_exclude(set->common.explain, "--explain", set->check, c);
	args_exclude(set->debug, "--debug", set->common.explain, "--explain");
	args_exclude(set->require_space, "--require-space", set->check, c);
	args_exclude(set->require_space, "--require-space", set->merge, "-m");
	args_exclude(set->require_space, "--require-space", set->opts.run.volume, "--volume");
	args_exclude(set->opts.run.compress_output, "--compress-output", set->check, c);
	args_exclude(set->opts.run.compress_output, "--compress-output", set->debug, "--debug");
	if (set->keep_order)
		check_keep_order(set, c);
	if (set->skip_invalid && !set->order.json && !set->infer)
		die("--skip-invalid needs --json or --infer-types");
	if (set->where || set->skip_invalid)
		check_where(set, c);
	split_check(set);
	if (set->resume)
		check_resume(set, c);
	unused_check(set);
}
