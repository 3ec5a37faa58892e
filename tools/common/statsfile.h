/* SPDX-License-Identifier: MIT */
/*
 * The file of --stats, or standard error where it is "-".  It is opened before the work
 * begins, so that a name that cannot be costs none, and appears when it is closed.  A name of
 * NULL is no file, and nothing is done.  What fails is the end of the program.
 */
#ifndef STATSFILE_H
#define STATSFILE_H

#include <spindle/outfile.h>
#include <spindle/report.h>

struct statsfile {
	const char *name;
	struct sp_outfile *out; /* NULL: standard error */
	bool written;
};

void statsfile_open(struct statsfile *s, const char *name);
/* As JSON; a report of NULL is a lack of memory. */
void statsfile_write(struct statsfile *s, const struct sp_report *report);
/* Without a report it leaves what was there. */
void statsfile_close(struct statsfile *s);
/* Writes it, closes the file and frees the report. */
void statsfile_finish(struct statsfile *s, struct sp_report *report);
/* The same, but without a file it is text on standard error. */
void statsfile_tell(struct statsfile *s, struct sp_report *report);

#endif
