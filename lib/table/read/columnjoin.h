/* SPDX-License-Identifier: MIT */
/*
 * Charges the joins that make records of columns which are stored apart, on a simulated machine.
 *
 * The values of a record are found by its number, so this library joins nothing.  A database of the
 * layout DSM joins the fragments of a table by record number: these joins take their time here.
 *
 * Source: Shao 2008, sections 4.2.1 and 4.8.1.
 */
#pragma once

#include "table/file/file.h"

/*
 * Sets how columns are joined.  Returns 0, or SP_EUNSUP if the table has no virtual time or not the
 * layout DSM; recorded in err.
 */
SP_MUST_CHECK int sp__columnjoin_set(struct sp__tablefile *f, enum sp_table_dsm_join join,
				     struct sp_errinfo *err);
/* Charges so many joins for each of these records: one less than columns are read. */
void sp__columnjoin_charge(const struct sp__tablefile *f, uint64_t records, uint32_t joins);
