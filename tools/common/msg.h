/* SPDX-License-Identifier: MIT */
/*
 * Prints messages of tools on standard error: "program: subject: reason".  The program's name is
 * the last component of argv[0].
 */
#pragma once

#include <stddef.h>
#include <stdnoreturn.h>

/* Sets the program's name, also in argv[0] for getopt's messages. */
void msg_init(char **argv);
const char *msg_program(void);

/* Sets the exit status of die(), die_sys() and usage_error(); 2 by default. */
void msg_set_failure_status(int status);

/*
 * Prints one line after flushing standard output.  Characters that are not printable become
 * escapes; names should still be quoted for a shell (quote.h).
 */
__attribute__((format(printf, 1, 2))) void msg(const char *fmt, ...);

/* Prints a message that ends with a user's record, unchanged, and eol.  The caller quotes names. */
__attribute__((format(printf, 4, 5))) void msg_record(const char *data, size_t bytes, char eol,
						      const char *fmt, ...);

/* Prints a message, followed by the system's text for errnum unless errnum is 0. */
__attribute__((format(printf, 2, 3))) void msg_sys(int errnum, const char *fmt, ...);

__attribute__((format(printf, 1, 2))) noreturn void die(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) noreturn void die_sys(int errnum, const char *fmt, ...);

/* Refers to --help of program_invocation_name, and ends the program. */
noreturn void usage_error(void);
/* Prints a message, refers to --help, and ends the program. */
__attribute__((format(printf, 1, 2))) noreturn void die_usage(const char *fmt, ...);

/* Allocates or resizes memory; failure ends the program with "memory exhausted". */
void *must_alloc(void *old, unsigned long count, unsigned long bytes);
/* Copies a string; failure ends the program. */
char *must_copy(const char *text);
