/* SPDX-License-Identifier: MIT */
/*
 * Appends records to a table.
 *
 * New cells are written behind the cells of the state before, and become part of the table when the
 * next superblock counts.  Cells of the last A-page and of the directory that are partly full go
 * through the journal, so the table is as before until then.
 *
 *	sp__tableappend_open(); sp__tablewriter_put(&a->writer, ...); sp__tableappend_finish();
 *	sp__tableappend_close()
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/write/writer.h"

struct sp__tableappend {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	struct sp__tablewriter writer;
};

/* After an error of any function the append must be closed, and then the file. */
SP_MUST_CHECK int sp__tableappend_open(struct sp__tableappend *a, struct sp__tablefile *file,
				       uint64_t memory_bytes, struct sp_errinfo *err);
/* Commits.  Returns 0 when all records are on the device. */
SP_MUST_CHECK int sp__tableappend_finish(struct sp__tableappend *a);
void sp__tableappend_close(struct sp__tableappend *a);
