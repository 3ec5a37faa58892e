/* SPDX-License-Identifier: MIT */
/*
 * Predicts or measures a workload on layouts, and chooses the one with the minimum time.
 */
#pragma once

#include <spindle/table.h>
#include "predict/platform.h"
#include "table/cost/subject.h"
#include "table/cost/workload.h"

/*
 * The cost of a query on a table: the requests that it makes, and their time.
 */

struct sp__table_cost {
	double requests; /* of reads and writes */
	double seeks;	 /* requests that do not begin where the one before ended */
	double bytes;
	double seconds;
	bool scattered; /* a scan: the cells of matching records are read alone (SI-scan) */
};

struct sp__cost_opts {
	const struct sp__platform *platform;
	bool measure;  /* on the simulated device, even if a geometry is given */
	uint64_t seed; /* of random records */
	/*
	 * About so many requests are made; the cost of a query that has more is scaled.  0: about a
	 * million.
	 */
	uint64_t requests_max;
};
/*
 * Makes the requests of a query on the device of the options, one after the other as the command
 * makes them.  Random records are drawn.  Returns 0, -ENOMEM, or an error of the device.
 */
SP_MUST_CHECK int sp__table_query_cost(const struct sp__cost_table *t,
				       const struct sp__table_query *q,
				       const struct sp__cost_opts *o, struct sp__table_cost *cost,
				       struct sp_errinfo *err);

/* A table that does not exist yet, and what it is for. */
struct sp__cost_question {
	const struct sp__schema *schema;
	uint64_t records;
	const double *text_bytes; /* mean of a value, by column; 0: not a text */
	const struct sp__table_workload *workload;
	const struct sp__platform *platform;
	uint32_t cell_bytes, page_records; /* 0: the layout's */
	struct sp_table_placing placing;
	const char *name; /* for messages */
	uint64_t seed;
};

/* A layout: a form, and the number of the list of columns that share cells, by column. */
struct sp__cost_choice {
	enum sp_table_layout layout;
	uint32_t *together; /* NULL: none; owned */
	bool lanes;	    /* apart, by the placing of the question */
};

/*
 * Returns 0 if a table of a layout, or of SP_TABLE_AUTO, can be placed so, or SP_ESYNTAX or
 * SP_EUNSUP.
 */
SP_MUST_CHECK int sp__cost_check_placing(const struct sp_table_placing *p,
					 enum sp_table_layout layout, const char *name,
					 struct sp_errinfo *err);
/*
 * Makes the layout of a choice, and its placement along tracks; *lanemap is NULL at first, and
 * stays so if cells are contiguous; allocated.  Returns 0; SP_ESYNTAX; SP_EUNSUP if it is
 * impossible; or -ENOMEM.  The caller frees both in any case.
 */
SP_MUST_CHECK int sp__cost_make_layout(struct sp__table_layout *layout,
				       struct sp__lanemap **lanemap,
				       const struct sp__cost_question *q,
				       const struct sp__cost_choice *choice,
				       struct sp_errinfo *err);

/* Sets the costs of a table, stored or planned.  Errors as below. */
SP_MUST_CHECK int sp__cost_examine(const struct sp__cost_question *q,
				   const struct sp__cost_table *t, bool measure,
				   struct sp_table_candidate *c, struct sp_errinfo *err);
/*
 * Compares all layouts.  measure: on the simulated machine, too.  Returns 0, -ENOMEM, or an error
 * of the device; then c is empty.
 */
SP_MUST_CHECK int sp__cost_compare(const struct sp__cost_question *q, bool measure,
				   struct sp_table_comparison *c, struct sp_errinfo *err);
/*
 * Chooses the layout with the minimum time: measured on a simulated volume, else predicted.  The
 * caller frees choice->together.  Returns 0, or an error as above.
 */
SP_MUST_CHECK int sp__cost_choose(const struct sp__cost_question *q, struct sp__cost_choice *choice,
				  struct sp_errinfo *err);
/*
 * Returns in *seconds the time of the workload on a layout: measured on a simulated volume, else
 * predicted.  requests_max: see struct sp__cost_opts.  Returns 0, SP_EUNSUP if the layout is
 * impossible, -ENOMEM, or an error of the device.
 */
SP_MUST_CHECK int sp__cost_seconds(const struct sp__cost_question *q,
				   const struct sp__cost_choice *choice, uint64_t requests_max,
				   double *seconds, struct sp_errinfo *err);
