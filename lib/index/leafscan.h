/* SPDX-License-Identifier: MIT */
/*
 * A range scan: where the records are whose keys lie between two keys, in the order of the keys,
 * as an iterator of flow.  The way down to the first leaf is a lookup; the leaves are then read
 * one after the other, ahead.
 */
#pragma once

#include "index/lookup.h"

struct sp__leafscan_opts {
	const struct sp__index *index;
	struct sp__requests *reads;
	struct sp__waits *waits;
	/* Normalised keys, borrowed; both included; NULL: from the first, up to the last. */
	const void *lo, *hi;
	size_t lo_bytes, hi_bytes;
};

struct sp__leafscan;

SP_MUST_CHECK int sp__leafscan_open(struct sp__leafscan **scan,
				    const struct sp__leafscan_opts *opts);
/* The reads must have been closed.  Accepts NULL. */
void sp__leafscan_close(struct sp__leafscan *s);
/* The next matches: SP_READY, SP_END, SP_LATER or an error. */
SP_MUST_CHECK int sp__leafscan_find(struct sp__leafscan *s, const struct sp__keymatch **matches,
				    size_t *n);
/* Adds requests and bytes of the leaves. */
void sp__leafscan_counters(const struct sp__leafscan *s, struct sp__io_counters *c);
