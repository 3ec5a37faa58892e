/* SPDX-License-Identifier: MIT */
/*
 * Reads the arguments of a call; all are options.  Short options can be joined in one argument, and
 * long ones abbreviated if unique.  Unlike getopt(), the reader has no global state, does not
 * print, and does not change the arguments.
 */
#pragma once

#include <spindle/enum.h>
#include <spindle/run.h>

struct sp_call;

enum sp__optarg { SP__OPT_NONE, SP__OPT_ARG, SP__OPT_MAYBE };

/* A row: name without hyphens or NULL; code: the letter, if there is one. { 0 } ends a table. */
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
	SP__OPT_KEEP_ORDER,
	SP__OPT_SEED,
	SP__OPT_PARALLEL,
	SP__OPT_DECOMPRESS,
	SP__OPT_COMPRESS_OUTPUT,
	SP__OPT_SPILL_COMPRESSION,
	SP__OPT_COLUMNS,
	SP__OPT_WHERE,
	SP__OPT_LO,
	SP__OPT_HI,
	SP__OPT_LIMIT,
	SP__OPT_LAYOUT,
	SP__OPT_TOGETHER,
	SP__OPT_CELL,
	SP__OPT_OVERWRITE,
	SP__OPT_SUFFIXES,
	SP__OPT_DIMS,
	SP__OPT_DTYPE,
	SP__OPT_TILE,
	SP__OPT_FILL,
	SP__OPT_MAPPING,
	SP__OPT_ORDER,
	SP__OPT_VOLUMES,
	SP__OPT_VOLUME,
	SP__OPT_QUERY,
	SP__OPT_GEOMETRY,
	SP__OPT_VERIFY,
	SP__OPT_WAIT,
	SP__OPT_LARGEST,
	SP__OPT_PIVOT,
	SP__OPT_PERCENT,
	SP__OPT_CUMULATIVE,
	SP__OPT_HAVING,
	SP__OPT_FORMAT,
	SP__OPT_NULL,
	SP__OPT_SKIP_INVALID,
	SP__OPT_JSON,
	SP__OPT_STRICT,
	SP__OPT_NESTED,
	SP__OPT_RESUME,
};

/* Rows that sorts, joins and groups share. */
#define SP__OPTIONS_COMMON                                                                         \
	{ "zero-terminated", 'z', SP__OPT_NONE }, { "csv", SP__OPT_CSV, SP__OPT_NONE },            \
		{ "buffer-size", 'S', SP__OPT_ARG }, { "temporary-directory", 'T', SP__OPT_ARG },  \
		{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },                                     \
		{ "decompress", SP__OPT_DECOMPRESS, SP__OPT_MAYBE },                               \
	{                                                                                          \
		"compress-output", SP__OPT_COMPRESS_OUTPUT, SP__OPT_ARG                            \
	}

/* Applies an option to its object. */
typedef int sp__option_apply(void *to, int code, const char *arg, struct sp_errinfo *err);

/*
 * Applies the options in order until apply() fails.  Returns 0 or its error; -EINVAL: unknown
 * option, or wrong number of arguments.
 */
SP_MUST_CHECK int sp__options_each(const struct sp_call *call, const struct sp__option *table,
				   sp__option_apply *apply, void *to, struct sp_errinfo *err);

/*
 * Returns the option as one argument, for free(); NULL: out of memory.  *apart: its value must
 * follow as a separate argument, since a letter cannot be joined with an empty value.
 */
char *sp__option_spell(const struct sp__option *table, int code, const char *arg, bool *apart);

/*
 * Reads the name of a value.  Returns 0; -EINVAL: not a name, and the message has the nearest one.
 */
SP_MUST_CHECK int sp__option_choice(const struct sp_enum_value *values, const char *option,
				    const char *text, int *value, struct sp_errinfo *err);
/* Reads a whole number that is not less than `least`. */
SP_MUST_CHECK int sp__option_number(uint64_t *to, const char *arg, uint64_t least,
				    struct sp_errinfo *err);
/* Applies an option of resources.  Returns 1: another option. */
SP_MUST_CHECK int sp__option_resource(struct sp_call *call, struct sp_run_opts *run, int code,
				      const char *arg, struct sp_errinfo *err);
