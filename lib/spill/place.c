/* SPDX-License-Identifier: MIT */
/*
 * Places the pages of runs on tracks.
 *
 * States: tracks are numbered in the order of allocation ("rows").  A row has its first block, its
 * number of pages, the number of pages by which they are rotated, and its band.  A band is K rows.
 * The bands of a group form a list.  The first run of the group that needs another band extends it.
 * A band is reused when its last page has been freed and its group accepts no more runs.  It leaves
 * the group's list then: runs are read only when they are complete, but another run of the group
 * might still be written, and continues in the next band.
 *
 * A run continues behind its last extent: at the next position of that row, or on the same row of
 * the next band.
 *
 * Rotation: no page wraps around the end of a track.  The first page of a run and those behind it
 * are packed towards that end, the others from the track's beginning.  The rest of the track stays
 * unused, between the last page and the first.  So the head passes all pages without a gap, and the
 * distance from page i of a row to page i of the next is the same for every i.  At least one block
 * stays unused, so that an I/O scheduler cannot merge the requests for the two parts, which adjoin
 * in the wrong order: the merged request would begin with the second part and cost a revolution.  A
 * hop aims at the first possible position that is not too early, which loses less than the transfer
 * time of a page.
 *
 * On an array whose stripes are tracks each drive has a path of its own: a row is rotated against
 * the row before it on its drive.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "dev/geometry.h"
#include "spill/place.h"

#define NONE UINT32_MAX

/* True if a known track begins before the volume. */
static bool begins_before(const struct sp__place_opts *o, uint64_t number)
{
	struct sp_track t;

	return !sp_geometry_track_number(o->geometry, number, &t) && t.first < o->base_lbn;
}

static uint32_t places_on(const struct sp__place *p, uint32_t blocks)
{
	bool turned = p->opts.policy == SP_PLACE_SEMISEQ;
	uint32_t places = blocks > turned ? (blocks - turned) / p->page_blocks : 0;

	return places < PLACES_MAX ? places : PLACES_MAX;
}

/* Computes K: all runs are one group if the path reaches that far, else groups of equal size. */
static int band_rows(const struct sp__place_opts *o, uint64_t track, uint32_t *rows)
{
	const struct sp__hops *hops;
	uint64_t reach, groups;
	struct sp_track t;
	int rc;

	*rows = 1;
	if (o->policy != SP_PLACE_SEMISEQ)
		return 0;
	if (sp_geometry_track_number(o->geometry, track, &t) < 0)
		return -ENOSPC;
	rc = sp__geometry_hops(o->geometry, o->hops, t.number, t.number, &hops);
	if (rc < 0)
		return rc;
	reach = sp__max(sp__hops_reach(hops, hops->aim_deg), 1);
	groups = o->runs ? (o->runs + reach - 1) / reach : 1;
	*rows = (uint32_t)(o->runs ? (o->runs + groups - 1) / groups : reach);
	return 0;
}

int sp__place_new(struct sp__place **place, const struct sp__place_opts *opts,
		  struct sp_errinfo *err)
{
	struct sp_geometry_info info;
	struct sp__place *p;
	struct sp_track t;
	int rc;

	sp_geometry_info(opts->geometry, &info);
	if (!info.tracks)
		return sp__errf(err, SP_EUNSUP, "place", info.device, -1,
				"no tracks of the device are known, on which runs could be placed");
	if (opts->page_bytes % info.block_bytes)
		return sp__errf(err, SP_EUNSUP, "place", info.device, -1,
				"pages of %u bytes are not a multiple of blocks of %u bytes",
				opts->page_bytes, info.block_bytes);
	p = calloc(1, sizeof(*p));
	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	p->opts = *opts;
	p->block_bytes = info.block_bytes;
	p->page_blocks = opts->page_bytes / info.block_bytes;
	p->group_first = p->free_band = NONE;
	p->next_track = SP__BISECT(info.ntracks, i, begins_before(opts, i));
	/* Spare tracks have no blocks. */
	while (!sp_geometry_track_number(opts->geometry, p->next_track, &t) && !t.blocks)
		p->next_track++;
	if (!sp_geometry_track_number(opts->geometry, p->next_track, &t) &&
	    !places_on(p, t.blocks)) {
		free(p);
		return sp__errf(err, SP_EUNSUP, "place", info.device, -1,
				"a page of %u bytes does not fit on a track of %u blocks",
				opts->page_bytes, t.blocks);
	}
	rc = band_rows(opts, p->next_track, &p->band_rows);
	if (rc < 0) {
		free(p);
		return sp__err(err, rc, "place", info.device, -1);
	}
	*place = p;
	return 0;
}

void sp__place_free(struct sp__place *p)
{
	if (!p)
		return;
	free(p->rows);
	free(p->bands);
	free(p->path);
	free(p->stops);
	free(p);
}

/*
 * Rotates a row so that its first page is at block `at` of the track, or at the next block where it
 * fits.  The pages behind it reach the end of the track, so that the others continue at its
 * beginning without a gap.
 */
static void turn_to(const struct sp__place *p, struct sp__row *row, uint32_t at)
{
	uint32_t rest = row->blocks - row->places * p->page_blocks;
	uint32_t turn = at > rest ? (at - rest + p->page_blocks - 1) / p->page_blocks : 0;

	if (turn >= row->places)
		turn = at = 0;
	row->turn = (uint16_t)turn;
	row->start = turn ? turn * p->page_blocks + rest : at;
}

/* Rotates a row so that the hop from the row before on its drive is in time. */
static int turn(const struct sp__place *p, struct sp__row *row)
{
	unsigned step = p->opts.geometry->stripe_drives;
	const struct sp__row *before = row - step;
	uint64_t last = before->lbn + before->start + p->page_blocks - 1, adjacent;
	int rc = sp_geometry_adjacent(p->opts.geometry, last, step, p->opts.hops, 0, &adjacent);

	if (rc == 0)
		turn_to(p, row, (uint32_t)(adjacent - row->lbn));
	return rc;
}

/*
 * Rotates a row against the run's row in the previous band, since runs are also used singly: a sort
 * writes and a join reads them so.  A row suits that if the first of its band does, since all
 * follow along the path and each is used for the same part of a revolution.
 */
static void follow_on(const struct sp__place *p, const struct sp__row *from, struct sp__row *row)
{
	enum sp_geometry_op op =
		p->opts.hops == SP_GEOMETRY_READ ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;
	const struct sp__hops *hops;
	uint64_t last, step, adjacent;
	double need, more;

	if (!row->places || !from->places || row->number <= from->number)
		return;
	last = from->lbn + sp__row_at(p, from, from->places - 1u) + p->page_blocks - 1;
	step = row->number - from->number;
	if (sp__geometry_hops(p->opts.geometry, op, from->number, row->number, &hops) < 0 ||
	    sp__hops_need(hops, step, &need) < 0)
		return;
	more = need > hops->aim_deg ? need - hops->aim_deg : 0;
	if (sp_geometry_adjacent(p->opts.geometry, last, step, op, more, &adjacent) < 0)
		return;
	turn_to(p, row, (uint32_t)(adjacent - row->lbn));
}

/* True if both tracks are in one round of a serpentine; the next round is further than a hop. */
static bool same_round(const struct sp__place *p, uint64_t from, uint64_t to)
{
	const struct sp__hops *path, *hops;

	return sp__geometry_hops(p->opts.geometry, p->opts.hops, from, from, &path) ||
	       sp__geometry_hops(p->opts.geometry, p->opts.hops, from, to, &hops) || path == hops;
}

/* Adds the next track; -ERANGE: the path does not reach it from the one before on its drive. */
static int add_row(struct sp__place *p, const struct sp__band *b)
{
	struct sp__row *row = &p->rows[p->nrows];
	unsigned step = p->opts.geometry->stripe_drives;
	struct sp_track t;
	int rc;

	/* Spare tracks have no blocks. */
	do {
		rc = sp_geometry_track_number(p->opts.geometry, p->next_track++, &t);
	} while (!rc && !t.blocks);
	if (rc < 0)
		return rc == -ERANGE || rc == -ENODATA ? -ENOSPC : rc;
	p->next_track = t.number;
	*row = (struct sp__row){ .lbn = t.first,
				 .number = t.number,
				 .angle = t.angle_deg / 360,
				 .blocks = t.blocks,
				 .places = (uint16_t)places_on(p, t.blocks),
				 .band = p->nbands };
	if (b->rows >= step && row->places && (row - step)->places)
		rc = same_round(p, (row - step)->number, row->number) ? turn(p, row) : -ERANGE;
	if (rc < 0)
		return rc;
	p->nrows++;
	p->next_track++;
	return 0;
}

/*
 * Adds K tracks, or as many as can be reached, each from the one before: the arm might have to move
 * far after the end of a zone.
 */
static int add_rows(struct sp__place *p, struct sp__band *b, uint32_t before)
{
	unsigned stripe_drives = p->opts.geometry->stripe_drives;
	int rc = 0;

	while (rc == 0 && b->rows < p->band_rows) {
		rc = add_row(p, b);
		if (rc == 0 && before != NONE && p->band_rows > stripe_drives &&
		    b->rows < stripe_drives && b->rows < p->bands[before].rows)
			follow_on(p, &p->rows[p->bands[before].first_row + b->rows],
				  &p->rows[b->first_row + b->rows]);
		b->rows += rc == 0;
	}
	return rc;
}

/*
 * Returns an empty band to follow another of its group (NONE: the first): a reused one, or new
 * tracks.
 */
static int new_band(struct sp__place *p, uint32_t before, uint32_t *number)
{
	struct sp__band b = { .first_row = p->nrows, .next = NONE, .prev = NONE };
	int rc;

	if (p->free_band != NONE) {
		*number = p->free_band;
		p->free_band = p->bands[*number].next;
		p->bands[*number].next = p->bands[*number].prev = NONE;
		p->bands[*number].again = true;
		return 0;
	}
	if (!SP__ARRAY_GROW(p->bands, p->bands_cap, p->nbands + 1) ||
	    !SP__ARRAY_GROW(p->rows, p->rows_cap, (size_t)p->nrows + p->band_rows))
		return -ENOMEM;
	rc = add_rows(p, &b, before);
	/*
	 * A group on only the last tracks of a zone would waste the rest of its bands, and a band
	 * of fewer tracks than others would separate the runs of a group.
	 */
	if (rc == -ERANGE) {
		p->nrows = b.first_row;
		b.rows = 0;
		rc = add_rows(p, &b, before);
	}
	if (rc < 0 && !((rc == -ENOSPC || rc == -ERANGE) && b.rows))
		return rc;
	p->bands[p->nbands] = b;
	*number = p->nbands++;
	return 0;
}

/* Removes a band from its group: a run that is still being written must not continue in it. */
static void unlink_band(struct sp__place *p, const struct sp__band *b)
{
	if (b->prev != NONE)
		p->bands[b->prev].next = b->next;
	if (b->next != NONE)
		p->bands[b->next].prev = b->prev;
}

/* Frees an empty band of a full group for reuse. */
static void retire(struct sp__place *p, uint32_t number)
{
	struct sp__band *b = &p->bands[number];

	if (p->group_first == number)
		p->group_first = NONE;
	unlink_band(p, b);
	b->next = p->free_band;
	p->free_band = number;
}

/* Closes a full group: only now can bands that became empty before be freed. */
static void close_group(struct sp__place *p)
{
	uint32_t next;

	for (uint32_t number = p->group_first; number != NONE; number = next) {
		next = p->bands[number].next;
		if (!p->bands[number].live)
			retire(p, number);
	}
	p->group_first = NONE;
}

/* Finds the row in which a new run begins. */
static int take_seat(struct sp__place *p, uint32_t *row)
{
	int rc;

	if (p->group_first != NONE && p->seats == p->bands[p->group_first].rows)
		close_group(p);
	if (p->group_first == NONE) {
		rc = new_band(p, NONE, &p->group_first);
		if (rc < 0)
			return rc;
		p->bands[p->group_first].group = ++p->group;
		p->seats = 0;
	}
	*row = p->bands[p->group_first].first_row + p->seats++;
	return 0;
}

/* Finds the same row of the next band of the group. */
static int next_row(struct sp__place *p, uint32_t *row)
{
	uint32_t band = p->rows[*row].band, seat = *row - p->bands[band].first_row, next;
	int rc;

	do {
		next = p->bands[band].next;
		if (next == NONE) {
			rc = new_band(p, band, &next);
			if (rc < 0)
				return rc;
			p->bands[band].next = next;
			p->bands[next].prev = band;
			p->bands[next].group = p->bands[band].group;
		}
		band = next;
	} while (seat >= p->bands[band].rows);
	*row = p->bands[band].first_row + seat;
	return 0;
}

static void note_taken(struct sp__place *p, struct sp__band *b, uint32_t units)
{
	b->live += units;
	p->used += units;
	if (b->again)
		p->recycled += units;
}

int sp__place_take(struct sp__place *p, const struct sp__run *run, uint32_t want, uint64_t *unit)
{
	const struct sp__extent *last = run->nextents ? &run->extents[run->nextents - 1] : NULL;
	uint32_t row, place = 0, got;
	int rc = 0;

	if (last) {
		uint64_t at = last->unit + last->units - 1;

		row = (uint32_t)(at >> PLACE_BITS);
		place = (uint32_t)(at % PLACES_MAX) + 1;
	} else {
		rc = take_seat(p, &row);
	}
	while (rc == 0 && place >= p->rows[row].places) {
		place = 0;
		rc = next_row(p, &row);
	}
	if (rc < 0)
		return rc;
	got = p->rows[row].places - place;
	if (got > p->rows[row].turn)
		got -= p->rows[row].turn;
	got = sp__min(got, want);
	note_taken(p, &p->bands[p->rows[row].band], got);
	*unit = (uint64_t)row << PLACE_BITS | place;
	return (int)got;
}

void sp__place_give(struct sp__place *p, uint64_t unit)
{
	uint32_t number = p->rows[unit >> PLACE_BITS].band;
	struct sp__band *b = &p->bands[number];
	bool open = b->group == p->group && p->group_first != NONE &&
		    p->seats < p->bands[p->group_first].rows;

	p->used--;
	if (--b->live == 0 && !open)
		retire(p, number);
}

uint64_t sp__place_offset(const struct sp__place *p, uint64_t unit)
{
	const struct sp__row *row = &p->rows[unit >> PLACE_BITS];
	uint64_t lbn = row->lbn + sp__row_at(p, row, (uint32_t)(unit % PLACES_MAX));

	return (lbn - p->opts.base_lbn) * p->block_bytes;
}

uint64_t sp__place_used(const struct sp__place *p)
{
	return p->used;
}

uint64_t sp__place_recycled(const struct sp__place *p)
{
	return p->recycled;
}
