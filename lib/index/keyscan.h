/* SPDX-License-Identifier: MIT */
/*
 * Reads all of a source: the key and the place of each record, and the checksum of the file.
 */
#pragma once

#include "flow/scan.h"
#include "index/indexkey.h"
#include "index/lookup.h"

/* Takes a record's key; not 0: stop with this code. */
typedef int sp__keyscan_fn(void *arg, const uint8_t *key, size_t key_bytes,
			   const struct sp__keymatch *place);

struct sp__keyscan {
	struct sp__scan_opts scan; /* of one input; waits: own */
	const struct sp__indexkey *key;
	uint64_t source_bytes; /* its size */
	sp__keyscan_fn *each;
	void *arg;

	uint64_t checksum; /* the results */
	uint64_t records, read_bytes;
	struct sp__io_counters io;
	char engine[32];
};

SP_MUST_CHECK int sp__keyscan_run(struct sp__keyscan *k);
