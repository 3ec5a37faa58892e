/* SPDX-License-Identifier: MIT */
/*
 * Writing tables: random tables in random layouts, read back by the arithmetic of the layout; texts
 * with little and much memory; bounds against a loop of comparisons.
 */
#define TAP_THREADS
#include <unistd.h>
#include "randomtable.h"
#include "tap.h"

static void read_cell(const struct table *t, uint64_t number, uint8_t *cell)
{
	if (pread(t->file.cells.first.fd, cell, t->file.layout.cell_bytes,
		  (off_t)(number * t->file.layout.cell_bytes)) !=
	    (ssize_t)t->file.layout.cell_bytes)
		memset(cell, 0, t->file.layout.cell_bytes);
}

/* Returns the number of values that are not what was put; text columns are not read. */
static uint64_t wrong_values(const struct table *t)
{
	static uint8_t cell[SP__TABLE_CELL_MAX];
	const struct sp__table_layout *l = &t->file.layout;
	uint64_t wrong = 0, present = UINT64_MAX;
	uint8_t want[64];

	for (uint32_t c = 0; c < t->file.schema.n; c++) {
		const struct sp__column_place *p = &l->places[c];
		const struct sp__value_type *type = &t->file.schema.columns[c].type;
		uint32_t n = l->groups[p->group].cell_records;

		for (uint64_t r = 0; r < t->records; r++) {
			uint64_t page = r / l->page_records, in_page = r % l->page_records;
			struct sp__layout_position at = { page, p->group, (uint32_t)(in_page / n) };
			uint64_t number = sp__map_cell(&t->file.map, SP__AREA_DATA,
						       sp__layout_cell(l, page, p->group, at.j));

			if (number != present) {
				read_cell(t, number, cell);
				wrong += sp__cell_check(cell, l->cell_bytes,
							sp__layout_cell_records(l, t->records, &at),
							SP__CELL_VALUES, t->file.superblock.id,
							number) != SP__CELL_SOUND;
			}
			present = number;
			if (type->kind == 't')
				continue;
			value_of(type, r, c, want);
			wrong += memcmp(cell + p->base + in_page % n * p->stride, want,
					type->bytes) != 0;
		}
	}
	return wrong;
}

#define TEXT_COLUMNS 3

/* Returns the number of texts of a directory row that are not where its place says. */
static uint64_t wrong_texts(const struct table *t, const struct sp__text_place *place, uint32_t c,
			    uint64_t first, uint32_t n, uint32_t max)
{
	const uint32_t payload = sp__cell_payload(t->file.layout.cell_bytes);
	static uint8_t cell[SP__TABLE_CELL_MAX];
	static char all[1 << 21];
	uint64_t wrong = 0, at = 0;

	for (uint32_t i = 0; i < place->cells; i++) {
		read_cell(t, place->first + i, cell);
		wrong += sp__cell_check(cell, t->file.layout.cell_bytes, 0, SP__CELL_TEXT,
					t->file.superblock.id, place->first + i) != SP__CELL_SOUND;
		memcpy(all + (size_t)i * payload, cell, payload);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct sp__text_ref ref = text_of(first + i, c, max);
		bool null = ref.bytes == SP__TEXT_REF_NULL;

		wrong += null ? (uint8_t)all[at] != SP__TEXT_NULL
			      : memcmp(all + at, texts + ref.at, ref.bytes) != 0;
		at += null ? 1 : ref.bytes;
	}
	return wrong + (at != place->bytes);
}

/* Adds the texts of a directory row, and checks them and their ends.  Returns what is wrong. */
static uint64_t put_row(struct sp__texts *x, uint64_t first, uint32_t n, uint32_t max,
			struct sp__text_place *places)
{
	struct sp__text_ref refs[64];
	uint64_t end[TEXT_COLUMNS] = { 0 }, wrong = 0;
	uint32_t part;

	for (uint32_t done = 0; done < n; done += part) {
		part = (uint32_t)sp__min(n - done, 64);
		for (uint32_t c = 0; c < TEXT_COLUMNS; c++) {
			for (uint32_t i = 0; i < part; i++)
				refs[i] = text_of(first + done + i, c, max);
			wrong += sp__texts_add(x, c, texts, refs, part) != 0;
			for (uint32_t i = 0; i < part; i++) {
				end[c] += refs[i].bytes == SP__TEXT_REF_NULL ? 1 : refs[i].bytes;
				wrong += refs[i].at != end[c];
			}
		}
		wrong += sp__texts_limit(x, (double)(done + part) / n) != 0;
	}
	return wrong + (sp__texts_end_row(x, places) != 0);
}

/* Texts that fit the memory, and texts that do not; their lengths change in the middle of a row. */
static void check_texts(uint64_t memory, uint32_t max, const char *what)
{
	struct sp__text_place places[20][TEXT_COLUMNS];
	struct table t = { 0 };
	struct sp__texts x;
	uint64_t wrong = 0, front;

	make_schema(&t.schema, 1);
	make_layout(&t);
	open_table(&t, 1 << 16);
	front = t.file.map.end;
	wrong += sp__texts_open(&x, &t.writer.slabs, &t.file, TEXT_COLUMNS, memory, NULL) != 0;
	for (uint32_t row = 0; row < 20; row++)
		wrong += put_row(&x, row * 1000, 300 + row * 10, max, places[row]);
	wrong += sp__texts_flush(&x) != 0;
	wrong += sp__slabs_drain(&t.writer.slabs) != 0;
	for (uint32_t row = 0; row < 20; row++)
		for (uint32_t c = 0; c < TEXT_COLUMNS; c++)
			wrong += wrong_texts(&t, &places[row][c], c, row * 1000, 300 + row * 10,
					     max);
	ok(wrong == 0, "%s are found at their place", what);
	ok(sp__map_possible(&t.file.map, front, t.file.map.lists[SP__AREA_RELEASED].extents,
			    t.file.map.lists[SP__AREA_RELEASED].n) == 1,
	   "each cell has an area");
	sp__texts_close(&x);
	close_table(&t);
}

/* Returns true if the bounds are those of values that are compared one by one. */
static bool same_bounds(const struct sp__value_type *t, const uint8_t *values, size_t n,
			const struct sp__bounds *b)
{
	const uint8_t *min = NULL, *max = NULL;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *v = values + i * t->bytes;

		if (sp__value_null(t, v))
			continue;
		min = !min || sp__value_compare(t, v, min) < 0 ? v : min;
		max = !max || sp__value_compare(t, v, max) > 0 ? v : max;
	}
	if (!min)
		return sp__value_null(t, b->min) && sp__value_null(t, b->max);
	return !sp__value_null(t, b->min) && !sp__value_null(t, b->max) &&
	       !sp__value_compare(t, b->min, min) && !sp__value_compare(t, b->max, max);
}

static void check_bounds(void)
{
	unsigned wrong = 0;

	for (unsigned k = 0; k < TYPES * 200; k++) {
		const char *type_name = type_names[k % TYPES];
		size_t n = below(20), part = below(n + 1);
		uint64_t like = below(1000);
		struct sp__value_type t;
		struct sp__bounds b;
		uint8_t values[20 * 8];

		if (sp__value_type_parse(&t, type_name, strlen(type_name)) ||
		    !sp__column_type_bounded(&t))
			continue;
		for (size_t i = 0; i < n; i++) {
			value_of(&t, like + i, 1, values + i * t.bytes);
			if (like % 5 == 0)
				sp__value_set_null(&t, values + i * t.bytes);
			if (like % 7 == 0 && t.kind == 'f')
				memset(values + i * t.bytes, 0xFF, t.bytes); /* a NaN */
		}
		sp__bounds_begin(&b, &t);
		sp__bounds_add(&b, &t, values, part);
		sp__bounds_add(&b, &t, values + part * t.bytes, n - part);
		wrong += !same_bounds(&t, values, n, &b);
	}
	ok(!wrong, "bounds are the smallest and the largest value by sp__value_compare()");
}

/* Returns the number of directory rows with wrong entries. */
static uint64_t wrong_rows(struct table *t, uint32_t text_max)
{
	static uint8_t values[1 << 19];
	const struct sp__table_layout *l = &t->file.layout;
	uint64_t per_row = (uint64_t)l->page_records * l->row_pages, wrong = 0;
	uint8_t row[COLUMNS_MAX * SP__ENTRY_BYTES];

	for (uint64_t first = 0; first < t->records; first += per_row) {
		uint32_t n = (uint32_t)sp__min(per_row, t->records - first);

		wrong += sp__directory_read_rows(&t->file, first / per_row, 1, row, NULL) != 0;
		for (uint32_t c = 0; c < t->file.schema.n; c++) {
			const struct sp__value_type *type = &t->file.schema.columns[c].type;
			uint8_t *entry = row;
			struct sp__text_place place;
			struct sp__bounds b;

			if (t->file.entries[c] != UINT32_MAX)
				entry = sp__directory_entry(&t->file, row, c);
			place = sp__directory_text(entry);
			if (type->kind == 't')
				wrong += wrong_texts(t, &place, c, first, n, text_max) != 0;
			if (!t->file.schema.columns[c].bounds)
				continue;
			for (uint32_t i = 0; i < n; i++)
				value_of(type, first + i, c, values + (size_t)i * type->bytes);
			memcpy(&b, entry, sizeof(b));
			wrong += !same_bounds(type, values, n, &b);
		}
	}
	return wrong;
}

static void check_random(void)
{
	uint64_t wrong = 0, cells = 0, rows = 0;

	for (unsigned i = 0; i < 60; i++) {
		uint32_t text_max = (uint32_t)(1 + below(100));
		struct table t = { 0 };

		make_schema(&t.schema, (uint32_t)(1 + below(COLUMNS_MAX)));
		make_layout(&t);
		open_table(&t, below(2) ? 1 << 16 : 1 << 22);
		put_records(&t, below(4) ? below(8000) : below(3), text_max);
		wrong += wrong_values(&t);
		rows += wrong_rows(&t, text_max);
		cells += sp__map_cells(&t.file.map, SP__AREA_DATA) !=
			 sp__layout_data_cells(&t.file.layout, t.records);
		close_table(&t);
	}
	ok(wrong == 0, "random tables are read back by arithmetic");
	ok(rows == 0, "the directory has the bounds and the places of texts");
	ok(cells == 0, "the data area has the cells of the layout");
}

int main(void)
{
	rng.state = 34;
	for (size_t i = 0; i < sizeof(texts); i++)
		texts[i] = (char)('a' + i * 7 % 26);
	check_random();
	check_texts(UINT64_C(1) << 30, 100, "texts that fit the memory");
	check_texts(4096, 100, "texts of more than the memory");
	check_texts(1000, 3000, "long texts");
	check_bounds();
	return done();
}
