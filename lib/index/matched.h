/* SPDX-License-Identifier: MIT */
/*
 * The records that a lookup or a scan finds, one after the other in the order in which they are
 * found, while others are being read.
 */
#pragma once

#include "index/fetch.h"

struct sp__matched {
	/* Finds the next ones, maybe none: SP_READY; SP_LATER, with a wait; SP_END; an error. */
	int (*find)(void *arg, const struct sp__keymatch **matches, size_t *n);
	void *arg;
	struct sp__fetch *fetch; /* NULL: only places are wanted */

	const struct sp__keymatch *matches; /* found, not yet fetched */
	size_t n;
	int status; /* of find; SP_READY to begin */
};

/*
 * The next record, or NULL for it, valid until the next call.  SP_READY; SP_LATER, with a wait;
 * SP_END; an error.
 */
SP_MUST_CHECK int sp__matched_next(struct sp__matched *p, struct sp__keymatch *m,
				   const char **record);
