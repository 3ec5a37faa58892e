/* SPDX-License-Identifier: MIT */
/*
 * Whole records of the chunks of a file that come in any order.
 *
 * Lines and fixed-length records; where a CSV record begins cannot be seen from the middle.
 */
#ifndef SP__FLOW_STITCH_H
#define SP__FLOW_STITCH_H

#include <spindle/batch.h>
#include "io/chunks.h"
#include "rec/recfmt.h"

struct sp__stitch;

/* window: no chunk comes before all those that are so far behind it.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__stitch_open(struct sp__stitch **s, const struct sp_recfmt *format,
				  uint64_t chunk_bytes, unsigned window);
void sp__stitch_close(struct sp__stitch *s); /* accepts NULL */

/* The next chunk, which stays valid until all batches of it are taken.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__stitch_put(struct sp__stitch *s, const struct sp__file_chunk *chunk);
/* SP_READY: a batch of whole records, valid until the next call; SP_END: put more. */
int sp__stitch_next(struct sp__stitch *s, struct sp_batch *batch);
/* Of records that are not whole yet. */
uint64_t sp__stitch_kept_bytes(const struct sp__stitch *s);
/* After the last of so many chunks: what follows the last whole record is moved to rest. */
void sp__stitch_rest(struct sp__stitch *s, uint64_t chunks, struct sp__bytes *rest);

#endif
