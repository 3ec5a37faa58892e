/* SPDX-License-Identifier: MIT */
/*
 * Text in the order of strcoll().
 *
 * strcoll() can call two different texts equal: in glibc all code points that
 * the locale's tables do not know (unassigned ones, and bytes that are no
 * character) weigh the same, and it does not look at the bytes to end a tie.
 * Such texts are never encoded, so two encodings that are equal mean identical
 * texts.
 */
#ifndef SP__REC_COLLATE_H
#define SP__REC_COLLATE_H

#include <stdbool.h>
#include <stddef.h>
#include "rec/key.h"

struct sp__collate;

/* LC_COLLATE is neither C nor POSIX, by name. */
bool sp__collate_hard(void);

/*
 * Finds out how LC_COLLATE orders common characters and proves it against
 * strcoll(); takes a few milliseconds.  *c is NULL if nothing can be encoded
 * in this locale.  Returns 0 or -ENOMEM.
 */
int sp__collate_new(struct sp__collate **c);
void sp__collate_free(struct sp__collate *c);

/*
 * Appends bytes that order as the text does under strcoll() and delimit
 * themselves.  Returns 0; 1 if this text has no such bytes (also if c is
 * NULL); -ENOMEM.
 */
int sp__collate_encode(const struct sp__collate *c, const char *s, size_t n,
		       struct sp__keybuf *out);

/*
 * strcoll() of texts that may hold NULs: part by part between NULs, and the
 * text with fewer parts first; 0 at once for identical bytes.  If there is no
 * memory for a long text it is compared as bytes, and sp__collate_starved()
 * is true from then on.
 */
int sp__collate_compare(const char *a, size_t an, const char *b, size_t bn);
bool sp__collate_starved(void);

#endif
