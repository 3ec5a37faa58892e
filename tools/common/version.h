/* SPDX-License-Identifier: MIT */
#ifndef VERSION_H
#define VERSION_H

#include <stdio.h>

struct argp_state;

/* What --version says: the version, and what was built in.  A hook of argp's; state is unused. */
void version_print(FILE *f, struct argp_state *state);

/* The program's end with that on standard output. */
_Noreturn void version_leave(void);

#endif
