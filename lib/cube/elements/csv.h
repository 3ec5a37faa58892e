/* SPDX-License-Identifier: MIT */
/*
 * Loads elements from CSV.
 */
#pragma once

#include "cube/file/file.h"

/* sp_cube_load() of a CSV file. */
SP_MUST_CHECK int sp__csv_load(struct sp__cubefile *file, const char *input,
			       const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
			       struct sp_errinfo *err);
