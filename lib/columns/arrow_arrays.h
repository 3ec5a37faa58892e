/* SPDX-License-Identifier: MIT */
/*
 * Checks arrays of Arrow, and finds and stores their values.
 *
 * The interface has no lengths of buffers.  All that the arrays say of themselves is compared:
 * numbers of records, buffers and children, offsets of texts, views, and numbers of a dictionary.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "base/mem.h"
#include "columns/arrow_formats.h"

/*
 * Stores value i of an array, counted from the start of its buffers.  False: the column's type does
 * not have it, or it stands for NULL there.
 */
bool sp__arrow_store(const struct sp__arrow_format *f, const struct ArrowArray *a, int64_t i,
		     uint8_t *to);

/*
 * Checks a record batch of n columns: its members, and that no record is NULL.  Returns NULL, or
 * what is wrong.
 */
const char *sp__arrow_batch_wrong(const struct ArrowArray *batch, int64_t n);
/*
 * Checks an array of a column, whose first `records` values are needed, or of the words of a
 * dictionary.  Returns NULL, or what is wrong.
 */
const char *sp__arrow_array_wrong(const struct ArrowArray *a, const struct sp__arrow_format *f,
				  int64_t records);
/* Finds text i, counted from the start of its buffers.  Returns NULL, or what is wrong. */
const char *sp__arrow_text(const struct ArrowArray *a, const struct sp__arrow_format *f, int64_t i,
			   struct sp__slice *text);

/* Returns number i of 1, 2, 4 or 8 bytes. */
static inline int64_t sp__arrow_integer(const void *data, int64_t i, unsigned bytes,
					bool is_unsigned)
{
	uint64_t bits = 0;
	unsigned unused = 64 - 8 * bytes;

	memcpy(&bits, (const char *)data + i * bytes, bytes);
	return is_unsigned ? (int64_t)bits : (int64_t)(bits << unused) >> unused;
}

/* True if value i, counted from the start of the buffers, is not NULL. */
static inline bool sp__arrow_valid(const struct ArrowArray *a, int64_t i)
{
	const uint8_t *bits = a->n_buffers ? a->buffers[0] : NULL;

	return !bits || bits[i / 8] >> i % 8 & 1;
}
