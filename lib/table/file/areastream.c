/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes windows of an area, cell by cell.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/file.h"
#include "table/file/redo.h"

int sp__areastream_reserve(struct sp__tablefile *f, const struct sp__areastream *s, uint64_t cells,
			   struct sp_errinfo *err)
{
	uint64_t has = sp__map_cells(&f->map, s->area), more, first = 0;
	int rc;

	if (cells <= has)
		return 0;
	more = sp__max(cells - has, has);
	rc = sp__map_take(&f->map, more, &first);
	if (!rc)
		rc = sp__map_add(&f->map, s->area, first, more);
	return rc ? sp__err(err, rc, "write", f->path, -1) : 0;
}

int sp__areastream_flush(struct sp__tablefile *f, struct sp__areastream *s, struct sp_errinfo *err)
{
	uint64_t cell;
	int rc;

	if (!s->held || !s->dirty)
		return 0;
	cell = sp__map_cell(&f->map, s->area, s->number);
	sp__cell_seal(s->cell, f->layout.cell_bytes, 0, s->kind, f->superblock.id, cell);
	rc = f->redo.open && s->number < s->old ? sp__redo_put(f, cell, s->cell, err)
						: sp__tablefile_write(f, cell, 1, s->cell, err);
	if (rc)
		return rc;
	s->dirty = false;
	s->written = sp__max(s->written, s->number + 1);
	s->passed = s->number + 1;
	return 0;
}

/* Reads cell n of the area into memory, or makes an empty one. */
static int load(struct sp__tablefile *f, const struct sp__areastream *s, uint64_t n,
		struct sp_errinfo *err)
{
	uint64_t cell;
	int rc;

	memset(s->cell, 0, f->layout.cell_bytes);
	if (n >= s->written)
		return 0;
	cell = sp__map_cell(&f->map, s->area, n);
	rc = sp__tablefile_read(f, cell, 1, s->cell, err);
	return rc ? rc : sp__tablefile_check_cell(f, cell, 0, s->kind, s->cell, err);
}

/* Makes cell n the one in memory; change: it will be changed. */
static int hold(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n, bool change,
		struct sp_errinfo *err)
{
	int rc;

	if (s->held && s->number == n && (!change || s->dirty))
		return 0;
	rc = sp__areastream_flush(f, s, err);
	if (rc)
		return rc;
	if (change && n < s->old && (!f->redo.open || n < s->passed))
		return sp__errf(err, SP_ESTATE, "write", f->path, -1,
				"a cell of the %s would be changed %s", sp__cell_kind_name(s->kind),
				f->redo.open ? "twice by one journal" : "without a journal");
	if (s->held && s->number == n)
		return 0;
	if (!s->cell)
		s->cell = malloc(f->layout.cell_bytes);
	if (!s->cell)
		return sp__err(err, -ENOMEM, "read", f->path, -1);
	s->held = false;
	rc = load(f, s, n, err);
	s->held = !rc;
	s->number = n;
	return rc;
}

int sp__areastream_read(struct sp__tablefile *f, struct sp__areastream *s, uint64_t at,
			size_t bytes, void *to, struct sp_errinfo *err)
{
	uint8_t *out = to;
	int rc = 0;

	while (!rc && bytes) {
		uint64_t n = at / s->usable;
		uint32_t from = (uint32_t)(at % s->usable);
		size_t part = sp__min(bytes, s->usable - from);

		if (n >= s->written && !(s->held && s->number == n)) {
			memset(out, 0, part);
		} else {
			rc = hold(f, s, n, false, err);
			if (!rc)
				memcpy(out, s->cell + from, part);
		}
		at += part;
		out += part;
		bytes -= part;
	}
	return rc;
}

/* Writes empty cells, so that all cells before cell n are written. */
static int fill(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n,
		struct sp_errinfo *err)
{
	int rc = 0;

	while (!rc && s->written < n && !(s->held && s->number + 1 == n)) {
		rc = hold(f, s, s->written, true, err);
		if (rc)
			break;
		s->dirty = true;
		rc = sp__areastream_flush(f, s, err);
	}
	return rc;
}

int sp__areastream_write(struct sp__tablefile *f, struct sp__areastream *s, uint64_t at,
			 size_t bytes, const void *from, struct sp_errinfo *err)
{
	const uint8_t *in = from;
	int rc = bytes ? sp__areastream_reserve(f, s, (at + bytes - 1) / s->usable + 1, err) : 0;

	while (!rc && bytes) {
		uint32_t to = (uint32_t)(at % s->usable);
		size_t part = sp__min(bytes, s->usable - to);

		rc = fill(f, s, at / s->usable, err);
		if (!rc)
			rc = hold(f, s, at / s->usable, true, err);
		if (rc)
			break;
		memcpy(s->cell + to, in, part);
		s->dirty = true;
		at += part;
		in += part;
		bytes -= part;
	}
	return rc;
}

void sp__areastream_settle(struct sp__areastream *s)
{
	s->old = s->written;
	s->passed = 0;
}
