/* SPDX-License-Identifier: MIT */
/*
 * Reads a command line of settings and operands with getopt_long(), whose messages are GNU's.
 */
#pragma once

#include <getopt.h>
#include "setting.h"

struct command;

struct args {
	const struct setting *settings;
	unsigned command;		/* bit of the command; 0: all settings apply */
	const struct command *commands; /* all, for messages (commands.h); or NULL */
	const char *operands;		/* as in --help, a line for each form of the command */
	const char *about, *notes;	/* texts of --help before and after the settings */
	const struct sp_enum_value *(*operand_words)(
		void); /* values of the first operand; NULL: a file */

	/*
	 * GNU's long names, NULL ends them; NULL: none.  They and all their abbreviations resolve
	 * first; another name is looked up only if no GNU name begins with it.  getopt lists the
	 * candidates of an abbreviation in this sequence.
	 */
	const char *const *gnu;
	bool only_gnu; /* settings with other long names do not apply */
	bool in_order; /* operands are returned between the options */
};

/* The only argument: prints the table (help_table()). */
#define ARGS_TABLE "--option-table"

/* True if the row is not a heading, and applies. */
bool args_take(const struct args *args, const struct setting *s);

/* Texts of the command line, borrowed. */
struct operands {
	char **text;
	unsigned n;
};

/* Applies all settings to input.  Permutes argv; operands points to its end. */
void args_read(const struct args *args, int argc, char **argv, void *input,
	       struct operands *operands);

/* Reads a command line step by step. */
struct args_reader {
	const struct args *args;
	int argc;
	char **argv;
	void *input;
	char letters[128];	  /* in the form of getopt */
	struct option *tables[2]; /* GNU's names, others */
};

#define ARGS_OPERAND 1

void args_begin(struct args_reader *r, const struct args *args, int argc, char **argv, void *input);
/*
 * Reads the next option and applies it.  Returns 0; the letter of a setting that sets nothing, for
 * the caller to apply, or ARGS_OPERAND if in_order, with the text in optarg; -1 at the end of the
 * options: optind is then the first operand. --help, --usage, --version and invalid options end the
 * program.
 */
int args_next(struct args_reader *r);
void args_end(struct args_reader *r);

/* Ends the program if both were given. */
void args_exclude(bool a, const char *name_a, bool b, const char *name_b);
