/* SPDX-License-Identifier: MIT */
/*
 * An open cube: the whole state, which the files of the shell alone see.  One thread uses it.
 */
#pragma once

#include "cube/file/file.h"
#include "cube/points/points.h"

struct sp_cube {
	struct sp__cubefile file;
	struct sp__points points; /* of a dataset of points */
};

/* Around reads of cells: a reader locks the file, a writer completes a put that was interrupted. */
SP_MUST_CHECK int sp__begin_reading(struct sp_cube *c, struct sp_errinfo *err);
void sp__end_reading(const struct sp_cube *c);
/* sp_cube_read() between these two. */
SP_MUST_CHECK int sp__cube_read(struct sp_cube *c, const struct sp_cube_box *box, sp_cube_sink sink,
				void *arg, struct sp_cube_stats *stats, struct sp_errinfo *err);
