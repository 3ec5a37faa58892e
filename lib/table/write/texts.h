/* SPDX-License-Identifier: MIT */
/*
 * Collects the texts of a directory row, and writes them to cells of their own: the texts of each
 * column one behind the other over the payloads of consecutive cells.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/mem.h"
#include "table/file/directory.h"
#include "table/values/columns.h"
#include "table/write/slabs.h"

struct sp__text_column {
	struct sp__bytes pending; /* not written */
	uint64_t bytes;		  /* of the directory row, pending ones included */
	uint64_t first;		  /* cells that are reserved for it in the file; */
	uint64_t reserved, written;
	struct sp__text_place old; /* cells that are released at the end of the directory row */
};

struct sp__texts {
	struct sp__slabs *slabs;
	struct sp__tablefile *file;
	bool fresh; /* it has no state yet: space that is released is free immediately */
	struct sp_errinfo *err;
	uint32_t n;
	struct sp__text_column *columns;
	uint64_t pending, max_pending; /* bytes of all columns */
	struct sp__slab *out;	       /* cells that are complete, from first_out on; or NULL */
	uint64_t first_out;
	uint32_t cells_out;
};

/* Prepares n columns of text, which may keep about max_pending bytes in memory. */
SP_MUST_CHECK int sp__texts_open(struct sp__texts *t, struct sp__slabs *slabs,
				 struct sp__tablefile *file, uint32_t n, uint64_t max_pending,
				 struct sp_errinfo *err);
void sp__texts_close(struct sp__texts *t);
/*
 * Continues a directory row: the texts of column k so far are in these cells, which the column
 * releases at the end of the row.  done: as below.  Returns 0, SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__texts_continue(struct sp__texts *t, uint32_t k, struct sp__tablefile *file,
				     const struct sp__text_place *place, double done);
/* Returns the bytes of texts that can be added until twice max_pending are in memory. */
uint64_t sp__texts_room(const struct sp__texts *t);
/* Returns the bytes of texts as they are stored. */
uint64_t sp__text_refs_bytes(const struct sp__text_ref *refs, size_t n);
/* Adds texts of n records to column k, and puts their ends in place of their offsets. */
SP_MUST_CHECK int sp__texts_add(struct sp__texts *t, uint32_t k, const char *base,
				struct sp__text_ref *refs, size_t n);
/*
 * Writes texts if more than max_pending bytes are in memory.  done: the share of the directory
 * row's records that have been added, to estimate the length of the rest.
 */
SP_MUST_CHECK int sp__texts_limit(struct sp__texts *t, double done);
/* Ends a directory row: places[k] is set for each column. */
SP_MUST_CHECK int sp__texts_end_row(struct sp__texts *t, struct sp__text_place *places);
/* Writes what is still in a buffer. */
SP_MUST_CHECK int sp__texts_flush(struct sp__texts *t);
