/* SPDX-License-Identifier: MIT */
/*
 * Shared by the commands of xindex.
 */
#ifndef XINDEX_H
#define XINDEX_H

#include <argp.h>
#include <stdbool.h>
#include <spindle/index.h>
#include "common_options.h"
#include "statsfile.h"

/* The command line.  Texts are borrowed. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_index_build_opts build;
	unsigned depth;
	struct statsfile stats;
	const char **operands;
	unsigned noperands;
	const char *separator, *output, *keys, *lo, *hi;
	uint64_t record_bytes;
	bool csv, zero, offsets;
};

/* options.c: parses the command line after the command; which names the options that it takes. */
struct command;
const struct command *options_parse(struct config *c, int argc, char **argv);
int command_run(const struct command *command, struct config *c);

/* Each returns the exit status. */
int command_build(struct config *c);
int command_lookup(struct config *c);
int command_range(struct config *c);
int command_stat(struct config *c);
int command_check(struct config *c);

#endif
