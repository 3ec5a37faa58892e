/* SPDX-License-Identifier: MIT */
/*
 * Reads a whole source: the key and the location of each record, and the checksum of the file.
 */
#pragma once

#include "flow/scan.h"
#include "index/indexkey.h"
#include "index/lookup.h"

/* Called for each record; a code other than 0 ends the scan with that code. */
typedef int sp__keyscan_fn(void *arg, const uint8_t *key, size_t key_bytes,
			   const struct sp__keymatch *match);

struct sp__keyscan {
	struct sp__scan_opts scan; /* one input; waits is set by the scan */
	const struct sp__indexkey *key;
	uint64_t source_bytes; /* size of the source */
	sp__keyscan_fn *each;
	void *arg;

	uint64_t checksum; /* this and the following are results */
	uint64_t records, read_bytes;
	struct sp__io_counters io;
	char engine[32];
};

SP_MUST_CHECK int sp__keyscan_run(struct sp__keyscan *k);
