/* SPDX-License-Identifier: MIT */
/*
 * Long options of two tables: GNU's names and all their abbreviations resolve first, so a
 * word goes to Spindle's table only when no GNU name begins with it.
 */
#ifndef LONGOPT_H
#define LONGOPT_H

#include <getopt.h>
#include <stdbool.h>
#include "setting.h"

struct longopt {
	const char *letters; /* getopt's */
	const struct option *gnu;
	const struct setting *own;
};

/*
 * Reads argv[optind], and its argument, where that is a word of Spindle's table, and applies
 * it to input.  Returns false with nothing read if it is none; a word that could be several,
 * or has a wrong argument, ends the program.
 */
bool longopt_own(const struct longopt *l, int argc, char **argv, void *input);

/* The rows as getopt_long() wants them; the caller frees. */
struct option *longopt_table(const struct setting *s);

/* If both were given, the program ends. */
void longopt_exclude(bool a, const char *name_a, bool b, const char *name_b);

#endif
