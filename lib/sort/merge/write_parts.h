/* SPDX-License-Identifier: MIT */
/*
 * The final merge in parts, each written at its own offset of a file (write_parts.c).
 *
 * Owner: the thread that runs the sort.  Each part belongs to its task until that is joined.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/merging.h"

/* The file that the result goes to, and where. */
struct sp__parts_out {
	int fd;
	const char *name;
	uint64_t at; /* its offset */
	struct sp__wstream_opts writing;
	struct sp__io_counters *io; /* requests are added to it */
	void (*tell)(void *arg, uint64_t done_bytes);
	void *arg;
};

/*
 * After sp__final_reduce(): merges and writes all that is left, and checks it.  1; 0: it does not
 * pay or is not possible, and nothing has changed; or an error.
 */
SP_MUST_CHECK int sp__parts_write(struct sp__merging *merging, const struct sp__parts_out *out);
