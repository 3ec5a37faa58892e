/* SPDX-License-Identifier: MIT */
/*
 * Writes the journal of a change, and its cells in place.
 *
 * The journal is read twice: all of it is checked before the first cell is written.
 */
#include <endian.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cells/journal.h"
#include "run/charge.h"
#include "table/file/redo.h"

enum { RECORD_CELL = 1, RECORD_END = 2 };

#define END_BYTES 16
#define SPEND_BYTES (UINT64_C(1) << 20)

uint64_t sp__redo_bytes(uint32_t cell_bytes, uint64_t cells)
{
	return cells * (SP__JOURNAL_HEADER_BYTES + 8 + (uint64_t)cell_bytes) +
	       SP__JOURNAL_HEADER_BYTES + END_BYTES;
}

static struct sp__journal journal_at(const struct sp__tablefile *f, uint64_t first, uint64_t at,
				     uint64_t bytes, struct sp_errinfo *err)
{
	uint64_t begin = first * f->layout.cell_bytes;

	return (struct sp__journal){ .fd = f->cells.first.fd,
				     .name = f->path,
				     .end = begin + at,
				     .limit = begin + bytes,
				     .unsynced = true,
				     .err = err };
}

/* Behind the end of the first drive are the cells of the next one. */
static int no_place(const struct sp__tablefile *f, uint64_t bytes, struct sp_errinfo *err)
{
	return sp__errf(err, -ENOSPC, "write", f->path, -1,
			"a drive of %llu bytes has no space for the journal of the change, %llu "
			"bytes: change fewer records at a time, or load the table on larger drives",
			(unsigned long long)(f->map.lanemap->volume_cells * f->layout.cell_bytes),
			(unsigned long long)bytes);
}

int sp__redo_begin(struct sp__tablefile *f, uint64_t max_cells, struct sp_errinfo *err)
{
	uint64_t bytes = 0, cells;

	if (max_cells < SP__TABLE_CELLS_MAX / f->layout.cell_bytes)
		bytes = sp__redo_bytes(f->layout.cell_bytes, max_cells);
	cells = (bytes + f->layout.cell_bytes - 1) / f->layout.cell_bytes;
	if (!bytes || cells > SP__TABLE_CELLS_MAX - f->map.end)
		return sp__err(err, -EFBIG, "write", f->path, -1);
	if (f->map.lanemap && cells > f->map.lanemap->volume_cells - f->map.end)
		return no_place(f, bytes, err);
	f->redo = (struct sp__redo){
		.open = true, .first = f->map.end, .max_cells = max_cells, .area_cells = cells
	};
	f->map.end += cells;
	return 0;
}

/* Takes the time of writing what has been appended. */
static int spend(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__redo *r = &f->redo;
	uint64_t from = r->spent;

	r->spent = r->at;
	return sp__tablefile_spend(f, r->first, from, r->at - from, err);
}

/* Appends a record of two parts. */
static int append(struct sp__tablefile *f, uint32_t type, uint64_t number, const void *data,
		  size_t bytes, struct sp_errinfo *err)
{
	struct sp__redo *r = &f->redo;
	uint64_t le = htole64(number), area = r->area_cells * f->layout.cell_bytes;
	const struct iovec parts[] = { { &le, sizeof(le) }, { (void *)(uintptr_t)data, bytes } };
	struct sp__journal j = journal_at(f, r->first, r->at, area, err);
	int rc = sp__journal_append(&j, type, parts, 2);

	r->at = j.end - r->first * f->layout.cell_bytes;
	return rc || r->at - r->spent < SPEND_BYTES ? rc : spend(f, err);
}

int sp__redo_put(struct sp__tablefile *f, uint64_t cell, const uint8_t *data,
		 struct sp_errinfo *err)
{
	int rc;

	if (f->redo.cells == f->redo.max_cells)
		return sp__errf(err, SP_ESTATE, "write", f->path, -1,
				"the change has more than the %llu cells that were announced",
				(unsigned long long)f->redo.max_cells);
	rc = append(f, RECORD_CELL, cell, data, f->layout.cell_bytes, err);
	if (rc)
		return rc;
	f->redo.cells++;
	f->cells_written++;
	sp__charge_work(&f->env, 0, 0, f->layout.cell_bytes);
	return 0;
}

void sp__redo_abandon(struct sp__tablefile *f)
{
	f->redo.open = false;
	f->unfinished = true;
}

/*
 * The space of the journal is free in the state after the change.  It is taken out of the file only
 * if no cells are taken before the superblock counts, since they would overwrite the journal.
 */
static int release(struct sp__tablefile *f)
{
	const struct sp__redo *r = &f->redo;

	if (f->map.end == r->first + r->area_cells && !f->map.changed && !f->schema_changed) {
		f->map.end = r->first;
		return 0;
	}
	return sp__map_release(&f->map, r->first, r->area_cells);
}

int sp__redo_end(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__redo *r = &f->redo;
	uint64_t id = htole64(f->superblock.id);
	int rc = 0;

	if (r->cells)
		rc = append(f, RECORD_END, r->cells, &id, sizeof(id), err);
	if (!rc)
		rc = spend(f, err);
	if (rc)
		return rc;
	rc = release(f);
	if (rc)
		return sp__err(err, rc, "write", f->path, -1);
	f->superblock.journal =
		(struct sp__table_journal){ r->cells ? r->first : 0, r->cells ? r->at : 0 };
	r->open = false;
	return 0;
}

static int damaged(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ECORRUPT, "open", f->path, -1,
			"the journal of an interrupted change is damaged");
}

static uint64_t number_of(const struct sp__journal_record *rec)
{
	uint64_t le;

	memcpy(&le, rec->data, sizeof(le));
	return le64toh(le);
}

/* True if the record is a valid cell of the file. */
static bool is_cell(const struct sp__tablefile *f, const struct sp__journal_record *rec)
{
	uint32_t cell_bytes = f->layout.cell_bytes;
	uint64_t cell;

	if (rec->type != RECORD_CELL || rec->bytes != 8 + (size_t)cell_bytes)
		return false;
	cell = number_of(rec);
	return cell >= sp__table_superblock_front(&f->superblock) &&
	       cell % sp__table_volume_cells(&f->superblock) < f->superblock.end &&
	       cell / sp__table_volume_cells(&f->superblock) < sp__table_drives(&f->superblock) &&
	       sp__cell_valid((uint8_t *)rec->data + 8, cell_bytes, f->superblock.id, cell);
}

/* True if the record ends a journal of so many cells. */
static bool is_end(const struct sp__tablefile *f, const struct sp__journal_record *rec,
		   uint64_t cells)
{
	uint64_t id;

	if (rec->type != RECORD_END || rec->bytes != END_BYTES)
		return false;
	memcpy(&id, rec->data + 8, sizeof(id));
	return number_of(rec) == cells && le64toh(id) == f->superblock.id;
}

/* Cells of the journal that are written in place together, in the order of the file. */
struct sorted {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	struct sp__journal_record records[SP__REDO_SORTED];
	size_t n, max;
};

static int write_sorted(struct sorted *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (!rc)
			rc = sp__tablefile_write(w->file, number_of(&w->records[i]), 1,
						 (uint8_t *)w->records[i].data + 8, w->err);
		if (w->file->pool)
			w->file->written(w->file, number_of(&w->records[i]),
					 rc ? NULL : (uint8_t *)w->records[i].data + 8);
		free(w->records[i].data);
	}
	w->n = 0;
	return rc;
}

/* Takes over the record of a cell. */
static int put_sorted(struct sorted *w, const struct sp__journal_record *rec)
{
	size_t i = w->n++;

	for (; i && number_of(&w->records[i - 1]) > number_of(rec); i--)
		w->records[i] = w->records[i - 1];
	w->records[i] = *rec;
	return w->n < w->max ? 0 : write_sorted(w);
}

/* Checks all records, or writes their cells.  Returns 0 or an error. */
static int walk(struct sp__tablefile *f, bool write, struct sp_errinfo *err)
{
	const struct sp__table_journal *named = &f->superblock.journal;
	struct sp__journal j = journal_at(f, named->first, 0, named->bytes, err);
	struct sorted w = { .file = f,
			    .err = err,
			    .max = sp__redo_sorted(f->env.budget.limit_bytes,
						   f->layout.cell_bytes) };
	struct sp__journal_record rec;
	uint64_t cells = 0;
	bool end = false;
	int rc = 0, written;

	while (!rc && !end) {
		bool cell;

		rc = sp__journal_next(&j, &rec);
		if (rc <= 0) {
			rc = rc ? rc : damaged(f, err);
			break;
		}
		cell = is_cell(f, &rec);
		end = !cell && is_end(f, &rec, cells);
		cells += cell;
		rc = cell || end ? 0 : damaged(f, err);
		if (cell && write)
			rc = put_sorted(&w, &rec);
		else
			free(rec.data);
	}
	written = write_sorted(&w);
	return rc ? rc : written;
}

int sp__redo_apply(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = walk(f, false, err);

	return rc ? rc : walk(f, true, err);
}
