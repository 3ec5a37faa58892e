/* SPDX-License-Identifier: MIT */
/*
 * Recognises the byte order mark that some programs write before UTF-8 text.  It belongs to no
 * field.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <spindle/batch.h>

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

/*
 * The state of a text that comes in spans; zero at the beginning.  A pipe can deliver the mark byte
 * by byte.  Bytes that begin like the mark and then differ are returned as a span of their own,
 * before the span that showed the difference.
 */
struct sp__unmark {
	bool over;	      /* the beginning of the text has passed */
	bool marked;	      /* the text began with a mark */
	size_t matched;	      /* bytes of the mark found so far */
	struct sp_batch rest; /* the span to return next; or none */
};

/*
 * Removes the mark from *span, the next one of the text.  end: the text has ended, and *span is
 * empty.  False: nothing is left of the span.
 */
static inline bool sp__unmark(struct sp__unmark *u, struct sp_batch *span, bool end)
{
	static const char mark[] = SP__UTF8_MARK;
	const size_t before = u->matched;
	size_t n = 0;

	while (n < span->bytes && u->matched < SP__UTF8_MARK_BYTES &&
	       span->data[n] == mark[u->matched]) {
		u->matched++;
		n++;
	}
	u->marked = u->matched == SP__UTF8_MARK_BYTES;
	u->over = u->marked || end || n < span->bytes;
	if (u->marked || !u->over) {
		span->data += n;
		span->bytes -= n;
	} else if (before) {
		u->rest = *span;
		*span = (struct sp_batch){ mark, before };
	}
	return span->bytes;
}
