/* SPDX-License-Identifier: MIT */
/*
 * Iterates over the records that a lookup or a scan finds, in the order in which they are found.
 * Later records are read at the same time.
 */
#pragma once

#include "index/fetch.h"
#include "index/indexfile.h"
#include "index/lookup.h"

/*
 * Compares records with the entries that led to them.  A source can change and keep its size and
 * time.  Then an offset can lead to a record with another key, or into the middle of one.  Thread
 * rule: one thread at a time.
 */
struct sp__sourcecheck {
	const struct sp__index *index; /* borrowed */
	struct sp__keybuf key;	       /* key of the record */
};
/*
 * Checks that one whole record is there, as far as the bytes around it have been read.  Returns 0
 * or -ESTALE.
 */
SP_MUST_CHECK int sp__sourcecheck_place(const struct sp__index *ix, const struct sp__fetched *r);
/* Records that the key of a record is another one, and returns -ESTALE. */
int sp__sourcecheck_other_key(const struct sp__index *ix, uint64_t offset);

struct sp__matched {
	/*
	 * Finds the next matches, possibly none: SP_READY; SP_LATER, with a registered wait;
	 * SP_END; or an error.
	 */
	int (*find)(void *arg, const struct sp__keymatch **matches, size_t *n);
	void *arg;
	struct sp__requests *reads; /* reads of the records, with the waits of the caller */
	struct sp__waits *waits;
	struct sp__fetch *fetch;      /* NULL: only offsets and lengths are wanted */
	struct sp__sourcecheck check; /* checks each record; needs the sums of keys */

	const struct sp__keymatch *matches; /* found, not requested yet */
	size_t n;
	int status; /* status of `find`; initially SP_READY */
};

/*
 * Opens the fetch of records of the source of an index: at most max outstanding, in `bytes` bytes
 * of memory.
 */
SP_MUST_CHECK int sp__matched_fetch(struct sp__matched *p, const struct sp__index *ix, unsigned max,
				    uint64_t bytes);
/* Called after the reads have been closed, also after an error. */
void sp__matched_close(struct sp__matched *p);
/*
 * Returns the next match and its record, without terminator, valid until the next call; NULL if
 * only offsets are wanted.  SP_READY; SP_LATER, with a registered wait; SP_END; or an error, such
 * as -ESTALE: the source has another record there.
 */
SP_MUST_CHECK int sp__matched_next(struct sp__matched *p, struct sp__keymatch *m,
				   const char **record);
