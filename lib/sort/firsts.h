/* SPDX-License-Identifier: MIT */
/*
 * Declares sorting with keep_order: the first records of all keys, in the order of the input.
 */
#pragma once

#include <spindle/sort.h>

/* Does the work of sp_sort_run() if io->keep_order is set. */
SP_MUST_CHECK int sp__firsts_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 struct sp_sort_stats *stats, struct sp_errinfo *err);
