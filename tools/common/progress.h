/* SPDX-License-Identifier: MIT */
/*
 * One line on standard error that says how far the work has come.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* The argument of --progress, NULL for none; no such word ends the program with status. */
enum progress_mode progress_option(const char *option, const char *text, int status);

struct progress {
	const char *const *phases; /* names, by number */
	double begin;		   /* when the work began, seconds */
	double quiet_s;		   /* nothing is shown before so many seconds */
	int phase;
	double phase_begin;
	bool shown;
};

/*
 * PROGRESS_AUTO: shown on a terminal, when the work takes more than a second.
 * Returns whether there is anything to show at all: if not, leave it alone.
 */
bool progress_begin(struct progress *p, enum progress_mode mode, const char *const *phases);

/* progress is a struct progress; the library can call it.  total_bytes 0: not known. */
void progress_update(void *progress, int phase, uint64_t done_bytes, uint64_t total_bytes);

/* Wipes the line. */
void progress_end(struct progress *p);

#endif
