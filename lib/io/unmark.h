/* SPDX-License-Identifier: MIT */
/*
 * Removes the byte order mark from the beginning of a text that comes in spans.
 *
 * A pipe can deliver the mark byte by byte.  Bytes that begin as the mark does and then differ are
 * returned as a span of their own, before the span that showed the difference.
 */
#ifndef SP__IO_UNMARK_H
#define SP__IO_UNMARK_H

#include <stdbool.h>
#include <spindle/batch.h>

/* Zero to begin. */
struct sp__unmark {
	bool over;	      /* the beginning has passed */
	bool marked;	      /* it was a mark */
	size_t matched;	      /* bytes of the mark found so far */
	struct sp_batch rest; /* the span to return next; or none */
};

/*
 * Changes *span, the next one of the text, to what is left of it.  end: the text has ended, and
 * *span is empty.  False: nothing is left of the span.
 */
bool sp__unmark(struct sp__unmark *u, struct sp_batch *span, bool end);

#endif
