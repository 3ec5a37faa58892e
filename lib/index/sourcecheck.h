/* SPDX-License-Identifier: MIT */
/*
 * Compares each record that was found through an index with the entry that led to it.
 *
 * A source can change and keep its size and time.  Then an offset can lead to a record with another
 * key, or into the middle of one.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "index/fetch.h"
#include "index/indexfile.h"

struct sp__sourcecheck {
	const struct sp__index *index; /* borrowed */
	struct sp__keybuf key;	       /* of the record */
};

void sp__sourcecheck_close(struct sp__sourcecheck *c); /* accepts one all zero */

/*
 * Compares the place and the key of a record.  key_sum: as in struct sp__keymatch.  Returns 0,
 * -ESTALE or -ENOMEM.
 */
SP_MUST_CHECK int sp__sourcecheck_record(struct sp__sourcecheck *c, const struct sp__fetched *r,
					 uint64_t key_sum);
/*
 * Checks that one whole record is there, as far as the bytes around it have been read.  Returns 0
 * or -ESTALE.
 */
SP_MUST_CHECK int sp__sourcecheck_place(const struct sp__index *ix, const struct sp__fetched *r);
/* Records that the key of a record is another one, and returns -ESTALE. */
int sp__sourcecheck_other_key(const struct sp__index *ix, uint64_t offset);
