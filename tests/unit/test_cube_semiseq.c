/* SPDX-License-Identifier: MIT */
/*
 * Pages of lanes along tracks: figure 4.4 of the thesis cell by cell, and random placements, whose
 * cells are all different, on the tracks and at the angles that the formula says, and found again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "place/lanemap.h"
#include "place/mapping.h"
#include "tap.h"

/* A drive with one zone; blocks of a track that begins `skew` blocks later than the one before. */
struct drive {
	uint32_t track_blocks, aim_blocks, skew;
	uint64_t tracks;
};

/* Makes a placement as it is read from a file. */
static bool make(struct sp__lanemap *s, const struct drive *d, unsigned volumes, uint32_t depth,
		 uint32_t lanes, uint32_t cell_blocks)
{
	struct sp__cubetrack pattern = { 0 };
	struct sp__cubezone zone = { .tracks = d->tracks,
				     .track_blocks = d->track_blocks,
				     .min_blocks = d->track_blocks,
				     .need_blocks = d->aim_blocks,
				     .aim_blocks = d->aim_blocks,
				     .skew_den = d->track_blocks,
				     .npattern = 1,
				     .pattern_blocks = d->track_blocks,
				     .pattern_skew = d->skew,
				     .pattern = &pattern };
	struct sp__mapping like = { .multimap = { .zones = &zone, .nzones = 1 } };
	struct sp__lanemap written = { .volumes = volumes,
				       .depth = depth,
				       .lanes = lanes,
				       .cell_blocks = cell_blocks,
				       .block_bytes = 512,
				       .volume_cells = d->tracks * d->track_blocks / cell_blocks,
				       .like = &like };
	struct sp__coder c = { 0 }, in;
	bool made;

	sp__lanemap_code(&c, &written, SP_PLACE_SEMISEQ);
	in = sp__coder_reader(c.data, c.at);
	*s = (struct sp__lanemap){ 0 };
	sp__lanemap_code(&in, s, SP_PLACE_SEMISEQ);
	made = !sp__coder_end(&c) && !sp__coder_end(&in);
	free(c.data);
	return made;
}

/* Drive, track and sector of a cell in figure 4.4: T = 4, d = 4, p = 4, 12 lanes, hops of 1. */
static uint64_t figure(uint64_t page, uint32_t lane)
{
	uint64_t column = page / 4, q = lane / 4, r = lane % 4;

	return (column + q) % 4 * 48 + (q * 4 + r) * 4 + (page % 4 + r) % 4;
}

static void test_figure(void)
{
	const struct drive d = { .track_blocks = 4, .tracks = 12 };
	struct sp__lanemap s;
	unsigned right = 0, quarter = 0;

	ok(make(&s, &d, 4, 4, 12, 1) && !sp__lanemap_extend(&s, 16, 0) &&
		   sp__lanemap_pages(&s) == 16,
	   "figure 4.4: 16 pages on 12 tracks of each of 4 drives");
	for (uint64_t page = 0; page < 16; page++)
		for (uint32_t lane = 0; lane < 12; lane++) {
			uint64_t cell;

			(void)sp__lanemap_run(&s, page, lane, 1, &cell);
			right += cell == figure(page, lane);
			/* A1 is blocks 0 to 15 of the volume: a track of each drive. */
			quarter += !lane && cell / 48 == page / 4 && cell % 48 == page % 4;
		}
	ok(right == 192, "figure 4.4: the place of each of its 192 cells");
	ok(quarter == 16, "figure 4.4: the first lane is the first track of each drive");
	ok(sp__lanemap_waste(&s) == 0 && sp__lanemap_extend(&s, 1, 12) == -ENOSPC,
	   "figure 4.4: no cell is left");
	sp__lanemap_free(&s);
}

/* What a random placement must keep. */
struct trial {
	struct drive d;
	struct sp__lanemap s;
	uint64_t pages;
	uint8_t *seen; /* of each cell */
};

/* True if cell n of a lane is where its hops and its part say: on the right track and angle. */
static bool is_placed(const struct trial *t, const struct sp__lanepart *p, uint64_t x,
		      uint32_t lane, uint64_t cell)
{
	const struct sp__lanemap *s = &t->s;
	const uint64_t T = p->mapping->basic.k[0], column = x / T, q = lane / s->depth;
	const uint64_t bands = (s->lanes + s->depth - 1) / s->depth;
	const uint64_t block = cell % s->volume_cells * s->cell_blocks;
	const uint64_t track = block / t->d.track_blocks;
	const uint64_t first = p->first_cell * s->cell_blocks / t->d.track_blocks;

	return cell / s->volume_cells == (column + q) % s->volumes &&
	       track == first + (column / s->volumes * bands + q) * s->depth + lane % s->depth;
}

/* Follows a run: its cells are consecutive, of this lane, and of no other page. */
static uint64_t follow(struct trial *t, const struct sp__lanepart *p, uint64_t page, uint32_t lane)
{
	struct sp__lanemap *s = &t->s;
	uint64_t cell, found, n = sp__lanemap_run(s, page, lane, UINT64_MAX, &cell);
	uint32_t found_lane;

	for (uint64_t i = 0; i < n; i++)
		if (page + i >= p->first_page + p->pages || t->seen[cell + i]++ ||
		    !is_placed(t, p, page + i - p->first_page, lane, cell + i) ||
		    !sp__lanemap_find(s, cell + i, &found, &found_lane) || found != page + i ||
		    found_lane != lane)
			return 0;
	return n;
}

/* A run of a lane and the run after it are one track, in at most two pieces. */
static bool follow_part(struct trial *t, const struct sp__lanepart *p)
{
	const uint64_t end = p->first_page + p->pages, T = p->mapping->basic.k[0];

	for (uint32_t lane = 0; lane < t->s.lanes; lane++)
		for (uint64_t page = p->first_page, column; page < end; page = column + T) {
			uint64_t n = follow(t, p, page, lane);

			column = page;
			if (n && n < T)
				n += follow(t, p, page + n, lane);
			if (n != T)
				return false;
		}
	return true;
}

/* The cells of a page in a chain of `depth` lanes are a hop apart. */
static bool hops(const struct trial *t)
{
	const struct sp__lanemap *s = &t->s;
	const struct sp__lanemap_info info = sp__lanemap_info(s);
	const uint32_t track = info.track_blocks, hop = info.hop_blocks;

	for (uint32_t lane = 1; lane < s->lanes; lane++) {
		uint64_t a, b, angle;

		if (lane % s->depth == 0)
			continue;
		(void)sp__lanemap_run(s, 0, lane - 1, 1, &a);
		(void)sp__lanemap_run(s, 0, lane, 1, &b);
		a = a % s->volume_cells * s->cell_blocks;
		b = b % s->volume_cells * s->cell_blocks;
		angle = (b / track * t->d.skew + b % track + track -
			 (a / track * t->d.skew + a % track) % track) %
			track;
		/*
		 * From the end of a cell to the start of the next one: at least the aim.  Cells are
		 * late by up to their own blocks, and those that are left over at both ends of a
		 * track.
		 */
		if ((angle + track - s->cell_blocks % track) % track < t->d.aim_blocks ||
		    angle > hop + 3 * s->cell_blocks)
			return false;
	}
	return true;
}

static bool trial(struct sp__rng *rng)
{
	struct trial t = { .d = { .track_blocks = 20 + (uint32_t)sp__rng_below(rng, 60),
				  .tracks = 2000 } };
	const uint32_t cell_blocks = 1u << sp__rng_below(rng, 3);
	const uint32_t lanes = 1 + (uint32_t)sp__rng_below(rng, 20);
	struct sp__coder c = { 0 }, in;
	struct sp__lanemap copy = { 0 };
	uint64_t at = sp__rng_below(rng, 100), pages;
	bool good;

	t.d.skew = (uint32_t)sp__rng_below(rng, t.d.track_blocks);
	t.d.aim_blocks = (uint32_t)sp__rng_below(rng, 6);
	good = make(&t.s, &t.d, 1 + (unsigned)sp__rng_below(rng, 5),
		    1 + (uint32_t)sp__rng_below(rng, lanes < 3 ? lanes : 3), lanes, cell_blocks);
	t.seen = calloc(t.s.volumes, t.s.volume_cells + 1);
	for (unsigned i = 0; good && i < 3; i++) {
		good = !sp__lanemap_extend(&t.s, 1 + sp__rng_below(rng, 300), at) &&
		       t.s.parts[i].first_cell >= at;
		at = good ? t.s.parts[i].first_cell + t.s.parts[i].cells + sp__rng_below(rng, 30)
			  : at;
	}
	/* The last part gets shorter, but keeps its pages. */
	pages = good ? t.s.parts[2].first_page + 1 + sp__rng_below(rng, t.s.parts[2].pages) : 0;
	good = good && !sp__lanemap_shorten(&t.s, pages) && sp__lanemap_pages(&t.s) >= pages;
	for (unsigned i = 0; good && i < t.s.n; i++)
		good = follow_part(&t, &t.s.parts[i]);
	good = good && hops(&t);
	/* Written and read, it is the same. */
	sp__lanemap_code(&c, &t.s, SP_PLACE_SEMISEQ);
	sp__lanemap_code_parts(&c, &t.s);
	in = sp__coder_reader(c.data, c.at);
	sp__lanemap_code(&in, &copy, SP_PLACE_SEMISEQ);
	sp__lanemap_code_parts(&in, &copy);
	good = good && !sp__coder_end(&in) && copy.n == t.s.n &&
	       sp__lanemap_pages(&copy) == sp__lanemap_pages(&t.s);
	for (uint32_t lane = 0; good && lane < lanes; lane++) {
		uint64_t a, b, page = sp__rng_below(rng, pages);

		(void)sp__lanemap_run(&t.s, page, lane, 1, &a);
		(void)sp__lanemap_run(&copy, page, lane, 1, &b);
		good = a == b;
	}
	free(c.data);
	free(t.seen);
	sp__lanemap_free(&copy);
	sp__lanemap_free(&t.s);
	return good;
}

/* Damaged bytes are refused, or give a placement whose cells are within its drives. */
static void test_damage(void)
{
	const struct drive d = { .track_blocks = 40, .tracks = 500, .aim_blocks = 3, .skew = 7 };
	struct sp__rng rng = { 7 };
	struct sp__coder c = { 0 };
	struct sp__lanemap s;
	unsigned wrong = 0, refused = 0;

	ok(make(&s, &d, 3, 2, 7, 1) && !sp__lanemap_extend(&s, 200, 10),
	   "a placement of 200 pages");
	sp__lanemap_code(&c, &s, SP_PLACE_SEMISEQ);
	sp__lanemap_code_parts(&c, &s);
	for (unsigned i = 0; i < 3000; i++) {
		size_t at = sp__rng_below(&rng, c.at);
		const uint8_t old = c.data[at];
		struct sp__coder in = sp__coder_reader(c.data, c.at);
		struct sp__lanemap copy = { 0 };

		c.data[at] = (uint8_t)(old ^ (1 + sp__rng_below(&rng, 255)));
		sp__lanemap_code(&in, &copy, SP_PLACE_SEMISEQ);
		if (!in.failed)
			sp__lanemap_code_parts(&in, &copy);
		refused += sp__coder_end(&in) != 0;
		for (size_t k = 0; !sp__coder_end(&in) && k < copy.n; k++)
			wrong += copy.parts[k].cells > copy.volume_cells ||
				 copy.parts[k].first_cell > copy.volume_cells - copy.parts[k].cells;
		sp__lanemap_free(&copy);
		c.data[at] = old;
	}
	ok(!wrong && refused > 100, "damaged bytes: %u refused, none outside of its drives",
	   refused);
	free(c.data);
	sp__lanemap_free(&s);
}

int main(void)
{
	struct sp__rng rng = { 35 };
	unsigned good = 0;

	test_figure();
	for (unsigned i = 0; i < 400; i++)
		good += trial(&rng);
	ok(good == 400, "random placements are bijective, in place, and a hop apart: %u of 400",
	   good);
	test_damage();
	return done();
}
