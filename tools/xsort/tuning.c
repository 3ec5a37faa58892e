/* SPDX-License-Identifier: MIT */
/*
 * Spindle's own options.  All are long; sizes without a suffix are in bytes,
 * the natural unit of pages and records.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "choice.h"
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xsort.h"

enum {
	TUNE_HEADER = INT_MAX / 2,
	TUNE_CSV,
	TUNE_RECORD_SIZE,
	TUNE_BKEY,
	TUNE_TOP,
	TUNE_COUNT,
	TUNE_SPILL_COMPRESSION,
	TUNE_RUN_FORMATION,
	TUNE_MERGE_POLICY,
	TUNE_FAN_IN,
	TUNE_RUN_SIZE,
	TUNE_MERGE_BUFFER,
	TUNE_RECYCLE,
	TUNE_READAHEAD,
};

const struct option tuning_options[] = {
	{ "header", optional_argument, NULL, TUNE_HEADER },
	{ "csv", no_argument, NULL, TUNE_CSV },
	{ "record-size", required_argument, NULL, TUNE_RECORD_SIZE },
	{ "bkey", required_argument, NULL, TUNE_BKEY },
	{ "top", required_argument, NULL, TUNE_TOP },
	{ "count", no_argument, NULL, TUNE_COUNT },
	{ "spill-compression", required_argument, NULL, TUNE_SPILL_COMPRESSION },
	{ "run-formation", required_argument, NULL, TUNE_RUN_FORMATION },
	{ "merge-policy", required_argument, NULL, TUNE_MERGE_POLICY },
	{ "fan-in", required_argument, NULL, TUNE_FAN_IN },
	{ "run-size", required_argument, NULL, TUNE_RUN_SIZE },
	{ "merge-buffer", required_argument, NULL, TUNE_MERGE_BUFFER },
	{ "recycle", required_argument, NULL, TUNE_RECYCLE },
	{ "readahead", required_argument, NULL, TUNE_READAHEAD },
	COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int word(const char *name, const char *text, const struct sp_word *table)
{
	return choice_option(name, text, table, XSORT_FAILURE);
}

static unsigned small(const char *name, const char *text, uint64_t min)
{
	uint64_t v = number_option(name, text, min);

	if (v > INT_MAX)
		number_die(NUMBER_OVERFLOW, name, text, "at most 2147483647");
	return (unsigned)v;
}

static void set_recycle(struct settings *set, const char *name, const char *text)
{
	uintmax_t level;

	if (number_parse(text, &level) == NUMBER_OK) {
		set->opts.recycle = level < SP_RECYCLE_ALL ? (int)level : SP_RECYCLE_ALL;
		return;
	}
	if (sp_recycle_parse(text, &set->opts.recycle))
		number_die(NUMBER_INVALID, name, text,
			   "valid are none, all, auto and a merge level");
}

/* N, or N,first. */
static void set_header(struct settings *set, const char *name, const char *text)
{
	char *copy = must_alloc(NULL, strlen(text ? text : "1") + 1, 1), *rest = copy;
	const char *number;
	uintmax_t n = 0;

	strcpy(copy, text ? text : "1");
	number = strsep(&rest, ",");
	if (number_parse(number, &n) != NUMBER_OK || (rest && strcmp(rest, "first") != 0))
		number_die(NUMBER_INVALID, name, text, "valid are N and N,first");
	set->header = n;
	set->header_first = rest != NULL;
	free(copy);
}

static void add_bkey(struct settings *set, const char *name, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key key = SP_KEY_INIT;

	if (sp_bkey_parse(text, &key, &err))
		die("%s %s: %s; valid is OFFSET:LENGTH[:TYPE][:r], TYPE one of " BKEY_TYPES, name,
		    quote(text), err.text);
	set->bkeys = must_alloc(set->bkeys, set->nbkeys + 1, sizeof(key));
	set->bkeys[set->nbkeys++] = key;
}

/* Options that select the input format and the part of the result. */
static bool apply_records(struct settings *set, int code, const char *name, const char *text)
{
	switch (code) {
	case TUNE_HEADER:
		set_header(set, name, text);
		return true;
	case TUNE_CSV:
		return set->csv = true;
	case TUNE_RECORD_SIZE:
		set->record_bytes = size_option(name, text, 1);
		if (!set->record_bytes || set->record_bytes > SIZE_MAX / 2)
			number_die(NUMBER_INVALID, name, text, "at least a byte");
		return true;
	case TUNE_BKEY:
		add_bkey(set, name, text);
		return true;
	case TUNE_TOP:
		set->opts.top = number_option(name, text, 1);
		return true;
	case TUNE_COUNT:
		return set->opts.count = true;
	}
	return false;
}

/* Options that select the algorithm. */
static bool apply_algorithm(struct settings *set, int code, const char *name, const char *text)
{
	struct sp_sort_opts *o = &set->opts;

	switch (code) {
	case TUNE_SPILL_COMPRESSION:
		o->run.compression =
			(enum sp_spill_compression)word(name, text, sp_spill_compression_words());
		return true;
	case TUNE_RECYCLE:
		set_recycle(set, name, text);
		return true;
	case TUNE_RUN_FORMATION:
		o->formation = (enum sp_run_formation)word(name, text, sp_run_formation_words());
		return true;
	case TUNE_MERGE_POLICY:
		o->policy = (enum sp_merge_policy)word(name, text, sp_merge_policy_words());
		return true;
	case TUNE_READAHEAD:
		o->readahead = (enum sp_readahead)word(name, text, sp_readahead_words());
		return true;
	case TUNE_FAN_IN:
		o->fan_in = small(name, text, 2);
		return true;
	case TUNE_RUN_SIZE:
		o->run_bytes = size_option(name, text, 1);
		return true;
	case TUNE_MERGE_BUFFER:
		o->merge_bytes = size_option(name, text, 1);
		return true;
	}
	return false;
}

void tuning_apply(struct settings *set, int code, const char *name, const char *text)
{
	if (!apply_records(set, code, name, text) && !apply_algorithm(set, code, name, text) &&
	    !common_options_apply(&set->common, code, name, text, XSORT_FAILURE))
		usage_error();
}

static void check_fixed(const struct settings *set)
{
	static const char fixed[] = "--record-size";

	longopt_exclude(set->csv, "--csv", true, fixed);
	longopt_exclude(set->nkeys > 0 && !set->global_only, "-k", true, fixed);
	longopt_exclude(set->separator != -1, "-t", true, fixed);
	longopt_exclude(set->eol == '\0', "-z", true, fixed);
	longopt_exclude(set->debug, "--debug", true, fixed);
	longopt_exclude(set->opts.count, "--count", true, fixed);
	if (!order_is_default(&set->global))
		die("with %s the order is given by --bkey; of the ordering letters only -r "
		    "is allowed",
		    fixed);
}

void tuning_check(const struct settings *set)
{
	static const char check[3][3] = { "", "-c", "-C" };
	const char *c = check[set->check == 'c' ? 1 : set->check == 'C' ? 2 : 0];

	if (set->record_bytes)
		check_fixed(set);
	else if (set->nbkeys)
		die("--bkey needs --record-size");
	longopt_exclude(set->csv, "--csv", set->eol == '\0', "-z");
	longopt_exclude(set->csv, "--csv", set->debug, "--debug");
	if (set->opts.count && !set->unique)
		die("--count needs --unique");
	longopt_exclude(set->opts.count, "--count", set->check, c);
	longopt_exclude(set->opts.top, "--top", set->check, c);
	longopt_exclude(set->common.explain, "--explain", set->check, c);
	longopt_exclude(set->debug, "--debug", set->common.explain, "--explain");
}
