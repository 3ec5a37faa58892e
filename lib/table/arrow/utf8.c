/* SPDX-License-Identifier: MIT */
/* Checks sequences of UTF-8. */
#include <stdint.h>
#include "table/arrow/utf8.h"

/* Returns the length of a valid sequence of UTF-8 at p; 0: it is not valid. */
static size_t sequence(const uint8_t *p, size_t n)
{
	size_t bytes = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;

	if (!bytes || bytes > n || *p > 0xF4)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	/* Too long forms, surrogates, and code points beyond the last one. */
	if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) ||
	    (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F))
		return 0;
	return bytes;
}

bool sp__is_utf8(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	while (n) {
		size_t bytes = sequence(p, n);

		if (!bytes)
			return false;
		p += bytes;
		n -= bytes;
	}
	return true;
}
