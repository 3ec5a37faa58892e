/* SPDX-License-Identifier: MIT */
/*
 * The cost model of the thesis in closed formulas: expected time of a range query on the Naive
 * and the MultiMap mapping, from a few parameters of the drive.  It reproduces the thesis's
 * table and figures; queries on a known geometry are predicted run by run (cube/prediction.h).
 *
 * The printed formulas are corrected in these points:
 *
 *	5.8	a run within a track of the last one costs the angle in between, not half
 *		a revolution (by_angle); table 5.2 was computed so
 *	5.10	a row of q cells is followed by q - 1 hops and jumps, not q; a jump along
 *		dimension 0 occurs in each row, and not between cubes side by side
 *	5.10	a hop goes from the begin of a row to that of the next, and so includes
 *		reading it; but a row too long for that loses a revolution, or is followed
 *		by one further on (printed: false)
 *	5.11	cubes side by side take the same tracks
 *	5.12-14	the number of jumps: what is printed is wrong in most cases
 *
 * Source: Shao 2008, section 5.4.
 */
#ifndef SP__CUBE_FORMULA_H
#define SP__CUBE_FORMULA_H

#include "cube/grid.h"

struct sp__formula {
	unsigned n;
	uint64_t size[SP_CUBE_DIMS_MAX]; /* S, in cells of one block */
	uint64_t k[SP_CUBE_DIMS_MAX];	 /* K: the basic cube, K[i] <= S[i] */
	double track_blocks;		 /* T */
	double rev_ns;
	double block_ns;   /* sigma: to read one more block in sequence */
	double hop_ns;	   /* alpha: to an adjacent block */
	double settle_ns;  /* what a hop needs, overhead included; at most hop_ns */
	double skew_ns;	   /* from the end of a track to the begin of the next */
	double latency_ns; /* mean, half a revolution */
	double init_ns;	   /* C_init: the first positioning */
	double (*seek_ns)(double tracks);
	bool by_angle; /* correct 5.8 */
	bool printed;  /* a hop costs alpha and reading a row costs sigma each, as in the print */
	bool strided;  /* rows that follow each other are so far apart that no revolution is lost */
};

/*
 * The expected number of jumps from cube to cube of a beam of q cells, at a random place along
 * a dimension of s cells in cubes of k: 1 <= q, k <= s.
 */
double sp__formula_jumps(uint64_t q, uint64_t k, uint64_t s);

/* 5.6 and 5.7, with a cost given for a jump along each dimension ([0] is not used). */
double sp__formula_rows_ns(const struct sp__formula *f, const uint64_t *q, const double *jump_ns);
/* 5.6 to 5.8. */
double sp__formula_naive_ns(const struct sp__formula *f, const uint64_t *q);
/* 5.9 to 5.14. */
double sp__formula_multimap_ns(const struct sp__formula *f, const uint64_t *q);

#endif
