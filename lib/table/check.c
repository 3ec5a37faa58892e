/* SPDX-License-Identifier: MIT */
/*
 * Checks all cells of a table that are in use.
 *
 * A window of A-pages, and of the directory rows that they have, is checked at a time: the cells of
 * each column group in it, then the texts of its rows.  Damage is reported and the check continues.
 *
 * Memory: the longest run of cells that is read together, and the directory rows of a window.
 */
#include <endian.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/directory.h"
#include "table/layout/layout.h"
#include "table/state.h"

#define RUN_BYTES (1 << 18)
#define BITS_BYTES 4096 /* bytes of tombstones that are read together */

struct check {
	struct sp_table *table;
	struct sp__tablefile *file;
	sp_table_damage_fn fn;
	void *arg;
	struct sp_table_check_result *result;
	struct sp_errinfo *err;
	uint8_t *cells;	 /* a run */
	uint8_t *rows;	 /* rows of the directory in the window; */
	bool rows_known; /* false: they cannot be read */
	uint64_t first_row;
	/* The texts that are checked. */
	uint32_t text_column;
	uint64_t text_first, text_records;
	uint32_t *ends; /* of each column of text: of the last value of its row so far; */
	bool *gaps;	/* a cell of it was damaged, so that the next end cannot be compared */
};

static int report(struct check *c, uint64_t cell, const char *text)
{
	const struct sp_table_damage d = { .cell = cell, .last_record = 0, .text = text };

	c->result->damaged++;
	return c->fn(c->arg, &d);
}

/* Reports a cell of values, and counts the values that it has. */
static int report_values(struct check *c, uint32_t group, uint64_t first, uint32_t records,
			 uint64_t cell, const char *text)
{
	const struct sp__column_group *g = &c->file->layout.groups[group];
	const struct sp_table_damage d = { .cell = cell,
					   .first_record = first,
					   .last_record = first + records - 1,
					   .columns = c->table->groups[group].columns,
					   .text = text };

	c->result->damaged++;
	for (uint32_t i = 0; i < g->ncolumns; i++)
		c->table->lost[g->columns[i]] += records;
	return c->fn(c->arg, &d);
}

/* Reports a value that contradicts the directory or the dictionary. */
static int report_value(struct check *c, uint32_t column, uint64_t record, uint64_t cell,
			const char *reason)
{
	const char *name = c->file->schema.columns[column].name;
	char text[SP_ERRINFO_TEXT_MAX];
	const struct sp_table_damage d = { cell, record, record, name, text };

	snprintf(text, sizeof(text), "cell %llu: record %llu, column %.60s: %s",
		 (unsigned long long)cell, (unsigned long long)record, name, reason);
	c->result->damaged++;
	return c->fn(c->arg, &d);
}

/* Returns the entry of a column in a row of the window. */
static const uint8_t *entry_of(const struct check *c, uint64_t row, uint32_t column)
{
	return sp__directory_entry(
		c->file, c->rows + (row - c->first_row) * sp__directory_row_bytes(c->file), column);
}

/*
 * Compares the ends of texts with each other, and the last one of a row with the directory.
 * Returns the first record in doubt, or `records`.
 */
static uint32_t check_ends(struct check *c, uint32_t column, const uint8_t *cell, uint64_t first,
			   uint32_t records)
{
	const struct sp__column_place *p = &c->file->layout.places[column];
	const uint64_t row_records = sp__layout_row_records(&c->file->layout),
		       last = c->file->superblock.records - 1;

	for (uint32_t i = 0; i < records; i++) {
		const uint64_t record = first + i;
		uint32_t end, before = c->ends[column];
		bool gap = c->gaps[column];

		memcpy(&end, cell + p->base + (size_t)i * p->stride, sizeof(end));
		end = le32toh(end);
		if (record % row_records == 0) {
			before = 0;
			gap = false;
		}
		c->ends[column] = end;
		c->gaps[column] = false;
		if (!gap && end < before)
			return i;
		if (c->rows_known && (record == last || (record + 1) % row_records == 0) &&
		    end != sp__directory_text(entry_of(c, record / row_records, column)).bytes)
			return i;
	}
	return records;
}

/* Returns the first record whose value is not within the bounds of its row, or `records`. */
static uint32_t check_bounds(const struct check *c, uint32_t column, const uint8_t *cell,
			     uint64_t first, uint32_t records)
{
	const struct sp__value_type *type = &c->file->schema.columns[column].type;
	const struct sp__column_place *p = &c->file->layout.places[column];
	const uint8_t *bounds =
		entry_of(c, first / sp__layout_row_records(&c->file->layout), column);
	bool empty = sp__value_null(type, bounds);

	for (uint32_t i = 0; i < records; i++) {
		const uint8_t *v = cell + p->base + (size_t)i * p->stride;

		if (sp__value_null(type, v))
			continue;
		if (empty || sp__value_compare(type, v, bounds) < 0 ||
		    sp__value_compare(type, v, bounds + 8) > 0)
			return i;
	}
	return records;
}

/* Returns the first record whose code has no word, or `records`. */
static uint32_t check_codes(const struct check *c, uint32_t column, const uint8_t *cell,
			    uint32_t records)
{
	const struct sp__column *t = &c->file->schema.columns[column];
	const struct sp__column_place *p = &c->file->layout.places[column];

	for (uint32_t i = 0; i < records; i++) {
		const uint8_t *v = cell + p->base + (size_t)i * p->stride;

		if ((p->bytes == 1 ? v[0] : v[0] | (uint32_t)v[1] << 8) > t->words.n)
			return i;
	}
	return records;
}

/* Checks the values of a sound cell. */
static int check_values(struct check *c, uint32_t group, const uint8_t *data, uint64_t first,
			uint32_t records, uint64_t cell)
{
	const struct sp__column_group *g = &c->file->layout.groups[group];
	int rc = 0;

	for (uint32_t k = 0; !rc && k < g->ncolumns; k++) {
		const uint32_t column = g->columns[k];
		const struct sp__column *t = &c->file->schema.columns[column];
		uint32_t i = records;
		const char *reason = "the value is not within the bounds of the directory";

		if (t->type.kind == 't') {
			i = check_ends(c, column, data, first, records);
			reason = "the end of the text contradicts the one before, or the directory";
		} else if (t->type.kind == 'w') {
			i = check_codes(c, column, data, records);
			reason = "a value has a number that the dictionary does not have";
		} else if (t->bounds && c->rows_known) {
			i = check_bounds(c, column, data, first, records);
		}
		if (i < records)
			rc = report_value(c, column, first + i, cell, reason);
	}
	return rc;
}

/* After a damaged cell the next end of a text cannot be compared. */
static void skip_ends(struct check *c, uint32_t group)
{
	const struct sp__column_group *g = &c->file->layout.groups[group];

	for (uint32_t k = 0; k < g->ncolumns; k++)
		c->gaps[g->columns[k]] = true;
}

/* Checks cell `number` of the data area, which is cell `cell` of the file; rc: of reading it. */
static int check_cell(struct check *c, uint64_t number, uint64_t cell, const uint8_t *data, int rc)
{
	const struct sp__tablefile *f = c->file;
	const struct sp__layout_position at = sp__layout_position(&f->layout, number);
	uint32_t records = sp__layout_cell_records(&f->layout, f->superblock.records, &at);
	uint64_t first = at.page * f->layout.page_records +
			 (uint64_t)at.j * f->layout.groups[at.group].cell_records;
	char text[SP_ERRINFO_TEXT_MAX];

	if (!records)
		return 0;
	c->result->cells++;
	if (!rc && sp__cell_check(data, f->layout.cell_bytes, records, SP__CELL_VALUES,
				  f->superblock.id, cell) == SP__CELL_SOUND)
		return check_values(c, at.group, data, first, records, cell);
	skip_ends(c, at.group);
	if (rc)
		snprintf(text, sizeof(text), "cell %llu of the values: %s",
			 (unsigned long long)cell, sp_strerror(rc));
	else
		sp__tablefile_describe(f, cell, records, SP__CELL_VALUES, data, text, sizeof(text));
	return report_values(c, at.group, first, records, cell, text);
}

/* Reads consecutive cells; if that fails, each alone.  The function is called with each. */
static int each_cell(struct check *c, uint64_t cell, uint64_t cells, uint64_t number,
		     int (*fn)(struct check *, uint64_t, uint64_t, const uint8_t *, int))
{
	const uint32_t bytes = c->file->layout.cell_bytes;
	int read = sp__tablefile_read(c->file, cell, cells, c->cells, NULL), rc = 0;

	for (uint64_t i = 0; !rc && i < cells; i++) {
		uint8_t *data = c->cells + i * bytes;
		int own = read ? sp__tablefile_read(c->file, cell + i, 1, data, NULL) : 0;

		rc = fn(c, number + i, cell + i, data, own);
	}
	return rc;
}

static int check_run(struct check *c, struct sp__layout_run run)
{
	const struct sp__tablefile *f = c->file;
	const uint64_t max = RUN_BYTES / f->layout.cell_bytes;
	int rc = 0;

	while (!rc && run.cells) {
		uint64_t first;
		uint64_t n = sp__map_run(&f->map, SP__AREA_DATA, run.cell, sp__min(run.cells, max),
					 &first);

		rc = each_cell(c, first, n, run.cell, check_cell);
		run.cell += n;
		run.cells -= n;
	}
	return rc;
}

static bool has_text(const struct sp__tablefile *f, uint32_t group)
{
	const struct sp__column_group *g = &f->layout.groups[group];

	for (uint32_t i = 0; i < g->ncolumns; i++)
		if (f->schema.columns[g->columns[i]].type.kind == 't')
			return true;
	return false;
}

/*
 * Checks the cells of a column group with records [first, last], all lanes of an A-page after those
 * of the one before if it has texts, since the ends of these ascend.
 */
static int check_group(struct check *c, uint32_t group, uint64_t first, uint64_t last)
{
	const struct sp__table_layout *l = &c->file->layout;
	const uint32_t n = sp__layout_lines_of(l, group);
	uint64_t step = n > 1 && has_text(c->file, group) ? l->page_records : last + 1 - first;
	int rc = 0;

	for (; !rc && first <= last; first += step)
		for (uint32_t k = 0; !rc && k < n; k++)
			rc = check_run(c, sp__layout_run(l, group, k, first,
							 sp__min(first + step - 1, last)));
	return rc;
}

static int check_text_cell(struct check *c, uint64_t number, uint64_t cell, const uint8_t *data,
			   int rc)
{
	const struct sp__tablefile *f = c->file;
	const char *name = f->schema.columns[c->text_column].name;
	char fault[SP_ERRINFO_TEXT_MAX], text[2 * SP_ERRINFO_TEXT_MAX];
	const struct sp_table_damage d = { cell, c->text_first, c->text_first + c->text_records - 1,
					   name, text };

	(void)number;
	c->result->cells++;
	if (rc)
		snprintf(fault, sizeof(fault), "cell %llu of the text: %s",
			 (unsigned long long)cell, sp_strerror(rc));
	else if (sp__cell_check(data, f->layout.cell_bytes, 0, SP__CELL_TEXT, f->superblock.id,
				cell) == SP__CELL_SOUND)
		return 0;
	else
		sp__tablefile_describe(f, cell, 0, SP__CELL_TEXT, data, fault, sizeof(fault));
	snprintf(text, sizeof(text), "%s (records %llu to %llu of column %.40s)", fault,
		 (unsigned long long)d.first_record, (unsigned long long)d.last_record, name);
	c->result->damaged++;
	return c->fn(c->arg, &d);
}

/* Checks the texts of a column in a directory row. */
static int check_text(struct check *c, uint64_t row, uint32_t column)
{
	struct sp__tablefile *f = c->file;
	const uint64_t max = RUN_BYTES / f->layout.cell_bytes, damaged = c->result->damaged;
	const uint64_t row_records = sp__layout_row_records(&c->file->layout);
	uint64_t records = sp__min(row_records, f->superblock.records - row * row_records);
	struct sp__text_place t = sp__directory_text(entry_of(c, row, column));
	int rc = 0;

	c->text_column = column;
	c->text_first = row * row_records;
	c->text_records = records;
	if (!sp__directory_text_possible(f, &t))
		rc = report_value(c, column, row * row_records, t.first,
				  "the directory names no cells of texts");
	else
		for (uint64_t i = 0; !rc && i < t.cells; i += max)
			rc = each_cell(c, t.first + i, sp__min(t.cells - i, max), i,
				       check_text_cell);
	if (c->result->damaged > damaged)
		c->table->lost[column] += records;
	return rc;
}

/* Checks rows [first, first + n): cells of all column groups, then texts. */
static int check_window(struct check *c, uint64_t row, uint64_t n)
{
	struct sp__tablefile *f = c->file;
	const struct sp__table_layout *l = &f->layout;
	const uint64_t all = sp__layout_row_records(l);
	const uint64_t end = sp__min((row + n) * all, f->superblock.records);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = 0;

	c->first_row = row;
	c->rows_known = !sp__directory_read_rows(f, row, n, c->rows, &err);
	if (!c->rows_known)
		rc = report(c, err.offset < 0 ? 0 : (uint64_t)err.offset / l->cell_bytes,
			    err.text[0] ? err.text : sp_strerror(err.code));
	for (uint32_t g = 0; !rc && g < l->ngroups; g++)
		rc = check_group(c, g, row * all, end - 1);
	for (uint64_t e = row; !rc && c->rows_known && e < row + n; e++)
		for (uint32_t i = 0; !rc && i < f->schema.n; i++)
			if (f->schema.columns[i].type.kind == 't')
				rc = check_text(c, e, i);
	return rc;
}

/* Checks all rows, in windows that are in one strip. */
static int check_rows(struct check *c)
{
	const struct sp__table_layout *l = &c->file->layout;
	const uint64_t rows = sp__layout_rows(l, c->file->superblock.records);
	const uint64_t max = sp__max(RUN_BYTES / (sp__directory_row_bytes(c->file) + 1), 1);
	int rc = 0;

	for (uint64_t row = 0; !rc && row < rows;) {
		struct sp__strip s = sp__layout_strip(l, row * l->row_pages);
		uint64_t n = sp__min(rows - row, max);

		if (l->ngroups > 1)
			n = sp__min(n, (s.first + s.pages) / l->row_pages - row);
		rc = check_window(c, row, n);
		row += n;
		sp__tablefile_tell(c->file, sp__min(row * l->row_pages * l->page_records,
						    c->file->superblock.records));
	}
	return rc;
}

/* Counts the bits of tombstones, which must be those of records. */
static int check_tombstones(struct check *c)
{
	struct sp__tablefile *f = c->file;
	const uint64_t records = f->superblock.records, window = BITS_BYTES * 8;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint8_t bits[BITS_BYTES];
	uint64_t deleted = 0;

	for (uint64_t first = 0; first < records; first += window) {
		uint64_t n = sp__min(records - first, window);

		if (sp__tombstones_read(f, first, n, bits, &err))
			return report(
				c, err.offset < 0 ? 0 : (uint64_t)err.offset / f->layout.cell_bytes,
				err.text[0] ? err.text : sp_strerror(err.code));
		for (uint64_t i = 0; i < (n + 7) / 8; i++)
			deleted += (unsigned)__builtin_popcount(bits[i]);
	}
	c->result->cells += f->tombstones.written;
	return deleted == f->superblock.deleted
		       ? 0
		       : report(c, 0, "the tombstones contradict the number of deleted records");
}

static int allocate(struct check *c)
{
	const struct sp__tablefile *f = c->file;
	const size_t row = sp__directory_row_bytes(f);

	free(c->table->lost);
	c->table->lost = calloc(f->schema.n, sizeof(*c->table->lost));
	c->cells = malloc(sp__max(RUN_BYTES, f->layout.cell_bytes));
	c->rows = malloc(sp__max(RUN_BYTES, row + 1));
	c->ends = calloc(f->schema.n, sizeof(*c->ends));
	c->gaps = calloc(f->schema.n, sizeof(*c->gaps));
	return c->table->lost && c->cells && c->rows && c->ends && c->gaps ? 0 : -ENOMEM;
}

/* A value that was lost in two ways is one. */
static void limit_lost(struct check *c)
{
	for (uint32_t i = 0; i < c->file->schema.n; i++)
		c->table->lost[i] = sp__min(c->table->lost[i], c->file->superblock.records);
}

static int run(struct check *c)
{
	int rc = allocate(c);

	if (!rc && !c->table->groups) /* their names are needed */
		rc = sp__table_describe(c->table);
	if (rc)
		return sp__err(c->err, rc, "check", c->file->path, -1);
	*c->result = (struct sp_table_check_result){ .ncolumns = c->file->schema.n,
						     .lost = c->table->lost };
	if (c->file->superblock.slots.alone)
		rc = report(c, 0, "one of the two superblocks is not valid");
	if (!rc)
		rc = check_rows(c);
	if (!rc)
		rc = check_tombstones(c);
	c->result->cells += c->file->directory.written;
	limit_lost(c);
	return rc;
}

int sp_table_check(struct sp_table *t, sp_table_damage_fn fn, void *arg,
		   struct sp_table_check_result *result, struct sp_errinfo *err)
{
	struct check c = {
		.table = t, .file = &t->file, .fn = fn, .arg = arg, .result = result, .err = err
	};
	int rc = sp__table_begin_reading(t, true, err);

	if (rc)
		return rc;
	rc = run(&c);
	sp__tablefile_note(&t->file, &result->run);
	sp__table_end_reading(t);
	free(c.cells);
	free(c.rows);
	free(c.ends);
	free(c.gaps);
	return rc;
}
