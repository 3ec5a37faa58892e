/* SPDX-License-Identifier: MIT */
/*
 * How signals end a program: at once, or early but in order.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/* No incomplete output survives a signal, or exit(), from now on, and no line of progress. */
void signals_catch(void);

/*
 * A signal that ends the program writes this line to standard error if `path` exists then.  Both
 * are kept.  NULL: no more.
 */
void signals_say(const char *line, const char *path);

/* The signal that asked for the end, for work that looks at it; 0: none did. */
extern volatile sig_atomic_t interrupted;

/*
 * From now on SIGINT, SIGTERM and SIGHUP ask, those that are ignored apart.  The second of a
 * kind ends the program as by default.
 */
void signals_interrupt(void);

#endif
