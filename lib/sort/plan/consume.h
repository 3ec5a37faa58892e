/* SPDX-License-Identifier: MIT */
/*
 * Declares the consumption sequence: the order in which a merge will need the pages of its runs,
 * known in advance from the last key of each page.
 *
 * Source: Zhang & Larson 1998, section 3.2 and figure 1.
 */
#pragma once

#include <spindle/api.h>

/*
 * Compares the last keys of two pages: returns a negative number, 0, or a positive one.  Pages of
 * one run are never compared; their order is known.
 */
typedef int sp__last_key_cmp(void *ctx, unsigned run_a, uint64_t page_a, unsigned run_b,
			     uint64_t page_b);

/*
 * Writes the run number of every page to sequence, which has as many entries as the sum of
 * run_pages: first the first page of each run that has pages, in run order.  Then, each time a page
 * is the first to finish (equal keys: the lower run number), the next page of its run, if there is
 * one.  Returns 0 or -ENOMEM; takes 16 bytes per run.
 */
SP_MUST_CHECK int sp__consumption_build(unsigned runs, const uint64_t *run_pages,
					sp__last_key_cmp *cmp, void *ctx, uint32_t *sequence);
