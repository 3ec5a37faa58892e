/* SPDX-License-Identifier: MIT */
/*
 * Keys of binary records.
 */
#ifndef SP__REC_BKEY_H
#define SP__REC_BKEY_H

#include "rec/key.h"

/*
 * Appends the key k of a fixed-length record as bytes in memcmp order, always
 * equally many, reversal included.  Returns 0 or -ENOMEM.
 */
int sp__bkey_encode(const struct sp_key *k, const char *rec, struct sp__keybuf *out);

/* The same order by loading and comparing the values, reversal included. */
int sp__bkey_compare(const struct sp_key *k, const char *a, const char *b);

#endif
