/* SPDX-License-Identifier: MIT */
/*
 * Cells, the map and the superblock of a table: the bytes of known cells, random changes of a map
 * against an array of all cells, and superblocks of which each byte is changed.
 */
#include <string.h>
#include "base/hash.h"
#include "base/rng.h"
#include "table/file/cell.h"
#include "table/file/superblock.h"
#include "tap.h"

#define ID UINT64_C(0x0706050403020100)

static bool seals(uint32_t cell_bytes, uint64_t number, const char *trailer)
{
	static const uint8_t values[12] = { 1, 0, 0, 0, 2, 0, 0, 0, 3 };
	uint8_t cell[4096] = { 0 };

	memcpy(cell, values, sizeof(values));
	sp__cell_seal(cell, cell_bytes, 3, SP__CELL_VALUES, ID, number);
	return !memcmp(cell + cell_bytes - 8, trailer, 8) &&
	       sp__cell_records(cell, cell_bytes) == 3;
}

static void check_cells(void)
{
	uint8_t cell[512] = { 1, 2, 3 }, zero[512] = { 0 };
	unsigned found = 0;
	uint64_t number = 0;

	ok(seals(512, 20, "\x03\0\x01\0\xc8\x0a\x54\x8e"), "cell 20 of 512 bytes has known bytes");
	ok(seals(512, 21, "\x03\0\x01\0\x6d\x8b\x48\xa7"), "cell 21, too");
	ok(seals(4096, 20, "\x03\0\x01\0\x5b\xce\x5f\xe8"), "and cell 20 of 4096 bytes");
	sp__cell_seal(cell, 512, 3, SP__CELL_TEXT, ID, 7);
	for (unsigned bit = 0; bit < 512 * 8; bit++) {
		cell[bit / 8] ^= (uint8_t)(1u << bit % 8);
		found += sp__cell_check(cell, 512, 3, SP__CELL_TEXT, ID, 7) == SP__CELL_DAMAGED;
		cell[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ok(found == 512 * 8, "each flipped bit is found");
	ok(sp__cell_check(cell, 512, 3, SP__CELL_TEXT, ID, 7) == SP__CELL_SOUND &&
		   sp__cell_check(cell, 512, 3, SP__CELL_MAP, ID, 7) == SP__CELL_KIND &&
		   sp__cell_check(cell, 512, 4, SP__CELL_TEXT, ID, 7) == SP__CELL_RECORDS &&
		   sp__cell_check(zero, 512, 0, SP__CELL_TEXT, ID, 7) == SP__CELL_UNWRITTEN,
	   "another kind, another number of records and an empty cell are reported");
	ok(sp__cell_check(cell, 512, 3, SP__CELL_TEXT, ID, 8) == SP__CELL_DAMAGED &&
		   sp__cell_check(cell, 512, 3, SP__CELL_TEXT, ID + 1, 7) == SP__CELL_DAMAGED,
	   "a cell at the wrong place, or of another table, does not count");
	ok(sp__cell_find(cell, 512, ID, 100, &number) && number == 7 &&
		   !sp__cell_find(cell, 512, ID, 7, &number),
	   "the place of a misplaced cell is found");
}

#define CELLS 2000

/* The area of each cell; SP__AREAS: in none, UINT8_MAX: behind the end. */
struct model {
	uint8_t area[CELLS];
	uint64_t data[CELLS]; /* cells of the data area, in order */
	uint64_t ndata;
};

static bool same_map(const struct sp__table_map *m, const struct model *o)
{
	uint64_t n[SP__AREA_LISTS] = { 0 };

	for (uint64_t i = 0; i < o->ndata; i++)
		if (sp__map_cell(m, SP__AREA_DATA, i) != o->data[i])
			return false;
	for (uint64_t c = 0; c < CELLS; c++) {
		enum sp__table_area area = SP__AREAS;
		uint64_t number = 0;

		if (o->area[c] < SP__AREAS) {
			if (!sp__map_find(m, c, &area, &number) || area != o->area[c] ||
			    sp__map_cell(m, area, number) != c)
				return false;
			n[area]++;
		} else if (sp__map_find(m, c, &area, &number)) {
			return false;
		}
	}
	for (unsigned a = 0; a < SP__AREAS; a++)
		if (n[a] != m->lists[a].cells)
			return false;
	return n[SP__AREA_DATA] == o->ndata;
}

/* Takes cells for an area, or releases a text. */
static bool step(struct sp__table_map *m, struct model *o, struct sp__rng *rng)
{
	uint64_t cells = 1 + sp__rng_below(rng, 9), first = 0, c;
	uint8_t area = (uint8_t)sp__rng_below(rng, SP__AREA_FREE);
	bool right = true;

	if (sp__rng_below(rng, 3)) {
		right = !sp__map_take(m, cells, &first) && first + cells <= CELLS &&
			!sp__map_add(m, (enum sp__table_area)area, first, cells);
		for (c = first; right && c < first + cells; c++) {
			right = o->area[c] == UINT8_MAX || o->area[c] == SP__AREA_FREE;
			o->area[c] = area;
			if (area == SP__AREA_DATA)
				o->data[o->ndata++] = c;
		}
		return right;
	}
	for (first = sp__rng_below(rng, CELLS); first < CELLS && o->area[first] != SP__AREA_TEXT;)
		first++;
	for (c = first; c < CELLS && c < first + cells && o->area[c] == SP__AREA_TEXT; c++)
		o->area[c] = SP__AREAS;
	return !sp__map_release_text(m, first, c - first);
}

/* What was released becomes free, and free cells at the end are not in the file. */
static bool settle(struct sp__table_map *m, struct model *o)
{
	for (uint64_t c = 0; c < m->end; c++)
		if (o->area[c] == SP__AREAS)
			o->area[c] = SP__AREA_FREE;
	if (sp__map_settle(m))
		return false;
	sp__map_trim(m, 0);
	for (uint64_t c = m->end; c < CELLS; c++)
		o->area[c] = UINT8_MAX;
	return m->end <= 2 || o->area[m->end - 1] != SP__AREA_FREE;
}

/* The map is the same after it was written and read. */
static bool round_trip(struct sp__table_map *m, const struct model *o)
{
	struct sp__coder w = { 0 }, r;
	struct sp__table_map again = { .end = m->end };
	bool right;

	sp__map_code(&w, m);
	right = !sp__coder_end(&w) && w.at <= sp__map_bytes(m, 0);
	r = sp__coder_reader(w.data, w.at);
	sp__map_code(&r, &again);
	right = right && !sp__coder_end(&r) && same_map(&again, o) &&
		sp__map_possible(&again, 2, NULL, 0) == 1;
	if (right && again.lists[SP__AREA_DATA].n) {
		again.lists[SP__AREA_DATA].extents[0].first++;
		right = sp__map_possible(&again, 2, NULL, 0) == 0;
	}
	sp__map_free(&again);
	free(w.data);
	return right;
}

static bool random_map(struct sp__rng *rng)
{
	struct sp__table_map m = { .end = 2 };
	struct model *o = calloc(1, sizeof(*o));
	bool right = o;

	if (!o)
		return false;
	memset(o->area, UINT8_MAX, sizeof(o->area));
	for (unsigned i = 0; right && i < 100; i++) {
		right = step(&m, o, rng);
		if (right && !sp__rng_below(rng, 10))
			right = settle(&m, o) && same_map(&m, o) && round_trip(&m, o);
	}
	sp__map_free(&m);
	free(o);
	return right;
}

static struct sp__table_superblock example(struct sp__rng *rng, uint32_t ncolumns)
{
	struct sp__table_superblock s = { .id = sp__rng_next(rng),
					  .records = sp__rng_below(rng, 1000000),
					  .deleted = 0,
					  .end = 1000 + sp__rng_below(rng, 1000),
					  .schema = { 600, 20, 300 },
					  .map = { 700, 30, 400 },
					  .ncolumns = ncolumns };

	s.slots.number = 3;
	s.layout.cell_bytes = 512u << sp__rng_below(rng, 8);
	s.layout.page_records = 1 + (uint32_t)sp__rng_below(rng, 5000);
	s.layout.strip_max = 256;
	s.layout.groups = calloc(ncolumns, sizeof(*s.layout.groups));
	s.changed = calloc(ncolumns, sizeof(*s.changed));
	s.volume = sp__rng_below(rng, 2) ? strdup("sim:flash") : NULL;
	s.no_data = s.volume && sp__rng_below(rng, 2);
	s.arrow = sp__rng_below(rng, 2);
	if (!s.layout.groups || !s.changed)
		abort();
	for (uint32_t i = 0; i < ncolumns; i++) {
		struct sp__column_group *g = &s.layout.groups[s.layout.ngroups++];

		g->columns = calloc(1, sizeof(*g->columns));
		if (!g->columns)
			abort();
		g->columns[g->ncolumns++] = i;
		s.changed[i] = sp__rng_below(rng, 4);
	}
	return s;
}

static bool same_superblock(const struct sp__table_superblock *a,
			    const struct sp__table_superblock *b)
{
	size_t n = 0, m = 0;
	uint8_t *x = sp__table_superblock_encode(a, &n), *y = sp__table_superblock_encode(b, &m);
	bool same = x && y && n == m && !memcmp(x, y, n);

	free(x);
	free(y);
	return same && a->id == b->id && a->records == b->records && a->no_data == b->no_data &&
	       a->arrow == b->arrow &&
	       !strcmp(a->volume ? a->volume : "", b->volume ? b->volume : "");
}

static bool superblock_round_trip(struct sp__rng *rng, uint32_t ncolumns)
{
	struct sp__table_superblock s = example(rng, ncolumns), again;
	size_t bytes = 0;
	const char *reason = NULL;
	bool right = !sp__table_superblock_size(&s);
	uint8_t *data = sp__table_superblock_encode(&s, &bytes);

	right = right && data && bytes <= s.slots.slot_bytes &&
		!sp__table_superblock_decode(&again, data, bytes, &reason) &&
		same_superblock(&s, &again);
	if (right)
		sp__table_superblock_free(&again);
	free(data);
	sp__table_superblock_free(&s);
	return right;
}

/* Counts changed bytes that are refused, or change no member. */
static unsigned refused(uint8_t *data, size_t bytes, size_t length)
{
	struct sp__table_superblock s;
	const char *reason = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < length; i++) {
		data[i] ^= 0x20;
		if (sp__table_superblock_decode(&s, data, bytes, &reason))
			n += reason != NULL;
		else
			sp__table_superblock_free(&s);
		data[i] ^= 0x20;
	}
	return n;
}

/* Sets a number of the payload, and the checksum; returns the error and its reason. */
static int refuse_member(struct sp__table_superblock *s, size_t at, uint64_t v, const char **reason)
{
	size_t bytes = 0;
	uint8_t *data = sp__table_superblock_encode(s, &bytes);
	struct sp__table_superblock again;
	uint32_t length = data[28] | (uint32_t)data[29] << 8;
	uint64_t sum;
	int rc;

	for (unsigned i = 0; i < 8; i++)
		data[at + i] = (uint8_t)(v >> 8 * i);
	sum = sp__checksum(data + 32, length);
	for (unsigned i = 0; i < 8; i++)
		data[16 + i] = (uint8_t)(sum >> 8 * i);
	rc = sp__table_superblock_decode(&again, data, bytes, reason);
	if (!rc)
		sp__table_superblock_free(&again);
	free(data);
	return rc;
}

static void check_superblocks(struct sp__rng *rng)
{
	struct sp__table_superblock s = example(rng, 15);
	size_t bytes = 0;
	uint8_t *data =
		sp__table_superblock_size(&s) ? NULL : sp__table_superblock_encode(&s, &bytes);
	uint32_t length = data ? 32 + (data[28] | (uint32_t)data[29] << 8) : 0;
	const char *reason = NULL;
	unsigned right = 0;

	for (unsigned i = 0; i < 100; i++)
		right += superblock_round_trip(rng, 1 + (uint32_t)sp__rng_below(rng, 20));
	ok(right == 100 && superblock_round_trip(rng, 300),
	   "random superblocks are read as written, of 300 columns, too");
	/* The bytes of a slot are no member: the file says where the second one is. */
	ok(data && refused(data, bytes, length) >= length - 4, "each changed byte is found");
	ok(refuse_member(&s, 40, UINT64_C(1) << 63, &reason) == SP_EFORMAT &&
		   strstr(reason, "does not know"),
	   "an unknown flag is refused: %s", reason);
	free(s.volume);
	s.volume = NULL;
	ok(refuse_member(&s, 40, 1, &reason) == SP_ECORRUPT,
	   "a table without data has a simulated volume");
	ok(refuse_member(&s, 8, 2, &reason) == SP_EFORMAT && strstr(reason, "another version"),
	   "another version is refused: %s", reason);
	ok(refuse_member(&s, 64, 1000, &reason) == SP_ECORRUPT, "a cell of 1000 bytes is refused");
	ok(refuse_member(&s, 72, 0, &reason) == SP_ECORRUPT, "an A-page has records");
	free(data);
	sp__table_superblock_free(&s);
}

int main(void)
{
	struct sp__rng rng = { 341 };
	unsigned right = 0;

	check_cells();
	for (unsigned i = 0; i < 200; i++)
		right += random_map(&rng);
	ok(right == 200, "200 random maps are as an array of their cells says (%u)", right);
	check_superblocks(&rng);
	return done();
}
