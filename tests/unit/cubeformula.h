/* SPDX-License-Identifier: MIT */
/*
 * The cost model of the thesis in closed formulas: expected time of a range query on the Naive
 * and the MultiMap mapping, from a few parameters of the drive.  It reproduces the thesis's
 * table and figures.  The library predicts queries run by run (place/boxtime.h), and
 * reports the formulas (cube/choose/closed.h) without by_angle and strided below.
 *
 * The printed formulas are corrected in these points:
 *
 *	5.8	a run within a track of the last one costs the angle in between, not half
 *		a revolution (by_angle); table 5.2 was computed so
 *	5.10	a row of q cells is followed by q - 1 hops and jumps, not q; a jump along
 *		dimension 0 occurs in each row, and not between cubes side by side
 *	5.10	a hop goes from the start of a row to that of the next, and so includes
 *		reading it; but a row too long for that loses a revolution, or is followed
 *		by one further on (printed: false)
 *	5.11	cubes side by side take the same tracks
 *	5.12-14	the number of jumps: what is printed is wrong in most cases
 *
 * Expected jumps: of the P = s - q + 1 places where a beam may begin, those are lucky where it
 * touches as few cubes as it can, m + 1 = ceil(q / k).  In a cube these are the first
 * k - (q - 1) mod k places, so
 *
 *	lucky = floor(P / k) * (k - (q - 1) mod k) + min(P mod k, k - (q - 1) mod k)
 *
 * and the others cost one jump more.
 *
 * Source: Shao 2008, section 5.4.
 */
#ifndef CUBEFORMULA_H
#define CUBEFORMULA_H

#include <math.h>
#include "base/minmax.h"
#include "place/grid.h"

struct formula {
	unsigned n;
	uint64_t size[SP_CUBE_DIMS_MAX]; /* S, in cells of one block */
	uint64_t k[SP_CUBE_DIMS_MAX];	 /* K: the basic cube, K[i] <= S[i] */
	double track_blocks;		 /* T */
	double rev_ns;
	double block_ns;   /* sigma: to read one more block in sequence */
	double hop_ns;	   /* alpha: to an adjacent block */
	double settle_ns;  /* what a hop needs, overhead included; at most hop_ns */
	double skew_ns;	   /* from the end of a track to the start of the next */
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
static double formula_jumps(uint64_t q, uint64_t k, uint64_t s)
{
	uint64_t places = s - q + 1, min = (q - 1) / k, in_cube = k - (q - 1) % k;
	uint64_t lucky = places / k * in_cube + sp__min(places % k, in_cube);

	return (double)min + 1 - (double)lucky / (double)places;
}

/* The product of v[from] to v[to - 1]. */
static double product(const uint64_t *v, unsigned from, unsigned to)
{
	double p = 1;

	for (unsigned i = from; i < to; i++)
		p *= (double)v[i];
	return p;
}

/* 5.6 and 5.7, with a cost given for a jump along each dimension ([0] is not used). */
static double formula_rows_ns(const struct formula *f, const uint64_t *q, const double *jump_ns)
{
	double ns = f->init_ns + f->block_ns * product(q, 0, f->n);

	for (unsigned i = 1; i < f->n; i++)
		ns += jump_ns[i] * (double)(q[i] - 1) * product(q, i + 1, f->n);
	return ns;
}

/* Blocks from the last one of a run to the first one of the next along dimension i. */
static double gap(const struct formula *f, const uint64_t *q, unsigned i)
{
	double blocks = product(f->size, 0, i) - (double)q[0] + 1;

	for (unsigned j = 1; j < i; j++)
		blocks -= (double)(q[j] - 1) * product(f->size, 0, j);
	return blocks;
}

/* 5.6 to 5.8. */
static double formula_naive_ns(const struct formula *f, const uint64_t *q)
{
	double jump_ns[SP_CUBE_DIMS_MAX] = { 0 };

	for (unsigned i = 1; i < f->n; i++) {
		double blocks = gap(f, q, i), on = (blocks - 1) / f->track_blocks,
		       rows = on + (double)q[0] / f->track_blocks;

		if (blocks <= 1)
			jump_ns[i] = 0;
		else if (f->by_angle && rows < 1)
			jump_ns[i] = on * f->rev_ns + rows * f->skew_ns;
		else
			jump_ns[i] = f->seek_ns(ceil(blocks / f->track_blocks)) + f->latency_ns;
	}
	return formula_rows_ns(f, q, jump_ns);
}

/* The time of a row in addition to its transfer, if the next one is reached by hops. */
static double hop_ns(const struct formula *f, double row)
{
	double row_ns = row * f->block_ns, busy = row_ns + f->settle_ns;

	if (f->printed)
		return f->hop_ns;
	if (f->strided)
		return ceil(busy / f->hop_ns) * f->hop_ns - row_ns;
	return f->hop_ns + ceil(fmax(busy - f->hop_ns, 0) / f->rev_ns) * f->rev_ns - row_ns;
}

/* Tracks from the last row of a cube to the first of the next one along dimension i. */
static double cube_distance(const struct formula *f, uint64_t pack, unsigned i)
{
	double cubes = 1;

	for (unsigned j = 0; j < i; j++)
		cubes *= (double)((f->size[j] + f->k[j] - 1) / f->k[j]);
	return product(f->k, 1, f->n) * ceil(cubes / (double)pack) -
	       (i ? (double)(f->k[i] - 1) * product(f->k, 1, i) : 0);
}

/* 5.9 to 5.14. */
static double formula_multimap_ns(const struct formula *f, const uint64_t *q)
{
	uint64_t pack = (uint64_t)(f->track_blocks / (double)f->k[0]);
	double across = formula_jumps(q[0], sp__min(pack * f->k[0], f->size[0]), f->size[0]);
	double jump_ns[SP_CUBE_DIMS_MAX] = { 0 };

	for (unsigned i = 1; i < f->n; i++) {
		double part = formula_jumps(q[i], f->k[i], f->size[i]) / fmax((double)q[i] - 1, 1);

		jump_ns[i] = (1 - part) * hop_ns(f, (double)q[0]) +
			     part * (f->seek_ns(cube_distance(f, pack, i)) + f->latency_ns);
	}
	return formula_rows_ns(f, q, jump_ns) +
	       across * product(q, 1, f->n) *
		       (f->seek_ns(cube_distance(f, pack, 0)) + f->latency_ns);
}

#endif
