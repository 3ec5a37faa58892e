/* SPDX-License-Identifier: MIT */
/*
 * Prints --help, --usage and the table for completions from the table of settings.  All functions
 * end the program.
 */
#pragma once

#include "args.h"

/* Prints --help; me: the program, or the program and its command. */
_Noreturn void help_print(const struct args *args, const char *me);
_Noreturn void usage_print(const struct args *args, const char *me);

/*
 * Prints the table for scripts/completions.  A line "W" lists the names that the operands accept; a
 * line "O" for each setting has letter, long name, argument, 1 if the argument is optional,
 * description, names that the argument accepts.  Tabs separate fields.
 */
_Noreturn void help_table(const struct args *args);
