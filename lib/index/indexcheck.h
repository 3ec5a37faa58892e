/* SPDX-License-Identifier: MIT */
/*
 * Compares a whole index with its whole source.
 */
#pragma once

#include <spindle/index.h>
#include "index/indexfile.h"

/* Does the work of sp_index_check() for an open index.  stats may be NULL. */
SP_MUST_CHECK int sp__index_check(struct sp__index *ix, struct sp_index_stats *stats);
