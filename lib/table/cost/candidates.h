/* SPDX-License-Identifier: MIT */
/*
 * Predicts or measures a workload on layouts, and chooses the one with the minimum time.
 */
#pragma once

#include <spindle/table.h>
#include "table/cost/platform.h"
#include "table/cost/subject.h"
#include "table/cost/workload.h"

/* A table that does not exist yet, and what it is for. */
struct sp__cost_question {
	const struct sp__table_schema *schema;
	uint64_t records;
	const double *text_bytes; /* mean of a value, by column; 0: not a text */
	const struct sp__table_workload *workload;
	const struct sp__cost_platform *platform;
	uint32_t cell_bytes, page_records; /* 0: the layout's */
	uint64_t seed;
};

/* A layout: a form, and the number of the list of columns that share cells, by column. */
struct sp__cost_choice {
	enum sp_table_layout layout;
	uint32_t *together; /* NULL: none; owned */
};

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
