/* SPDX-License-Identifier: MIT */
/*
 * Checks which indexes a join by index nested loops can use.
 */
#pragma once

#include <spindle/join.h>
#include "index/indexfile.h"

/*
 * Checks that the join can be done, and that the needed options are set.  0, or SP_EUNSUP with err.
 */
SP_MUST_CHECK int sp__inl_check(const struct sp_join_opts *o, const struct sp_join_io *io,
				struct sp_errinfo *err);
/*
 * Checks that it is an index of this input, and that its key is equal for all records with equal
 * keys on that side of opts.  0, SP_EUNSUP or a system error, with err.
 */
SP_MUST_CHECK int sp__inlindex_check(const struct sp__index *index, const struct sp_join_opts *o,
				     int side, const char *input, const struct sp_join_io *io,
				     struct sp_errinfo *err);
/* Binary records: true if the first keys of both files have one type. */
bool sp__keys_alike(const struct sp_join_opts *o);
/*
 * wanted.c: passes io->index_wanted the command that makes the index of an input; name may be NULL.
 */
void sp__want_index(const struct sp_join_io *io, const struct sp_join_opts *o, int side,
		    const char *input, const char *name);
