/* SPDX-License-Identifier: MIT */
/*
 * Reads a scan in a thread that only copies, into blocks that several threads take.
 *
 * This is for inputs that cannot be read in parts (parts.h): pipes and unpacked files.  A block has
 * whole records; blocks have the order of the input.
 *
 * Thread rule: any thread may take a block, which belongs to it until it gives it back.  The scan
 * belongs to the reader from open() to close().
 */
#pragma once

#include "flow/iter.h"
#include "rec/recfmt.h"

struct sp__block {
	uint64_t number;
	struct sp_batch batch;
	/* Internal: */
	char *own;   /* memory of a record longer than a block */
	bool pinned; /* the record belongs to the scan */
	bool full, taken;
};

struct sp__blocks;

/*
 * Starts reading, into n blocks of `bytes` each in mem.  Returns 0; SP_EUNSUP if the system refuses
 * a thread; or -ENOMEM.  waits: of the scan.
 */
SP_MUST_CHECK int sp__blocks_open(struct sp__blocks **blocks, const struct sp_recfmt *format,
				  const struct sp__iter *scan, struct sp__waits *waits, char *mem,
				  unsigned n, size_t bytes);
/*
 * Takes the next block.  Returns SP_READY; SP_END; the error of the scan; or -ECANCELED after
 * stop().
 */
SP_MUST_CHECK int sp__blocks_take(struct sp__blocks *b, struct sp__block **block);
void sp__blocks_give_back(struct sp__blocks *b, struct sp__block *block);
/* Bytes of the blocks taken so far. */
uint64_t sp__blocks_bytes(struct sp__blocks *b);
/* Ends all waiting; the reader stops before its next block. */
void sp__blocks_stop(struct sp__blocks *b);
/* Waits for the reader; all blocks must have been given back.  Accepts NULL. */
void sp__blocks_close(struct sp__blocks *b);
