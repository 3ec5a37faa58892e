/* SPDX-License-Identifier: MIT */
/*
 * Fetches records of the source of an index: several reads outstanding, results in the order in
 * which they were asked for.  A record that lies in the blocks read for the one before is not read
 * again; one that is longer than the memory given is read alone.
 *
 * One thread uses a fetch.
 */
#pragma once

#include "index/lookup.h"

struct sp__fetch;

/* max of the depth of reads are for this; bytes: of memory. */
SP_MUST_CHECK int sp__fetch_open(struct sp__fetch **fetch, const struct sp__index *ix,
				 struct sp__requests *reads, struct sp__waits *waits, unsigned max,
				 uint64_t bytes);
/* The reads must have been closed.  Accepts NULL. */
void sp__fetch_close(struct sp__fetch *f);

/* May this record be put now? */
bool sp__fetch_has_space(const struct sp__fetch *f, const struct sp__keymatch *m);
/* Begins to read a record; the next flush of the reads submits it. */
SP_MUST_CHECK int sp__fetch_put(struct sp__fetch *f, const struct sp__keymatch *m);
/*
 * The oldest record, without terminator, valid until the next get.  SP_READY; SP_LATER: it has not
 * arrived, and the wait for it is registered; SP_END: none was put.
 */
SP_MUST_CHECK int sp__fetch_get(struct sp__fetch *f, struct sp__keymatch *m, const char **record);
