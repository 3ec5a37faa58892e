/* SPDX-License-Identifier: MIT */
/*
 * Makes the two keys of index nested loops: the join's, for comparison, and the index's.
 *
 * Owner: the operator (inl.c).
 */
#pragma once

#include "index/indexkey.h"
#include "join/inl/inl.h"

struct sp__inlkeys {
	const struct sp__inl_opts *opts;
	struct sp__keying keying;
	struct sp__keymem keymem;
	struct sp__keybuf of_outer, of_inner; /* in the form of the index */
	struct sp__bytes text;		      /* an outer key for the index */
};

/* Borrows opts.  Must be closed even after an error. */
SP_MUST_CHECK int sp__inlkeys_open(struct sp__inlkeys *k, const struct sp__inl_opts *opts);
void sp__inlkeys_release(struct sp__inlkeys *k);
/* Makes the join key of a record of one side; valid until the next call. */
SP_MUST_CHECK int sp__inlkeys_make(struct sp__inlkeys *k, int side, const struct sp__line *line,
				   struct sp__slice *key);
/* Makes the index key of an outer record, in of_outer. */
SP_MUST_CHECK int sp__inlkeys_for_index(struct sp__inlkeys *k, const struct sp__line *outer);
/* Compares the index keys of an outer and an inner record.  1: equal, 0, or an error. */
SP_MUST_CHECK int sp__inlkeys_same(struct sp__inlkeys *k, const struct sp__line *outer,
				   const char *record, size_t bytes);
