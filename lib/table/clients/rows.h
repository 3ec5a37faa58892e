/* SPDX-License-Identifier: MIT */
/*
 * The records of a step, and the values of records that clients write: arithmetic on numbers.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include "table/clients/script.h"

/*
 * Draws the numbers of the records of a step from a table of so many.  rows: step->records
 * elements.  Returns how many different ones there are, in ascending order.
 */
size_t sp__client_rows_draw(const struct sp__client_step *step, uint64_t records,
			    struct sp__rng *rng, uint64_t *rows);
/* Makes the value of a column, of fixed width, for a number. */
void sp__client_value(const struct sp__table_column *column, uint64_t number, uint8_t *value);
