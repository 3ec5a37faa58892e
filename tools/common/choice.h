/* SPDX-License-Identifier: MIT */
/*
 * Words that an option takes, abbreviated as far as they stay unique.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <stddef.h>

struct choice {
	const char *word; /* NULL ends the table */
	int value;	  /* neighbours of equal value are synonyms */
};

/* The value of text; *found is 1, 0 for no such word, -1 for an ambiguous one. */
int choice_find(const struct choice *table, const char *text, int *found);

/* The same, or the end of the program with status after a list of the words. */
int choice_option(const char *option, const char *text, const struct choice *table, int status);

#endif
