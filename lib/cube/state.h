/* SPDX-License-Identifier: MIT */
/*
 * The whole state of an open cube, which only the files of the shell see.  One thread uses a cube.
 */
#pragma once

#include "cube/file/file.h"
#include "cube/points/points.h"

struct sp_cube {
	struct sp__cubefile file;
	struct sp__points points; /* used by a dataset of points */
};

/* Enclose reads of cells: a reader locks the file, a writer finishes an interrupted put. */
SP_MUST_CHECK int sp__begin_reading(struct sp_cube *c, struct sp_errinfo *err);
void sp__end_reading(const struct sp_cube *c);
/* Does what sp_cube_read() does between these two. */
SP_MUST_CHECK int sp__cube_read(struct sp_cube *c, const struct sp_cube_box *box, sp_cube_sink sink,
				void *arg, struct sp_cube_stats *stats, struct sp_errinfo *err);
