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
 * the first dimension that has several are then visited with a stride whose hop is just long
 * enough (row_stride()).  Of a row that passes the end of its track the part at the begin of the
 * track is read first: after the other part its turn would just be missed.
 *
 * Source: Shao 2008, figure 5.4; the stride is not in the thesis.
 */
#include <errno.h>
#include <string.h>
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
	uint64_t turn = (number + z->skip) / z->npattern, at = (number + z->skip) % z->npattern;
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
	uint64_t row = 0, hops = 0, cube, at[SP_CUBE_DIMS_MAX];
	const struct sp__cubezone *z;
	struct track track;
	unsigned volume;

	at[0] = x[0] / m->basic->k[0];
	for (unsigned i = 1; i < m->grid->n; i++) {
		uint64_t inside;

		at[i] = x[i] / m->basic->k[i];
		inside = x[i] - at[i] * m->basic->k[i];
		row += inside * m->step[i];
		hops += inside;
	}
	cube = sp__basicgrid_local(m->basic, at, &volume);
	z = zone_of_cube(m, cube);
	cube -= z->first_cube;
	track = track_of(z, cube / z->pack * m->cube_tracks + row);
	return volume * m->basic->volume_blocks +
	       slot_block(m, z, &track,
			  row_slot(m, z, &track, hops) + cube % z->pack * m->basic->k[0] + x[0] -
				  at[0] * m->basic->k[0]);
}

static const struct sp__cubezone *zone_of_block(const struct sp__multimap *m, uint64_t block)
{
	size_t before = SP__BISECT(m->nzones, i, m->zones[i].first_block <= block);
	const struct sp__cubezone *z = before ? &m->zones[before - 1] : NULL;

	return z && block >= track_of(z, 0).first_block &&
			       block < track_of(z, z->groups * m->cube_tracks).first_block
		       ? z
		       : NULL;
}

/* The number of the track of a block. */
static uint64_t number_of(const struct sp__cubezone *z, uint64_t block)
{
	uint64_t turn = (block - z->first_block) / z->pattern_blocks;
	uint64_t rest = (block - z->first_block) % z->pattern_blocks;

	return turn * z->npattern + SP__BISECT(z->npattern, i, z->pattern[i].blocks <= rest) - 1 -
	       z->skip;
}

bool sp__multimap_cell(const struct sp__multimap *m, uint64_t block, uint64_t *x)
{
	uint64_t number, slot, rest, hops = 0, cube, inside[SP_CUBE_DIMS_MAX];
	unsigned volume = sp__basicgrid_volume(m->basic, &block);
	const struct sp__cubezone *z = zone_of_block(m, block);
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
	cube = z->first_cube + number / m->cube_tracks * z->pack + slot / m->basic->k[0];
	if (slot / m->basic->k[0] >= z->pack || !sp__basicgrid_cube(m->basic, volume, cube, x))
		return false;
	inside[0] = slot % m->basic->k[0];
	for (unsigned i = 0; i < m->grid->n; i++) {
		x[i] = x[i] * m->basic->k[i] + inside[i];
		if (x[i] >= m->grid->size[i])
			return false;
	}
	return true;
}

/*
 * The rest of a row.  A run of consecutive slots may pass the end of the track, and is two then,
 * of which the one at the begin of the track comes first.
 */
static int walk_row(struct sp__segment *s, sp__cells_fn fn, void *arg)
{
	uint64_t number = s->track, hops = 0, base, step = s->box.stride[0];
	uint64_t cells = step == 1 ? sp__box_count(&s->box, 0) : 1;
	struct track track;
	int rc = 0;

	for (unsigned i = 1; i < s->m->grid->n; i++) {
		number += (s->x[i] - s->origin[i]) * s->m->step[i];
		hops += s->x[i] - s->origin[i];
	}
	track = track_of(s->zone, number);
	base = row_slot(s->m, s->zone, &track, hops) + s->slot;
	while (!rc && s->x[0] <= s->box.hi[0]) {
		uint64_t slot = (base + s->x[0] - s->origin[0]) % s->zone->slots;
		uint64_t before = sp__min(cells, s->zone->slots - slot);
		bool first = before < cells && !s->wrapped;

		rc = fn(arg, s->volume_block + slot_block(s->m, s->zone, &track, first ? 0 : slot),
			first ? cells - before : before);
		s->wrapped = first;
		if (!s->wrapped)
			s->x[0] += cells * step;
	}
	return rc;
}

/*
 * How many rows further along their dimension the row is that comes next: the one whose hop is the
 * shortest that leaves time to read a row and to settle, with a mean delay for each time that
 * the rows left out are begun.  Lengths are in blocks that pass under the head.
 */
static uint64_t row_stride(const struct sp__segment *s)
{
	const struct sp__cubezone *z = s->zone;
	uint64_t rows = sp__box_count(&s->box, s->dim), step = s->box.stride[s->dim], best = 1,
		 least = UINT64_MAX;
	/* Reading, and the room for rounding. */
	uint64_t row =
		(s->box.hi[0] - s->box.lo[0]) * s->m->cell_blocks + z->hop_blocks - z->aim_blocks;

	for (uint64_t by = 1; by <= sp__min(rows, 64); by++) {
		uint64_t hop = by * step * z->hop_blocks, tracks = by * step * s->m->step[s->dim];
		/* What is near needs least; nothing within reach needs more than the aim. */
		uint64_t busy = row + (tracks > s->m->reach / 4 ? z->aim_blocks : z->need_blocks);
		uint64_t turn, cost;

		if (by > 1 && tracks > s->m->reach)
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

/* Rows follow each other along the first dimension that has several. */
static void set_stride(struct sp__segment *s)
{
	unsigned n = s->m->grid->n;

	if (n == 1)
		return;
	for (s->dim = 1; s->dim + 1 < n && sp__box_count(&s->box, s->dim) == 1;)
		s->dim++;
	s->stride = row_stride(s) * s->box.stride[s->dim];
	s->first = s->x[s->dim];
}

static void next_row(struct sp__segment *s)
{
	const struct sp_cube_box *b = &s->box;
	unsigned n = s->m->grid->n, i = s->dim;

	s->x[0] = b->lo[0];
	if (n == 1) {
		s->ended = true;
	} else if (b->hi[i] - s->x[i] >= s->stride) {
		s->x[i] += s->stride;
	} else {
		s->first += b->stride[i];
		if (s->first >= b->lo[i] + s->stride || s->first > b->hi[i]) {
			s->first = b->lo[i];
			s->ended = !sp__box_next(b, i + 1, n, s->x);
		}
		s->x[i] = s->first;
	}
}

int sp__segment_walk(struct sp__segment *s, sp__cells_fn fn, void *arg)
{
	int rc = 0;

	while (!rc && !s->ended) {
		rc = walk_row(s, fn, arg);
		if (s->x[0] > s->box.hi[0])
			next_row(s);
	}
	return rc;
}

/* The cubes after this one along dimension 0 that lie beside it, on the only volume. */
static uint64_t beside(const struct sp__multimap *m, const struct sp__cubezone *z, uint64_t cube,
		       const struct sp_cube_box *box, uint64_t at)
{
	uint64_t last = box->hi[0] / m->basic->k[0];

	return m->basic->volumes > 1 ? 0 : sp__min(last - at, z->pack - 1 - cube % z->pack);
}

bool sp__segment_open(struct sp__segment *s, const struct sp__multimap *m,
		      const struct sp_cube_box *box, unsigned volume, uint64_t *at)
{
	unsigned of;
	uint64_t cube = sp__basicgrid_local(m->basic, at, &of), more;

	if (of != volume)
		return false;
	s->m = m;
	s->zone = zone_of_cube(m, cube);
	cube -= s->zone->first_cube;
	s->volume_block = volume * m->basic->volume_blocks;
	s->track = cube / s->zone->pack * m->cube_tracks;
	s->slot = cube % s->zone->pack * m->basic->k[0];
	for (unsigned i = 0; i < m->grid->n; i++)
		s->origin[i] = at[i] * m->basic->k[i];
	more = beside(m, s->zone, cube, box, at[0]);
	at[0] += more;
	if (!sp__basicgrid_clip(m->basic, at, more, box, &s->box))
		return false;
	s->wrapped = s->ended = false;
	memcpy(s->x, s->box.lo, sizeof(s->x));
	set_stride(s);
	return true;
}

uint64_t sp__multimap_begin(const struct sp__multimap *m)
{
	return track_of(&m->zones[0], 0).first_block;
}

uint64_t sp__multimap_end(const struct sp__multimap *m)
{
	const struct sp__cubezone *z = zone_of_cube(m, m->basic->local - 1);
	uint64_t groups = (m->basic->local - 1 - z->first_cube) / z->pack + 1;

	return track_of(z, groups * m->cube_tracks).first_block;
}
