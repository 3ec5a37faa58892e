/* SPDX-License-Identifier: MIT */
/*
 * Refuses incompatible options.
 */
#include "xsort.h"

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
	if (set->opts.count && !set->order.unique)
		die("--count needs --unique");
	if (set->count_name && !(set->order.csv && set->order.header_records))
		die("--count=NAME needs --csv and --header");
	args_exclude(set->opts.count, "--count", set->check, c);
	args_exclude(set->top, "--top", set->check, c);
	args_exclude(set->common.explain, "--explain", set->check, c);
	args_exclude(set->debug, "--debug", set->common.explain, "--explain");
	args_exclude(set->require_space, "--require-space", set->check, c);
	args_exclude(set->require_space, "--require-space", set->merge, "-m");
	args_exclude(set->require_space, "--require-space", set->opts.run.volume, "--volume");
	args_exclude(set->opts.run.compress_output, "--compress-output", set->check, c);
	args_exclude(set->opts.run.compress_output, "--compress-output", set->debug, "--debug");
	if (set->keep_order)
		check_keep_order(set, c);
	split_check(set);
	if (set->resume)
		check_resume(set, c);
	unused_check(set);
}
