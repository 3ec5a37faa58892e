/* SPDX-License-Identifier: MIT */
/*
 * Reads the arguments of a call, which are all options.  Short options may be joined in one
 * argument, long ones abbreviated if they are unique.  Unlike getopt() the reader has no state
 * outside itself, and it neither prints nor changes the arguments.
 */
#ifndef SP__CALL_OPTIONS_H
#define SP__CALL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <spindle/error.h>
#include <spindle/run.h>

struct sp_call;

enum sp__optarg { SP__OPT_NONE, SP__OPT_ARG, SP__OPT_MAYBE };

/* name, without hyphens, may be NULL; code is the letter, if there is one.  { 0 } ends a table. */
struct sp__option {
	const char *name;
	int code;
	enum sp__optarg arg;
};

/* Codes of options without a letter. */
enum sp__option_code {
	SP__OPT_CSV = 256,
	SP__OPT_HEADER,
	SP__OPT_RECORD_SIZE,
	SP__OPT_BKEY,
	SP__OPT_SORT,
	SP__OPT_TYPE,
	SP__OPT_COUNT,
	SP__OPT_SEED,
	SP__OPT_PARALLEL,
	SP__OPT_DECOMPRESS,
	SP__OPT_COMPRESS_OUTPUT,
	SP__OPT_SPILL_COMPRESSION,
};

/* Rows that sorts and joins have in common. */
#define SP__OPTIONS_COMMON                                                                         \
	{ "zero-terminated", 'z', SP__OPT_NONE }, { "csv", SP__OPT_CSV, SP__OPT_NONE },            \
		{ "record-size", SP__OPT_RECORD_SIZE, SP__OPT_ARG },                               \
		{ "bkey", SP__OPT_BKEY, SP__OPT_ARG }, { "buffer-size", 'S', SP__OPT_ARG },        \
		{ "temporary-directory", 'T', SP__OPT_ARG },                                       \
		{ "seed", SP__OPT_SEED, SP__OPT_ARG },                                             \
		{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },                                     \
		{ "decompress", SP__OPT_DECOMPRESS, SP__OPT_MAYBE },                               \
	{                                                                                          \
		"compress-output", SP__OPT_COMPRESS_OUTPUT, SP__OPT_ARG                            \
	}

/* Applies an option to the object that it is for; *where as for sp__options_each(). */
typedef int sp__option_apply(void *to, int code, const char *arg, const char **where,
			     struct sp_errinfo *err);

/*
 * Applies the options of the words one after the other, while apply() does not fail.  Returns 0 or
 * its error; -EINVAL: no such option, or a wrong number of arguments.  *where, if it is not NULL,
 * is to be quoted after err->text.
 */
SP_MUST_CHECK int sp__options_each(const struct sp_call *call, const struct sp__option *table,
				   sp__option_apply *apply, void *to, const char **where,
				   struct sp_errinfo *err);

/*
 * Returns the option as one word, for free(); NULL is short memory.  *apart: the argument has to
 * follow as a word of its own, since a letter cannot have an empty one in the same word.
 */
char *sp__option_spell(const struct sp__option *table, int code, const char *arg, bool *apart);

/* An option of resources; 1: it is another. */
SP_MUST_CHECK int sp__option_resource(struct sp_call *call, struct sp_run_opts *run, int code,
				      const char *arg, const char **where, struct sp_errinfo *err);

#endif
