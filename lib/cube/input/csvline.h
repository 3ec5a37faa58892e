/* SPDX-License-Identifier: MIT */
/*
 * Parses a line of coordinates and a value.
 */
#pragma once

#include "cube/file/file.h"

struct sp__csvline {
	const struct sp_cube_shape *shape;
	const uint64_t *rollup; /* divisors of coordinates; 0: none */
	const char *name;	/* of the input */
	uint64_t number;	/* of the line */
	size_t max;		/* bytes of a line and its end */
	struct sp_errinfo *err; /* NULL: the error is not described */
};

/*
 * Parses `bytes` of text, and uses the byte after them; after an error the text is unchanged.
 * Returns 0; 1: the line is blank; -ERANGE or SP_EFORMAT.
 */
SP_MUST_CHECK int sp__csvline_parse(const struct sp__csvline *l, char *text, size_t bytes,
				    uint64_t *x, uint8_t *value);
/* Records that a line is not valid, for this reason.  Returns SP_EFORMAT. */
int sp__csvline_invalid(const struct sp__csvline *l, const char *reason);
