/* SPDX-License-Identifier: MIT */
/*
 * Values of consecutive records, column by column, in memory of the caller: the records that are
 * written to a table.
 */
#pragma once

#include <spindle/api.h>

#define SP__TEXT_REF_NULL UINT32_MAX

struct sp__text_ref {
	uint32_t at;	/* offset from a base that all texts of the column have */
	uint32_t bytes; /* SP__TEXT_REF_NULL: the text is NULL */
};

struct sp__column_values {
	const uint8_t *values; /* one behind the other as they are stored; or, for a text column, */
	struct sp__text_ref *refs; /* the texts, changed by the writer, ... */
	const char *base;	   /* ... and what they refer to */
};
