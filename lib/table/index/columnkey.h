/* SPDX-License-Identifier: MIT */
/*
 * Makes keys of the values of a column: bytes whose order is the order of the values.
 *
 * Thread rule: pure; any number of threads.
 */
#pragma once

#include "table/schema/schema.h"
#include "table/values/vector.h"

#define SP__COLUMNKEY_SPACE 8

/*
 * Returns the key of value i of a column, in space or where the value is.  NULL: the value is NULL.
 */
struct sp__slice sp__columnkey(const struct sp__table_column *c, const struct sp__vector *v,
			       uint32_t i, uint8_t space[SP__COLUMNKEY_SPACE]);
/*
 * Makes the key of a text that a user gives, in b.  Returns 0; 1: the column cannot have this
 * value; or -ENOMEM.
 */
SP_MUST_CHECK int sp__columnkey_of_text(const struct sp__table_column *c, const char *text,
					size_t n, struct sp__bytes *b);
