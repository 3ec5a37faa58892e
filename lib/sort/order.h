/* SPDX-License-Identifier: MIT */
/*
 * Sorting entries.
 *
 * Idea: radix sort on the eight prefix bytes, most significant first, out of
 * place and stable, with insertion sort for small buckets.  Where all eight
 * bytes are equal, the next eight bytes of the key take the prefix's place and
 * the same goes on one level deeper (a caching string radix sort); when the
 * keys are used up, the record itself follows as a second key if the key set
 * has a last resort that goes by bytes.  Long common prefixes,
 * deep recursion, and keys that end at different lengths inside equal padding,
 * are for a stable merge sort by full comparison, so that neither long common prefixes nor NUL
 * bytes cost more than a comparison sort would.
 *
 * Rejected: a comparison sort of (prefix, reference) throughout (three times
 * slower on random keys); LSD radix (touches all bytes of all prefixes, most
 * of which decide nothing); in-place American flag (not stable).
 */
#ifndef SP__SORT_ORDER_H
#define SP__SORT_ORDER_H

#include <stdbool.h>
#include "sort/entry.h"

struct sp__runbuf;

/*
 * Sorts a[0..n) with tmp[0..n) as scratch; the result is in a.  Entries with
 * equal keys (and records, if there is a last resort) keep their order.
 * Prefixes are as before afterwards.
 */
void sp__order(const struct sp__runbuf *buf, struct sp__entry *a, struct sp__entry *tmp, size_t n);

#endif
