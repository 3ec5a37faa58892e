/* SPDX-License-Identifier: MIT */
/*
 * Creates tables in the layout that a user chooses.
 */
#pragma once

#include <spindle/tablealter.h>
#include "table/cost/ask.h"
#include "table/file/file.h"

/*
 * Creates a table in the file asked->name.  asked: for SP_TABLE_AUTO, what the choice of a layout
 * needs.  schema: that of asked; it moves to the file, or stays if an error comes first.  run: of
 * the file's environment.  Returns 0; SP_ESYNTAX if an option is wrong; SP_EUNSUP if a record
 * exceeds a cell; an error of sp_table_compare() or sp__tablefile_create(); or -ENOMEM.
 */
SP_MUST_CHECK int sp__table_arrange(struct sp__tablefile *f, const struct sp__cost_asked *asked,
				    struct sp__schema *schema, const struct sp_run_opts *run,
				    const struct sp_table_load_opts *o, struct sp_errinfo *err);
/*
 * convert.c: gives columns of the schema of a table other types.  types: a list as in struct
 * sp_table_load_opts; path: the table, for messages.  Returns 0; SP_ESYNTAX if the list is wrong, a
 * column unknown, or a type not possible in this form of records; or -ENOMEM.
 */
SP_MUST_CHECK int sp__table_set_types(struct sp__schema *s, const char *types, const char *path,
				      struct sp_errinfo *err);
/* alterplan.c: carries out sp_table_alter() on an open file.  err: not NULL. */
SP_MUST_CHECK int sp__table_alter(struct sp__tablefile *f, const struct sp_table_alter *alter,
				  struct sp_table_stats *stats, struct sp_errinfo *err);
