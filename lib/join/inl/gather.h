/* SPDX-License-Identifier: MIT */
/*
 * Records of a file by their places, many at once.
 *
 * Records are asked for, then flushed as one batch: records in blocks that are being read, or
 * have lately been read, need no read; of the others, neighbours come with one read, if the
 * gap between them costs less than a request.  They come back as they arrive, or in the order in
 * which they were asked for.
 *
 * Thread rule: that of the reads it is given, one thread's.
 */
#ifndef SP__JOIN_INL_GATHER_H
#define SP__JOIN_INL_GATHER_H

#include <stdbool.h>
#include "base/mem.h"
#include "flow/iter.h"
#include "datafile/requests.h"

struct sp__gather_opts {
	struct sp__volume *volume; /* these four are borrowed */
	struct sp__requests *reads;
	struct sp__budget *budget;
	struct sp_errinfo *err;
	unsigned max;	       /* records at once; reads are never more */
	uint64_t memory_bytes; /* for what is read; a longer record has its own */
	uint64_t gap_bytes;
	bool ordered;
};

struct sp__gathered {
	uint64_t offset;
	const char *data;
	size_t bytes;
	uint64_t tag; /* the caller's */
};

/* Figures of spindle-report(5). */
struct sp__gather_counts {
	uint64_t records, reads, bytes;
	uint64_t shared;    /* records in blocks that were read for others */
	uint64_t coalesced; /* records behind a gap that was read with them */
};

struct sp__gather;

SP_MUST_CHECK int sp__gather_open(struct sp__gather **f, const struct sp__gather_opts *opts);
/* After the reads have been closed.  Accepts NULL. */
void sp__gather_close(struct sp__gather *f);

/* Records that can be asked for now. */
unsigned sp__gather_free(const struct sp__gather *f);
/* Asks for a record, if there is a free one; an empty one is followed by a byte at least. */
void sp__gather_ask(struct sp__gather *f, uint64_t offset, size_t bytes, uint64_t tag);
/* Submits what has been asked for, as far as there is memory.  0 or an error. */
SP_MUST_CHECK int sp__gather_flush(struct sp__gather *f);
/*
 * The next record, valid until it is released or the next is taken: SP_READY; SP_LATER: it is
 * being read; SP_END: none is asked for; or an error.
 */
SP_MUST_CHECK int sp__gather_take(struct sp__gather *f, struct sp__gathered *record);
/* The record taken last is needed no more, and another can be asked for. */
void sp__gather_release(struct sp__gather *f);
const struct sp__gather_counts *sp__gather_counts(const struct sp__gather *f);

#endif
