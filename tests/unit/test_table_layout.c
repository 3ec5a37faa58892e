/* SPDX-License-Identifier: MIT */
/*
 * Layouts of tables: the exact sizes of the table R and of cells of all widths, and cells of random
 * layouts against a brute-force list.
 */
#include <string.h>
#include "base/edits.h"
#include "base/rng.h"
#include "table/layout/layout.h"
#include "tap.h"

enum { NSM, PAX, DSM, CSM };

static struct sp__schema schema_of(uint32_t n, const uint32_t *bytes)
{
	struct sp__schema s = { 0 };
	char name[16];

	for (uint32_t i = 0; i < n; i++) {
		struct sp__value_type type = { .kind = 'c', .bytes = bytes[i] };

		snprintf(name, sizeof(name), "c%u", i + 1);
		if (sp__schema_add(&s, name, strlen(name), &type))
			abort();
	}
	return s;
}

/* 15 columns of 8 bytes, 8 million records. */
static struct sp__table_layout layout_of_r(int form, uint32_t cell_bytes, uint32_t page_records)
{
	static const uint32_t bytes[15] = { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	struct sp__schema s = schema_of(15, bytes);
	struct sp__layout_opts o = { .form = &sp__layout_forms[form],
				     .cell_bytes = cell_bytes,
				     .page_records = page_records };
	struct sp__table_layout l;

	if (sp__layout_make(&l, &s, &o, NULL))
		abort();
	sp__schema_free(&s);
	return l;
}

static void check_r(void)
{
	static const uint64_t records = 8000000;
	struct sp__table_layout l = layout_of_r(NSM, 0, 0);

	ok(l.page_records == 68 && l.page_cells == 1 && l.places[14].base == 112 &&
		   l.places[14].stride == 120,
	   "NSM: 68 records in a cell");
	ok(sp__layout_data_cells(&l, records) == 117648, "117,648 cells");
	ok(l.row_pages == 31 && sp__layout_rows(&l, records) == 3796, "31 A-pages a directory row");
	sp__layout_free(&l);
	l = layout_of_r(PAX, 0, 0);
	ok(l.page_records == 68 && l.places[14].base == 14 * 8 * 68 && l.places[14].stride == 8,
	   "PAX: the same 68, each column by itself");
	ok(sp__layout_data_cells(&l, records) == 117648, "117,648 cells, too");
	sp__layout_free(&l);
	l = layout_of_r(DSM, 0, 0);
	ok(l.groups[0].cell_records == 1023 && l.page_cells == 120 && !l.strip_max,
	   "DSM: 1023 values in a cell, 120 cells an A-page, strips without end");
	ok(sp__layout_pages(&l, records) == 978, "978 A-pages");
	sp__layout_free(&l);
	l = layout_of_r(CSM, 0, 0);
	ok(l.page_records == 4088 && l.groups[0].cell_records == 511 && l.page_cells == 120 &&
		   l.strip_max == 256,
	   "CSM: R = 4088, 511 values in a cell, M = 120, G = 256");
	ok(sp__layout_pages(&l, records) == 1957, "1,957 A-pages");
	ok(sp__layout_data_cells(&l, records) == (255 + 7 * 256) * UINT64_C(120),
	   "cells up to the end of the last strip");
	sp__layout_free(&l);
	l = layout_of_r(CSM, 512, 63);
	ok(l.page_records == 63 && l.groups[0].cell_records == 63 && l.page_cells == 15 &&
		   sp__layout_pages(&l, records) == 126985,
	   "B = 512 with 63 records: a cell a column, 126,985 A-pages");
	sp__layout_free(&l);
}

static void check_cell_records(void)
{
	static const uint32_t bytes[] = { 1, 2, 4, 8, 10, 24, 25, 44, 50, 500 };
	static const uint32_t small[] = { 504, 252, 126, 63, 50, 21, 20, 11, 10, 1 };
	static const uint32_t large[] = { 4088, 2044, 1022, 511, 408, 170, 163, 92, 81, 8 };
	struct sp__schema s = schema_of(10, bytes);
	struct sp__layout_opts o = { .form = &sp__layout_forms[CSM], .cell_bytes = 512 };
	struct sp__table_layout l, k;
	bool right = !sp__layout_make(&l, &s, &o, NULL);

	o.cell_bytes = 4096;
	right = right && !sp__layout_make(&k, &s, &o, NULL);
	for (unsigned i = 0; right && i < 10; i++)
		right = l.groups[i].cell_records == small[i] &&
			k.groups[i].cell_records == large[i];
	ok(right, "values in a cell of 512 and 4096 bytes, for ten widths");
	ok(k.groups[4].cells == 11 && k.groups[9].cells == 511,
	   "an A-page has 11 cells of 10 bytes, 511 of 500");
	sp__layout_free(&l);
	sp__layout_free(&k);
	sp__schema_free(&s);
}

/* Lists the cells of all A-pages of the first strips, strip by strip. */
static bool matches_list(const struct sp__table_layout *l, uint64_t pages)
{
	uint64_t cell = 0, strip_pages = 1, first = 0;

	while (first < pages) {
		for (uint32_t f = 0; f < l->ngroups; f++)
			for (uint64_t p = first; p < first + strip_pages; p++)
				for (uint32_t j = 0; j < l->groups[f].cells; j++, cell++) {
					struct sp__layout_position at =
						sp__layout_position(l, cell);

					if (sp__layout_cell(l, p, f, j) != cell || at.page != p ||
					    at.group != f || at.j != j)
						return false;
				}
		first += strip_pages;
		if (!l->strip_max || strip_pages < l->strip_max)
			strip_pages *= 2;
	}
	return sp__layout_data_cells(l, (first - 1) * l->page_records + 1) == first * l->page_cells;
}

/* True if no two values of a record overlap, and all are before the trailer. */
static bool values_apart(const struct sp__table_layout *l, uint32_t group)
{
	const struct sp__column_group *g = &l->groups[group];
	uint8_t *used = calloc(1, l->cell_bytes);
	bool apart = used;

	for (uint32_t c = 0; apart && c < g->ncolumns; c++) {
		const struct sp__column_place *p = &l->places[g->columns[c]];

		for (uint32_t i = 0; apart && i < g->cell_records; i++)
			for (uint32_t b = 0; apart && b < p->bytes; b++) {
				uint32_t at = p->base + i * p->stride + b;

				apart = p->group == group && at < l->cell_bytes - 8 && !used[at]++;
			}
	}
	free(used);
	return apart;
}

/* The records of all cells of a column group are the records of the table. */
static bool all_records(const struct sp__table_layout *l, uint64_t records)
{
	for (uint32_t f = 0; f < l->ngroups; f++) {
		uint64_t sum = 0;

		for (uint64_t p = 0; p < sp__layout_pages(l, records) + 1; p++)
			for (uint32_t j = 0; j < l->groups[f].cells; j++)
				sum += sp__layout_cell_records(
					l, records, &(struct sp__layout_position){ p, f, j });
		if (sum != records)
			return false;
	}
	return true;
}

static bool random_layout(struct sp__rng *rng)
{
	uint32_t bytes[300], together[300], n = 1 + (uint32_t)(sp__rng_next(rng) % 20);
	bool ones = sp__rng_next(rng) % 4 == 0;
	struct sp__layout_opts o = { .form = &sp__layout_forms[sp__rng_next(rng) % 4] };
	struct sp__table_layout l;
	struct sp__schema s;
	bool right;
	int rc;

	if (sp__rng_next(rng) % 16 == 0)
		n = 300;
	for (uint32_t i = 0; i < n; i++) {
		bytes[i] = ones ? 1 : 1u << sp__rng_next(rng) % 4;
		together[i] = (uint32_t)(sp__rng_next(rng) % 4);
	}
	o.cell_bytes = 512u << sp__rng_next(rng) % 8;
	o.page_records = sp__rng_next(rng) % 2 ? 1 + (uint32_t)(sp__rng_next(rng) % 200) : 0;
	o.strip_bytes = o.cell_bytes * (1 + sp__rng_next(rng) % 9);
	if (!o.form->one_group && sp__rng_next(rng) % 2)
		o.together = together;
	s = schema_of(n, bytes);
	rc = sp__layout_make(&l, &s, &o, NULL);
	right = rc == SP_EUNSUP;
	if (!rc) {
		right = matches_list(&l, 40) &&
			all_records(&l, sp__rng_next(rng) % (5 * (uint64_t)l.page_records));
		for (uint32_t f = 0; right && f < l.ngroups; f++)
			right = values_apart(&l, f);
	}
	sp__layout_free(&l);
	sp__schema_free(&s);
	return right;
}

static void check_errors(void)
{
	static const uint32_t bytes[3] = { 8, 505, 8 }, together[3] = { 1, 0, 1 };
	struct sp__schema s = schema_of(3, bytes);
	struct sp__layout_opts o = { .form = &sp__layout_forms[CSM], .cell_bytes = 512 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__table_layout l;

	ok(sp__layout_make(&l, &s, &o, &err) == SP_EUNSUP && strstr(err.text, "column c2"),
	   "a value that exceeds a cell is refused: %s", err.text);
	sp__layout_free(&l);
	o.cell_bytes = 1000;
	ok(sp__layout_make(&l, &s, &o, NULL) == SP_ESYNTAX, "a cell is a power of two");
	sp__layout_free(&l);
	o.cell_bytes = 1024;
	o.page_records = SP__PAGE_RECORDS_MAX + 1;
	ok(sp__layout_make(&l, &s, &o, NULL) == SP_ESYNTAX, "an A-page has a largest size");
	sp__layout_free(&l);
	o.page_records = 0;
	o.together = together;
	ok(!sp__layout_make(&l, &s, &o, NULL) && l.ngroups == 2 && l.groups[0].rows &&
		   l.groups[0].ncolumns == 2 && l.groups[0].columns[1] == 2,
	   "columns together are a column group in rows");
	sp__layout_free(&l);
	o.form = &sp__layout_forms[NSM];
	ok(sp__layout_make(&l, &s, &o, NULL) == SP_ESYNTAX, "NSM has all columns together");
	sp__layout_free(&l);
	sp__schema_free(&s);
}

static void check_schema(void)
{
	static const uint32_t bytes[3] = { 1, 1, 1 };
	struct sp__schema s = schema_of(3, bytes);
	struct sp__value_type dec = { .kind = 'd', .bytes = 4 }, odd = { .kind = 'd', .bytes = 3 };

	ok(sp__schema_find(&s, "c2", 2) == 1 && sp__schema_find(&s, "c22", 3) == -1,
	   "a column is found by its whole name");
	ok(sp__schema_repeated(&s) == -1 && !sp__schema_add(&s, "c1", 2, &dec) &&
		   sp__schema_repeated(&s) == 3,
	   "the second column of a name is found");
	ok(!sp__schema_add(&s, "price", 5, &dec) &&
		   !strcmp(sp__schema_nearest(&s, "prices", 6), "price"),
	   "the nearest name is found");
	ok(sp__value_type_possible(&dec) && !sp__value_type_possible(&odd) &&
		   sp__column_type_bounded(&dec),
	   "a decimal has 1, 2, 4 or 8 bytes, and bounds");
	ok(sp__edits("kitten", 6, "sitting", 7) == 3 && sp__edits("", 0, "abc", 3) == 3 &&
		   sp__edits("abc", 3, "abc", 3) == 0 && sp__edits("laod", 4, "load", 4) == 1 &&
		   sp__edits("abcd", 4, "badc", 4) == 2 && !sp__edits("Id", 2, "iD", 2),
	   "the edit distance is known for six pairs");
	sp__schema_free(&s);
}

int main(void)
{
	struct sp__rng rng = { 34 };
	unsigned right = 0;

	check_r();
	check_cell_records();
	for (unsigned i = 0; i < 300; i++)
		right += random_layout(&rng);
	ok(right == 300, "cells of 300 random layouts are those of a list: no gap, none twice (%u)",
	   right);
	check_errors();
	check_schema();
	return done();
}
