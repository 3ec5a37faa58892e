/* SPDX-License-Identifier: MIT */
/*
 * The schema as bytes (spindle-table(5)).
 */
#pragma once

#include "datafile/coder.h"
#include "table/schema/schema.h"

/*
 * Codes all members but `changed` of the columns, which is in the superblock, as `arrow` is.  A
 * schema that is read is zero before, except budget and arrow; the caller frees it, after a
 * failure, too.
 */
void sp__table_schema_code(struct sp__coder *c, struct sp__table_schema *s);
