/* SPDX-License-Identifier: MIT */
/*
 * Scans a range: finds the records with keys between two keys, in key order, as an iterator of
 * flow.
 *
 * A lookup finds the first leaf; the following leaves are read in the order of the file, ahead.
 */
#pragma once

#include "index/lookup.h"
#include "rec/fields.h"

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
