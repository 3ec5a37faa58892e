/* SPDX-License-Identifier: MIT */
/*
 * Options as rows of a table: what --help shows of each, how its argument is read, and which
 * member of the tool's struct it sets.  The row { 0 } ends a table.
 */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/words.h>

struct setting {
	const char *name; /* without its hyphens; NULL: doc is a heading */
	const char *arg;  /* NULL: takes none */
	const char *doc;
	size_t offset, bytes; /* SETTING_TO() */

	/*
	 * How the argument is read.  Without any of these an option sets a flag or keeps its
	 * text.  "option" is its name with hyphens, for messages.  What is invalid ends the
	 * program.
	 */
	const struct sp_word *(*words)(void), *choices;
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
	bool optional;	  /* is the argument; without it a text is "-", a word this value: */
	int absent;
	size_t given; /* offset of a bool that is set too; 0: none */
	int letter;   /* a short name, or 0 */
	int group;    /* of --help; 0: as the row before */
};

#define SETTING_TO(type, member)                                                                   \
	.offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)

/* What getopt and argp return for row i. */
#define SETTING_CODE(table, i) ((table)[i].letter ? (table)[i].letter : SETTING_CODES + (int)(i))
#define SETTING_CODES 4096

/* The row with this code, or NULL. */
const struct setting *setting_find(const struct setting *table, int code);

/* text is NULL without an argument; input is the struct that the table is about. */
void setting_apply(const struct setting *s, const char *option, const char *text, void *input);

#endif
