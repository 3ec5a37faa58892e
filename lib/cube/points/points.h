/* SPDX-License-Identifier: MIT */
/*
 * Datasets of points: what <spindle/cube.h> does with a cube, done with one of these.
 */
#pragma once

#include "cube/file/file.h"

/*
 * An open dataset of points.  directory.c reads set when it is opened; load.c alone exchanges it,
 * for that of the new file.
 */
struct sp__points {
	struct sp__cubefile *file;
	struct sp__pointset set;
};

/* directory.c: what info says of points. */
void sp__points_info(const struct sp__points *c, struct sp_cube_info *info);

/* directory.c: reads the directory of an open dataset; SP_EBUDGET with the memory it needs. */
SP_MUST_CHECK int sp__directory_read(struct sp__points *c, struct sp_errinfo *err);
/* Writes that of c->set; the head gets checksums. */
SP_MUST_CHECK int sp__directory_write(struct sp__points *c, struct sp_errinfo *err);
void sp__directory_free(struct sp__points *c);

/* query.c: a point of the box, as it is in a cell; not 0: stop. */
typedef int (*sp__record_fn)(void *arg, sp__zkey key, const uint8_t *record);
/* Gives the points of a box in any order; fn NULL: reads the cells all the same. */
SP_MUST_CHECK int sp__points_each(struct sp__points *c, const struct sp_cube_box *box,
				  sp__record_fn fn, void *arg, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);
SP_MUST_CHECK int sp__points_read(struct sp__points *c, const struct sp_cube_box *box,
				  sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);
SP_MUST_CHECK int sp__points_verify(struct sp__points *c, struct sp_cube_check *check,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/* Bytes of a point outside of cells: its coordinates, 8 bytes each, and its value. */
size_t sp__point_bytes(const struct sp__points *c);

/* load.c: the points that are there and those of an input, NULL: none, in a new file. */
SP_MUST_CHECK int sp__points_load(struct sp__points *c, const char *input,
				  const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);

/* put.c: adds a point. */
SP_MUST_CHECK int sp__points_put(struct sp__points *c, const uint64_t *x, const void *value,
				 struct sp_errinfo *err);
