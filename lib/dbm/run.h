/* SPDX-License-Identifier: MIT */
/*
 * The state of a run.
 */
#pragma once

#include <spindle/dbm.h>
#include "base/rng.h"
#include "dbm/adapter.h"
#include "dbm/counting.h"
#include "dbm/folders.h"

/*
 * Computes the values of all cells from the units.  simulated: of each cell, the events of one
 * query; NULL: those of the units are used.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__cells_compute(struct sp_dbm_result *result, const struct sp_dbm_opts *opts,
				    double (*simulated)[SP_DBM_EVENTS]);

/* A query at one selectivity: a row of cells. */
struct sp__dbm_row {
	enum sp_dbm_query query;
	double selectivity;
};

struct sp__dbm_run {
	const struct sp_dbm_opts *opts;
	struct sp_dbm_result *result;
	struct sp__dbm_folders folders;
	struct sp__dbm_truth truth;
	struct sp__dbm_place place;   /* location of the adapters */
	struct sp__adapter *adapters; /* in the order of result->systems */
	struct sp__dbm_counting counting;
	double (*simulated)
		[SP_DBM_EVENTS]; /* counters of each cell for one query; NULL: not simulated */
	struct sp__dbm_row *rows;
	size_t nrows;
	unsigned steps, done;		    /* steps of the progress; those that are done */
	struct sp__dbm_question *questions; /* questions of a unit */
	struct sp_errinfo *err;
};

/* Keeps a text as long as the result.  Returns it, or NULL: there is no memory. */
const char *sp__dbm_keep(struct sp_dbm_result *result, const char *text);
/* Tells the caller what begins. */
void sp__dbm_tell(struct sp__dbm_run *run, size_t system, const char *what);
/* True if a system works, and has not failed. */
static inline bool sp__dbm_works(const struct sp__dbm_run *run, size_t system)
{
	return run->result->systems[system].version && !run->result->systems[system].failure;
}
/*
 * After an error of a system: ends it and leaves it out from now on.  Returns 0 if others are left;
 * otherwise, or if the error concerns the whole run, the error.
 */
SP_MUST_CHECK int sp__dbm_leave_out(struct sp__dbm_run *run, size_t system, int rc,
				    struct sp_errinfo *reason);

/* setup.c: finds the systems, makes the tables and loads them. */
SP_MUST_CHECK int sp__dbm_set_up(struct sp__dbm_run *run);
/*
 * Makes the index of a query, and reads the plans.  No query is measured while there is an index of
 * a later one, which it could use.
 */
SP_MUST_CHECK int sp__dbm_set_up_query(struct sp__dbm_run *run, enum sp_dbm_query query);
/* rounds.c: measures all units. */
SP_MUST_CHECK int sp__dbm_measure(struct sp__dbm_run *run);
/* Draws the bounds of n queries of a row in a round, which are the same for all systems. */
void sp__bounds_draw(const struct sp__dbm_run *run, size_t row, unsigned round,
		     struct sp__dbm_question *questions, unsigned n);
