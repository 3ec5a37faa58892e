/* SPDX-License-Identifier: MIT */
/*
 * Reads records of a file by their offsets, many concurrently.
 *
 * Records are requested, then flushed as one batch.  Records in blocks that are being read, or have
 * recently been read, need no read.  Neighbouring records share a read if the gap between them
 * costs less than a request.  Records return as they arrive, or in the order of requests.
 *
 * Thread rule: the thread of the reads (`reads`) makes all calls.
 */
#pragma once

#include "base/mem.h"
#include "cells/requests.h"
#include "flow/iter.h"

struct sp__fetch_opts {
	struct sp__volume *volume; /* these four are borrowed */
	struct sp__requests *reads;
	struct sp__budget *budget;
	struct sp_errinfo *err;
	unsigned max;	       /* records requested at a time; there are never more reads */
	uint64_t memory_bytes; /* for data read; a longer record has its own */
	uint64_t gap_bytes;
	bool ordered;
};

struct sp__fetched {
	uint64_t offset;
	const char *data;
	size_t bytes;
	uint64_t tag; /* the caller's */
	/* Bytes that have been read before the record and after it, in the same block. */
	size_t before, after;
};

/* Counters of spindle-report(5). */
struct sp__fetch_counts {
	uint64_t records, reads, bytes;
	uint64_t shared;    /* records in blocks that were read for other records */
	uint64_t coalesced; /* records behind a gap that was read with them */
};

struct sp__fetch;

SP_MUST_CHECK int sp__fetch_open(struct sp__fetch **f, const struct sp__fetch_opts *opts);
/* Called after the reads have been closed.  Accepts NULL. */
void sp__fetch_close(struct sp__fetch *f);

/* Number of records that can be requested now. */
unsigned sp__fetch_slots_left(const struct sp__fetch *f);
/*
 * True if half of the slots is free, or of the memory that records wait for: requests then go to
 * the system in groups.
 */
bool sp__fetch_is_due(const struct sp__fetch *f);
/* Requests a record; one must be free.  An empty record is followed by at least one byte. */
void sp__fetch_put(struct sp__fetch *f, uint64_t offset, size_t bytes, uint64_t tag);
/* Submits the requested records, as far as there is memory.  0 or an error. */
SP_MUST_CHECK int sp__fetch_flush(struct sp__fetch *f);
/*
 * Takes the next record, valid until it is released or the next is taken: SP_READY; SP_LATER: it is
 * being read; SP_END: no record is requested; or an error.
 */
SP_MUST_CHECK int sp__fetch_get(struct sp__fetch *f, struct sp__fetched *record);
/* Releases the record taken last; another can then be requested. */
void sp__fetch_release(struct sp__fetch *f);
const struct sp__fetch_counts *sp__fetch_counts(const struct sp__fetch *f);
