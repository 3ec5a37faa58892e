/* SPDX-License-Identifier: MIT */
/*
 * Computes the edit distance of two names, for messages that suggest the nearest one.
 */
#pragma once

#include <stddef.h>

#define SP__EDITS_MAX 64 /* bytes of a name that count */

/*
 * Returns the fewest bytes that must be inserted, removed or replaced to make one text of the
 * other (Levenshtein 1966); only the first SP__EDITS_MAX bytes of each count.
 */
unsigned sp__edits(const char *a, size_t a_bytes, const char *b, size_t b_bytes);
