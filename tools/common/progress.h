/* SPDX-License-Identifier: MIT */
/*
 * Shows a progress line on standard error.
 *
 * The line is drawn at most once per second, by one write(2), no wider than the terminal.  Writers
 * of a result, messages (msg.h), and signals that end the program clear it before they write.
 */
#pragma once

#include "setting.h"

enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* A row of a table; member: the mode. */
#define PROGRESS_SETTING(type, member, commands)                                                   \
	{                                                                                          \
		"progress", "WHEN", "show progress: auto, always or never (auto)",                 \
			SETTING_TO(type, member), .values = progress_values, .optional = true,     \
						  .absent = PROGRESS_ALWAYS, .by = commands        \
	}

/* Returns the arguments of --progress; without one, the mode is PROGRESS_ALWAYS. */
const struct sp_enum_value *progress_values(void);

/*
 * True if progress is to be drawn.  PROGRESS_AUTO: on a terminal that can clear a line, after
 * quiet_s from now.
 */
bool progress_wanted(enum progress_mode mode, double quiet_s);
__attribute__((format(printf, 1, 2))) void progress_draw(const char *fmt, ...);
/* Clears the line.  Async-signal-safe. */
void progress_wipe(void);

/* Returns the columns of the terminal, or the value of COLUMNS; 0: unknown. */
int terminal_columns(int fd);

/* The progress of work that has phases. */
struct progress {
	const char *const *phases; /* names, by number */
	const double *weights;	   /* shares of the phases in the whole */
	unsigned nphases;
	/* The first phase that writes the result to the same terminal; -1: none. */
	int result_phase;
	double begin;	    /* start of the work, seconds */
	double phase_begin; /* start of the current phase */
	int phase;
	double done; /* share of the whole */
	bool over;   /* the result has begun */
};

/* True if the result goes to a regular file: output or, if NULL, standard output. */
bool progress_apart(const char *output);

/* Updates a struct progress; a callback for the library. total_bytes 0: unknown. */
void progress_update(void *progress, int phase, uint64_t done_bytes, uint64_t total_bytes);

/* Begins the progress; nothing is drawn before. */
void progress_begin(struct progress *p);
