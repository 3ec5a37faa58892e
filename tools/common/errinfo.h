/* SPDX-License-Identifier: MIT */
/*
 * Prints errors of the library as "program: file: reason" or, for a reason of the system, as
 * "program: file: operation at byte N: reason".
 */
#pragma once

#include <stdnoreturn.h>
#include <spindle/error.h>

/* Prints an error; rc is the reason if err has none. */
void say_error(int rc, const struct sp_errinfo *err);
noreturn void die_of(int rc, const struct sp_errinfo *err);
/*
 * Ends the program with "program: reason 'where'"; where: an argument of the command line, or NULL.
 */
noreturn void die_word(const struct sp_errinfo *err, const char *where);

/* Prints one line for each option without effect. */
void say_no_effects(const struct sp_no_effects *list);
