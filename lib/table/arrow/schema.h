/* SPDX-License-Identifier: MIT */
/*
 * The schema of a record batch of Arrow that is made of columns.
 *
 *	i8 ... u64, f32, f64	c s i l C S I L f g
 *	dec(S)			d:P,S: decimal128, with the digits P that the width can have
 *	date, time(D)		tdD; tss:, tsm: or tsu:, the coarsest that holds D decimals
 *	texts			U: UTF-8 with offsets of 8 bytes
 *
 * or the format that the column keeps, if its type can still be that one.
 */
#pragma once

#include "table/arrow/formats.h"

/* Returns the units of a time with so many decimals in microseconds: 1000000, 1000 or 1. */
int64_t sp__arrow_time_unit(unsigned decimals);
/*
 * Finds the format of Arrow of a column, and how its values are written; f->type is the column's.
 */
#define SP__ARROW_FORMAT_TEXT (SP__COLUMN_ARROW_MAX + 1)
void sp__arrow_column_format(const struct sp__table_column *c, char text[SP__ARROW_FORMAT_TEXT],
			     struct sp__arrow_format *f);
/*
 * Makes the schema of a record batch of these columns, which the consumer releases.  Returns 0 or
 * -ENOMEM, and then nothing is to be released.
 */
SP_MUST_CHECK int sp__arrow_schema(struct ArrowSchema *out, const struct sp__table_schema *s,
				   const uint32_t *columns, uint32_t n);
