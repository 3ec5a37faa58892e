/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the commands of xtable.
 */
#pragma once

#include <spindle/outfile.h>
#include <spindle/tablealter.h>
#include <spindle/tablerun.h>
#include "commands.h"
#include "common_options.h"
#include "keys.h"
#include "msg.h"
#include "statsfile.h"

#define LISTS_MAX 256 /* maximum arguments of options that may be repeated */

#define VOLUMES_MAX 64

/* exit status of negative answers: a key without a record, a damaged cell */
#define NEGATIVE 1

/* The command line.  Texts are borrowed. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_table_load_opts load;
	struct sp_table_query query;
	struct sp_table_compare_opts compare;
	struct sp_table_run_opts clients;
	const char *volumes[VOLUMES_MAX]; /* names of all except the first */
	const char *together[LISTS_MAX], *set[LISTS_MAX], *queries[LISTS_MAX], *renames[LISTS_MAX];
	struct sp_table_alter alter;
	size_t nset;
	const char *separator, *output, *result, *keys, *by, *from, *to_volume;
	uint64_t records;
	bool csv, json, json_lines, records_given, no_data, journal, changed_given;
	enum sp_table_dsm_join dsm_join;
	struct sp_pool_opts pool_opts; /* bytes, frame_bytes: 0: the default */
	bool pool_given, update_unit_given;
	struct sp_pool *pool; /* opened by open_pool(); NULL: none */
	struct statsfile stats;
	struct progress progress;
	unsigned noted; /* sentences about columns that a load printed */
	bool apart;	/* the result does not mix with the progress line */
	struct operands operands;
	struct sp_table *table;	   /* opened by open_table() */
	struct sp_table_info info; /* facts about the table when it was opened */
	struct keys wanted;	   /* keys of records */
	uint64_t absent;	   /* keys without a record */
};

/* options.c: parses the command line. */
const struct command *options_parse(struct config *c, int argc, char **argv);

/*
 * pool.c: opens the pool of --pool, whose memory it takes from that of the run, for the tables that
 * are the first operands; failure ends the program.
 */
void open_pool(struct config *c, unsigned tables);
/*
 * tablevolumes.c: ends the program if one of the outputs is a volume of a table.  A file that is
 * not a table has none.
 */
void check_table_volumes(const struct config *c, const char *table,
			 const struct sp_output_set *set);
/*
 * Opens the table of the first operand, and sets c->info; failure ends the program.  texts: with
 * the bytes of texts.
 */
void open_table(struct config *c, bool write, bool texts);
void close_table(struct config *c);
/* Ends the program if rc is an error of a command that wrote to standard output. */
void check_printed(int rc, const struct sp_errinfo *err);
/* Writes whole records to standard output: a sp_table_sink. */
int print_records(void *config, const char *data, size_t bytes);
/* Says which options had no effect, and writes the report of --stats. */
void report(struct config *c, const char *command, const struct sp_table_stats *st);
/* Writes the report, and closes keys and table.  Returns the exit status. */
int end_command(struct config *c, const char *command, const struct sp_table_stats *st);

/* load.c: converts the options of the text for the library. */
void set_format(struct config *c);
/*
 * The inputs of a command: the operands from `first` on, or standard input.  Returns their number.
 */
size_t inputs_of(const struct config *c, unsigned first, const char *const **inputs);
/* Warns if a scan does not give back the bytes of the inputs, of which this is the first. */
void say_inexact(const char *input, const struct sp_table_stats *st);
/* Warns about blank lines and empty files that were skipped. */
void say_skipped(const char *const *inputs, size_t n, const struct sp_table_stats *st);

/* Opens c->wanted: the operands from the second on, or the file of --keys. */
void open_wanted(struct config *c);
/* Names a key that no record has, and counts it in c->absent: a sp_table_sink. */
int name_absent(void *config, const char *key, size_t bytes);

/* Run a command; return the exit status. */
int command_load(struct config *c);
int command_create(struct config *c);
int command_scan(struct config *c);
int command_get(struct config *c);
int command_index(struct config *c);
int command_update(struct config *c);
int command_delete(struct config *c);
int command_append(struct config *c);
int command_alter(struct config *c);
int command_convert(struct config *c);
int command_schema(struct config *c);
int command_info(struct config *c);
int command_check(struct config *c);
int command_explain(struct config *c);
int command_compare(struct config *c);
int command_run(struct config *c);
