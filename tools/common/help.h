/* SPDX-License-Identifier: MIT */
/*
 * --help and its like, from the table of settings.  All end the program.
 */
#ifndef HELP_H
#define HELP_H

#include "args.h"

/* me: the program, or the program and its command. */
_Noreturn void help_print(const struct args *args, const char *me);
_Noreturn void usage_print(const struct args *args, const char *me);

/*
 * For scripts/completions: a line "W", words for each operand that takes words; a line for each
 * setting: "O", letter, long name, argument, 1 if this is optional, description, words of the
 * argument.  Tabs separate them.
 */
_Noreturn void help_table(const struct args *args);

#endif
