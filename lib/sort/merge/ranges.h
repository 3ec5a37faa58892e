/* SPDX-License-Identifier: MIT */
/*
 * Declares the final merge into a file, in ranges that are merged and written concurrently
 * (ranges.c), with or without checkpoints (marks.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/merging.h"

/* The file for the result, and where in it the result starts. */
struct sp__ranges_out {
	int fd;
	const char *name;
	uint64_t at; /* file offset */
	struct sp__wstream_opts writing;
	struct sp__io_counters *io; /* receives the requests */
	void (*tell)(void *arg, uint64_t done_bytes);
	void *arg;
};

/*
 * Called after sp__final_reduce(): merges all remaining inputs, writes the result, and checks it.
 * If the sort has checkpoints, continues at the last ones and makes new ones; its runs must be
 * spilled.  Returns 1; 0, never with checkpoints, if this is not possible or does not pay (the file
 * is unchanged); or an error.
 */
SP_MUST_CHECK int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out);
