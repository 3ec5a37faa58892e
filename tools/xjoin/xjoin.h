/* SPDX-License-Identifier: MIT */
/*
 * xjoin's command line: parsed, checked and turned into one call of the library.
 *
 *	options.c   the command line: options, files, obsolescent arguments; which go together
 *	settings.c  the table of options; --then, files 3 and up
 *	form.c      what the library reads (spindle/joinform.h), with its errors; --suffixes
 *	timeline.c  the file of --timeline
 *	run.c       joining, --explain; errors as GNU join's messages
 */
#pragma once

#include <spindle/joinform.h>
#include "args.h"
#include "common_options.h"
#include "msg.h"
#include "runplot.h"

/* Whether an operand can also be the argument of the option before it. */
enum doubt { SURELY_FILE, MAYBE_J1, MAYBE_J2, MAYBE_LIST };

struct operand {
	char *text;
	enum doubt doubt;
};

struct settings {
	struct sp_join_form form; /* plain: called join, only options of GNU join */
	unsigned lone_j[2];	  /* -j1, -j2 without a known argument */
	struct operand operands[2];
	size_t noperands;
	struct sp_batch ahead[2]; /* records read for names of columns */
	struct sp_join_then then[SP_JOIN_FILES_MAX - 2];
	const char *suffixes[SP_JOIN_FILES_MAX]; /* texts of --suffixes */
	size_t nsuffixes;
	bool disorder;	     /* disorder was reported */
	char *index_command; /* command that builds a missing index; NULL: none */
	const char *output, *timeline;
	struct common_options common;
	struct sp_join_opts opts;
	const char *inputs[2];
};

void options_parse(struct settings *set, int argc, char **argv);

/*
 * Adds an operand; doubt: what it can be after the argument before it.  Returns doubt of the next.
 */
enum doubt operand_add(struct settings *set, char *text, enum doubt doubt);
/* Checks that both files are given. */
void operands_finish(struct settings *set, int argc, char **argv);

/* form.c; errors end the program. */
size_t field_number(const char *text); /* counted from 0 */
/* Splits text into its items, in place. */
void columns_add(struct settings *set, char *text);
/* Set -1, -2; -a, -v. settings: the struct settings; name: the option with hyphens. */
void key_set(void *settings, const char *option, const char *text);
void unpaired_set(void *settings, const char *option, const char *text);
void filler_set(void *settings, const char *option, const char *text);
void nested_set(void *settings, const char *option, const char *text);
void separator_set(void *settings, const char *option, const char *text);
void record_size_set(void *settings, const char *name, const char *text);
void bkey_add(void *settings, const char *name, const char *text);
/* Resolves names of columns, then keys that were not given, once the inputs are known. */
void keys_finish(struct settings *set);
void form_finish(struct settings *set);

/* settings.c: adds a file of --then to settings, the struct settings. */
void then_add(void *settings, const char *name, const char *text);

/* form.c: sets the suffixes of files in settings, the struct settings; checks their number. */
void suffixes_set(void *settings, const char *option, const char *text);
void suffixes_check(const struct settings *set);

/* settings.c: the rows of struct settings. */
extern const struct setting xjoin_settings[];
/* options.c: checks and completes the options. */
void tuning_finish(struct settings *set);

/* run.c: prints the plan in words on standard error. */
void explain_plan(const struct settings *set, const struct sp_join_plan *p);

int join_run(struct settings *set);
