/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of a query from a geometry alone.
 *
 * The prediction follows the head: it knows at which angle each run of blocks begins and ends, and
 * waits for that angle, as a drive does.  So it models the cliffs on which a hop that comes
 * slightly late loses a revolution.  On which side of a cliff a real drive is cannot be predicted,
 * so a query can be predicted three times: with each aim as the geometry says, two blocks late, and
 * two early.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include "cube/file/pointset.h"

struct sp_geometry;

struct sp__predict_opts {
	const struct sp_geometry *geometry; /* geometry of each volume; NULL: unknown */
	unsigned depth;	 /* requests outstanding on each volume, to SP__HEADPATH_DEPTH_MAX; 0: 1 */
	bool fifo;	 /* the drive serves in order of submission; else the nearest in time */
	unsigned window; /* requests that the drive chooses from, oldest first; 0: all */
	uint64_t gap_blocks;	 /* maximum gap between runs that one request reads */
	uint64_t request_blocks; /* maximum request; 0: unlimited */
	/* Host time per request in addition to the overhead; 0 if a probe measured both. */
	double host_ns;
	uint64_t runs_max; /* maximum runs of a query that are followed; 0: all */
	bool cliffs;	   /* predict late_ns and early_ns, too */
};

/* Not whole numbers, because they are means, or scaled if not all runs were followed. */
struct sp__cube_prediction {
	double ns;
	double late_ns, early_ns; /* each aim two blocks late, or early; without cliffs: ns */
	double requests, seeks;	  /* seeks: requests not at the end of the last one */
	double blocks;		  /* blocks read, gaps included */
	double closed_ns;	  /* set by sp__cube_predict(): the time by closed.h */
};

/*
 * Predicts reading the cells of a box.  The first positioning is a mean, with the head anywhere in
 * the cube.
 *
 * If there are more than runs_max runs, only the first runs_max are followed, and the time after
 * the first positioning is scaled by the number of cells.  With MultiMap, whose cubes take
 * different times, only every n-th coordinate along the outer dimensions is followed first.
 *
 * Returns 0, or -ENODATA: the geometry is unknown, or has neither tracks nor times.
 */
SP_MUST_CHECK int sp__predict_box(const struct sp__predict_opts *opts, const struct sp__mapping *m,
				  const struct sp_cube_box *box, struct sp__cube_prediction *out);
/*
 * Predicts reading the points of a box: the cells that the directory names, then overflow cells, of
 * which only the number in all cells is known.  All runs are followed.  Returns 0, -ENOMEM, or
 * -ENODATA as sp__predict_box().
 */
SP_MUST_CHECK int sp__predict_points(const struct sp__predict_opts *opts,
				     const struct sp__pointset *s,
				     const struct sp__cube_superblock *h,
				     const struct sp_cube_box *box,
				     struct sp__cube_prediction *out);
