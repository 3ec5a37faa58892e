/* SPDX-License-Identifier: MIT */
/*
 * The records of a table as the source of another capability (flow/source.h).
 *
 * Thread rule: as of sources.
 */
#pragma once

#include "flow/source.h"

/* True if a file or a block device begins as a table does; false for "-" and pipes. */
bool sp__table_is(const char *path);
/*
 * Opens the records of a table as a source: as CSV, in the order of their numbers.  NULL is an
 * empty field.  The table is locked for reading until sp_source_close().
 * run: memory_bytes is that of the command, of which the source has a share; direct, engine and
 * wait_ns are those of reading.  Not used after the call.
 * Returns 0; SP_EUNSUP if the table is on a simulated volume or has no data; -ENOMEM; or an error
 * of sp__tablefile_open(), recorded in err.
 */
SP_MUST_CHECK int sp__table_source(struct sp_source **source, const char *table,
				   const struct sp_run_opts *run, struct sp_errinfo *err);
