/* SPDX-License-Identifier: MIT */
/*
 * Writes a file line by line, from several threads.
 *
 * Lines are made in a shared buffer of 64 KiB, and never mix.  A regular file appears when it is
 * closed (spindle/outfile.h).
 */
#pragma once

#include <spindle/error.h>

#define SP__LINEFILE_MAX 16384u /* bytes of a line */

struct sp__linefile;

/* Opens a file. path is borrowed until it is closed.  Returns 0 or an error. */
SP_MUST_CHECK int sp__linefile_open(struct sp__linefile **l, const char *path,
				    struct sp_errinfo *err);
/*
 * Returns memory for SP__LINEFILE_MAX bytes, and locks the file until the end() of the line.  Any
 * thread may call these two.
 */
char *sp__linefile_begin(struct sp__linefile *l);
/* Ends the line behind its last byte.  Closing reports a failure to write. */
void sp__linefile_end(struct sp__linefile *l, const char *end);
/* Closes a file; l may be NULL.  Returns 0, or the first error of writing, also in err. */
int sp__linefile_close(struct sp__linefile *l, struct sp_errinfo *err);
