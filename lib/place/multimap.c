/* SPDX-License-Identifier: MIT */
/*
 * Computes the location of a cell in closed form, and the order in which rows are read.
 *
 * Location.  A hop to any adjacent block rotates the platter by the same angle, hop_blocks, however
 * many tracks it crosses.  So the row of a basic cube that begins at its cell (0, r1, r2, ...) is
 * on track t = r1 step1 + r2 step2 + ... after the track of the first row, and rotated by h = r1 +
 * r2 + ... hops:
 *
 *	position on its track = (hop_blocks * h - start(track)) mod track_blocks
 *
 * where start(track) is the angle at which the track begins, in blocks.  This equals the repeated
 * GETADJACENT of figure 5.4.  The reverse splits t into its digits, which give h.
 *
 * Serpentines.  The move from one round of the heads to the next takes longer than all moves inside
 * a round.  Cubes cross it, and each further round rotates a row by shift_blocks more.  A walk
 * needs the rounds, too: without them it would treat distant rows just before a reversal as near.
 *
 * Slots.  A track has slots of one cell each from its first block on.  A row occupies consecutive
 * slots, and continues at the start of the track if it reaches the end.  With cells of c blocks, g
 * blocks are left at the end of a track (0 <= g < c), or at both ends if cells are aligned (g <
 * 2c).  A cell is up to c - 1 blocks late because its row begins at a slot, and g more after the
 * end of the track, so hop_blocks is the aim plus c, for the cell itself, plus c - 1 + g.  With c =
 * 1 nothing is lost.
 *
 * Unequal tracks.  If the tracks of a zone have unequal lengths (heads of unequal density), a
 * position is an angle in blocks of the longest track, and all tracks have as many slots as the
 * shortest one. Then g is the rest of the longest track behind the slots: on a shorter track, cells
 * fall behind by the amount by which its rest is smaller.  This margin plus 2 blocks is scaled by
 * longest / shortest, because blocks of a short track take more of a revolution, and 1 block is
 * added for rounding.
 *
 * Walk.  Rows are read as wholes because sequential access is faster.  But a row of many cells
 * passes the aim of the next one, and waiting for it would cost a revolution; so would a row that
 * passes the end of its track, whose second part, a separate request, follows without a gap.  So
 * rows are split into segments at the ends of tracks, and of the next SP__ROWSEGMENTS segments the
 * one that the head reaches first is read (until()).  With twice as many a query takes equally
 * long, with a quarter up to a quarter longer.
 *
 * Rejected: rows with a stride, reading next the row whose hop is just long enough.  It ignores the
 * ends of tracks and the steps of further dimensions; cubes of 20 to 120 cells took up to 1.6 times
 * as long.
 *
 * Source: Shao 2008, figure 5.4; the order of rows is our own.
 */
#include <string.h>
#include "base/bisect.h"
#include "base/minmax.h"
#include "place/multimap.h"

static const struct sp__cubezone *zone_of_cube(const struct sp__multimap *m, uint64_t cube)
{
	/* A zone without cubes has the same first cube as its successor, so take the last one. */
	return &m->zones[SP__BISECT(m->nzones, i, m->zones[i].first_cube <= cube) - 1];
}

/* A track of a zone. */
struct track {
	uint64_t first_block;
	uint64_t blocks;
	uint64_t skew;	/* sum of the tracks before it */
	uint64_t round; /* number of its round; 0 without rounds */
};

static struct track track_of(const struct sp__cubezone *z, uint64_t number)
{
	uint64_t repeat = (number + z->skip) / z->npattern;
	uint64_t at = (number + z->skip) % z->npattern;
	const struct sp__cubetrack *t = &z->pattern[at];

	return (struct track){
		.first_block = z->first_block + repeat * z->pattern_blocks + t->blocks,
		.blocks = (at + 1 < z->npattern ? t[1].blocks : z->pattern_blocks) - t->blocks,
		.skew = repeat * z->pattern_skew + t->skew,
		.round = z->round ? (number + z->skip + z->round_offset) / z->round : 0,
	};
}

/* Returns the blocks of a track before its first slot. */
static uint32_t before_slots(const struct sp__multimap *m, const struct track *t)
{
	uint32_t c = m->cell_blocks;

	return m->aligned ? (c - (uint32_t)(t->first_block % c)) % c : 0;
}

/* Returns the slot at which a row rotated by this number of hops begins on a track. */
static uint32_t row_slot(const struct sp__multimap *m, const struct sp__cubezone *z,
			 const struct track *t, uint64_t hops)
{
	uint64_t start = t->skew % z->skew_den * z->track_blocks / z->skew_den;
	uint64_t end = hops * z->hop_blocks + t->round * z->shift_blocks + z->track_blocks;
	uint64_t position = (end - start) % z->track_blocks, slot;

	if (t->blocks != z->track_blocks)
		position = (position * t->blocks + z->track_blocks - 1) / z->track_blocks;
	position -= sp__min(position, before_slots(m, t));
	slot = (position + m->cell_blocks - 1) / m->cell_blocks;
	return slot < z->slots ? (uint32_t)slot : 0;
}

static uint64_t slot_block(const struct sp__multimap *m, const struct sp__cubezone *z,
			   const struct track *t, uint64_t slot)
{
	return t->first_block + before_slots(m, t) + slot % z->slots * m->cell_blocks;
}

uint64_t sp__multimap_run(const struct sp__multimap *m, const uint64_t *x, uint64_t *block)
{
	uint64_t row = 0, hops = 0, cube, slot, inside, at[SP_CUBE_DIMS_MAX];
	const struct sp__cubezone *z;
	struct track track;
	unsigned volume;

	at[0] = x[0] / m->basic->k[0];
	for (unsigned i = 1; i < m->grid->n; i++) {
		at[i] = x[i] / m->basic->k[i];
		inside = x[i] - at[i] * m->basic->k[i];
		row += inside * m->step[i];
		hops += inside;
	}
	cube = sp__basicgrid_local(m->basic, at, &volume);
	z = zone_of_cube(m, cube);
	cube -= z->first_cube;
	track = track_of(z, cube / z->pack * m->cube_tracks + row);
	inside = x[0] - at[0] * m->basic->k[0];
	slot = (row_slot(m, z, &track, hops) + cube % z->pack * m->basic->k[0] + inside) % z->slots;
	*block = volume * m->basic->volume_blocks + slot_block(m, z, &track, slot);
	return sp__min(m->basic->k[0] - inside, z->slots - slot);
}

uint64_t sp__multimap_block(const struct sp__multimap *m, const uint64_t *x)
{
	uint64_t block;

	(void)sp__multimap_run(m, x, &block);
	return block;
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

bool sp__multimap_cell(const struct sp__multimap *m, uint64_t block, uint64_t *x)
{
	uint64_t number, slot, rest, hops = 0, cube, inside[SP_CUBE_DIMS_MAX];
	unsigned volume = sp__basicgrid_volume(m->basic, &block);
	const struct sp__cubezone *z = zone_of_block(m, block);
	struct track track;

	if (!z)
		return false;
	number = sp__cubezone_tracks(z, block) - 1 - z->skip;
	track = track_of(z, number);
	slot = block - track.first_block;
	if (slot < before_slots(m, &track))
		return false;
	slot = (slot - before_slots(m, &track)) / m->cell_blocks;
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

/* Returns the angle of a slot, in blocks of the longest track. */
static uint32_t angle_of(const struct sp__multimap *m, const struct sp__cubezone *z,
			 const struct track *t, uint64_t slot)
{
	uint64_t start = t->skew % z->skew_den * z->track_blocks / z->skew_den;

	slot = slot * m->cell_blocks + before_slots(m, t);
	return (uint32_t)((start + slot * z->track_blocks / t->blocks) % z->track_blocks);
}

/* Adds cells of a row from a slot on, which do not pass the end of the track. */
static void add_segment(struct sp__cuberow *s, const struct track *t, uint64_t number,
			uint64_t slot, uint64_t cells)
{
	uint64_t last = slot + (cells - 1) * s->box.stride[0];

	s->rows[s->nrows++] =
		(struct sp__rowsegment){ .track = number,
					 .round = t->round,
					 .slot = slot,
					 .cells = cells,
					 .begin = angle_of(s->m, s->zone, t, slot),
					 .end = angle_of(s->m, s->zone, t, last + 1) };
}

/*
 * Adds the row at x.  A row that passes the end of its track is two segments.  The segment at the
 * start of the track is first: if no other is left, less than a revolution passes between them.
 */
static void add_row(struct sp__cuberow *s)
{
	const struct sp__multimap *m = s->m;
	uint64_t number = s->track, hops = 0, slots = s->zone->slots, step = s->box.stride[0];
	uint64_t cells = sp__box_count(&s->box, 0), slot, before;
	struct track track;

	for (unsigned i = 1; i < m->grid->n; i++) {
		number += (s->x[i] - s->origin[i]) * m->step[i];
		hops += s->x[i] - s->origin[i];
	}
	track = track_of(s->zone, number);
	slot = (row_slot(m, s->zone, &track, hops) + s->slot + s->x[0] - s->origin[0]) % slots;
	before = (slots - slot - 1) / step + 1;
	if (before < cells)
		add_segment(s, &track, number, slot + before * step - slots, cells - before);
	add_segment(s, &track, number, slot, sp__min(before, cells));
	s->more = sp__box_next(&s->box, 1, m->grid->n, s->x);
}

/* Returns the blocks that pass at least while the head moves to a segment. */
static uint64_t need_of(const struct sp__cuberow *s, const struct sp__rowsegment *p)
{
	const struct sp__cubezone *z = s->zone;
	const uint32_t *hops = s->m->hops;
	uint64_t tracks = sp__absdiff(s->at.track, p->track), aim = z->aim_blocks, need;
	unsigned i = 0;

	if (z->round) {
		uint64_t rounds = sp__absdiff(s->at.round, p->round);

		aim += rounds * z->shift_blocks;
		hops = rounds ? hops : s->m->within;
	}
	if (tracks > 4) {
		unsigned bits = 61 - (unsigned)__builtin_clzll(tracks - 1);

		i = 4 * bits + (unsigned)((tracks - 1) >> bits) % 4 + 1;
	}
	need = i < SP__CUBE_HOPS ? hops[i] : 0;
	need = (need * z->track_blocks + SP__CUBE_REVOLUTION - 1) / SP__CUBE_REVOLUTION;
	if (tracks <= s->m->reach && (!need || need > aim))
		return aim;
	return need ? need : z->track_blocks; /* unknown */
}

/* Returns the blocks that pass until the head is at the start of a segment. */
static uint64_t until(const struct sp__cuberow *s, const struct sp__rowsegment *p)
{
	uint64_t revolution = s->zone->track_blocks, need = need_of(s, p);

	return need + (p->begin + 2 * revolution - (s->at.end + need) % revolution) % revolution;
}

/* Chooses the segment that the head reaches first; at the start of a row of cubes, the first. */
static void choose(struct sp__cuberow *s)
{
	uint64_t min = UINT64_MAX;
	unsigned best = 0;

	while (s->more && s->nrows < SP__ROWSEGMENTS)
		add_row(s);
	for (unsigned i = 0; s->begun && i < s->nrows; i++) {
		uint64_t wait = until(s, &s->rows[i]);

		if (wait < min) {
			min = wait;
			best = i;
		}
	}
	s->begun = true;
	s->at = s->rows[best];
	s->nrows--;
	memmove(&s->rows[best], &s->rows[best + 1], (s->nrows - best) * sizeof(*s->rows));
}

int sp__cuberow_walk(struct sp__cuberow *s, sp__cells_fn fn, void *arg)
{
	uint64_t step = s->box.stride[0];
	int rc = 0;

	while (!rc && !s->ended) {
		struct track track;
		uint64_t cells, first;

		if (!s->at.cells)
			choose(s);
		track = track_of(s->zone, s->at.track);
		cells = step == 1 ? s->at.cells : 1;
		first = s->volume_block + slot_block(s->m, s->zone, &track, s->at.slot);
		s->at.slot += cells * step;
		s->at.cells -= cells;
		s->ended = !s->at.cells && !s->nrows && !s->more;
		rc = fn(arg, first, cells);
	}
	return rc;
}

/* Returns the number of cubes after this one along dimension 0 in its group; one volume only. */
static uint64_t beside(const struct sp__multimap *m, const struct sp__cubezone *z, uint64_t cube,
		       const struct sp_cube_box *box, uint64_t at)
{
	uint64_t last = box->hi[0] / m->basic->k[0];

	return m->basic->volumes > 1 ? 0 : sp__min(last - at, z->pack - 1 - cube % z->pack);
}

bool sp__cuberow_open(struct sp__cuberow *s, const struct sp__multimap *m,
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
	memcpy(s->x, s->box.lo, sizeof(s->x));
	s->more = true;
	s->nrows = 0;
	s->at.cells = 0;
	s->begun = s->ended = false;
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
