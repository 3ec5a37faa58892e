/* SPDX-License-Identifier: MIT */
/*
 * Removes the byte order mark from the beginning of a text that comes in spans.
 *
 * A pipe can deliver the mark byte by byte.  Bytes that begin like the mark and then differ are
 * returned as a span of their own, before the span that showed the difference.
 */
#pragma once

#include <stdbool.h>
#include <spindle/batch.h>

/* State of one text; zero at the beginning. */
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
bool sp__unmark(struct sp__unmark *u, struct sp_batch *span, bool end);
