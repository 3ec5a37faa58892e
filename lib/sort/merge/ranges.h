/* SPDX-License-Identifier: MIT */
/*
 * Declares the final merge in ranges that are merged and written concurrently (ranges.c), with or
 * without checkpoints (marks.c).
 *
 * Owner: the thread that runs the sort, or the task of the output.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/merging.h"

/* Where the result goes. */
struct sp__ranges_out {
	/*
	 * A function that writes bytes, one call at a time, and describes its errors in put_err; or
	 * NULL.
	 */
	int (*put)(void *put_arg, const char *data, size_t bytes);
	void *put_arg;
	struct sp_errinfo *put_err;
	/* Otherwise a regular file: */
	int fd;
	const char *name;
	uint64_t at;		    /* file offset where the result starts */
	struct sp__io_counters *io; /* receives the requests */
	struct sp__wstream_opts writing;
	void (*tell)(void *arg, uint64_t done_bytes); /* or NULL */
	void *arg;
	/* Not NULL: the caller holds it; it is released while nothing of the sort changes. */
	pthread_mutex_t *busy;
};

/*
 * Called after sp__final_reduce(): merges all remaining inputs, writes the result, and checks it.
 * If the sort has checkpoints, continues at the last ones and makes new ones; its runs must be
 * spilled, and the result goes to a file.  Returns 1; 0, never with checkpoints, if this is not
 * possible or does not pay (nothing has been written); or an error.
 */
SP_MUST_CHECK int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out);
