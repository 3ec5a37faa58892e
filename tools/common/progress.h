/* SPDX-License-Identifier: MIT */
/*
 * A progress line on standard error.
 *
 * It is drawn anew once a second at most, by one write(2), no wider than the terminal, and
 * wiped before anything else is written there: by who writes a result, by messages
 * (msg.h), and by signals that end the program.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/enum.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* The arguments of --progress; without one it is PROGRESS_ALWAYS. */
const struct sp_enum_value *progress_values(void);

/*
 * Is there anything to draw?  PROGRESS_AUTO: on a terminal that can wipe a line, and not in
 * the first quiet_s from now.
 */
bool progress_wanted(enum progress_mode mode, double quiet_s);
__attribute__((format(printf, 1, 2))) void progress_draw(const char *fmt, ...);
/* Async-signal-safe. */
void progress_wipe(void);

/* Of the terminal, or as COLUMNS says; 0: not known. */
int terminal_columns(int fd);

/* The progress of work that has phases. */
struct progress {
	const char *const *phases; /* names, by number */
	const double *weights;	   /* of the phases in the whole */
	unsigned nphases;
	/* The first phase that writes the result, where that may meet the line; -1: none. */
	int result_phase;
	double begin;	    /* when the work began, seconds */
	double phase_begin; /* the present one */
	int phase;
	double done; /* share of the whole */
	bool over;   /* the result has begun */
};

/* Whether a result goes to a regular file: to output, or, NULL, to standard output. */
bool progress_apart(const char *output);

/* progress is a struct progress; the library can call it.  total_bytes 0: not known. */
void progress_update(void *progress, int phase, uint64_t done_bytes, uint64_t total_bytes);

/* Begins; nothing is drawn before. */
void progress_begin(struct progress *p);

#endif
