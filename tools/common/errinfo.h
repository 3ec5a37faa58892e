/* SPDX-License-Identifier: MIT */
/*
 * Errors of the library as messages: "program: file: reason", or, where the system gave the
 * reason, "program: file: operation at byte N: reason".
 */
#ifndef ERRINFO_H
#define ERRINFO_H

#include <stdnoreturn.h>
#include <spindle/error.h>

/* rc is the reason where err has none. */
void say_error(int rc, const struct sp_errinfo *err);
noreturn void die_of(int rc, const struct sp_errinfo *err);
/* "program: reason 'where'", of a word of the command line; where NULL: without it. */
noreturn void die_word(const struct sp_errinfo *err, const char *where);

/* One line for each option that could not take effect. */
void say_no_effects(const struct sp_no_effects *list);

#endif
