/* SPDX-License-Identifier: MIT */
/*
 * Makes the layout that a user chooses for a table.
 */
#pragma once

#include <spindle/table.h>
#include "table/cost/ask.h"

/*
 * Makes the layout of a table, and its placement of lanes; *lanemap is NULL at first, and
 * stays so if cells are contiguous; allocated.  asked: its schema, and for SP_TABLE_AUTO what the
 * choice needs.  Returns 0; SP_ESYNTAX if an option is wrong; SP_EUNSUP if a record exceeds a cell;
 * an error of sp_table_compare(); or -ENOMEM.  The caller frees layout and placement in any case.
 */
SP_MUST_CHECK int sp__table_arrange(struct sp__table_layout *layout, struct sp__lanemap **lanemap,
				    const struct sp__cost_asked *asked,
				    const struct sp_table_load_opts *o, struct sp_errinfo *err);
/* Frees both. */
void sp__table_arranged_free(struct sp__table_layout *layout, struct sp__lanemap *lanemap);
