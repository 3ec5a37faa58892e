/* SPDX-License-Identifier: MIT */
/*
 * Long options of two tables: GNU's names and all their abbreviations resolve first, so a
 * word goes to Spindle's table only when no GNU name begins with it.
 */
#ifndef LONGOPT_H
#define LONGOPT_H

#include <getopt.h>
#include <stdbool.h>

struct longopt {
	const char *letters; /* getopt's */
	const struct option *gnu, *own;
	char name[64]; /* of the option found, with its hyphens */
};

/*
 * Reads argv[optind], where that is a word of Spindle's table; its argument is in optarg.
 * Returns the option's code, or -1 with nothing read; a word that could be several, or
 * has a wrong argument, ends the program.
 */
int longopt_own(struct longopt *l, int argc, char **argv);

/* If both were given, the program ends. */
void longopt_exclude(bool a, const char *name_a, bool b, const char *name_b);

#endif
