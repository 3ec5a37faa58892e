/* SPDX-License-Identifier: MIT */
/*
 * Computes the edit distance of two names, for messages that suggest the nearest one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SP__EDITS_MAX 64  /* bytes of a name that count */
#define SP__NEAR_OPTION 3 /* share of the names of options and their values, commands */

/*
 * Returns the fewest edits that make one text of the other: a byte is inserted, removed or
 * replaced, or two neighbours change places (Damerau 1964, Levenshtein 1966).  Case does not
 * count, and only the first SP__EDITS_MAX bytes of each do.
 */
unsigned sp__edits(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

/* The nearest of the names tried; { 0 } at first. */
struct sp__near_name {
	const char *name; /* NULL: none is near */
	unsigned edits;
};

/*
 * Keeps a name if it is nearer to the text than those before, and at most one byte in `share` of
 * the text differs.
 */
void sp__near_name_try(struct sp__near_name *nearest, const char *text, size_t bytes,
		       const char *name, unsigned share);
