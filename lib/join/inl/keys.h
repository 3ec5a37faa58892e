/* SPDX-License-Identifier: MIT */
/*
 * The keys of index nested loops: as the join compares them, and as the index has them.
 *
 * Owner: the operator (inl.c).
 */
#ifndef SP__JOIN_INL_KEYS_H
#define SP__JOIN_INL_KEYS_H

#include "index/indexkey.h"
#include "join/inl/inl.h"

struct sp__inlkeys {
	const struct sp__inl_opts *opts;
	struct sp__keying keying;
	struct sp__keymem keymem;
	struct sp__keybuf of_outer, of_inner; /* as the index has them */
	struct sp__bytes text;		      /* an outer key for the index */
};

/* Borrows opts.  To be released even after an error. */
SP_MUST_CHECK int sp__inlkeys_open(struct sp__inlkeys *k, const struct sp__inl_opts *opts);
void sp__inlkeys_release(struct sp__inlkeys *k);
/* The key of a record of one side, as the join has it; valid until the next call. */
SP_MUST_CHECK int sp__inlkeys_make(struct sp__inlkeys *k, int side, const struct sp__line *line,
				   struct sp__slice *key);
/* The key of an outer record, as the index has it: in of_outer. */
SP_MUST_CHECK int sp__inlkeys_for_index(struct sp__inlkeys *k, const struct sp__line *outer);
/* Has the index the same key for an outer and an inner record?  1, 0, or an error. */
SP_MUST_CHECK int sp__inlkeys_same(struct sp__inlkeys *k, const struct sp__line *outer,
				   const char *record, size_t bytes);

#endif
