/* SPDX-License-Identifier: MIT */
/*
 * How long a query takes, predicted from a geometry alone.
 *
 * The prediction follows the head: it knows at which angle each run of blocks begins and ends,
 * and waits for it, as a drive does.  So it is right about the cliffs on which a hop that
 * comes a little late loses a revolution.  Nobody knows on which side of such a cliff a real
 * drive comes down; therefore a query is predicted three times if the caller wants: with each
 * aim as the geometry says, two blocks late, and two blocks early.
 *
 * Thread rule: pure functions; they allocate nothing.
 */
#pragma once

#include "cube/mapping/mapping.h"

struct sp_geometry;

#define SP__PREDICT_DEPTH_MAX 64 /* greater depths are predicted as this one */

struct sp__predict_opts {
	const struct sp_geometry *geometry; /* of each volume; NULL: unknown */
	unsigned depth;		 /* requests outstanding on each; 0 or 1: one at a time */
	bool fifo;		 /* the drive keeps their order; else the nearest in time is next */
	unsigned window;	 /* of so many, those that were issued first; 0: of all */
	uint64_t gap_blocks;	 /* runs are read as one request across gaps of up to this */
	uint64_t request_blocks; /* the longest request; 0: any length */
	/* The host's own time for a request, beyond the overhead; 0 if a probe measured that. */
	double host_ns;
	uint64_t runs_max; /* of a query that are followed; 0: all of them */
	bool cliffs;	   /* late_ns and early_ns are wanted too */
};

/* Means, or estimates where not all runs were followed: therefore no whole numbers. */
struct sp__cube_prediction {
	double ns;
	double late_ns, early_ns; /* with each aim missed, or gained, by two blocks; else ns */
	double requests, seeks;	  /* seeks: requests that do not begin where the last one ended */
	double blocks;		  /* read, with those of gaps */
};

/*
 * Of the cells of a box.  The first positioning is a mean one: where the head was before is not
 * known, and taken to be anywhere in the cube.
 *
 * If the runs are more than runs_max, a part of them is followed, and what comes after the
 * first positioning is scaled by the number of cells.  The part is the first runs; with
 * MultiMap, whose cubes take unlike times, first of all every n-th coordinate along the outer
 * dimensions.
 *
 * -ENODATA: the geometry is unknown, or has neither tracks nor times.
 */
SP_MUST_CHECK int sp__predict_box(const struct sp__predict_opts *opts, const struct sp__mapping *m,
				  const struct sp_cube_box *box, struct sp__cube_prediction *out);
