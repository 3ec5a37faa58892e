/* SPDX-License-Identifier: MIT */
/*
 * Computes edit distances by dynamic programming, one row of the matrix at a time.
 */
#include "base/edits.h"
#include "base/minmax.h"

unsigned sp__edits(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	unsigned row[SP__EDITS_MAX + 1];
	size_t rows = sp__min(a_bytes, SP__EDITS_MAX), columns = sp__min(b_bytes, SP__EDITS_MAX);

	for (size_t j = 0; j <= columns; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= rows; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= columns; j++) {
			unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
			unsigned edited = (unsigned)sp__min(row[j], row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = (unsigned)sp__min(replaced, edited);
		}
	}
	return row[columns];
}
