/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Reserves the numbers of closed standard descriptors: later files cannot get them, and using them
 * still fails with EBADF.  True if standard input was closed.
 */
bool stdio_guard(void);

/* Flushes standard output; failure ends the program with "write error". */
void stdio_finish(void);

/* Ends the program after --help, --usage or --version. */
_Noreturn void stdio_leave(void);
