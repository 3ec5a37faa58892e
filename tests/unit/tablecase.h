/* SPDX-License-Identifier: MIT */
/*
 * Tables of random contents, for tests of the file: each cell has bytes that follow from its
 * number and a version, and so does each directory row.
 */
#ifndef TABLECASE_H
#define TABLECASE_H

#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "table/file/directory.h"
#include "table/file/redo.h"

struct tablecase {
	uint32_t ncolumns, page_records, cell_bytes;
	unsigned form; /* of sp__layout_forms */
	uint64_t records;
	bool with_text;
};

static inline int tablecase_make(const struct tablecase *t, struct sp__schema *s,
				 struct sp__table_layout *l, struct sp_errinfo *err)
{
	static const struct sp__value_type types[] = {
		{ 'i', 0, 4 }, { 'f', 0, 8 }, { 'd', 2, 8 },
		{ 'c', 0, 7 }, { 'w', 0, 1 }, { 't', 0, 4 },
	};
	const struct sp__layout_opts o = { .form = &sp__layout_forms[t->form],
					   .cell_bytes = t->cell_bytes,
					   .page_records = t->page_records };
	char name[24];
	uint32_t code;
	int rc = 0;

	*s = (struct sp__schema){ .style = { .separator = '|' } };
	*l = (struct sp__table_layout){ 0 };
	for (uint32_t i = 0; !rc && i < t->ncolumns; i++) {
		struct sp__column *c;

		snprintf(name, sizeof(name), "column%u", i);
		rc = sp__schema_add(s, name, strlen(name), &types[i % (5 + t->with_text)]);
		if (rc)
			break;
		c = &s->columns[i];
		c->bounds = sp__column_type_bounded(&c->type);
		for (unsigned w = 0; !rc && c->type.kind == 'w' && w < 5; w++)
			rc = sp__dictionary_add(&c->words, name, w + 1, SP__DICT8_WORDS, &code);
	}
	return rc ? rc : sp__layout_make(l, s, &o, err);
}

static inline void tablecase_fill(uint8_t *to, size_t bytes, uint64_t seed)
{
	struct sp__rng rng = { seed };

	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)sp__rng_next(&rng);
}

/* Makes cell n of the data area in memory, as it is in this version. */
static inline void tablecase_cell(const struct sp__tablefile *f, uint64_t n, uint64_t version,
				  uint8_t *cell)
{
	const struct sp__layout_position at = sp__layout_position(&f->layout, n);
	const uint32_t bytes = f->layout.cell_bytes;

	tablecase_fill(cell, bytes, n << 8 | version);
	sp__cell_seal(cell, bytes, sp__layout_cell_records(&f->layout, f->superblock.records, &at),
		      SP__CELL_VALUES, f->superblock.id, sp__map_cell(&f->map, SP__AREA_DATA, n));
}

/* True if a cell of the data area has records, and so is written. */
static inline bool tablecase_used(const struct sp__tablefile *f, uint64_t n)
{
	const struct sp__layout_position at = sp__layout_position(&f->layout, n);

	return sp__layout_cell_records(&f->layout, f->superblock.records, &at) > 0;
}

/* Writes all cells and rows of a table that is being created. */
static inline int tablecase_write(struct sp__tablefile *f, uint64_t records, struct sp_errinfo *err)
{
	const uint64_t cells = sp__layout_data_cells(&f->layout, records);
	const size_t row_bytes = sp__directory_row_bytes(f);
	uint8_t *cell = malloc(f->layout.cell_bytes), *row = malloc(row_bytes + 1);
	int rc = cell && row ? sp__tablefile_reserve(f, cells, err) : -ENOMEM;

	f->superblock.records = records;
	for (uint64_t n = 0; !rc && n < cells; n++) {
		if (!tablecase_used(f, n))
			continue;
		tablecase_cell(f, n, 0, cell);
		rc = sp__tablefile_write(f, sp__map_cell(&f->map, SP__AREA_DATA, n), 1, cell, err);
	}
	for (uint64_t e = 0; !rc && e < sp__layout_rows(&f->layout, records); e++) {
		tablecase_fill(row, row_bytes, ~e);
		rc = sp__directory_write_rows(f, e, 1, row, err);
	}
	free(cell);
	free(row);
	return rc;
}

/* Creates a table at path. */
static inline int tablecase_create(const struct tablecase *t, const char *path,
				   const struct sp_run_opts *run, struct sp_errinfo *err)
{
	struct sp__schema s;
	struct sp__table_layout l;
	struct sp__tablefile f;
	int rc = tablecase_make(t, &s, &l, err);

	if (rc) {
		sp__schema_free(&s);
		sp__layout_free(&l);
		return rc;
	}
	rc = sp__tablefile_create(&f, path, run, &s, &l, NULL, NULL, err);
	if (!rc)
		rc = tablecase_write(&f, t->records, err);
	if (!rc)
		rc = sp__tablefile_commit(&f, err);
	if (!rc)
		rc = sp__tablefile_publish(&f, err);
	(void)sp__tablefile_close(&f);
	return rc;
}

/* Returns the version that all cells of an open table have; -1: they differ or are damaged. */
static inline int tablecase_version(struct sp__tablefile *f, int max, struct sp_errinfo *err)
{
	const uint64_t cells = sp__layout_data_cells(&f->layout, f->superblock.records);
	const uint32_t bytes = f->layout.cell_bytes;
	uint8_t *cell = malloc(bytes), *want = malloc(bytes);
	int version = -1;

	for (uint64_t n = 0; cell && want && n < cells; n++) {
		int v = -1;

		if (!tablecase_used(f, n))
			continue;
		if (sp__tablefile_read(f, sp__map_cell(&f->map, SP__AREA_DATA, n), 1, cell, err))
			break;
		do
			tablecase_cell(f, n, (uint64_t)++v, want);
		while (v < max && memcmp(cell, want, bytes) != 0);
		if (memcmp(cell, want, bytes) != 0 || (version >= 0 && v != version)) {
			version = -1;
			break;
		}
		version = v;
	}
	free(cell);
	free(want);
	return version;
}

/* True if all directory rows are as they were written, read in windows. */
static inline bool tablecase_rows(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const uint64_t rows = sp__layout_rows(&f->layout, f->superblock.records);
	const size_t row_bytes = sp__directory_row_bytes(f);
	uint8_t *window = malloc(8 * row_bytes + 1), *row = malloc(row_bytes + 1);
	bool same = window && row;

	for (uint64_t e = 0; same && e < rows; e += 7) {
		uint64_t n = rows - e < 7 ? rows - e : 7;

		same = !sp__directory_read_rows(f, e, n, window, err);
		for (uint64_t i = 0; same && i < n; i++) {
			tablecase_fill(row, row_bytes, ~(e + i));
			same = !memcmp(row, window + i * row_bytes, row_bytes);
		}
	}
	free(window);
	free(row);
	return same;
}

#endif
