/* SPDX-License-Identifier: MIT */
/*
 * Where a cell lies, in closed form.
 *
 * A hop to any adjacent block turns the platter by the same angle, hop_blocks, however many
 * tracks it crosses.  So the row of a basic cube that begins at its cell (0, r1, r2, ...) lies
 * t = r1 step1 + r2 step2 + ... tracks after the first row and is turned by h = r1 + r2 + ...
 * hops:
 *
 *	place on its track = (hop_blocks * h - start(track)) mod track_blocks
 *
 * where start(track) is the angle at which the track begins, in blocks.  This equals the
 * repeated GETADJACENT of figure 5.4.  The reverse takes t apart into its digits, which give
 * h.
 *
 * A track has slots of one cell each, from its first block on, and a row occupies consecutive
 * slots, around the end of the track if need be.  With cells of c blocks, g blocks are left at
 * the end of a track (0 <= g < c).  A cell is up to c - 1 blocks late, since its row begins at
 * a slot, and g more behind the end of the track, where either its row goes on or begins; so
 * hop_blocks is aim + c, for the cell, and c - 1 + g.  With c = 1 nothing is lost.
 *
 * Where the tracks of a zone are of unequal length (heads of unequal density), a place is an
 * angle in blocks of the longest track, and all tracks have as many slots as the shortest one.
 * Then g is what the slots leave of the longest track: on a shorter one the cells of a row
 * fall behind by as much as less is left at its end.  The hop is some blocks longer still, for
 * blocks that take more of a revolution, and for rounding.
 *
 * A walk reads rows, not columns, since sequential access is the faster one.  A row of many
 * cells passes the aim of the next one, and waiting for it would cost a revolution; rows along
 * dimension 1 are then visited with a stride whose hop is just long enough (row_stride()).
 *
 * Source: Shao 2008, figure 5.4; the stride is not in the thesis.
 */
#include <errno.h>
#include <stdlib.h>
#include <spindle/error.h>
#include "base/bisect.h"
#include "base/minmax.h"
#include "cube/multimap.h"

static const struct sp__cubezone *zone_of_cube(const struct sp__multimap *m, uint64_t cube)
{
	/* A zone without cubes begins where its successor does, so the last one is it. */
	return &m->zones[SP__BISECT(m->nzones, i, m->zones[i].first_cube <= cube) - 1];
}

/* A track of a zone. */
struct track {
	uint64_t first_block;
	uint64_t blocks;
	uint64_t skew; /* of those before it */
};

static struct track track_of(const struct sp__cubezone *z, uint64_t number)
{
	uint64_t turn = number / z->npattern, at = number % z->npattern;
	const struct sp__cubetrack *t = &z->pattern[at];

	return (struct track){
		.first_block = z->first_block + turn * z->pattern_blocks + t->blocks,
		.blocks = (at + 1 < z->npattern ? t[1].blocks : z->pattern_blocks) - t->blocks,
		.skew = turn * z->pattern_skew + t->skew,
	};
}

/* The slot at which the row of a track begins that is turned by this many hops. */
static uint32_t row_slot(const struct sp__multimap *m, const struct sp__cubezone *z,
			 const struct track *t, uint64_t hops)
{
	uint64_t start = t->skew % z->skew_den * z->track_blocks / z->skew_den;
	uint64_t place = (hops * z->hop_blocks + z->track_blocks - start) % z->track_blocks, slot;

	if (t->blocks != z->track_blocks)
		place = (place * t->blocks + z->track_blocks - 1) / z->track_blocks;
	slot = (place + m->cell_blocks - 1) / m->cell_blocks;
	return slot < z->slots ? (uint32_t)slot : 0;
}

static uint64_t slot_block(const struct sp__multimap *m, const struct sp__cubezone *z,
			   const struct track *t, uint64_t slot)
{
	return t->first_block + slot % z->slots * m->cell_blocks;
}

uint64_t sp__multimap_block(const struct sp__multimap *m, const uint64_t *x)
{
	uint64_t cube = x[0] / m->k[0], row = 0, hops = 0, stride = m->cubes[0];
	const struct sp__cubezone *z;
	struct track track;

	for (unsigned i = 1; i < m->grid->n; i++) {
		uint64_t at = x[i] / m->k[i], inside = x[i] - at * m->k[i];

		cube += at * stride;
		stride *= m->cubes[i];
		row += inside * m->step[i];
		hops += inside;
	}
	z = zone_of_cube(m, cube);
	cube -= z->first_cube;
	track = track_of(z, cube / z->pack * m->cube_tracks + row);
	return slot_block(m, z, &track,
			  row_slot(m, z, &track, hops) + cube % z->pack * m->k[0] + x[0] % m->k[0]);
}

/* The coordinates of the first cell of a cube. */
static void cube_begin(const struct sp__multimap *m, uint64_t cube, uint64_t *x)
{
	for (unsigned i = 0; i < m->grid->n; i++) {
		x[i] = cube % m->cubes[i] * m->k[i];
		cube /= m->cubes[i];
	}
}

static const struct sp__cubezone *zone_of_block(const struct sp__multimap *m, uint64_t block)
{
	size_t before = SP__BISECT(m->nzones, i, m->zones[i].first_block <= block);
	const struct sp__cubezone *z = before ? &m->zones[before - 1] : NULL;

	return z && block < track_of(z, z->groups * m->cube_tracks).first_block ? z : NULL;
}

/* The number of the track of a block. */
static uint64_t number_of(const struct sp__cubezone *z, uint64_t block)
{
	uint64_t turn = (block - z->first_block) / z->pattern_blocks;
	uint64_t rest = (block - z->first_block) % z->pattern_blocks;

	return turn * z->npattern + SP__BISECT(z->npattern, i, z->pattern[i].blocks <= rest) - 1;
}

bool sp__multimap_cell(const struct sp__multimap *m, uint64_t block, uint64_t *x)
{
	const struct sp__cubezone *z = zone_of_block(m, block);
	uint64_t number, slot, rest, hops = 0, cube, inside[SP_CUBE_DIMS_MAX];
	struct track track;

	if (!z)
		return false;
	number = number_of(z, block);
	track = track_of(z, number);
	slot = (block - track.first_block) / m->cell_blocks;
	if (slot >= z->slots)
		return false;
	rest = number % m->cube_tracks;
	for (unsigned i = m->grid->n; i-- > 1; rest -= inside[i] * m->step[i]) {
		inside[i] = rest / m->step[i];
		hops += inside[i];
	}
	slot = (slot + z->slots - row_slot(m, z, &track, hops)) % z->slots;
	cube = z->first_cube + number / m->cube_tracks * z->pack + slot / m->k[0];
	if (slot / m->k[0] >= z->pack || cube >= m->ncubes)
		return false;
	inside[0] = slot % m->k[0];
	cube_begin(m, cube, x);
	for (unsigned i = 0; i < m->grid->n; i++)
		if ((x[i] += inside[i]) >= m->grid->size[i])
			return false;
	return true;
}

/* Cubes that are neighbours along dimension 0 in one group, and the part of a box in them. */
struct segment {
	const struct sp__multimap *m;
	const struct sp__cubezone *zone;
	uint64_t track; /* the group's first */
	uint64_t slot;	/* of the first cell of the first cube, in a row's slots */
	uint64_t origin[SP_CUBE_DIMS_MAX];
	struct sp_cube_box box;
	sp__cells_fn fn;
	void *arg;
};

/* A run of consecutive slots, which may pass the end of the track. */
static int give_slots(const struct segment *s, const struct track *track, uint64_t slot,
		      uint64_t cells)
{
	uint64_t before = sp__min(cells, s->zone->slots - slot);
	int rc = s->fn(s->arg, slot_block(s->m, s->zone, track, slot), before);

	return rc || before == cells
		       ? rc
		       : s->fn(s->arg, slot_block(s->m, s->zone, track, 0), cells - before);
}

static int walk_row(const struct segment *s, const uint64_t *x)
{
	uint64_t number = s->track, hops = 0, slot, step = s->box.stride[0];
	uint64_t cells = step == 1 ? sp__box_count(&s->box, 0) : 1;
	struct track track;
	int rc = 0;

	for (unsigned i = 1; i < s->m->grid->n; i++) {
		number += (x[i] - s->origin[i]) * s->m->step[i];
		hops += x[i] - s->origin[i];
	}
	track = track_of(s->zone, number);
	slot = row_slot(s->m, s->zone, &track, hops) + s->slot;
	for (uint64_t at = s->box.lo[0]; !rc && at <= s->box.hi[0]; at += cells * step)
		rc = give_slots(s, &track, (slot + at - s->origin[0]) % s->zone->slots, cells);
	return rc;
}

/*
 * How many rows further along dimension 1 the row is that comes next: the one whose hop is the
 * shortest that leaves time to read a row and to settle, with a mean delay for each time that
 * the rows left out are begun.  Lengths are in blocks that pass under the head.
 */
static uint64_t row_stride(const struct segment *s)
{
	const struct sp__cubezone *z = s->zone;
	uint64_t rows = s->m->grid->n > 1 ? sp__box_count(&s->box, 1) : 1, best = 1,
		 least = UINT64_MAX;
	uint64_t row = (s->box.hi[0] - s->box.lo[0] + 1) * s->m->cell_blocks;
	/* Reading and settling, and the room for rounding. */
	uint64_t busy = row + z->need_blocks + z->hop_blocks - z->aim_blocks - s->m->cell_blocks;

	for (uint64_t by = 1; by <= sp__min(rows, 64); by++) {
		uint64_t hop = by * s->box.stride[1] * z->hop_blocks;
		uint64_t turn, cost;

		if (by > 1 && by * s->box.stride[1] > s->m->reach)
			break;
		turn = hop >= busy ? busy + (hop - busy) % z->track_blocks
				   : busy + (z->track_blocks - (busy - hop) % z->track_blocks) %
						     z->track_blocks;
		cost = (rows - by) * turn + (by - 1) * (busy + z->track_blocks / 2);
		if (cost < least) {
			least = cost;
			best = by;
		}
	}
	return best;
}

static int walk_segment(const struct segment *s)
{
	const struct sp_cube_box *b = &s->box;
	unsigned n = s->m->grid->n;
	uint64_t stride = row_stride(s) * b->stride[1], x[SP_CUBE_DIMS_MAX];
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		x[i] = b->lo[i];
	if (n == 1)
		return walk_row(s, x);
	do {
		for (uint64_t first = b->lo[1]; first < b->lo[1] + stride; first += b->stride[1])
			for (x[1] = first; !rc && x[1] <= b->hi[1]; x[1] += stride)
				rc = walk_row(s, x);
	} while (!rc && sp__box_next(b, 2, n, x));
	return rc;
}

/* The coordinates of box along dimension i from begin to end; false if there are none. */
static bool clip(const struct sp_cube_box *box, unsigned i, uint64_t begin, uint64_t end,
		 struct sp_cube_box *part)
{
	uint64_t step = box->stride[i], lo = box->lo[i];

	if (begin > lo)
		lo += (begin - lo + step - 1) / step * step;
	part->lo[i] = lo;
	part->hi[i] = sp__min(box->hi[i], end - 1);
	part->stride[i] = step;
	return lo <= part->hi[i];
}

/* The cubes at these places along dimensions 1 to n - 1, as long as box has cells in them. */
static int walk_cubes(struct segment *s, const struct sp_cube_box *box, const uint64_t *at)
{
	const struct sp__multimap *m = s->m;
	uint64_t line = 0, last = box->hi[0] / m->k[0], next;
	bool any = true;
	int rc = 0;

	for (unsigned i = m->grid->n; i-- > 1;) {
		line = (line + at[i]) * m->cubes[i - 1];
		s->origin[i] = at[i] * m->k[i];
		any = any && clip(box, i, s->origin[i], s->origin[i] + m->k[i], &s->box);
	}
	for (uint64_t first = box->lo[0] / m->k[0]; any && !rc && first <= last; first = next) {
		uint64_t cube;

		s->zone = zone_of_cube(m, line + first);
		cube = line + first - s->zone->first_cube;
		next = first + s->zone->pack - cube % s->zone->pack;
		s->track = cube / s->zone->pack * m->cube_tracks;
		s->slot = cube % s->zone->pack * m->k[0];
		s->origin[0] = first * m->k[0];
		if (clip(box, 0, s->origin[0], next * m->k[0], &s->box))
			rc = walk_segment(s);
	}
	return rc;
}

int sp__multimap_walk(const struct sp__multimap *m, const struct sp_cube_box *box, sp__cells_fn fn,
		      void *arg)
{
	struct segment s = { .m = m, .fn = fn, .arg = arg };
	struct sp_cube_box cubes;
	uint64_t at[SP_CUBE_DIMS_MAX];
	int rc;

	for (unsigned i = 0; i < m->grid->n; i++) {
		cubes.lo[i] = at[i] = box->lo[i] / m->k[i];
		cubes.hi[i] = box->hi[i] / m->k[i];
		cubes.stride[i] = 1;
	}
	s.box.stride[1] = 1;
	do {
		rc = walk_cubes(&s, box, at);
	} while (!rc && sp__box_next(&cubes, 1, m->grid->n, at));
	return rc;
}

uint64_t sp__multimap_end(const struct sp__multimap *m)
{
	const struct sp__cubezone *z = zone_of_cube(m, m->ncubes - 1);
	uint64_t groups = (m->ncubes - 1 - z->first_cube) / z->pack + 1;

	return track_of(z, groups * m->cube_tracks).first_block;
}
