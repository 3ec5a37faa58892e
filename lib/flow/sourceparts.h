/* SPDX-License-Identifier: MIT */
/*
 * The parts of a source (source.h): ranges of the numbers of its records.
 *
 * parts.c hands them out; each struct sp__part has a reader of its own, which stays open from one
 * part to the next.
 *
 * Thread rule: take and close need the lock of the parts; the others are called by the thread that
 * has the part.
 */
#pragma once

#include "flow/parts.h"

struct sp__source_parts {
	struct sp_source *source; /* NULL: the parts are those of files */
	const struct sp__env *plan;
	uint64_t next;	       /* number of the first record of the next part */
	uint64_t part_numbers; /* numbers of a part */
	uint64_t reader_bytes; /* memory of a reader */
	unsigned readers;      /* readers that can still be opened */
};

void sp__source_parts_open(struct sp__source_parts *s, struct sp_source *source,
			   const struct sp__env *plan, uint64_t part_bytes, unsigned readers);
/* Returns SP_READY; or SP_END, also if the thread has no reader and all are in use. */
int sp__source_parts_take(struct sp__source_parts *s, struct sp__part *part);
/* Returns 0 or an error, recorded in part->err. */
SP_MUST_CHECK int sp__source_parts_begin(struct sp__source_parts *s, struct sp__part *part);
SP_MUST_CHECK int sp__source_part_read(struct sp__part *part, struct sp_batch *batch);
/* Closes the reader, as sp__source_ops.close(). */
void sp__source_part_close(struct sp__part *part, struct sp__io_counters *done,
			   char engine[SP__ENGINE_NAME]);
