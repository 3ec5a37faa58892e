/* SPDX-License-Identifier: MIT */
/*
 * Which indexes a join by index nested loops can use.
 */
#ifndef SP__JOIN_INL_INDEX_H
#define SP__JOIN_INL_INDEX_H

#include <spindle/join.h>
#include "index/indexfile.h"

/* Is there what is needed, and is it a join that can be done so?  0, or SP_EUNSUP with err. */
SP_MUST_CHECK int sp__inl_check(const struct sp_join_opts *o, const struct sp_join_io *io,
				struct sp_errinfo *err);
/*
 * Is it an index of this input, whose key equals for all records with equal keys on that side of
 * opts?  0, SP_EUNSUP or an error of the system, with err.
 */
SP_MUST_CHECK int sp__inlindex_check(const struct sp__index *index, const struct sp_join_opts *o,
				     int side, const char *input, const struct sp_join_io *io,
				     struct sp_errinfo *err);
/* Of binary records: have the first keys of both files one type? */
bool sp__keys_alike(const struct sp_join_opts *o);
/* wanted.c: tells io->index_wanted how to make the index of an input; name may be NULL. */
void sp__want_index(const struct sp_join_io *io, const struct sp_join_opts *o, int side,
		    const char *input, const char *name);

#endif
