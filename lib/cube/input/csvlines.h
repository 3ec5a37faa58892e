/* SPDX-License-Identifier: MIT */
/*
 * Lines of coordinates and a value, X0,X1,...,VALUE, from a file or standard input.  Blank lines
 * are skipped and counted; a header is skipped: a first record whose first field is not a number.
 * A byte order mark at the beginning belongs to no field.
 */
#pragma once

#include <stdio.h>
#include "cube/file/file.h"

struct sp__csvlines {
	struct sp__cubefile *file;
	const uint64_t *rollup; /* what coordinates are divided by; 0: not */
	const char *name;
	struct sp_errinfo *err;
	FILE *in;
	long begin;	     /* offset of the first line */
	uint64_t file_bytes; /* of the input at opening, if it is a regular file */
	char *text;
	size_t capacity; /* bytes of a line and its end */
	uint64_t number; /* of the line */
	uint64_t blank;	 /* lines that were skipped */
	bool begun;
};

/* Opens an input as a stream, which the caller closes.  Errors as sp__cubeinput_open(), -ENOMEM. */
SP_MUST_CHECK int sp__cubeinput_stream(FILE **in, const struct sp__cubefile *c, const char *name,
				       struct sp_errinfo *err);

/* cube, rollup, name and err are set, the rest is 0. */
SP_MUST_CHECK int sp__csvlines_open(struct sp__csvlines *l);
/* The next point; 1: there is none. */
SP_MUST_CHECK int sp__csvlines_next(struct sp__csvlines *l, uint64_t *x, uint8_t *value);
/*
 * Makes sure, before the first line, that lines can be read a second time: a pipe is copied to a
 * temporary file.
 */
SP_MUST_CHECK int sp__csvlines_keep(struct sp__csvlines *l);
/* Begins again with the first line. */
SP_MUST_CHECK int sp__csvlines_rewind(struct sp__csvlines *l);
void sp__csvlines_close(struct sp__csvlines *l);
