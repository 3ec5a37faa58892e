/* SPDX-License-Identifier: MIT */
/*
 * The options of a tool as rows of one table, from which the parser (args.h), --help, --usage
 * (help.h) and the completions come: its names, the lines of --help, how its argument is read, and
 * which member of the tool's struct it sets.  The row { 0 } ends a table.
 */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/enum.h>

/* Options that print something and end the program. */
enum setting_answer { SETTING_ACTS, SETTING_HELP, SETTING_USAGE, SETTING_VERSION };

struct setting {
	const char *name;     /* without its hyphens; NULL: a letter alone, or a heading */
	const char *arg;      /* its name in --help; NULL: takes none */
	const char *doc;      /* the heading; or its text in --help; NULL: not in --help */
	size_t offset, bytes; /* SETTING_TO() */

	/*
	 * How the argument is read.  Without any of these an option sets a flag or keeps its
	 * text.  "option" is its name with hyphens, for messages.  What is invalid ends the
	 * program.
	 */
	const struct sp_enum_value *(*values)(void), *choices;
	uint64_t (*whole)(const char *option, const char *text);
	unsigned count; /* not 0: from 1 to this */
	struct {
		uint64_t min, max;
	} number;
	struct {
		double min, max;
	} real;
	void (*call)(void *to, const char *option, const char *text); /* stores it itself */

	const char *once; /* of texts: the name of the things of which there is only one */
	bool clear;	  /* a flag is cleared, not set */
	bool optional;	  /* is the argument; without it a text is "-" */
	int absent;	  /* what is stored without an argument; 0: true, or as said above */
	size_t given;	  /* offset of a bool that is set too; 0: none */
	int letter;	  /* a short name, or 0 */
	unsigned by;	  /* bits of the commands that take it; 0: those of the heading, or all */
	enum setting_answer answer;
};

#define SETTING_ENDS(s) (!(s)->name && !(s)->letter && !(s)->doc)
#define SETTING_HEADS(s) (!(s)->name && !(s)->letter && (s)->doc)

/* Rows at the end of the table of a tool that replaces none of GNU's. */
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

/* What getopt returns for row i. */
#define SETTING_CODE(table, i) ((table)[i].letter ? (table)[i].letter : SETTING_CODES + (int)(i))
#define SETTING_CODES 4096

/* The row with this code, or NULL. */
const struct setting *setting_find(const struct setting *table, int code);

/* text is NULL without an argument; input is the struct that the table is about. */
void setting_apply(const struct setting *s, const char *option, const char *text, void *input);

#endif
