/* SPDX-License-Identifier: MIT */
/*
 * The nodes of an index from one page on, one after the other, read ahead.  One for an index at a
 * time.
 */
#pragma once

#include "flow/iter.h"
#include "index/indexfile.h"

struct sp__nodestream {
	const struct sp__index *index;
	struct sp__waits *waits;
	struct sp__rstream *stream;
	uint64_t page;		/* the next one */
	struct sp__waiter wait; /* for the stream */
	const char *span;	/* what is left of it */
	size_t span_bytes;
	struct sp__bytes cut; /* a page, or the beginning of one, that crosses two spans */
};

/* whole: to the end of the file; otherwise little is read ahead at first. */
SP_MUST_CHECK int sp__nodestream_open(struct sp__nodestream *s, const struct sp__index *ix,
				      struct sp__waits *waits, uint64_t page, bool whole);
void sp__nodestream_close(struct sp__nodestream *s); /* accepts one all zero */
/*
 * The next node, valid until the next call; s->page is the page after it.  SP_READY; SP_LATER, with
 * a wait; an error, also where the file ends.
 */
SP_MUST_CHECK int sp__nodestream_next(struct sp__nodestream *s, struct sp__node *node);
/* Adds its requests and bytes. */
void sp__nodestream_counters(const struct sp__nodestream *s, struct sp__io_counters *c);
