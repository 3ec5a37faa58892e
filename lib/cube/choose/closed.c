/* SPDX-License-Identifier: MIT */
/*
 * Computes the equations 5.6 to 5.14 of Shao 2008.
 *
 * A query has rows of q[0] cells.  A row is followed by a jump to the next one, which costs a seek
 * over the tracks between and half a revolution, or with MultiMap, inside a basic cube, by a hop.
 * Sizes and coordinates are in cells, and dimensions in the order of the mapping.
 *
 * The equations are corrected in these points:
 *	5.10	q rows have q - 1 hops and jumps; jumps along dimension 0 occur in each row
 *	5.11	basic cubes side by side take the same tracks; jumps begin at the last row of a cube
 *	5.13	counts of locations, see sp__closed_jumps()
 *	5.14	a cube of k cells has k - (q - 1) mod k locations with the fewest jumps
 *
 * Not modelled: angles between rows, rows too long for a hop, overhead of requests, coalescing,
 * caches, several outstanding requests.
 */
#include <math.h>
#include "base/minmax.h"
#include "cube/choose/closed.h"
#include "dev/geometry.h"
#include "predict/headpath.h"

struct closed {
	const struct sp_geometry *g;
	unsigned n;
	const uint64_t *size, *k; /* S, K */
	uint64_t q[SP_CUBE_DIMS_MAX];
	double track_cells; /* T */
	double hop_ns;	    /* alpha */
	double latency_ns;  /* RotLat */
};

/*
 * Of the P = s - q + 1 locations, those have the fewest jumps, m = ceil(q / k) - 1, that are among
 * the first c = k - (q - 1) mod k of a cube: floor(P / k) c + min(P mod k, c).  All others have
 * one jump more.
 */
double sp__closed_jumps(uint64_t q, uint64_t k, uint64_t s)
{
	uint64_t locations = s - q + 1, in_cube = k - (q - 1) % k;
	uint64_t fewest = locations / k * in_cube + sp__min(locations % k, in_cube);

	return (double)((q - 1) / k) + 1 - (double)fewest / (double)locations;
}

/* Returns the product of v[begin] to v[end - 1]. */
static double product(const uint64_t *v, unsigned begin, unsigned end)
{
	double all = 1;

	for (unsigned i = begin; i < end; i++)
		all *= (double)v[i];
	return all;
}

static double jump_ns(const struct closed *c, double tracks)
{
	return sp__geometry_hop_ns(c->g, (uint64_t)sp__max(tracks, 0)) + c->latency_ns;
}

/* Returns the time of a jump along a dimension of the naive mapping (5.8). */
static double naive_ns(const struct closed *c, unsigned dim)
{
	double cells = product(c->size, 0, dim) - (double)c->q[0] + 1;

	for (unsigned j = 1; j < dim; j++)
		cells -= (double)(c->q[j] - 1) * product(c->size, 0, j);
	return cells <= 1 ? 0 : jump_ns(c, ceil(cells / c->track_cells));
}

/* Returns the tracks between two basic cubes that are neighbours along a dimension (5.11). */
static double cube_tracks(const struct closed *c, unsigned dim)
{
	double cubes = 1, pack = floor(c->track_cells / (double)c->k[0]);

	for (unsigned j = 0; j < dim; j++)
		cubes *= (double)sp__div_up(c->size[j], c->k[j]);
	return product(c->k, 1, c->n) * ceil(cubes / fmax(pack, 1)) -
	       (dim ? (double)(c->k[dim] - 1) * product(c->k, 1, dim) : 0);
}

/* Returns the mean time of a hop or jump along a dimension of MultiMap (5.10, 5.12). */
static double multimap_ns(const struct closed *c, unsigned dim)
{
	double jumps = sp__closed_jumps(c->q[dim], c->k[dim], c->size[dim]);
	double share = jumps / fmax((double)c->q[dim] - 1, 1);

	return (1 - share) * c->hop_ns + share * jump_ns(c, cube_tracks(c, dim));
}

/* Returns the time of jumps within rows of MultiMap: none between cubes side by side. */
static double row_jumps_ns(const struct closed *c)
{
	uint64_t pack = (uint64_t)fmax(c->track_cells / (double)c->k[0], 1);
	uint64_t cells = sp__min(pack * c->k[0], c->size[0]);

	return sp__closed_jumps(c->q[0], cells, c->size[0]) * product(c->q, 1, c->n) *
	       jump_ns(c, cube_tracks(c, 0));
}

double sp__closed_ns(const struct sp__cube_plan *plan, const struct sp_cube_box *cells)
{
	const struct sp__mapping *m = &plan->superblock.mapping;
	const bool multimap = m->kind == SP_CUBE_MULTIMAP;
	struct closed c = {
		.g = plan->drive.geometry, .n = m->grid.n, .size = m->grid.size, .k = m->basic.k
	};
	uint64_t first = sp__mapping_begin(m);
	struct sp__headpass pass;
	double ns;

	if ((!multimap && m->kind != SP_CUBE_NAIVE) || m->basic.volumes > 1 || !c.g || !c.g->nzones)
		return NAN;
	sp__headpass_make(c.g, false, first, m->cell_blocks, &pass);
	for (unsigned i = 0; i < c.n; i++)
		c.q[i] = sp__box_count(cells, m->order[i]);
	c.track_cells = c.g->period_ns / pass.block_ns / m->cell_blocks;
	c.hop_ns = multimap ? m->multimap.zones[0].hop_blocks * pass.block_ns : 0;
	c.latency_ns = c.g->period_ns / 2;
	ns = sp__headpath_mean_ns(c.g, first, sp__mapping_end(m) - first) +
	     product(c.q, 0, c.n) * m->cell_blocks * pass.block_ns;
	for (unsigned i = 1; i < c.n; i++)
		ns += (multimap ? multimap_ns(&c, i) : naive_ns(&c, i)) * (double)(c.q[i] - 1) *
		      product(c.q, i + 1, c.n);
	return multimap ? ns + row_jumps_ns(&c) : ns;
}
