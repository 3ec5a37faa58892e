/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records whose value of a column is a key, through the index of the column.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/change/choose.h"

/*
 * True if the keys of a choice are to be found through an index: one is named; or the default one
 * is there, and reading the column takes more time.
 */
bool sp__choose_has_index(const struct sp__tablefile *f, const struct sp__chosen_by *choice);
/*
 * Does what sp__choose_records() does.  All records are found, and compared with their keys, before
 * the first put().  Errors as there, and: -ESTALE or SP_EFORMAT if the index cannot be used, and
 * SP_ECORRUPT if a record does not have its key.
 */
SP_MUST_CHECK int sp__choose_by_index(struct sp__tablefile *f, const struct sp__chosen_by *choice,
				      struct sp_table_stats *stats, struct sp_errinfo *err);
