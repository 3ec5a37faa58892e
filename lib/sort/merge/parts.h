/* SPDX-License-Identifier: MIT */
/*
 * Into how many parts the final merge is cut, if at all (parts.c), and where.
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/cut.h"
#include "sort/merge/merging.h"

/*
 * Cuts all that is left into as many parts as pay; returns how many, 0: none, or an error.  The
 * cuts are to be released.
 */
SP_MUST_CHECK int sp__parts_cut(struct sp__merging *merging, const struct sp__wstream_opts *writing,
				struct sp__cuts *cuts);
/* Is there memory for k parts, merged at once, of n runs? */
bool sp__parts_fit(const struct sp__merging *merging, unsigned n, struct sp__freemem where,
		   const struct sp__wstream_opts *writing, unsigned k);
/* Pages for each part, from the free memory; less what unpacking takes beside them. */
unsigned sp__parts_pages(const struct sp__merging *merging, struct sp__freemem where,
			 unsigned parts);
/* A chunk of one of k streams that divide the output buffers and one stream's memory. */
size_t sp__parts_chunk(const struct sp__wstream_opts *w, unsigned k);
/* What numbers add to records that stand for themselves. */
uint64_t sp__numbers_bytes(const struct sp__sort_shared *s, uint64_t records);
/* The length of a part from which nothing is dropped. */
uint64_t sp__part_bytes(const struct sp__cuts *c, unsigned part);
