/* SPDX-License-Identifier: MIT */
/*
 * Spindle's own options.  All are long except -S and -T, which GNU join lacks.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "choice.h"
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xjoin.h"

#define THREADS_MAX 1024

enum {
	TUNE_ALGORITHM = INT_MAX / 2,
	TUNE_OUTPUT,
	TUNE_TYPE,
	TUNE_CSV,
	TUNE_RECORD_SIZE,
	TUNE_BKEY,
	TUNE_BUILD,
	TUNE_ORDERED,
	TUNE_JOIN_MEMORY,
	TUNE_PARALLEL,
};

const struct option tuning_options[] = {
	{ "algorithm", required_argument, NULL, TUNE_ALGORITHM },
	{ "output", required_argument, NULL, TUNE_OUTPUT },
	{ "type", required_argument, NULL, TUNE_TYPE },
	{ "csv", no_argument, NULL, TUNE_CSV },
	{ "record-size", required_argument, NULL, TUNE_RECORD_SIZE },
	{ "bkey", required_argument, NULL, TUNE_BKEY },
	{ "build", required_argument, NULL, TUNE_BUILD },
	{ "ordered", required_argument, NULL, TUNE_ORDERED },
	{ "buffer-size", required_argument, NULL, 'S' },
	{ "temporary-directory", required_argument, NULL, 'T' },
	{ "join-memory", required_argument, NULL, TUNE_JOIN_MEMORY },
	{ "parallel", required_argument, NULL, TUNE_PARALLEL },
	COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static const struct sp_word type_words[] = { { "inner", TYPE_INNER },
					     { "left", TYPE_LEFT },
					     { "right", TYPE_RIGHT },
					     { "full", TYPE_FULL },
					     { "semi", TYPE_SEMI },
					     { "anti", TYPE_ANTI },
					     { NULL, 0 } };
static const struct sp_word build_words[] = { { "1", 1 }, { "2", 2 }, { "auto", 0 }, { NULL, 0 } };
static const struct sp_word ordered_words[] = { { "1", 1 }, { "2", 2 }, { NULL, 0 } };

static int word(const char *name, const char *text, const struct sp_word *table)
{
	return choice_option(name, text, table, EXIT_FAILURE);
}

static void set_type(struct settings *set, int type)
{
	set->opts.unpaired[0] |= type == TYPE_LEFT || type == TYPE_FULL || type == TYPE_ANTI;
	set->opts.unpaired[1] |= type == TYPE_RIGHT || type == TYPE_FULL;
	set->opts.semi = type == TYPE_SEMI;
	if (type == TYPE_SEMI || type == TYPE_ANTI)
		set->opts.pairs = false;
}

static void set_parallel(struct settings *set, uint64_t threads)
{
	set->opts.run.parallel = threads < THREADS_MAX ? (unsigned)threads : THREADS_MAX;
}

static void set_output(struct settings *set, const char *text)
{
	if (set->output && strcmp(set->output, text) != 0)
		die("multiple output files specified");
	set->output = text;
}

static void set_memory(struct settings *set, const char *name, const char *text)
{
	uint64_t bytes = size_option(name, text, 1024);

	set->opts.run.memory_bytes = bytes ? bytes : 1; /* 0 would mean the default */
}

static bool apply_algorithm(struct settings *set, int code, const char *name, const char *text)
{
	switch (code) {
	case TUNE_ALGORITHM:
		set->opts.algorithm =
			(enum sp_join_algorithm)word(name, text, sp_join_algorithm_words());
		return true;
	case TUNE_OUTPUT:
		set_output(set, text);
		return true;
	case TUNE_TYPE:
		set_type(set, word(name, text, type_words));
		return true;
	case TUNE_CSV:
		return set->opts.csv = true;
	case TUNE_RECORD_SIZE:
		record_size_set(set, name, text);
		return true;
	case TUNE_BKEY:
		bkey_add(set, name, text);
		return true;
	case TUNE_BUILD:
		set->opts.build = (unsigned)word(name, text, build_words);
		return true;
	case TUNE_ORDERED:
		set->opts.ordered = (unsigned)word(name, text, ordered_words);
		return true;
	case 'S':
		set_memory(set, name, text);
		return true;
	case TUNE_JOIN_MEMORY:
		set->opts.join_bytes = size_option(name, text, 1);
		return true;
	case TUNE_PARALLEL:
		set_parallel(set, number_option(name, text, 1));
		return true;
	}
	return false;
}

void tuning_apply(struct settings *set, int code, const char *name, const char *text)
{
	if (!apply_algorithm(set, code, name, text) &&
	    !common_options_apply(&set->common, code, name, text, EXIT_FAILURE))
		usage_error();
}

/* Letters on one side apply to both. */
static void match_types(struct settings *set)
{
	struct sp_key *a = set->key[0].type, *b = set->key[1].type;

	for (size_t i = 0; i < set->key[0].n; i++) {
		if (!b[i].letters)
			b[i] = a[i];
		if (!a[i].letters)
			a[i] = b[i];
		if (a[i].letters != b[i].letters)
			die("fields of the keys have different types: %s, %s", set->key[0].text,
			    set->key[1].text);
	}
	set->opts.types = set->typed ? a : NULL;
	set->collated = must_alloc(NULL, set->key[0].n, sizeof(*set->collated));
	for (size_t i = 0; i < set->key[0].n; i++) {
		set->collated[i] = a[i].letters & LETTER_COLLATED;
		if (set->collated[i])
			set->opts.collated = set->collated;
	}
}

void tuning_finish(struct settings *set)
{
	struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;

	match_types(set);
	if (o->algorithm == SP_JOIN_AUTO && (set->plain_join || check))
		o->algorithm = SP_JOIN_MERGE;
	if (o->algorithm == SP_JOIN_MERGE) {
		longopt_exclude(o->csv, "--csv", true, "--algorithm=merge");
		longopt_exclude(set->common.explain, "--explain", true, "--algorithm=merge");
		longopt_exclude(o->semi, "--type=semi", true, "--algorithm=merge");
		for (int i = 0; i < 2; i++)
			if (set->key[i].n > 1 || set->typed)
				die("invalid field number: %s", quote(set->key[i].text));
	}
	longopt_exclude(check, "--check-order", o->algorithm != SP_JOIN_MERGE, "--algorithm");
	longopt_exclude(o->semi, "--type=semi", o->unpaired[0] || o->unpaired[1], "-a");
	if (o->csv) {
		longopt_exclude(true, "--csv", !o->eol, "-z");
		if (!o->separator)
			separator_set(set, ",");
		if (o->separator_bytes != 1 || strchr("\"\n", set->separator_text[0]))
			die("invalid separator for --csv");
	}
	binary_finish(set);
	common_options_finish(&set->common);
}
