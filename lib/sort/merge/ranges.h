/* SPDX-License-Identifier: MIT */
/*
 * The final merge into a file, in ranges that are merged and written concurrently (ranges.c), with
 * checkpoints or without (marks.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/merging.h"

/* The file that the result goes to, and where. */
struct sp__ranges_out {
	int fd;
	const char *name;
	uint64_t at; /* its offset */
	struct sp__wstream_opts writing;
	struct sp__io_counters *io; /* requests are added to it */
	void (*tell)(void *arg, uint64_t done_bytes);
	void *arg;
};

/*
 * After sp__final_reduce(): merges all that is left, writes it, and checks it.  If the sort has
 * checkpoints, continues at the last ones, and makes new ones; its runs must be spilled.  Returns
 * 1; 0, never with checkpoints: this is not possible or does not pay, and the file is as it was; or
 * an error.
 */
SP_MUST_CHECK int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out);
