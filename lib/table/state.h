/* SPDX-License-Identifier: MIT */
/*
 * The whole state of an open table, which only the files of the shell see.  One thread uses a
 * table.
 */
#pragma once

#include "table/clotho/attach.h"

struct sp_table {
	struct sp__tablefile file;
	struct sp__clotho_file pool; /* its file is NULL if there is none */
	/* Made by sp__table_describe(); lost: by check.c. */
	struct sp_table_column *columns;
	struct sp_table_group *groups;
	uint64_t *lost;
};

/*
 * Enclose each command that reads: lock the file, and set the environment's error struct.  values:
 * the command needs them.  Return 0; SP_ESTATE; or SP_EUNSUP if the table has none.
 */
SP_MUST_CHECK int sp__table_begin_reading(struct sp_table *t, bool values, struct sp_errinfo *err);
void sp__table_end_reading(struct sp_table *t);
/*
 * Begins a change: sets the counters of the file and of the call to zero, and the environment's
 * error struct.  values: as above.  Returns 0; SP_ESTATE if the table cannot be changed; or
 * SP_EUNSUP.
 */
SP_MUST_CHECK int sp__table_begin_change(struct sp_table *t, bool values,
					 struct sp_table_stats *stats, struct sp_errinfo *err);
/* Sets the counters of the cells and of the journal that a change has written. */
void sp__table_note_change(const struct sp__tablefile *f, struct sp_table_stats *stats);
/* Ends a change: after an error a plain file loses what was written behind it.  Returns rc. */
int sp__table_end_change(struct sp_table *t, int rc);
/*
 * Adds up the bytes of the texts of each column, and the cells of all, that the directory names.
 * Returns 0, or an error of reading.
 */
SP_MUST_CHECK int sp__table_add_texts(struct sp__tablefile *f, uint64_t *bytes, uint64_t *cells,
				      struct sp_errinfo *err);
/* Sets the mean bytes of a value of each column of text.  Errors as above. */
SP_MUST_CHECK int sp__table_mean_texts(struct sp__tablefile *f, double *means,
				       struct sp_errinfo *err);
/* Returns the named layout that is most like a layout. */
enum sp_table_layout sp__table_layout_of(const struct sp__table_layout *l);
/*
 * Computes how many keys of a column are found through its index in the time in which the column is
 * read: a leaf and a cell for each.  Returns 0, or an error of sp__platform_open().
 */
SP_MUST_CHECK int sp__table_max_lookups(const struct sp__tablefile *f, uint32_t column,
					uint64_t *keys, struct sp_errinfo *err);
/* Frees what sp__table_describe() has made. */
void sp__table_forget(struct sp_table *t);
/* Describes columns and column groups.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__table_describe(struct sp_table *t);
