/* SPDX-License-Identifier: MIT */
/*
 * Sorting entries.
 *
 * Idea: radix sort on the eight prefix bytes, most significant first, out of place and
 * stable, with insertion sort for small buckets.  If all eight bytes are equal, the
 * next eight bytes of the key replace the prefix and the sort continues one level
 * deeper (a caching string radix sort); at the end of the keys, the record itself
 * follows as a second key if the key set has a last resort by bytes.  Long common
 * prefixes, deep recursion, and keys of different lengths that are equal but for
 * padding, are sorted by a stable merge sort with full comparison, so that neither long
 * common prefixes nor NUL bytes cost more than in a comparison sort.
 *
 * Rejected: a comparison sort of (prefix, reference) throughout (a third of the speed on
 * random keys); LSD radix (touches all bytes of all prefixes, most of which decide
 * nothing); in-place American flag (not stable).
 */
#ifndef SP__SORT_ORDER_H
#define SP__SORT_ORDER_H

#include <stdbool.h>
#include "sort/entry.h"

struct sp__runbuf;

/*
 * Sorts a[0..n) with tmp[0..n) as scratch; the result is in a.  Entries with
 * equal keys (and records, if there is a last resort) keep their order.
 * Prefixes are restored.
 */
void sp__order(const struct sp__runbuf *buf, struct sp__entry *a, struct sp__entry *tmp, size_t n);

#endif
