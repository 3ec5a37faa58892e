/* SPDX-License-Identifier: MIT */
/*
 * Makes the layout that a user chooses for a table.
 */
#pragma once

#include <spindle/table.h>
#include "table/layout/layout.h"

/*
 * Makes the layout of a schema; path names the table in messages.  Returns 0; SP_ESYNTAX if an
 * option is wrong; SP_EUNSUP if a record exceeds a cell; or -ENOMEM.  The caller frees the layout in
 * any case.
 */
SP_MUST_CHECK int sp__table_arrange(struct sp__table_layout *layout,
				    const struct sp__table_schema *schema,
				    const struct sp_table_load_opts *o, const char *path,
				    struct sp_errinfo *err);
