/* SPDX-License-Identifier: MIT */
/*
 * Describes the options of a tool as rows of one table, for the parser (args.h), --help, --usage
 * (help.h) and the completions.  A row has the names, the lines of --help, the way to read the
 * argument, and the member of the tool's struct to set.  The row { 0 } ends a table.
 */
#pragma once

#include <spindle/enum.h>

/* Options that print something and end the program. */
enum setting_answer { SETTING_ACTS, SETTING_HELP, SETTING_USAGE, SETTING_VERSION };

/* The meaning of the argument "-" of an option that names a file or a folder. */
enum setting_dash {
	SETTING_DASH_REFUSED,
	SETTING_DASH_KEPT,   /* the tool reads it */
	SETTING_DASH_INPUT,  /* standard input, as /dev/stdin */
	SETTING_DASH_OUTPUT, /* standard output, as without the option */
};

struct setting {
	const char *name;     /* without hyphens; NULL: only a letter, or a heading */
	const char *arg;      /* name of the argument in --help; NULL: no argument */
	const char *doc;      /* heading, or text in --help; NULL: not in --help */
	size_t offset, bytes; /* SETTING_TO() */

	/*
	 * The way to read the argument.  Without any of these, an option sets a flag or keeps its
	 * text. "option" is its name with hyphens, for messages.  Invalid arguments end the
	 * program.
	 */
	const struct sp_enum_value *(*values)(void), *choices;
	uint64_t (*whole)(const char *option, const char *text);
	unsigned count; /* unless 0: a number from 1 to count */
	struct {
		uint64_t min, max;
	} number;
	struct {
		double min, max;
	} real;
	void (*call)(void *to, const char *option, const char *text); /* reads and stores it */

	enum setting_dash dash;
	const char *once;   /* text that can be given only once: the plural of its noun */
	bool clear;	    /* clears the flag */
	bool optional;	    /* the argument is optional; without it, a text is "-" */
	int absent;	    /* value without an argument; 0: true, or "-" */
	size_t given;	    /* offset of a bool to set, too; 0: none */
	int letter;	    /* short name, or 0 */
	const char *former; /* name in the last release, accepted and not in --help; or NULL */
	unsigned by;	    /* bits of its commands; 0: as the heading, or all */
	enum setting_answer answer;
};

#define SETTING_ENDS(s) (!(s)->name && !(s)->letter && !(s)->doc)
#define SETTING_HEADS(s) (!(s)->name && !(s)->letter && (s)->doc)

/* Last rows of the table of a tool that does not replace one of GNU's. */
#define SETTING_ANSWERS                                                                            \
	{ .doc = "General:" }, { "help", NULL, "print this and exit", .answer = SETTING_HELP },    \
		{ "usage", NULL, "print a short usage message and exit",                           \
		  .answer = SETTING_USAGE },                                                       \
	{                                                                                          \
		"version", NULL, "print the version and what was built in",                        \
			.letter = 'V', .answer = SETTING_VERSION                                   \
	}

#define SETTING_TO(type, member)                                                                   \
	.offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)

/* A row: the file of a result that goes to standard output otherwise. */
#define OUTPUT_SETTING(type, member, commands)                                                     \
	{                                                                                          \
		"output", "FILE", "write to FILE, which appears when it is complete",              \
			SETTING_TO(type, member), .letter = 'o', .dash = SETTING_DASH_OUTPUT,      \
						  .once = "outputs", .by = commands                \
	}

/* The value that getopt returns for row i. */
#define SETTING_CODE(table, i) ((table)[i].letter ? (table)[i].letter : SETTING_CODES + (int)(i))
#define SETTING_CODES 4096

/*
 * Applies a row to input, the tool's struct; text is NULL without an argument.  The text "-" ends
 * the program if the row names a file and cannot be a standard stream.
 */
void setting_apply(const struct setting *s, const char *option, const char *text, void *input);

/* Clears the outputs that are "-", after the last option. */
void setting_standard_output(const struct setting *table, void *input);
