/* SPDX-License-Identifier: MIT */
/* Stores a number, date or time of Arrow as a value of a column. */
#pragma once

#include "table/arrow/formats.h"

/*
 * Stores value i of an array, counted from the start of its buffers.  False: the column's type does
 * not have it, or it stands for NULL there.
 */
bool sp__arrow_store(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
		     uint8_t *to);
