/* SPDX-License-Identifier: MIT */
/*
 * Assembles whole records from chunks of a file that come in any order.
 *
 * For lines and fixed-length records.  The start of a CSV record cannot be found from the middle of
 * a file.
 */
#pragma once

#include "io/chunks.h"
#include "rec/recfmt.h"

struct sp__stitch;

/*
 * window: a chunk comes only after all chunks that precede it by at least this many.  0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__stitch_open(struct sp__stitch **s, const struct sp_recfmt *format,
				  uint64_t chunk_bytes, unsigned window);
void sp__stitch_close(struct sp__stitch *s); /* accepts NULL */

/* Puts the next chunk, which must stay valid until all its batches are taken.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__stitch_put(struct sp__stitch *s, const struct sp__file_chunk *chunk);
/* SP_READY: a batch of whole records, valid until the next call; SP_END: put more. */
int sp__stitch_next(struct sp__stitch *s, struct sp_batch *batch);
/* Bytes of records that are not complete yet. */
uint64_t sp__stitch_kept_bytes(const struct sp__stitch *s);
/* After the last of `chunks` chunks: moves the data after the last whole record to rest. */
void sp__stitch_rest(struct sp__stitch *s, uint64_t chunks, struct sp__bytes *rest);
