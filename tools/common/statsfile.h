/* SPDX-License-Identifier: MIT */
/*
 * Writes the report of --stats: JSON to a file or, as "-", to standard error; or text.  The file
 * is opened before the work begins, so an invalid name is reported early, and appears when it is
 * closed.  With a name of NULL, the functions do nothing.  Failure ends the program.
 */
#pragma once

#include <spindle/outfile.h>
#include <spindle/report.h>
#include "setting.h"

/* A row of a table; member: the name, which is NULL without the option. */
#define STATS_SETTING(type, member, commands)                                                      \
	{                                                                                          \
		"stats", "FILE",                                                                   \
			"write a report as JSON to FILE; without FILE, as text to standard error", \
			SETTING_TO(type, member), .call = statsfile_set, .optional = true,         \
						  .by = commands                                   \
	}

struct statsfile {
	const char *name;
	struct sp_outfile *out; /* NULL: standard error */
	bool written;
};

/* Sets the name of --stats: "-" for text, too, which statsfile_write() distinguishes. */
void statsfile_set(void *to, const char *option, const char *text);
/* Ends the program if no report can be made.  Called before work whose result is a report. */
void report_need(void);
void statsfile_open(struct statsfile *s, const char *name);
/* Writes a report as JSON, or as text; NULL means out of memory. */
void statsfile_write(struct statsfile *s, const struct sp_report *report);
/* Closes the file; without a report, an existing file stays. */
void statsfile_close(struct statsfile *s);
/* Writes and frees the report, and closes the file. */
void statsfile_finish(struct statsfile *s, struct sp_report *report);
enum statsfile_text {
	STATSFILE_DETAILS = 1, /* all values */
	STATSFILE_SUMMARY = 2, /* five lines */
};
/*
 * Does the same as statsfile_finish(), but without a file it prints text on standard error.
 * text: a set of enum statsfile_text.
 */
void statsfile_tell(struct statsfile *s, struct sp_report *report, int text);
