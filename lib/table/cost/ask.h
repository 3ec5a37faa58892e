/* SPDX-License-Identifier: MIT */
/*
 * Reads a workload and the facts of a device, and answers which layout suits a table.
 */
#pragma once

#include "table/cost/candidates.h"

/* A table that is stored, or would be. */
struct sp__cost_asked {
	const char *name; /* for messages */
	const struct sp__schema *schema;
	uint64_t records;
	/* Mean of a value, by column; 0: not a text.  NULL: texts are taken to have 32 bytes. */
	const double *text_bytes;
	const struct sp__cost_table *stored; /* NULL: it is not stored */
	enum sp_table_layout layout;	     /* of the stored one */
	uint32_t cell_bytes, page_records;   /* 0: the layout's */
};

/* Compares all layouts, as sp_table_compare() does; run: of opts, with the volume in use. */
SP_MUST_CHECK int sp__cost_ask(const struct sp__cost_asked *asked,
			       const struct sp_table_compare_opts *opts,
			       const struct sp_run_opts *run, struct sp_table_comparison *c,
			       struct sp_errinfo *err);
/* Reads the workload of opts; name is for messages.  The caller frees it, after an error too. */
SP_MUST_CHECK int sp__cost_read_workload(struct sp__table_workload *w,
					 const struct sp_table_compare_opts *opts,
					 const struct sp__schema *schema, const char *name,
					 struct sp_errinfo *err);
/*
 * Chooses the layout for the queries of a file.  The caller frees choice->together.  Returns 0, or
 * an error of sp_table_compare().
 */
SP_MUST_CHECK int sp__cost_ask_layout(const struct sp__cost_asked *asked, const char *workload,
				      const struct sp_table_placing *placing,
				      const struct sp_run_opts *run, struct sp__cost_choice *choice,
				      struct sp_errinfo *err);
