/* SPDX-License-Identifier: MIT */
/*
 * The workload of clients: which transactions they make, as text.
 *
 *	client N [think TIME]		N clients make the transactions of the lines that follow
 *	[WEIGHT] STEP [; STEP]...	a transaction
 *
 *	STEP is one of these, after `index N` if it begins with N reads of index nodes:
 *	scan COLUMNS
 *	get N COLUMNS [ROWS]
 *	update N COLUMNS [ROWS]
 *	insert N TABLE
 *	delete N TABLE [ROWS]
 *
 * COLUMNS: as in workload.h of cost, after `TABLE.` if there are several tables.  ROWS: which
 * records, uniform, nurand A, zipf THETA, last N, or same: those of the step before.
 *
 * Thread rule: immutable once read.
 */
#pragma once

#include "base/rng.h"
#include "columns/schema_text.h"

#define SP__CLIENTS_MAX 10000
#define SP__STEP_RECORDS_MAX 100000

/* A table that a workload can name. */
struct sp__client_table_name {
	const char *name;
	const struct sp__schema *schema;
	uint64_t records;
};

enum sp__client_rows_kind {
	SP__ROWS_UNIFORM,
	SP__ROWS_NURAND,
	SP__ROWS_ZIPF,
	SP__ROWS_LAST,
	SP__ROWS_SAME
};

struct sp__client_rows {
	enum sp__client_rows_kind kind;
	uint64_t n; /* A, or N */
	struct sp__ranks ranks;
};

enum sp__client_step_kind {
	SP__STEP_SCAN,
	SP__STEP_GET,
	SP__STEP_UPDATE,
	SP__STEP_INSERT,
	SP__STEP_DELETE
};

struct sp__client_step {
	enum sp__client_step_kind kind;
	unsigned table;
	unsigned index_reads;
	bool *columns; /* columns of scan, get and update */
	uint64_t records;
	struct sp__client_rows rows;
};

struct sp__client_line {
	double weight;
	char *text; /* without the weight */
	struct sp__client_step *steps;
	size_t n;
};

struct sp__client_kind {
	unsigned clients;
	uint64_t think_ns;
	struct sp__client_line *lines;
	size_t n;
	double weights; /* their sum */
};

/* Zero to begin. */
struct sp__client_script {
	struct sp__client_kind *kinds;
	size_t n;
	unsigned clients; /* clients of all kinds */
};

/*
 * Reads the workload of a file.  Returns 0; -ENOMEM; an error of reading; or SP_ESYNTAX, with line
 * and reason.  After an error, too, it must be freed.
 */
SP_MUST_CHECK int sp__client_script_read(struct sp__client_script *s, const char *path,
					 const struct sp__client_table_name *tables,
					 unsigned ntables, struct sp_errinfo *err);
/* Adds a line.  Errors as above. */
SP_MUST_CHECK int sp__client_script_add(struct sp__client_script *s, const char *line,
					const struct sp__client_table_name *tables,
					unsigned ntables, struct sp_errinfo *err);
void sp__client_script_free(struct sp__client_script *s);

/*
 * The records of a step, and the values of records that clients write: arithmetic on numbers.
 *
 * Thread rule: pure functions.
 */

/*
 * Draws the numbers of the records of a step from a table of so many.  rows: step->records
 * elements.  Returns how many different ones there are, in ascending order.
 */
size_t sp__client_rows_draw(const struct sp__client_step *step, uint64_t records,
			    struct sp__rng *rng, uint64_t *rows);
/* Makes the value of a column, of fixed width, for a number. */
void sp__client_value(const struct sp__column *column, uint64_t number, uint8_t *value);
