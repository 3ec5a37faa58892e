/* SPDX-License-Identifier: MIT */
/*
 * Places of lanes, of random sizes: each cell of each page has a place of its own, which is found
 * again; runs are consecutive; on a sled all cells of a page are at one location, by a count of
 * sweeps and rows of its own; and what is written is read, unless it contradicts itself.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "place/lanemap.h"
#include "tap.h"

#define CASES 150

/* Returns the cell of a page in a lane. */
static uint64_t cell_of(const struct sp__lanemap *m, uint64_t page, uint32_t lane)
{
	uint64_t cell;

	(void)sp__lanemap_run(m, page, lane, 1, &cell);
	return cell;
}

/* True if the run of a page is what its pages have one by one. */
static bool run_right(const struct sp__lanemap *m, uint64_t page, uint32_t lane)
{
	uint64_t cell, n = sp__lanemap_run(m, page, lane, sp__lanemap_pages(m) - page, &cell);

	for (uint64_t i = 0; i < n; i++)
		if (cell_of(m, page + i, lane) != cell + i)
			return false;
	return n > 0;
}

/* True if the places of all cells differ, and are the only ones that are found. */
static bool bijective(const struct sp__lanemap *m)
{
	const uint64_t pages = sp__lanemap_pages(m), cells = m->volumes * m->volume_cells;
	uint8_t *marks = calloc(cells, 1);
	uint64_t found = 0, page;
	uint32_t lane;
	bool right = marks;

	for (uint64_t p = 0; right && p < pages; p++)
		for (uint32_t l = 0; right && l < m->lanes; l++) {
			uint64_t cell = cell_of(m, p, l);

			right = cell < cells && !marks[cell]++ &&
				sp__lanemap_find(m, cell, &page, &lane) && page == p && lane == l &&
				run_right(m, p, l);
		}
	for (uint64_t c = 0; right && c < cells; c++)
		found += sp__lanemap_find(m, c, &page, &lane);
	free(marks);
	return right && found == pages * m->lanes;
}

/* Returns cylinder * rows + row of a cell, counted as the blocks of the device are numbered. */
static uint64_t location_of(const struct sp__mems *k, uint64_t cell)
{
	uint64_t row = cell / k->active, sweep = row / k->rows;

	row %= k->rows;
	return sweep / k->sweeps * k->rows + (sweep % 2 ? k->rows - 1 - row : row);
}

/* True if each page is at one location, as full as it can be, next to the one before. */
static bool at_locations(const struct sp__lanemap *m)
{
	const uint64_t fit = m->sled.active * m->sled.sweeps / m->lanes;
	uint64_t before = 0;

	for (size_t i = 0; i < m->n; i++)
		for (uint64_t x = 0; x < m->parts[i].pages; x++) {
			uint64_t page = m->parts[i].first_page + x;
			uint64_t at = location_of(&m->sled, cell_of(m, page, 0));

			for (uint32_t l = 1; l < m->lanes; l++)
				if (location_of(&m->sled, cell_of(m, page, l)) != at)
					return false;
			if (x % fit ? at != before
				    : x && at != before + 1 && before != at + 1 &&
					      at != before + m->sled.rows)
				return false;
			before = at;
		}
	return true;
}

static void code(struct sp__coder *c, struct sp__lanemap *m, enum sp_placement placement)
{
	sp__lanemap_code(c, m, placement);
	sp__lanemap_code_parts(c, m);
}

/* Returns 0 if the map is read as it was written; changes it to what was read. */
static int again(struct sp__lanemap *m)
{
	const enum sp_placement placement = sp__lanemap_info(m).placement;
	struct sp__lanemap copy = { 0 };
	struct sp__coder w = { 0 }, r, w2 = { 0 };
	int rc;

	code(&w, m, placement);
	r = sp__coder_reader(w.data, w.at);
	code(&r, &copy, placement);
	rc = sp__coder_end(&w) || sp__coder_end(&r);
	if (!rc) {
		code(&w2, &copy, placement);
		rc = w2.at != w.at || memcmp(w2.data, w.data, w.at);
	}
	free(w.data);
	free(w2.data);
	sp__lanemap_free(m);
	*m = copy;
	return rc;
}

/* Adds random parts and removes the end. */
static bool grow(struct sp__lanemap *m, struct sp__rng *rng)
{
	uint64_t end = sp__rng_below(rng, m->volume_cells / 4), keep;

	for (int i = 0; i < 3; i++) {
		uint64_t want = 1 + sp__rng_below(rng, m->volume_cells / m->lanes / 4 + 1);
		uint64_t had = sp__lanemap_pages(m);
		const struct sp__lanepart *p;
		int rc = sp__lanemap_extend(m, want, end);

		if (rc)
			return rc == -ENOSPC;
		p = &m->parts[m->n - 1];
		if (p->first_page != had || p->first_cell < end ||
		    p->first_cell + p->cells > m->volume_cells)
			return false;
		end = p->first_cell + p->cells + sp__rng_below(rng, 3);
	}
	keep = sp__rng_below(rng, sp__lanemap_pages(m)) + 1;
	return !sp__lanemap_shorten(m, keep) && sp__lanemap_pages(m) >= keep &&
	       sp__lanemap_pages(m) - keep < m->parts[m->n - 1].unit_pages;
}

/* Makes a sled of random sizes. */
static struct sp__lanemap random_sled(struct sp__rng *rng)
{
	struct sp__lanemap m = { .volumes = 1, .cell_blocks = 1, .block_bytes = 512 }, read = { 0 };
	struct sp__mems *k = &m.sled;
	struct sp__coder w = { 0 }, r;

	k->active = 1 + (uint32_t)sp__rng_below(rng, 9);
	k->rows = 1 + (uint32_t)sp__rng_below(rng, 7);
	k->sweeps = 1 + (uint32_t)sp__rng_below(rng, 6);
	m.lanes = 1 + (uint32_t)sp__rng_below(rng, k->active * k->sweeps);
	m.volume_cells = (uint64_t)k->active * k->rows * k->sweeps * (4 + sp__rng_below(rng, 30));
	sp__lanemap_code(&w, &m, SP_PLACE_MEMS);
	r = sp__coder_reader(w.data, w.at);
	sp__lanemap_code(&r, &read, SP_PLACE_MEMS);
	if (sp__coder_end(&w) || sp__coder_end(&r))
		read.lanes = 0;
	free(w.data);
	return read;
}

static void test_sleds(void)
{
	struct sp__rng rng = { .state = 4 };
	int bad = 0, cases = 0;

	for (; cases < CASES; cases++) {
		struct sp__lanemap m = random_sled(&rng);

		bad += !m.lanes || !grow(&m, &rng) || again(&m) || !bijective(&m) ||
		       !at_locations(&m);
		sp__lanemap_free(&m);
	}
	ok(!bad, "%d random sleds: places are bijective, and pages at one location", cases);
}

static void test_tracks(void)
{
	const struct sp_run_opts run = { .volume = "sim:tiny" };
	struct sp__rng rng = { .state = 5 };
	int bad = 0;

	for (int i = 0; i < 12; i++) {
		const struct sp__lanemap_opts o = {
			.run = &run,
			.path = "t",
			.placement = SP_PLACE_SEMISEQ,
			.volumes = 1 + (unsigned)sp__rng_below(&rng, 4),
			.lanes = 1 + (uint32_t)sp__rng_below(&rng, 12),
			.cell_bytes = 512 << sp__rng_below(&rng, 2),
		};
		struct sp_errinfo err = SP_ERRINFO_INIT;
		struct sp__lanemap m;

		bad += sp__lanemap_plan(&m, &o, &err) || !grow(&m, &rng) || again(&m) ||
		       !bijective(&m);
		sp__lanemap_free(&m);
	}
	ok(!bad, "12 placements along tracks: places are bijective");
}

/* A sled whose member at this offset of what is written has another value is refused. */
static void test_contradiction(const char *name, size_t member, uint64_t value)
{
	struct sp__lanemap m = { .volumes = 1,
				 .lanes = 16,
				 .cell_blocks = 1,
				 .block_bytes = 512,
				 .volume_cells = 6480000 },
			   read = { 0 };
	struct sp__coder w = { 0 }, r;

	m.sled = (struct sp__mems){ .active = 16, .rows = 27, .sweeps = 6 };
	sp__lanemap_code(&w, &m, SP_PLACE_MEMS);
	for (size_t i = 0; member < w.at / 8 && i < 8; i++)
		w.data[member * 8 + i] = (uint8_t)(value >> 8 * i);
	r = sp__coder_reader(w.data, w.at);
	sp__lanemap_code(&r, &read, SP_PLACE_MEMS);
	ok(sp__coder_end(&r) == (member < w.at / 8 ? SP_ECORRUPT : 0), "%s", name);
	free(w.data);
	sp__lanemap_free(&read);
}

int main(void)
{
	test_sleds();
	test_tracks();
	test_contradiction("the sled of mems-thesis is read", 99, 0);
	test_contradiction("two volumes are refused", 0, 2);
	test_contradiction("no lanes are refused", 1, 0);
	test_contradiction("more lanes than a location has cells are refused", 1, 97);
	test_contradiction("cells that are not whole cylinders are refused", 4, 6480001);
	test_contradiction("a volume without cells is refused", 4, 0);
	test_contradiction("no active groups are refused", 5, 0);
	test_contradiction("no rows are refused", 6, 0);
	test_contradiction("no sweeps are refused", 7, 0);
	test_contradiction("too many sweeps are refused", 7, 5000);
	return done();
}
