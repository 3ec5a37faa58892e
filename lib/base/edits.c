/* SPDX-License-Identifier: MIT */
/*
 * Computes edit distances by dynamic programming, three rows of the matrix at a time.
 */
#include <ctype.h>
#include <string.h>
#include "base/edits.h"
#include "base/minmax.h"

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned sp__edits(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t rows[3][SP__EDITS_MAX + 1];
	size_t n = sp__min(a_bytes, SP__EDITS_MAX), columns = sp__min(b_bytes, SP__EDITS_MAX);

	for (size_t j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t replaced = above[j - 1] + !same(a[i - 1], b[j - 1]);

			row[j] = sp__min(replaced, sp__min(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = sp__min(row[j], second[j - 2] + 1);
		}
	}
	return (unsigned)rows[n % 3][columns];
}

void sp__near_name_try(struct sp__near_name *nearest, const char *text, size_t bytes,
		       const char *name, unsigned share)
{
	unsigned edits = sp__edits(text, bytes, name, strlen(name));

	if (edits > (bytes + 1) / share || (nearest->name && edits >= nearest->edits))
		return;
	nearest->name = name;
	nearest->edits = edits;
}
