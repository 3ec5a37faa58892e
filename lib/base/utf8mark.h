/* SPDX-License-Identifier: MIT */
/*
 * Recognises the byte order mark that some programs write before UTF-8 text.  It belongs to no
 * field.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SP__UTF8_MARK "\xEF\xBB\xBF"
#define SP__UTF8_MARK_BYTES 3

/* Returns the length of the mark at the beginning of a text: 3, or 0 if there is none. */
static inline size_t sp__utf8_mark(const char *text, size_t bytes)
{
	return bytes >= SP__UTF8_MARK_BYTES && !memcmp(text, SP__UTF8_MARK, SP__UTF8_MARK_BYTES)
		       ? SP__UTF8_MARK_BYTES
		       : 0;
}

/* Skips a mark at the beginning of a file, before anything is read from it. */
static inline void sp__skip_mark(FILE *f)
{
	static const unsigned char mark[] = SP__UTF8_MARK;
	size_t n = 0;
	int c = 0;

	while (n < SP__UTF8_MARK_BYTES && (c = getc(f)) == mark[n])
		n++;
	if (n == SP__UTF8_MARK_BYTES)
		return;
	if (c == EOF)
		clearerr(f); /* the caller finds the end or the error again */
	else
		ungetc(c, f);
	while (n)
		ungetc(mark[--n], f);
}
