/* SPDX-License-Identifier: MIT */
/*
 * Prints messages of tools on standard error, "program: subject: reason", quotes names for them,
 * and ends programs.  The program's name is the last component of argv[0].
 */
#pragma once

#include <stdnoreturn.h>
#include <spindle/enum.h>
#include <spindle/error.h>

/* Sets the program's name, also in argv[0] for getopt's messages. */
void msg_init(char **argv);
const char *msg_program(void);

/* Sets the exit status of die(), die_sys() and usage_error(); 2 by default. */
void msg_set_failure_status(int status);

/*
 * Prints one line after flushing standard output.  Characters that are not printable become
 * escapes; names should still be quoted (below).
 */
__attribute__((format(printf, 1, 2))) void msg(const char *fmt, ...);

/* Prints a message that ends with a user's record, unchanged, and eol.  The caller quotes names. */
__attribute__((format(printf, 4, 5))) void msg_record(const char *data, size_t bytes, char eol,
						      const char *fmt, ...);

/* Prints a message, followed by the system's text for errnum unless errnum is 0. */
__attribute__((format(printf, 2, 3))) void msg_sys(int errnum, const char *fmt, ...);

__attribute__((format(printf, 1, 2))) noreturn void die(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) noreturn void die_sys(int errnum, const char *fmt, ...);

/*
 * After a message about a misspelt name: suggests the nearest one, if one is near; before precedes
 * it.  Under the names of GNU's tools, messages are GNU's, and it prints nothing.
 */
void say_nearest(const struct sp_enum_value *names, const char *before, const char *text);

/* Refers to --help of program_invocation_name, and ends the program. */
noreturn void usage_error(void);
/* Prints a message, refers to --help, and ends the program. */
__attribute__((format(printf, 1, 2))) noreturn void die_usage(const char *fmt, ...);

/* Allocates or resizes memory; failure ends the program with "memory exhausted". */
void *must_alloc(void *old, unsigned long count, unsigned long bytes);
/* Copies a string; failure ends the program. */
char *must_copy(const char *text);

/*
 * quote.c: quotes names by the two rules of GNU's tools.  A result is valid until several more,
 * enough for one message, have been made.  Thread rule: one thread at a time.
 */

/* Quotes between the quotation marks of the locale: U+2018 and U+2019, or ''. */
const char *quote(const char *text);

/* Escapes as quote() does, without quotation marks, for text that is printed alone. */
const char *quote_bare(const char *text);

/*
 * Escapes without quotation marks, and keeps backslashes: for text with quoted names, and for names
 * that GNU's tools print unquoted.
 */
const char *quote_plain(const char *text);

/* Quotes for a shell, only if needed. */
const char *quote_file(const char *name);

/* Quotes for a shell, always. */
const char *quote_file_always(const char *name);

/*
 * errinfo.c: prints errors of the library as "program: file: reason" or, for a reason of the
 * system, as "program: file: operation at byte N: reason".
 */

/* Prints an error; rc is the reason if err has none. */
void say_error(int rc, const struct sp_errinfo *err);
noreturn void die_of(int rc, const struct sp_errinfo *err);
/* If the error is rc and concerns the file, ends the program with "file: reason; next step". */
void die_next(const struct sp_errinfo *err, int rc, const char *file, const char *next);
/* Ends the program with "program: reason 'where'", for an invalid argument. */
noreturn void die_argument(const struct sp_errinfo *err);

/* Prints one line for each option without effect. */
void say_no_effects(const struct sp_no_effects *list);

/* stdio_end.c: the standard streams at the beginning and the end of a program. */

/*
 * Reserves the numbers of closed standard descriptors: later files cannot get them, and using them
 * still fails with EBADF.  True if standard input was closed.
 */
bool stdio_guard(void);

/* Flushes standard output; failure ends the program with "write error". */
void stdio_finish(void);

/* Ends the program after --help, --usage or --version. */
_Noreturn void stdio_leave(void);
