/* SPDX-License-Identifier: MIT */
/*
 * Declares how the final merge is divided into ranges of keys, and the memory among those that
 * write them (divide.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "io/wstream.h"
#include "sort/merge/cut.h"
#include "sort/merge/merging.h"

/*
 * Cuts all remaining inputs into as many ranges as pay.  Returns their number, at least 2; 0 for
 * one range; or an error.  The cuts must be released.
 */
SP_MUST_CHECK int sp__divide_cut(struct sp__merging *merging,
				 const struct sp__wstream_opts *writing, struct sp__cuts *cuts);
/*
 * Makes the ranges between the cuts of n ranges or, if n is 1, one range of everything.  The first
 * starts at this offset of the file.  If records can be missing from a range, its end is unknown.
 */
SP_MUST_CHECK int sp__divide_ranges(struct sp__merging *merging, const struct sp__cuts *cuts,
				    unsigned n, uint64_t at, struct sp__ranges *ranges);
/* True if there is memory for k ranges of n runs at a time. */
bool sp__divide_fits(const struct sp__merging *merging, unsigned n, struct sp__freemem where,
		     const struct sp__wstream_opts *writing, unsigned k);
/* Returns the pages of each of k ranges, from the free memory less that for unpacking. */
unsigned sp__divide_pages(const struct sp__merging *merging, struct sp__freemem where, unsigned k);
/* Returns the chunk of each of k streams that divide the output buffers and one stream's memory. */
size_t sp__divide_chunk(const struct sp__wstream_opts *w, unsigned k);
/* Returns the bytes that numbers add to records, each of which is a group of its own. */
uint64_t sp__numbers_bytes(const struct sp__sort_shared *s, uint64_t records);
