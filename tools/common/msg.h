/* SPDX-License-Identifier: MIT */
/*
 * Messages of every tool on standard error: "program: subject: reason".
 * The program's name is the last component of the word it was called by.
 */
#ifndef MSG_H
#define MSG_H

#include <stddef.h>
#include <stdnoreturn.h>

/* Sets the name; argv[0] becomes the same word, for getopt's own messages. */
void msg_init(char **argv);
const char *msg_program(void);

/* The status of die(), die_sys() and usage_error(); 2 until it is set. */
void msg_set_failure_status(int status);

/*
 * One line, after standard output has been flushed.  Characters that are not printable become
 * escapes; names should be quoted nevertheless (quote.h), to be readable by a shell.
 */
__attribute__((format(printf, 1, 2))) void msg(const char *fmt, ...);

/*
 * A message that ends in a user's record, which is written as it is, and eol.  The caller quotes
 * names.
 */
__attribute__((format(printf, 4, 5))) void msg_record(const char *data, size_t bytes, char eol,
						      const char *fmt, ...);

/* The same, followed by the system's text for errnum unless it is 0. */
__attribute__((format(printf, 2, 3))) void msg_sys(int errnum, const char *fmt, ...);

__attribute__((format(printf, 1, 2))) noreturn void die(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) noreturn void die_sys(int errnum, const char *fmt, ...);

/* Points to --help of program_invocation_name, and ends the program. */
noreturn void usage_error(void);
/* The same after a message. */
__attribute__((format(printf, 1, 2))) noreturn void die_usage(const char *fmt, ...);

/* malloc and realloc that end the program with "memory exhausted". */
void *must_alloc(void *old, unsigned long count, unsigned long bytes);
/* strdup(), the same way. */
char *must_copy(const char *text);

#endif
