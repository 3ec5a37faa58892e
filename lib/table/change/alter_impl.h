/* SPDX-License-Identifier: MIT */
/*
 * The state of a change of columns, for alter.c, which makes layout and part, and alter_cells.c,
 * which writes the cells.
 *
 * Owner: one thread.
 */
#pragma once

#include "base/err.h"
#include "table/change/alter.h"
#include "table/change/newvalues.h"

struct sp__alter {
	struct sp__tablefile *file;
	struct sp__alter_plan *plan;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	struct sp__table_layout layout; /* after the change */
	uint32_t *kept; /* of each column group after: the one before; SP__ALTER_NEW: of the part */
	bool *stays;	/* of each column group before: it is kept */
	/* The part: its files and locks are those of the table. */
	struct sp__tablefile part;
	uint32_t *columns;	   /* of each column of it: the number after; */
	uint32_t *sources;	   /* and the number before, or SP__COPY_CONSTANT, */
	const uint8_t **constants; /* with the values of these, */
	uint8_t *nulls;		   /* which are here if they are NULL */
	struct sp__new_values values;
	struct sp__tablefile next; /* has the directory after the change */
	uint64_t row;		   /* of the directory */
	uint8_t *part_row, *next_row;
};

static inline int sp__alter_no_memory(const struct sp__alter *a)
{
	return sp__err(a->err, -ENOMEM, "allocate", NULL, -1);
}

/* Makes a view of the open file with areas of its own.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__alter_open_view(struct sp__alter *a, struct sp__tablefile *view,
				      const struct sp__schema *schema,
				      const struct sp__table_layout *layout);
/* Gives the columns of the part, whose dictionaries can have grown, back to the schema. */
void sp__alter_return_columns(struct sp__alter *a);
/*
 * alter_cells.c: writes all cells that the state after the change needs, but schema and map, and
 * makes map, layout and directory those of the file.  Errors are recorded.
 */
SP_MUST_CHECK int sp__alter_write_cells(struct sp__alter *a);
