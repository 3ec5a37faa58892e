/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the commands of dbmbench.
 */
#pragma once

#include <spindle/dbm.h>
#include "commands.h"
#include "msg.h"
#include "progress.h"
#include "statsfile.h"

#define SELECTIVITIES_MAX 64

/* exit status if a system failed, or a plan lacks what a query is about */
#define NEGATIVE 1

/* The command line.  Texts are borrowed. */
struct config {
	struct sp_dbm_opts run;
	const char *names[SP_DBM_SYSTEMS_MAX];
	double selectivities[SELECTIVITIES_MAX];
	const char *adapters, *plot, *stats;
	bool cold, warm, json;
	enum progress_mode progress;
	struct statsfile statsfile;
	struct operands operands;
};

/* options.c: parses the command line. */
const struct command *options_parse(struct config *c, int argc, char **argv);

/* Styles of tables. */
enum table_style { TABLE_TEXT, TABLE_MARKDOWN, TABLE_CSV };

/* table.c: writes the table of a result. */
void table_write(FILE *out, enum table_style style, const struct sp_dbm_result *r);

/* table.c: draws time, and what was counted, against selectivity. */
void plot_result(const char *file, const struct sp_dbm_result *r);

/* The commands; they return the exit status. */
int command_run(struct config *c);
int command_systems(struct config *c);
int command_compare(struct config *c);
