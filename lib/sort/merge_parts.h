/* SPDX-License-Identifier: MIT */
/*
 * The final merge in parts, each written at its own place of a file (merge_parts.c).
 *
 * Owner: the thread that runs the sort.  Each part belongs to its task until that is joined.
 */
#ifndef SP__SORT_MERGE_PARTS_H
#define SP__SORT_MERGE_PARTS_H

#include <spindle/sort.h>
#include "io/wstream.h"
#include "sort/cut.h"

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

/* Could the result of this sort be merged in parts? */
bool sp__parts_possible(const struct sp_sort *s);
/*
 * After sp__finish_reduce(): merges and writes all that is left, and checks it.  1; 0: it does not
 * pay or is not possible, and nothing has changed; or an error.
 */
SP_MUST_CHECK int sp__parts_write(struct sp_sort *s, const struct sp__parts_out *out);

/* The pieces of it that ranges.c needs, too: */
/*
 * Cuts all that is left into as many parts as pay; returns how many, 0: none, or an error.  The
 * cuts are to be released.
 */
SP_MUST_CHECK int sp__parts_cut(struct sp_sort *s, const struct sp__parts_out *out,
				struct sp__cuts *cuts);
/* Is there memory for k parts, merged at once, of n runs? */
bool sp__parts_fit(const struct sp_sort *s, unsigned n, struct sp__freemem where,
		   const struct sp__wstream_opts *writing, unsigned k);
/* A chunk of one of k streams that divide the output buffers and one stream's memory. */
size_t sp__parts_chunk(const struct sp__wstream_opts *w, unsigned k);

#endif
