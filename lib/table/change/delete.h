/* SPDX-License-Identifier: MIT */
/*
 * Deletes records: sets their bits among the tombstones.  Numbers of records stay, and their values
 * stay in their cells until the table is converted.
 *
 *	sp__tabledelete_open(); sp__tabledelete_put() for each record; sp__tabledelete_finish();
 *	sp__tabledelete_close()
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/file/file.h"

struct sp__tabledelete {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	uint64_t records; /* deleted so far */
};

/* After an error of any function the delete must be closed, and then the file. */
SP_MUST_CHECK int sp__tabledelete_open(struct sp__tabledelete *d, struct sp__tablefile *file,
				       struct sp_errinfo *err);
/* Deletes a record, which follows the one before; one that is deleted stays so. */
SP_MUST_CHECK int sp__tabledelete_put(struct sp__tabledelete *d, uint64_t record);
/* Commits.  Returns 0 when all records are deleted on the device. */
SP_MUST_CHECK int sp__tabledelete_finish(struct sp__tabledelete *d);
void sp__tabledelete_close(struct sp__tabledelete *d);
