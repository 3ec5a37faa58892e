/* SPDX-License-Identifier: MIT */
/*
 * Spindle's own options.  All are long; sizes without a suffix are in bytes,
 * the natural unit of pages and records.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xsort.h"

static void set_recycle(void *to, const char *name, const char *text)
{
	uintmax_t level;
	int *recycle = to;

	if (number_parse(text, &level) == NUMBER_OK)
		*recycle = level < SP_RECYCLE_ALL ? (int)level : SP_RECYCLE_ALL;
	else if (sp_recycle_parse(text, recycle))
		number_die(NUMBER_INVALID, name, text,
			   "valid are none, all, auto and a merge level");
}

static void set_header(void *order, const char *name, const char *text)
{
	if (sp_order_set_header(order, text))
		number_die(NUMBER_INVALID, name, text, "valid are N and N,first");
}

static void set_count(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;

	(void)name;
	set->opts.count = true;
	set->count_name = text;
}

static uint64_t record_size(const char *name, const char *text)
{
	uint64_t bytes = size_option(name, text);

	if (!bytes || bytes > SIZE_MAX / 2)
		number_die(NUMBER_INVALID, name, text, "at least a byte");
	return bytes;
}

static void add_bkey(void *order, const char *name, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_order_add_bkey(order, text, &err))
		die("%s %s: %s; valid is OFFSET:LENGTH[:TYPE][:r], TYPE one of " BKEY_TYPES, name,
		    quote(text), err.text);
}

#define TO(member) SETTING_TO(struct settings, member)

const struct setting tuning_settings[] = {
	{ "header", "N", TO(order), .call = set_header, .optional = true },
	{ "csv", TO(order.csv) },
	{ "record-size", "N", TO(order.record_bytes), .whole = record_size },
	{ "bkey", "SPEC", TO(order), .call = add_bkey },
	{ "top", "N", TO(opts.top), .number = { 0, UINT64_MAX },
	  .given = offsetof(struct settings, top) },
	{ "count", "NAME", .call = set_count, .optional = true },
	{ "splitters", "P", TO(splitters), .number = { 1, 1000000 } },
	{ "split", "FILE", TO(split), .once = "files of splitters" },
	{ "resume", "DIR", TO(resume), .once = "directories of checkpoints" },
	{ "spill-compression", "HOW", TO(opts.run.compression),
	  .words = sp_spill_compression_words },
	{ "run-formation", "HOW", TO(opts.formation), .words = sp_run_formation_words },
	{ "merge-policy", "HOW", TO(opts.policy), .words = sp_merge_policy_words },
	{ "fan-in", "N", TO(opts.fan_in), .number = { 2, INT_MAX } },
	{ "run-size", "SIZE", TO(opts.run_bytes), .whole = size_option },
	{ "merge-buffer", "SIZE", TO(opts.merge_bytes), .whole = size_option },
	{ "recycle", "WHICH", TO(opts.recycle), .call = set_recycle },
	{ "readahead", "HOW", TO(opts.readahead), .words = sp_readahead_words },
	{ "require-space", TO(require_space) },
	COMMON_SETTINGS(struct settings, opts.run),
	{ 0 },
};

static void check_fixed(const struct settings *set)
{
	static const char fixed[] = "--record-size";

	longopt_exclude(set->debug, "--debug", true, fixed);
	longopt_exclude(set->opts.count, "--count", true, fixed);
	if (!sp_order_is_default(&set->order.global))
		die("with %s the order is given by --bkey; of the ordering letters only -r "
		    "is allowed",
		    fixed);
}

/* A salt of its own would make another order each time. */
static bool random_order(const struct settings *set)
{
	return sp_order_has_letter(&set->order, 'R') && !set->random_source;
}

static void check_resume(const struct settings *set, const char *check)
{
	static const char resume[] = "--resume";
	char policy[40];

	longopt_exclude(set->merge, "-m", true, resume);
	longopt_exclude(set->check, check, true, resume);
	longopt_exclude(set->debug, "--debug", true, resume);
	longopt_exclude(set->split, "--split", true, resume);
	longopt_exclude(set->splitters, "--splitters", true, resume);
	longopt_exclude(set->opts.run.volume, "--volume", true, resume);
	/* A place in such an input cannot be found again, nor one in such an output. */
	longopt_exclude(set->opts.run.decompress, "--decompress", true, resume);
	longopt_exclude(set->opts.run.compress_output, "--compress-output", true, resume);
	longopt_exclude(set->opts.compress_program, "--compress-program", true, resume);
	longopt_exclude(set->opts.formation == SP_FORM_REPLACEMENT, "--run-formation=replacement",
			true, resume);
	snprintf(policy, sizeof(policy), "--merge-policy=%s",
		 sp_merge_policy_name(set->opts.policy));
	longopt_exclude(set->opts.policy > SP_MERGE_LAZY, policy, true, resume);
	if (!set->output)
		die("%s needs -o", resume);
	if (random_order(set))
		die("%s with -R needs --random-source", resume);
}

void tuning_check(const struct settings *set)
{
	static const char check[3][3] = { "", "-c", "-C" };
	const char *c = check[set->check == 'c' ? 1 : set->check == 'C' ? 2 : 0];
	const char *a, *b;

	if (sp_order_conflict(&set->order, &a, &b))
		longopt_exclude(true, a, true, b);
	if (set->order.record_bytes)
		check_fixed(set);
	else if (set->order.nbkeys)
		die("--bkey needs --record-size");
	longopt_exclude(set->order.csv, "--csv", set->debug, "--debug");
	if (set->opts.count && !set->order.unique)
		die("--count needs --unique");
	if (set->count_name && !(set->order.csv && set->order.header_records))
		die("--count=NAME needs --csv and --header");
	longopt_exclude(set->opts.count, "--count", set->check, c);
	longopt_exclude(set->top, "--top", set->check, c);
	longopt_exclude(set->common.explain, "--explain", set->check, c);
	longopt_exclude(set->debug, "--debug", set->common.explain, "--explain");
	longopt_exclude(set->require_space, "--require-space", set->check, c);
	longopt_exclude(set->require_space, "--require-space", set->merge, "-m");
	longopt_exclude(set->require_space, "--require-space", set->opts.run.volume, "--volume");
	longopt_exclude(set->opts.run.compress_output, "--compress-output", set->check, c);
	longopt_exclude(set->opts.run.compress_output, "--compress-output", set->debug, "--debug");
	split_check(set);
	if (set->resume)
		check_resume(set, c);
	unused_check(set);
}
