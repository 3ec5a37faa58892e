/* SPDX-License-Identifier: MIT */
/*
 * xgroup's command line, parsed and turned into one call of the library.
 *
 *	options.c   the table of options; which go together
 *	explain.c   the plan of --explain in words
 *	totals.c    a table of the rows
 */
#pragma once

#include <spindle/call.h>
#include <spindle/group.h>
#include "args.h"
#include "common_options.h"
#include "msg.h"
#include "runplot.h"

/* A further format of rows: they are written as CSV with names, and loaded into a table. */
#define ROWS_TABLE (SP_CALL_ROWS_JSON + 1)

struct settings {
	struct common_options common;
	struct sp_group_opts opts;
	int format; /* enum sp_call_rows, or ROWS_TABLE */
	bool csv, zero, largest;
	const char *separator;
	size_t record_bytes;
	const char **keys, **by; /* by: given behind --largest */
	const char **percent, **cumulative;
	const char *output;
	const char *const *files;
	size_t nfiles;
};

/* Reads, checks and completes the options; errors end the program. */
void options_parse(struct settings *set, int argc, char **argv);

/* Checks the options of a table of rows, and creates a file for its CSV.  Returns a descriptor. */
int totals_begin(const struct settings *set);
/* Loads the table, to the path of --output. */
void totals_load(const struct settings *set);

/* Prints a plan on standard error. */
void explain_plan(const struct settings *set, const struct sp_group_plan *p);
