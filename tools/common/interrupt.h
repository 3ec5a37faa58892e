/* SPDX-License-Identifier: MIT */
/*
 * Ending early but in order: the work looks at a flag, and tells what it has come to.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <signal.h>

/* The signal that asked for the end; 0: none did. */
extern volatile sig_atomic_t interrupted;

/*
 * From now on SIGINT, SIGTERM and SIGHUP ask, those that are ignored apart.  The second of a
 * kind ends the program as by default.
 */
void catch_signals(void);

#endif
