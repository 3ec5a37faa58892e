/* SPDX-License-Identifier: MIT */
/*
 * Fields of records of a fixed length: OFFSET:LENGTH[:TYPE], as in keys of xsort.
 *
 * A field is a column, whose text is the number it stores, or its bytes.
 *
 * Thread rule: as spec.h.
 */
#pragma once

#include "group/operand.h"

/*
 * Finds the field of this text, or adds it; *field: its number.  The text is copied to p->word.
 * Returns 0, -EINVAL with the reason, or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_binary_find(struct sp__group_parser *p, const char *text, size_t bytes,
					size_t *field);
/*
 * Takes a field that a blank, a byte that no field has, or ":r" ends, or one in double quotes;
 * p->word is its text.  Returns as sp__group_binary_find().
 */
SP_MUST_CHECK int sp__group_binary_take(struct sp__group_parser *p, size_t *field);
/*
 * Sets how a key that is a field is ordered; p->p: "" or "r".  Returns as sp__group_binary_find().
 */
SP_MUST_CHECK int sp__group_binary_order(struct sp__group_parser *p, struct sp__group_key *key);

/* Sets the columns of a record; numbers are written to `texts`.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__group_binary_columns(const struct sp__group_spec *s, const char *record,
					   struct sp__bytes *texts, struct sp__slice *columns);
