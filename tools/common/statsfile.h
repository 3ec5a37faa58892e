/* SPDX-License-Identifier: MIT */
/*
 * The file of --stats, or standard error where it is "-".  It is opened before the work
 * begins, so that a name that cannot be costs none.  A name of NULL is no file, and nothing
 * is done.  What fails is the end of the program, with status 2.
 */
#ifndef STATSFILE_H
#define STATSFILE_H

#include <stdio.h>
#include <spindle/report.h>

FILE *statsfile_open(const char *name);
/* As JSON; a report of NULL is a lack of memory. */
void statsfile_write(FILE *f, const char *name, const struct sp_report *report);
void statsfile_close(FILE *f, const char *name);

#endif
