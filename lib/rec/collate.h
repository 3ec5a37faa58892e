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
#include <stdint.h>
#include "rec/key.h"

struct sp__collate;

/* LC_COLLATE is neither C nor POSIX, by name. */
bool sp__collate_hard(void);

/*
 * Encoding needs a table of the locale's characters that takes some
 * milliseconds to find and prove.  So nothing is encoded until there has been
 * so much text that it pays, or sp__collate_expect() has told that there will
 * be.  Returns 0 or -ENOMEM.
 */
int sp__collate_new(struct sp__collate **c);
void sp__collate_free(struct sp__collate *c);

/* Announces about that many bytes of text.  Any thread, any number of times. */
void sp__collate_expect(struct sp__collate *c, uint64_t bytes);

/*
 * Appends bytes that order as the text does under strcoll() and delimit
 * themselves; of a long text at least SP__KEY_MAX.  Returns 0; 1 if this text has no such bytes,
 * or not yet; -ENOMEM.  Texts that were refused and texts that were not may be compared by
 * sp__collate_compare().
 */
int sp__collate_encode(struct sp__collate *c, const char *s, size_t n, struct sp__keybuf *out);

/*
 * strcoll() of texts that may hold NULs: part by part between NULs, and the
 * text with fewer parts first; 0 at once for identical bytes.  If there is no
 * memory for a long text it is compared as bytes, and sp__collate_starved()
 * is true from then on.
 */
int sp__collate_compare(const char *a, size_t an, const char *b, size_t bn);
bool sp__collate_starved(void);
/* The same by the bytes that encode the texts, if they have any: without copies of long texts. */
int sp__collate_compare_long(struct sp__collate *c, const char *a, size_t an, const char *b,
			     size_t bn);

#endif
