/* SPDX-License-Identifier: MIT */
/*
 * Appends, deletes and updates records, each as one transaction.
 *
 * An update collects records in batches, and changes the directory and then the cells of a batch.
 *
 * A batch has all changed records of some directory rows.  So each cell belongs to one batch, and
 * is changed once.
 *
 * Bounds are extended by the new values, and stay as wide as they were.  Those of a table without
 * data are taken to contain the new values.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/change/update.h"
#include "table/file/directory.h"
#include "table/file/file.h"
#include "table/file/redo.h"
#include "table/write/bounds.h"
#include "table/write/writer.h"

int sp__tableappend_open(struct sp__tableappend *a, struct sp__tablefile *file,
			 uint64_t memory_bytes, struct sp_errinfo *err)
{
	int rc;

	*a = (struct sp__tableappend){ .file = file, .err = err };
	rc = sp__redo_begin(file, sp__tablewriter_old_cells(file), err);
	if (!rc)
		rc = sp__tablewriter_open(&a->writer, file, memory_bytes, err);
	return rc ? rc : sp__tablewriter_continue(&a->writer);
}

int sp__tableappend_finish(struct sp__tableappend *a)
{
	int rc = sp__tablewriter_finish(&a->writer);

	return rc ? rc : sp__tablefile_commit(a->file, a->err);
}

void sp__tableappend_close(struct sp__tableappend *a)
{
	sp__tablewriter_close(&a->writer);
	if (a->file && a->file->redo.open)
		sp__redo_abandon(a->file);
	*a = (struct sp__tableappend){ 0 };
}

/*
 * A delete sets bits of tombstones in ascending order.  The area keeps a cell in memory; a bit is
 * set there immediately, since a caller that reads the bits of a later record exchanges the cell.
 */

int sp__tabledelete_open(struct sp__tabledelete *d, struct sp__tablefile *file,
			 struct sp_errinfo *err)
{
	*d = (struct sp__tabledelete){ .file = file, .err = err };
	return sp__redo_begin(file, file->tombstones.written, err);
}

void sp__tabledelete_close(struct sp__tabledelete *d)
{
	if (d->file && d->file->redo.open)
		sp__redo_abandon(d->file);
	*d = (struct sp__tabledelete){ 0 };
}

int sp__tabledelete_put(struct sp__tabledelete *d, uint64_t record)
{
	const uint64_t first = record / 8 * 8;
	const uint8_t bit = (uint8_t)(1u << (record % 8));
	uint8_t bits;
	int rc = sp__tombstones_read(d->file, first, 8, &bits, d->err);

	if (rc || bits & bit)
		return rc;
	bits |= bit;
	d->records++;
	return sp__tombstones_write(d->file, first, 8, &bits, d->err);
}

int sp__tabledelete_finish(struct sp__tabledelete *d)
{
	sp__charge_work(&d->file->env, d->records, 0, 0);
	d->file->superblock.deleted += d->records;
	return sp__tablefile_commit(d->file, d->err);
}

#define BATCH_MIN 1024 /* records */
#define BATCH_MAX (1u << 20)

static int no_memory(const struct sp__tableupdate *u)
{
	return sp__err(u->err, -ENOMEM, "allocate", NULL, -1);
}

static const struct sp__column *column_of(const struct sp__tableupdate *u, uint32_t i)
{
	return &u->file->schema.columns[u->columns[i].column];
}

static size_t entry_bytes(const struct sp__tableupdate *u)
{
	return sizeof(struct sp__update_entry) + u->ntexts * sizeof(int64_t);
}

/* Returns the maximum of cells of the state before that so many records change. */
static uint64_t max_cells(const struct sp__tableupdate *u, uint64_t records, uint32_t max_text)
{
	const struct sp__table_layout *l = &u->file->layout;
	uint64_t pages = sp__layout_pages(l, u->file->superblock.records);
	uint64_t cells = u->file->directory.written;

	records = sp__min(records, u->file->superblock.records);
	if (sp__clotho_whole_pages(u->file))
		cells += sp__min(records, pages) * l->page_cells;
	for (uint32_t i = 0; i < u->n; i++) {
		const uint64_t minipage = l->groups[l->places[u->columns[i].column].group].cells;

		if (column_of(u, i)->type.kind != 't') {
			cells += sp__min(records, pages * minipage);
			continue;
		}
		cells += sp__min(sp__min(records, pages) * l->row_pages, pages) * minipage;
		cells += sp__min(sp__map_cells(&u->file->map, SP__AREA_TEXT),
				 records * (max_text / sp__cell_payload(l->cell_bytes) + 2));
	}
	return cells;
}

static size_t window_bytes(const struct sp__tableupdate *u)
{
	const uint32_t cell_bytes = u->file->layout.cell_bytes;

	return (size_t)sp__cellreader_max(cell_bytes) * cell_bytes;
}

static int open_memory(struct sp__tableupdate *u)
{
	const size_t row_bytes = sp__directory_row_bytes(u->file);
	struct sp__budget *budget = &u->file->env.budget;

	u->texts = calloc(u->n + 1, sizeof(*u->texts));
	u->row = malloc(row_bytes + 1);
	u->old_row = malloc(row_bytes + 1);
	if (!u->texts || !u->row || !u->old_row)
		return no_memory(u);
	for (uint32_t i = 0; i < u->n; i++) {
		u->texts[i] = u->ntexts;
		u->ntexts += column_of(u, i)->type.kind == 't';
		u->bounds |= column_of(u, i)->bounds;
	}
	if (u->ntexts) {
		u->ends = calloc(sp__layout_row_records(&u->file->layout), sizeof(*u->ends));
		u->cells = malloc(window_bytes(u));
		if (!u->ends || !u->cells)
			return no_memory(u);
		sp__budget_charge(budget, window_bytes(u));
		u->batch.charged = window_bytes(u);
	}
	u->directory = sp__areastream_other(&u->file->directory);
	u->batch.max =
		sp__min(BATCH_MAX, sp__max(BATCH_MIN, budget->limit_bytes / 8 / entry_bytes(u)));
	return sp__cellreader_open(&u->reader, u->file, u->err);
}

int sp__tableupdate_open(struct sp__tableupdate *u, struct sp__tablefile *file,
			 const struct sp__update_column *columns, uint32_t n, uint64_t max_records,
			 uint32_t max_text, struct sp_errinfo *err)
{
	int rc;

	*u = (struct sp__tableupdate){ .file = file, .err = err, .columns = columns, .n = n };
	rc = open_memory(u);
	/* Texts that move change the map: take the space of the journal before out of it. */
	if (u->ntexts)
		sp__map_trim(&file->map, file->superblock.end);
	return rc ? rc : sp__redo_begin(file, max_cells(u, max_records, max_text), err);
}

void sp__tableupdate_note(const struct sp__tableupdate *u, struct sp_table_stats *stats)
{
	sp__env_note_io(&stats->run, &u->io);
	if (u->engine[0])
		snprintf(stats->run.engine, sizeof(stats->run.engine), "%s", u->engine);
	stats->requests += u->io.read_requests;
	stats->bytes += u->io.read_bytes;
}

void sp__tableupdate_close(struct sp__tableupdate *u)
{
	if (!u->file)
		return;
	if (u->file->redo.open)
		sp__redo_abandon(u->file);
	sp__budget_credit(&u->file->env.budget, u->batch.charged);
	sp__cellreader_close(&u->reader);
	free(u->directory.cells);
	free(u->batch.entries);
	free(u->batch.shifts);
	free(u->texts);
	free(u->row);
	free(u->old_row);
	free(u->cells);
	free(u->ends);
	*u = (struct sp__tableupdate){ 0 };
}

/* Doubles the capacity of the batch. */
static int grow(struct sp__tableupdate *u)
{
	struct sp__update_batch *b = &u->batch;
	size_t capacity = b->capacity ? 2 * b->capacity : BATCH_MIN;
	struct sp__update_entry *entries = reallocarray(b->entries, capacity, sizeof(*b->entries));
	int64_t *shifts;

	if (!entries)
		return no_memory(u);
	b->entries = entries;
	if (u->ntexts) {
		shifts = reallocarray(b->shifts, capacity, u->ntexts * sizeof(*shifts));
		if (!shifts)
			return no_memory(u);
		b->shifts = shifts;
	}
	sp__budget_charge(&u->file->env.budget, (capacity - b->capacity) * entry_bytes(u));
	b->charged += (capacity - b->capacity) * entry_bytes(u);
	b->capacity = capacity;
	return 0;
}

/* Extends the bounds of column i by the values of entries [from, to). */
static void widen(const struct sp__tableupdate *u, uint32_t i, size_t from, size_t to,
		  uint8_t *entry)
{
	const struct sp__value_type *type = &column_of(u, i)->type;
	struct sp__bounds b;

	memcpy(&b, entry, sizeof(b));
	for (size_t k = from; k < to; k++)
		sp__bounds_add(&b, type, u->batch.entries[k].values + u->columns[i].at, 1);
	memcpy(entry, &b, sizeof(b));
}

/* Changes directory row e, in which entries [from, to) are. */
static int change_row(struct sp__tableupdate *u, uint64_t e, size_t from, size_t to)
{
	const size_t bytes = sp__directory_row_bytes(u->file);
	int rc = sp__areastream_read(u->file, &u->directory, e * bytes, bytes, u->row, u->err);

	memcpy(u->old_row, u->row, bytes);
	for (uint32_t i = 0; !rc && i < u->n; i++) {
		const struct sp__column *c = column_of(u, i);
		uint8_t *entry = sp__directory_entry(u->file, u->row, u->columns[i].column);

		if (c->type.kind == 't')
			rc = sp__newtexts_change(u, i, e, from, to, entry);
		else if (c->bounds && !u->file->superblock.no_data)
			widen(u, i, from, to, entry);
	}
	if (rc || !memcmp(u->old_row, u->row, bytes))
		return rc;
	return sp__directory_write_rows(u->file, e, 1, u->row, u->err);
}

static int change_rows(struct sp__tableupdate *u)
{
	const struct sp__update_batch *b = &u->batch;
	const uint64_t records = sp__layout_row_records(&u->file->layout);
	size_t to;
	int rc = 0;

	for (size_t from = 0; !rc && from < b->n; from = to) {
		uint64_t row = b->entries[from].record / records;

		for (to = from + 1; to < b->n && b->entries[to].record / records == row; to++)
			;
		rc = change_row(u, b->first / records + row, from, to);
	}
	return rc;
}

/* True if cells of the column group are changed. */
static bool concerns(const struct sp__tableupdate *u, uint32_t group)
{
	if (sp__clotho_whole_pages(u->file))
		return true;
	for (uint32_t i = 0; i < u->n; i++)
		if (u->file->layout.places[u->columns[i].column].group == group)
			return true;
	return false;
}

static int flush(struct sp__tableupdate *u)
{
	int rc = u->batch.n && (u->bounds || u->ntexts) ? change_rows(u) : 0;

	for (uint32_t f = 0; !rc && u->batch.n && f < u->file->layout.ngroups; f++)
		if (concerns(u, f))
			rc = sp__patch_group(u, f);
	u->batch.n = 0;
	return rc;
}

int sp__tableupdate_put(struct sp__tableupdate *u, uint64_t record, const uint8_t *values)
{
	const uint64_t row_records = sp__layout_row_records(&u->file->layout),
		       row = record - record % row_records;
	struct sp__update_batch *b = &u->batch;
	int rc = 0;

	if (b->n && row > b->first + b->entries[b->n - 1].record &&
	    (b->n >= b->max || record - b->first > UINT32_MAX / 2))
		rc = flush(u);
	if (!rc && b->n == b->capacity)
		rc = grow(u);
	if (rc)
		return rc;
	if (!b->n)
		b->first = row;
	b->entries[b->n++] = (struct sp__update_entry){ (uint32_t)(record - b->first), values };
	u->records++;
	return 0;
}

int sp__tableupdate_finish(struct sp__tableupdate *u)
{
	int rc = flush(u);

	sp__charge_work(&u->file->env, u->records, 0, 0);
	sp__charge_values(&u->file->env, u->records * u->n, 0);
	for (uint32_t i = 0; u->records && i < u->n; i++)
		u->file->schema.columns[u->columns[i].column].changing = true;
	return rc ? rc : sp__tablefile_commit(u->file, u->err);
}
