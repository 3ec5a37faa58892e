/* SPDX-License-Identifier: MIT */
/*
 * The file of --stats, or standard error where it is "-".  It is opened before the work
 * begins, so that a name that cannot be costs none.  A name of NULL is no file, and nothing
 * is done.  What fails is the end of the program.
 */
#ifndef STATSFILE_H
#define STATSFILE_H

#include <stdio.h>
#include <spindle/report.h>

FILE *statsfile_open(const char *name);
/* As JSON; a report of NULL is a lack of memory. */
void statsfile_write(FILE *f, const char *name, const struct sp_report *report);
void statsfile_close(FILE *f, const char *name);
/* Writes it, closes the file and frees the report. */
void statsfile_finish(FILE *f, const char *name, struct sp_report *report);
/* The same for a plan, which without a file is text on standard error. */
void statsfile_plan(FILE *f, const char *name, struct sp_report *report);

#endif
