/* SPDX-License-Identifier: MIT */
/*
 * Scans a range: finds the records with keys between two keys, in key order, as an iterator of
 * flow.
 *
 * A lookup finds the first leaf; the following leaves are read in the order of the file, ahead.
 */
#pragma once

#include "flow/iter.h"
#include "index/indexfile.h"
#include "index/lookup.h"
#include "rec/fields.h"

/*
 * Reads the nodes of an index in the order of the file, from one page on, ahead of the caller.  At
 * most one stream per index at a time: it uses the offset of the descriptor.
 */
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
/* Returns the next page likewise, which is not checked. */
SP_MUST_CHECK int sp__nodestream_page(struct sp__nodestream *s, const char **page);
/* Adds requests and bytes of the stream. */
void sp__nodestream_note(const struct sp__nodestream *s, struct sp_run_stats *st);

struct sp__leafscan_opts {
	const struct sp__index *index;
	struct sp__requests *reads;
	struct sp__waits *waits;
	const char *lo, *hi; /* texts of keys: lo <= key <= hi; NULL: no bound */
	/* Normalised keys instead of these texts; p NULL: no bound. */
	struct sp__slice lo_key, hi_key;
	bool hi_open; /* key < hi */
	bool sums;    /* set the sums of keys in matches */
};

struct sp__leafscan;

SP_MUST_CHECK int sp__leafscan_open(struct sp__leafscan **scan,
				    const struct sp__leafscan_opts *opts);
/* Called after the reads have been closed.  Accepts NULL. */
void sp__leafscan_close(struct sp__leafscan *s);
/* Returns the next matches of a struct sp__leafscan: SP_READY, SP_END, SP_LATER or an error. */
SP_MUST_CHECK int sp__leafscan_find(void *scan, const struct sp__keymatch **matches, size_t *n);
/* Adds requests and bytes of the leaves. */
void sp__leafscan_note(const struct sp__leafscan *s, struct sp_run_stats *st);
