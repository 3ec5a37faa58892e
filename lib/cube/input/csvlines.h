/* SPDX-License-Identifier: MIT */
/*
 * Reads lines of coordinates and a value, X0,X1,...,VALUE, from a file or standard input.
 *
 * Blank lines are skipped and counted.  A header, a first record whose first field is not a number,
 * is skipped, too.  A byte order mark at the beginning is ignored.
 */
#pragma once

#include <stdio.h>
#include "cube/file/file.h"

struct sp__csvlines {
	struct sp__cubefile *file;
	const uint64_t *rollup; /* divisors of coordinates; 0: none */
	const char *name;
	struct sp_errinfo *err;
	FILE *in;
	long begin;	     /* offset of the first line */
	uint64_t file_bytes; /* length of the input at opening, if it is a regular file */
	char *text;
	size_t capacity; /* bytes of a line and its end */
	uint64_t number; /* number of the line */
	uint64_t blank;	 /* blank lines that were skipped */
	bool begun;
};

/* Opens an input as a stream, which the caller closes.  Errors as sp__cubeinput_open(), -ENOMEM. */
SP_MUST_CHECK int sp__cubeinput_stream(FILE **in, const struct sp__cubefile *c, const char *name,
				       struct sp_errinfo *err);

/* Opens the input; file, rollup, name and err are set, the rest is 0. */
SP_MUST_CHECK int sp__csvlines_open(struct sp__csvlines *l);
/* Reads the next point.  Returns 0; 1: there is none; or an error. */
SP_MUST_CHECK int sp__csvlines_next(struct sp__csvlines *l, uint64_t *x, uint8_t *value);
/*
 * Makes lines readable a second time, before the first one is read: copies a pipe to a temporary
 * file.
 */
SP_MUST_CHECK int sp__csvlines_keep(struct sp__csvlines *l);
/* Continues with the first line. */
SP_MUST_CHECK int sp__csvlines_rewind(struct sp__csvlines *l);
void sp__csvlines_close(struct sp__csvlines *l);
