/* SPDX-License-Identifier: MIT */
/*
 * Reads a whole source: the key and the location of each record, and the checksum of the file.
 *
 * Threads read parts of the source (flow/parts.h), each with a worker's number of its own.  Records
 * come in the order of the source within a part only.  The threads are those of the scan, or others
 * that take their records from it.
 *
 * The checksum is a sum over the header and over the records with their terminators: the checksum
 * of each, plus its offset, mixed.  So it shows where each record is, and is added in any order.
 */
#pragma once

#include "flow/parts.h"
#include "index/indexkey.h"
#include "index/lookup.h"
#include "obs/progress.h"

#define SP__KEYSCAN_WORKERS 64u /* maximum */

/*
 * Takes the key of a record.  A negative code, recorded in err, ends the scan with that code; a
 * positive one ends sp__keyscan_take().
 */
typedef int sp__keyscan_fn(void *arg, unsigned worker, const uint8_t *key, size_t key_bytes,
			   const struct sp__keymatch *match, struct sp_errinfo *err);

struct sp__keyscan {
	struct sp__scan_opts scan; /* one input; waits is set by the scan */
	const struct sp__indexkey *key;
	uint64_t source_bytes; /* size of the source */
	unsigned threads;
	uint64_t memory_bytes; /* for the buffers of several threads, together, without `read` */
	struct sp__progress_phase *progress; /* gets the bytes of records; NULL: none */
	sp__keyscan_fn *each;
	/*
	 * Reads all parts by threads of its own, which call sp__keyscan_take() with numbers below
	 * `threads`; or NULL.  Returns 0, or the error of the first part that has one.
	 */
	int (*read)(void *arg, struct sp__parts *parts);
	struct sp__rstream_opts reading; /* options of reading those parts */
	/*
	 * Drops all keys that were taken, since parts of a CSV file were cut at a wrong place; all
	 * records are then read again, with the options that `scan` has now.
	 */
	int (*again)(void *arg);
	void *arg;

	uint64_t checksum; /* this and the following are results */
	uint64_t records, read_bytes;
	struct sp__io_counters io;
	char engine[32];
	struct sp__keyworker *workers;
};

SP_MUST_CHECK int sp__keyscan_run(struct sp__keyscan *k);
/*
 * Called by a worker of `read`: takes the first records of a batch of the part, and removes them
 * from it.  Returns 0 if the batch is empty, or the code of `each`.
 */
SP_MUST_CHECK int sp__keyscan_take(struct sp__keyscan *k, unsigned worker, struct sp__part *part,
				   struct sp_batch *batch);
