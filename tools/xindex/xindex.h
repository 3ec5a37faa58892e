/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the commands of xindex.
 */
#pragma once

#include <spindle/index.h>
#include "commands.h"
#include "common_options.h"
#include "msg.h"
#include "statsfile.h"

/* The command line.  Texts are borrowed. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_index_build_opts build;
	unsigned depth;
	struct statsfile stats;
	struct progress progress;
	void (*show)(void *progress, int phase, uint64_t done, uint64_t total); /* NULL: never */
	struct operands operands;
	const char *separator, *output, *result, *keys, *lo, *hi;
	uint64_t record_bytes;
	bool csv, json, strict, zero, offsets;
};

/* options.c: parses the command line. */
const struct command *options_parse(struct config *c, int argc, char **argv);

/* again.c: ends after an error of a query; of a changed source with the command for a new index. */
_Noreturn void die_query(const struct config *c, int rc, const struct sp_errinfo *err);

/* Run a command; return the exit status. */
int command_build(struct config *c);
int command_lookup(struct config *c);
int command_range(struct config *c);
int command_stat(struct config *c);
int command_check(struct config *c);
