/* SPDX-License-Identifier: MIT */
/*
 * Continues the writing of a table after its last record, as one transaction.
 */
#include "table/change/append.h"
#include "table/file/redo.h"

int sp__tableappend_open(struct sp__tableappend *a, struct sp__tablefile *file,
			 uint64_t memory_bytes, struct sp_errinfo *err)
{
	int rc;

	*a = (struct sp__tableappend){ .file = file, .err = err };
	rc = sp__redo_begin(file, sp__tablewriter_old_cells(file), err);
	if (!rc)
		rc = sp__tablewriter_open(&a->writer, file, memory_bytes, err);
	return rc ? rc : sp__tablewriter_continue(&a->writer);
}

int sp__tableappend_finish(struct sp__tableappend *a)
{
	int rc = sp__tablewriter_finish(&a->writer);

	return rc ? rc : sp__tablefile_commit(a->file, a->err);
}

void sp__tableappend_close(struct sp__tableappend *a)
{
	sp__tablewriter_close(&a->writer);
	if (a->file && a->file->redo.open)
		sp__redo_abandon(a->file);
	*a = (struct sp__tableappend){ 0 };
}
