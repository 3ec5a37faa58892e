/* SPDX-License-Identifier: MIT */
/*
 * xgroup's command line, parsed and turned into one call of the library.
 *
 *	options.c   the table of options; which go together
 *	explain.c   the plan of --explain in words
 */
#pragma once

#include <spindle/call.h>
#include <spindle/group.h>
#include "args.h"
#include "common_options.h"
#include "msg.h"
#include "runplot.h"

struct settings {
	struct common_options common;
	struct sp_group_opts opts;
	enum sp_call_rows format;
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

/* Prints a plan on standard error. */
void explain_plan(const struct settings *set, const struct sp_group_plan *p);
