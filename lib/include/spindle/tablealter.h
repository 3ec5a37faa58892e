/* SPDX-License-Identifier: MIT */
/*
 * Changes of the columns of a table.
 *
 * Thread rule: one thread at a time uses a table.
 */
#ifndef SPINDLE_TABLEALTER_H
#define SPINDLE_TABLEALTER_H

#include <spindle/table.h>

/* Changes of the columns of a table.  Names are those before the change, but for new columns. */
struct sp_table_alter {
	const char *drop;	   /* list of columns; NULL: none */
	const char *const *rename; /* nrename texts OLD=NEW, names as in lists of columns */
	size_t nrename;
	const char *types; /* other types of columns, as in struct sp_table_load_opts; or NULL */
	const char *add; /* names and types of new columns at the end, of the same form; or NULL */
	/* nset lists, as of sp_table_update(): values of new columns; those of others are NULL. */
	const char *const *set;
	size_t nset;
};

/*
 * Adds, drops and renames columns, and gives columns types that have all of their values exactly:
 * all changes or none.  Records keep their numbers.  Columns that share cells with a column that is
 * dropped or gets another type are written again; others are not.  If all columns share cells
 * (SP_TABLE_NSM, SP_TABLE_PAX), a new one does, too.  Indexes of other columns stay valid.
 * table: open for writing, without a pool.  alter: borrowed until the call returns.
 * stats: may be NULL.
 * After an error the table must be closed, except after SP_ESYNTAX.
 * Returns 0; SP_ESYNTAX if a list is wrong, a column is unknown or named twice, no column would be
 * left, or a value does not fit; SP_EFORMAT if a type does not have a value exactly, or a column
 * that must not be NULL is; -ENOSPC if a dictionary or the device is full; SP_EUNSUP if the table
 * lies along tracks or on a sled (except to rename columns), a record exceeds a cell, or the
 * superblock has no space for the columns; SP_EBUDGET; SP_ECORRUPT if a cell is damaged; SP_ESTATE;
 * -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_alter(struct sp_table *table, const struct sp_table_alter *alter,
					struct sp_table_stats *stats, struct sp_errinfo *err);

#endif
