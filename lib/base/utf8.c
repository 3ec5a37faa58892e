/* SPDX-License-Identifier: MIT */
/* UTF-8 (utf8.h). */
#include <stdint.h>
#include "base/utf8.h"

size_t sp__utf8_character(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;
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
	for (size_t bytes; n; text += bytes, n -= bytes) {
		bytes = sp__utf8_character(text, n);
		if (!bytes)
			return false;
	}
	return true;
}
