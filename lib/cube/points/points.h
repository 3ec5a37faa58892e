/* SPDX-License-Identifier: MIT */
/*
 * Datasets of points: the operations of <spindle/cube.h> on one of them.
 */
#pragma once

#include "cube/file/file.h"

/*
 * An open dataset of points.  directory.c reads set on opening; only load.c replaces it, by the set
 * of the new file.
 */
struct sp__points {
	struct sp__cubefile *file;
	struct sp__pointset set;
};

/* directory.c: sets the members of info that describe points. */
void sp__points_info(const struct sp__points *c, struct sp_cube_info *info);

/*
 * directory.c: reads the directory of an open dataset.  Returns 0; SP_EBUDGET: err has the memory
 * that it needs; SP_ECORRUPT; -ENOMEM; errors of reading.
 */
SP_MUST_CHECK int sp__directory_read(struct sp__points *c, struct sp_errinfo *err);
/* Writes the directory of c->set, and sets its checksums in the superblock. */
SP_MUST_CHECK int sp__directory_write(struct sp__points *c, struct sp_errinfo *err);
void sp__directory_free(struct sp__points *c);

/*
 * query.c: receives a point of the box as it is in a cell.  A result other than 0 stops the query.
 */
typedef int (*sp__record_fn)(void *arg, sp__zkey key, const uint8_t *record);
/* Passes the points of a box to fn in any order; fn NULL: only reads the cells. */
SP_MUST_CHECK int sp__points_each(struct sp__points *c, const struct sp_cube_box *box,
				  sp__record_fn fn, void *arg, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);
/* Reads the points of a box, sorted, like sp_cube_read(). */
SP_MUST_CHECK int sp__points_read(struct sp__points *c, const struct sp_cube_box *box,
				  sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);
/* Reads all cells and counts damaged ones, like sp_cube_verify(). */
SP_MUST_CHECK int sp__points_verify(struct sp__points *c, struct sp_cube_check *check,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/* Returns the bytes of all cells. */
uint64_t sp__points_cell_bytes(const struct sp__points *c);
/* points between two reports of the progress */
#define SP__POINTS_REPORTED 4096u
/* Returns the bytes of a point outside cells: coordinates of 8 bytes each, and the value. */
size_t sp__point_bytes(const struct sp__points *c);

/* load.c: writes a new file of the present points and those of an input; NULL: no input. */
SP_MUST_CHECK int sp__points_load(struct sp__points *c, const char *input,
				  const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
				  struct sp_errinfo *err);

/* put.c: adds a point, like sp_cube_put(). */
SP_MUST_CHECK int sp__points_put(struct sp__points *c, const uint64_t *x, const void *value,
				 struct sp_errinfo *err);

/* delete.c: deletes points, like sp_cube_delete(). */
SP_MUST_CHECK int sp__points_delete(struct sp__points *c, const uint64_t *x, const void *value,
				    struct sp_errinfo *err);
