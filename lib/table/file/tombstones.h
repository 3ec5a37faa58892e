/* SPDX-License-Identifier: MIT */
/*
 * Tombstones: a bit for each record, 1 if it was deleted, the lowest bit of a byte first.  Their
 * area is made at the first delete; records behind its last cell are not deleted.
 */
#pragma once

#include "table/file/file.h"

/* Sets f->tombstones.  cells: those that have been written. */
void sp__tombstones_open(struct sp__tablefile *f, uint64_t cells);
/*
 * Read and write the bits of records [first, first + n), first a multiple of 8; bits has n / 8
 * bytes, rounded up, and bits behind the last record are 0.  Errors as in sp__areastream_read().
 */
SP_MUST_CHECK int sp__tombstones_read(struct sp__tablefile *f, uint64_t first, uint64_t n,
				      uint8_t *bits, struct sp_errinfo *err);
SP_MUST_CHECK int sp__tombstones_write(struct sp__tablefile *f, uint64_t first, uint64_t n,
				       const uint8_t *bits, struct sp_errinfo *err);
/* Returns 1 if the record exists, 0 if there is none of that number, or an error of reading. */
SP_MUST_CHECK int sp__tombstones_exists(struct sp__tablefile *f, uint64_t record,
					struct sp_errinfo *err);
