/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of the fields of many records, all of which have the same number of fields.
 *
 * Field k of record i of a block is text [ends[i * n + k] + 1, ends[i * n + k + 1]), n the number
 * of fields.  A field of CSV can be in quotes; these belong to it.
 *
 * Thread rule: one thread per struct.
 */
#pragma once

#include <spindle/error.h>

#define SP__FIELDENDS_SLACK 64 /* ends behind max_ends */

struct sp__fieldends_opts {
	char separator;
	bool csv;
	uint32_t fields; /* fields of a record, an empty one after a trailing separator included */
};

struct sp__fieldends {
	uint32_t *ends; /* max_ends + 1 + SP__FIELDENDS_SLACK of them */
	uint32_t max_ends;
	/* Results. */
	uint32_t records;
	uint32_t wrong; /* fields of the record after these, if their number is wrong; else 0 */
	bool quotes;	/* CSV: a quote was in the middle of a field, in any text so far */
};

/*
 * Finds the fields of records that begin at offset `at` of a text, which ends with a record: as
 * many as fit max_ends, at least one.  Stops before a record with a wrong number of fields.
 */
void sp__fieldends_find(struct sp__fieldends *f, const struct sp__fieldends_opts *o,
			const char *text, uint32_t at, uint32_t bytes);
