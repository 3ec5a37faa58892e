/* SPDX-License-Identifier: MIT */
/*
 * The full comparison of an index with its source.
 */
#pragma once

#include <spindle/index.h>
#include "index/indexfile.h"

/* As sp_index_check(), of an index opened by the library.  stats may be NULL. */
SP_MUST_CHECK int sp__index_check(struct sp__index *ix, struct sp_index_stats *stats);
