/* SPDX-License-Identifier: MIT */
/*
 * Steps of opening a table that creating one needs, too.
 */
#pragma once

#include "table/file/file.h"

/* Zeroes a file, and sets path and options. */
SP_MUST_CHECK int sp__tablefile_prepare(struct sp__tablefile *f, const char *path,
					const struct sp_run_opts *run, bool write,
					struct sp_errinfo *err);
/* Opens the run environment, on the volume that the superblock names by default. */
SP_MUST_CHECK int sp__tablefile_open_env(struct sp__tablefile *f, struct sp_errinfo *err);
/* Opens directory and tombstones, and compares the areas with the records. */
SP_MUST_CHECK int sp__tablefile_open_areas(struct sp__tablefile *f, struct sp_errinfo *err);
/* Opens the volume of the cells; bytes: of a simulated file, 0: it grows. */
SP_MUST_CHECK int sp__tablefile_open_cells(struct sp__tablefile *f, enum sp__sim_area area,
					   uint64_t bytes, struct sp_errinfo *err);
