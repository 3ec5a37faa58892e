/* SPDX-License-Identifier: MIT */
#ifndef STDIO_END_H
#define STDIO_END_H

#include <stdbool.h>

/*
 * Gives closed standard descriptors a place: what is opened later cannot
 * take their numbers, and using them still fails with EBADF.  Returns whether
 * standard input was closed.
 */
bool stdio_guard(void);

/* Pushes out standard output; a failure is "write error" and ends the program. */
void stdio_finish(void);

/* The program's end after --help and the like. */
_Noreturn void stdio_leave(void);

#endif
