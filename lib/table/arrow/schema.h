/* SPDX-License-Identifier: MIT */
/*
 * Types of columns as formats of Arrow.
 *
 *	i8 ... u64, f32, f64	c s i l C S I L f g
 *	dec(S)			d:P,S: decimal128, with the digits P that the width can have
 *	date, time(D)		tdD; tss:, tsm: or tsu:, the coarsest that holds D decimals
 *	texts			U: UTF-8 with offsets of 8 bytes
 *
 * Taken as well: texts as u or vu, bytes as z, Z or vz, nanoseconds as tsn: if they are whole
 * microseconds, bits as b, and dictionaries of these.
 */
#pragma once

#include "table/arrow/abi.h"
#include "table/schema/schema.h"

/* Returns the units of a time with so many decimals in microseconds: 1000000, 1000 or 1. */
int64_t sp__arrow_time_unit(unsigned decimals);
/*
 * Sets the type of a column of Arrow, and how its values are read: the width of a decimal or the
 * nanoseconds of a unit of time.  False: a table has no such type.
 */
bool sp__arrow_type(const struct ArrowSchema *column, struct sp__value_type *type);
/*
 * Makes the schema of a record batch of these columns, which the consumer releases.  Returns 0 or
 * -ENOMEM, and then nothing is to be released.
 */
SP_MUST_CHECK int sp__arrow_schema(struct ArrowSchema *out, const struct sp__table_schema *s,
				   const uint32_t *columns, uint32_t n);
