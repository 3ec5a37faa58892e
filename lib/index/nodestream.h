/* SPDX-License-Identifier: MIT */
/*
 * Reads the nodes of an index in the order of the file, from one page on, ahead of the caller.
 *
 * At most one stream per index at a time: it uses the offset of the descriptor.
 */
#pragma once

#include "flow/iter.h"
#include "index/indexfile.h"

struct sp__nodestream {
	const struct sp__index *index;
	struct sp__waits *waits;
	struct sp__rstream *stream;
	uint64_t page;		/* number of the next page */
	struct sp__waiter wait; /* for the stream */
	const char *span;	/* its bytes that have not been returned */
	size_t span_bytes;
	struct sp__bytes cut; /* a page that crosses two spans, or the start of one */
};

/* whole: the caller will read to the end of the file; otherwise read-ahead begins small. */
SP_MUST_CHECK int sp__nodestream_open(struct sp__nodestream *s, const struct sp__index *ix,
				      struct sp__waits *waits, uint64_t page, bool whole);
void sp__nodestream_close(struct sp__nodestream *s); /* accepts a struct that is all zero */
/*
 * Returns the next node, valid until the next call; s->page is the page after it.  SP_READY;
 * SP_LATER, with a registered wait; or an error, at the end of the file too.
 */
SP_MUST_CHECK int sp__nodestream_next(struct sp__nodestream *s, struct sp__node *node);
/* Returns the next page likewise, which is not checked. */
SP_MUST_CHECK int sp__nodestream_page(struct sp__nodestream *s, const char **page);
/* Adds requests and bytes of the stream. */
void sp__nodestream_note(const struct sp__nodestream *s, struct sp_run_stats *st);
