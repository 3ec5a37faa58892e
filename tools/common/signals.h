/* SPDX-License-Identifier: MIT */
/*
 * Ends a program on signals: immediately, or early but in an orderly way.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

/* Makes signals and exit() remove incomplete outputs and the progress line. */
void signals_catch(void);

/*
 * Sets the line that a signal which ends the program writes to standard error if `path` exists
 * then.  Both are borrowed.  NULL: no line.
 */
void signals_say(const char *line, const char *path);

/*
 * Sets the child that ends with the program: a process, which gets SIGTERM; a process group as a
 * negative number, which is killed; or 0.
 */
void signals_child(pid_t pid);
/* Ends that child.  It is async-signal-safe. */
void signals_end_child(void);
/*
 * Block signals from before a child starts until it is set, so that none comes in between and
 * leaves it behind.  A child that is forked releases them, too.
 */
void signals_hold(sigset_t *before);
void signals_release(const sigset_t *before);

/* The signal that requested the end, for work that polls it; 0: none. */
extern volatile sig_atomic_t interrupted;

/*
 * Makes SIGINT, SIGTERM and SIGHUP request the end, except ignored ones, and end the child that is
 * set.  The second signal of a kind ends the program as by default.
 */
void signals_interrupt(void);
