/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of --stats; "-" is standard error.  The file is opened before the work begins, so
 * an invalid name is reported early, and appears when it is closed.  With a name of NULL, the
 * functions do nothing.  Failure ends the program.
 */
#pragma once

#include <spindle/outfile.h>
#include <spindle/report.h>

struct statsfile {
	const char *name;
	struct sp_outfile *out; /* NULL: standard error */
	bool written;
};

/* Ends the program if no report can be made.  Called before work whose result is a report. */
void report_need(void);
void statsfile_open(struct statsfile *s, const char *name);
/* Writes a report as JSON; NULL means out of memory. */
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
