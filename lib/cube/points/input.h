/* SPDX-License-Identifier: MIT */
/*
 * Declares the reading of points from CSV or raw data.
 */
#pragma once

#include "cube/points/points.h"

struct sp__pointinput {
	struct sp__points *dataset; /* for its coordinates and values */
	const char *name;	    /* NULL: no input */
	const struct sp_cube_load_opts *opts;
	/* Receives each point; an error ends the call and is its result. */
	int (*fn)(void *arg, const uint64_t *x, const uint8_t *value);
	void *arg;
	struct sp_errinfo *err;
	uint64_t n;			    /* points read */
	uint64_t blank_lines, header_lines; /* lines of CSV that were skipped */
};

/* Returns 0; SP_ESYNTAX or SP_EUNSUP if options or format do not apply to points. */
SP_MUST_CHECK int sp__pointinput_check(const struct sp__pointinput *in);
/* Reads all points.  Returns 0, -ENOMEM, errors of reading, or that of fn. */
SP_MUST_CHECK int sp__pointinput_read(struct sp__pointinput *in);
