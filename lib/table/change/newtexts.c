/* SPDX-License-Identifier: MIT */
/*
 * Changes texts in their cells if none changes its length; otherwise copies the texts of the
 * directory row to new cells, with the new ones among them.
 *
 * Memory: the ends of the texts of a directory row, a window of cells that are read, and one of
 * cells that are being made.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "table/change/update.h"
#include "table/file/directory.h"
#include "table/file/redo.h"

struct change {
	struct sp__tableupdate *u;
	uint32_t column, at;
	size_t from, to; /* entries */
	uint32_t before; /* record of the batch with which the directory row begins */
	struct sp__text_place old;
	uint64_t cell; /* first cell of the file that is being made */
	uint32_t made; /* cells from there on that are complete */
	uint32_t used; /* bytes of the next one */
};

static uint32_t payload(const struct change *c)
{
	return sp__cell_payload(c->u->file->layout.cell_bytes);
}

/* Returns the cell that is being made. */
static uint8_t *making(const struct change *c)
{
	return c->u->cells + (size_t)c->made * c->u->file->layout.cell_bytes;
}

static struct sp__new_text text_of(const struct change *c, size_t k)
{
	struct sp__new_text t;

	memcpy(&t, c->u->batch.entries[k].values + c->at, sizeof(t));
	return t;
}

/* Returns the end of the old text of entry k in the directory row, or its beginning. */
static uint32_t end_of(const struct change *c, size_t k)
{
	return c->u->ends[c->u->batch.entries[k].record - c->before];
}

static uint32_t begin_of(const struct change *c, size_t k)
{
	uint32_t record = c->u->batch.entries[k].record - c->before;

	return record ? c->u->ends[record - 1] : 0;
}

/* Copies the ends of a cell's records; they must ascend up to the bytes of the directory row. */
static int take_ends(const struct change *c, const uint8_t *cell, uint64_t number, uint32_t first,
		     uint32_t n)
{
	const struct sp__column_place *p = &c->u->file->layout.places[c->column];
	uint32_t *ends = c->u->ends, last = first ? ends[first - 1] : 0;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(&ends[first + i], cell + p->base + (size_t)i * p->stride, sizeof(*ends));
		if (ends[first + i] < last || ends[first + i] > c->old.bytes)
			return sp__tablefile_damaged(c->u->file, number, n, SP__CELL_VALUES, cell,
						     c->u->err);
		last = ends[first + i];
	}
	return 0;
}

/*
 * Reads the ends of an A-page, from record `first` of the directory row on.  pages: of the row,
 * from this one on, whose cells are consecutive along a track if they have one each.
 */
static int read_page(const struct change *c, uint64_t page, uint32_t pages, uint32_t first,
		     uint32_t records)
{
	struct sp__tablefile *f = c->u->file;
	const uint32_t group = f->layout.places[c->column].group;
	const uint32_t max = f->layout.groups[group].cell_records;
	const uint32_t cells = (records + max - 1) / max;
	const uint8_t *cell;
	int rc = 0;

	for (uint32_t j = 0; !rc && j < cells; j++) {
		uint32_t n = (uint32_t)sp__min(records - j * max, max);
		uint64_t number, run = cells - j;

		if (f->layout.lanes)
			run = f->layout.groups[group].cells == 1 ? pages : 1;
		run = sp__map_run(&f->map, SP__AREA_DATA,
				  sp__layout_cell(&f->layout, page, group, j), run, &number);
		rc = sp__cellreader_get(&c->u->reader, number, number + run, &cell, c->u->err);
		if (!rc)
			rc = sp__tablefile_check_cell(f, number, n, SP__CELL_VALUES, cell,
						      c->u->err);
		if (!rc)
			rc = take_ends(c, cell, number, first + j * max, n);
	}
	return rc;
}

/* Reads the ends of all texts of directory row e. */
static int read_ends(const struct change *c, uint64_t e)
{
	const struct sp__table_layout *l = &c->u->file->layout;
	const uint64_t records = c->u->file->superblock.records;
	const uint64_t page = e * l->row_pages;
	const uint64_t pages = sp__min(l->row_pages, sp__layout_pages(l, records) - page);
	uint32_t first = 0, n;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < pages; k++, first += n) {
		n = sp__layout_page_records(l, records, page + k);
		rc = read_page(c, page + k, (uint32_t)pages - k, first, n);
	}
	return rc;
}

/* Computes shifts[] of the entries.  Returns true if a length changes. */
static bool compute_shifts(const struct change *c, int64_t *shifts)
{
	int64_t shift = 0;
	bool any = false;

	for (size_t k = c->from; k < c->to; k++) {
		shift += (int64_t)text_of(c, k).bytes - (end_of(c, k) - begin_of(c, k));
		shifts[k] = shift;
		any |= text_of(c, k).bytes != end_of(c, k) - begin_of(c, k);
	}
	return any;
}

/* Reads a cell of the old texts. */
static int old_cell(const struct change *c, uint64_t number, const uint8_t **cell)
{
	struct sp__tablefile *f = c->u->file;
	int rc = sp__cellreader_get(&c->u->reader, number, c->old.first + c->old.cells, cell,
				    c->u->err);

	return rc ? rc : sp__tablefile_check_cell(f, number, 0, SP__CELL_TEXT, *cell, c->u->err);
}

static void seal(const struct change *c)
{
	sp__cell_seal(making(c), c->u->file->layout.cell_bytes, 0, SP__CELL_TEXT,
		      c->u->file->superblock.id, c->cell + c->made);
}

/* Changes bytes of the old texts from `at` on, in ascending order. */
static int replace(struct change *c, uint64_t at, struct sp__new_text t)
{
	const uint8_t *cell;
	int rc = 0;

	for (uint32_t done = 0, part; !rc && done < t.bytes; done += part) {
		uint64_t number = c->old.first + (at + done) / payload(c);
		uint32_t in = (uint32_t)((at + done) % payload(c));

		part = (uint32_t)sp__min(t.bytes - done, payload(c) - in);
		if (number != c->cell) {
			if (c->cell) {
				seal(c);
				rc = sp__redo_put(c->u->file, c->cell, c->u->cells, c->u->err);
			}
			if (!rc)
				rc = old_cell(c, number, &cell);
			if (rc)
				break;
			memcpy(c->u->cells, cell, c->u->file->layout.cell_bytes);
			c->cell = number;
		}
		memcpy(c->u->cells + in, t.text + done, part);
	}
	return rc;
}

static int change_in_place(struct change *c)
{
	int rc = 0;

	for (size_t k = c->from; !rc && k < c->to; k++)
		rc = replace(c, begin_of(c, k), text_of(c, k));
	if (rc || !c->cell)
		return rc;
	seal(c);
	return sp__redo_put(c->u->file, c->cell, c->u->cells, c->u->err);
}

/* Writes the cells that are complete. */
static int write_cells(struct change *c)
{
	const uint32_t n = c->made;

	c->cell += n;
	c->made = 0;
	return n ? sp__tablefile_write(c->u->file, c->cell - n, n, c->u->cells, c->u->err) : 0;
}

static int complete_cell(struct change *c)
{
	memset(making(c) + c->used, 0, payload(c) - c->used);
	seal(c);
	c->used = 0;
	c->made++;
	return c->made < c->u->reader.max ? 0 : write_cells(c);
}

/* Adds bytes to the new cells. */
static int add(struct change *c, const void *text, size_t bytes)
{
	const char *from = text;
	int rc = 0;

	for (size_t part; !rc && bytes; from += part, bytes -= part) {
		part = sp__min(bytes, payload(c) - c->used);
		memcpy(making(c) + c->used, from, part);
		c->used += (uint32_t)part;
		if (c->used == payload(c))
			rc = complete_cell(c);
	}
	return rc;
}

/* Adds bytes [from, to) of the old texts. */
static int copy(struct change *c, uint64_t from, uint64_t to)
{
	const uint8_t *cell;
	int rc = 0;

	for (uint64_t part; !rc && from < to; from += part) {
		uint32_t in = (uint32_t)(from % payload(c));

		part = sp__min(to - from, payload(c) - in);
		rc = old_cell(c, c->old.first + from / payload(c), &cell);
		if (!rc)
			rc = add(c, cell + in, part);
	}
	return rc;
}

/* Takes cells for the new texts, and releases those of the old ones. */
static int take_cells(struct change *c, uint64_t bytes, struct sp__text_place *new)
{
	struct sp__table_map *m = &c->u->file->map;
	int rc = 0;

	*new = (struct sp__text_place){ .cells = (uint32_t)((bytes + payload(c) - 1) / payload(c)),
					.bytes = (uint32_t)bytes };
	if (new->cells)
		rc = sp__map_take(m, new->cells, &new->first);
	if (!rc && new->cells)
		rc = sp__map_add(m, SP__AREA_TEXT, new->first, new->cells);
	if (!rc)
		rc = sp__map_release_text(m, c->old.first, c->old.cells);
	return rc ? sp__tablefile_no_place(c->u->file, rc, "the new texts", c->u->err) : 0;
}

static int move(struct change *c, int64_t shift, uint8_t *entry)
{
	const uint64_t bytes = (uint64_t)((int64_t)c->old.bytes + shift);
	struct sp__text_place new;
	uint64_t at = 0;
	int rc;

	if (bytes > UINT32_MAX)
		return sp__errf(
			c->u->err, -EFBIG, "write", c->u->file->path, -1,
			"the texts of column %s in one page exceed 4 GiB: convert the table "
			"with fewer records per page",
			c->u->file->schema.columns[c->column].name);
	rc = take_cells(c, bytes, &new);
	c->cell = new.first;
	for (size_t k = c->from; !rc && k < c->to; k++) {
		rc = copy(c, at, begin_of(c, k));
		if (!rc)
			rc = add(c, text_of(c, k).text, text_of(c, k).bytes);
		at = end_of(c, k);
	}
	if (!rc)
		rc = copy(c, at, c->old.bytes);
	if (!rc && c->used)
		rc = complete_cell(c);
	if (!rc)
		rc = write_cells(c);
	sp__directory_set_text(entry, &new);
	return rc;
}

int sp__newtexts_change(struct sp__tableupdate *u, uint32_t i, uint64_t e, size_t from, size_t to,
			uint8_t *entry)
{
	int64_t *shifts = u->batch.shifts + u->texts[i] * u->batch.capacity;
	struct change c = { .u = u,
			    .column = u->columns[i].column,
			    .at = u->columns[i].at,
			    .from = from,
			    .to = to,
			    .before = (uint32_t)(e * sp__layout_row_records(&u->file->layout) -
						 u->batch.first),
			    .old = sp__directory_text(entry) };
	int rc;

	if (!sp__directory_text_possible(u->file, &c.old))
		return sp__errf(u->err, SP_ECORRUPT, "read", u->file->path, -1,
				"the directory entry of column %s is damaged in row %llu",
				u->file->schema.columns[c.column].name, (unsigned long long)e);
	sp__cellreader_forget(&u->reader);
	rc = read_ends(&c, e);
	if (rc)
		return rc;
	return compute_shifts(&c, shifts) ? move(&c, shifts[to - 1], entry) : change_in_place(&c);
}
