/* SPDX-License-Identifier: MIT */
/*
 * Orders text like strcoll().
 *
 * strcoll() can call two different texts equal.  In glibc all code points that are not in the
 * locale's tables (unassigned ones, and bytes that are not a character) have the same weight, and
 * it does not compare the bytes to break a tie.  Such texts are never encoded, so equal encodings
 * mean identical texts.
 */
#pragma once

#include "rec/key.h"

struct sp__collate;

/* True if LC_COLLATE is neither C nor POSIX, by name. */
bool sp__collate_hard(void);

/*
 * Creates a collation.  Encoding needs a table of the locale's characters that takes several
 * milliseconds to compute and verify.  So nothing is encoded until enough text has been seen, or
 * announced by sp__collate_expect().  Returns 0 or -ENOMEM.
 */
int sp__collate_new(struct sp__collate **c);
void sp__collate_free(struct sp__collate *c);

/* Announces about this many bytes of text.  Any thread can call it, any number of times. */
void sp__collate_expect(struct sp__collate *c, uint64_t bytes);

/*
 * Appends self-delimiting bytes whose order is the order of strcoll(); for a long text at least
 * SP__KEY_MAX bytes.  Returns 0; 1 if this text has no such bytes, or not yet; -ENOMEM.
 * sp__collate_compare() compares any texts, refused or encoded.
 */
int sp__collate_encode(struct sp__collate *c, const char *s, size_t n, struct sp__keybuf *out);

/*
 * Compares texts that can contain NULs by strcoll(): part by part between NULs, and the text with
 * fewer parts first.  Identical bytes return 0 immediately.  If there is no memory for a long text,
 * it is compared as bytes, and sp__collate_starved() is true from then on.
 */
int sp__collate_compare(const char *a, size_t an, const char *b, size_t bn);
bool sp__collate_starved(void);
/* Returns -ENOMEM if keys are compared so, and it is true. */
SP_MUST_CHECK int sp__collate_check(const struct sp_keyset *keys, struct sp_errinfo *err);
/* Compares by encodings, if the texts have any, which needs no copies of long texts. */
int sp__collate_compare_long(struct sp__collate *c, const char *a, size_t an, const char *b,
			     size_t bn);
