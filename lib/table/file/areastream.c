/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes windows of an area, and bytes over the payloads of consecutive cells: the schema
 * and the map, which a table without data has, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/file.h"
#include "table/file/redo.h"

static int no_place(const struct sp__tablefile *f, const struct sp__areastream *s, int rc,
		    struct sp_errinfo *err)
{
	char what[32];

	snprintf(what, sizeof(what), "the %s", sp__cell_kind_name(s->kind));
	return sp__tablefile_no_place(f, rc, what, err);
}

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
	return rc ? no_place(f, s, rc, err) : 0;
}

static uint8_t *cell_at(const struct sp__tablefile *f, const struct sp__areastream *s, uint64_t n)
{
	return s->cells + (n - s->first) * f->layout.cell_bytes;
}

/*
 * Writes cells from n on that have changed: one by the journal, or those that lie together.
 * Returns how many, or an error.
 */
static int64_t write_run(struct sp__tablefile *f, const struct sp__areastream *s, uint64_t n,
			 struct sp_errinfo *err)
{
	const bool journal = f->redo.open && n < s->old;
	uint64_t first, cells = sp__map_run(&f->map, s->area, n, journal ? 1 : s->to - n, &first);
	uint8_t *data = cell_at(f, s, n);
	int rc;

	for (uint64_t i = 0; i < cells; i++)
		sp__cell_seal(data + i * f->layout.cell_bytes, f->layout.cell_bytes, 0, s->kind,
			      f->superblock.id, first + i);
	rc = journal ? sp__redo_put(f, first, data, err)
		     : sp__tablefile_write(f, first, cells, data, err);
	return rc ? rc : (int64_t)cells;
}

int sp__areastream_flush(struct sp__tablefile *f, struct sp__areastream *s, struct sp_errinfo *err)
{
	while (s->changed < s->to) {
		int64_t n = write_run(f, s, s->changed, err);

		if (n < 0)
			return (int)n;
		s->changed += (uint64_t)n;
		s->written = sp__max(s->written, s->changed);
		s->passed = s->changed;
	}
	return 0;
}

/* Gets memory for cells [first, first + n), and keeps those that are there. */
static int make_room(const struct sp__tablefile *f, struct sp__areastream *s, uint64_t n)
{
	uint8_t *cells;

	if (n <= s->capacity)
		return 0;
	n = sp__min(sp__max(n, 2 * s->capacity), sp__areastream_max(f->layout.cell_bytes));
	cells = realloc(s->cells, n * f->layout.cell_bytes);
	if (!cells)
		return -ENOMEM;
	s->cells = cells;
	s->capacity = n;
	return 0;
}

/* Reads cells [n, n + cells), which lie together, into memory. */
static int load(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n, uint64_t cells,
		struct sp_errinfo *err)
{
	uint64_t first;
	int rc = make_room(f, s, cells);

	if (rc)
		return sp__err(err, rc, "read", f->path, -1);
	s->first = s->end = n;
	first = sp__map_cell(&f->map, s->area, n);
	rc = sp__tablefile_read(f, first, cells, s->cells, err);
	for (uint64_t i = 0; !rc && i < cells; i++)
		rc = sp__tablefile_check_cell(f, first + i, 0, s->kind,
					      s->cells + i * f->layout.cell_bytes, err);
	s->end += rc ? 0 : cells;
	return rc;
}

/* Adds an empty cell behind those in memory. */
static int add_empty(const struct sp__tablefile *f, struct sp__areastream *s,
		     struct sp_errinfo *err)
{
	int rc = make_room(f, s, s->end + 1 - s->first);

	if (rc)
		return sp__err(err, rc, "write", f->path, -1);
	memset(cell_at(f, s, s->end++), 0, f->layout.cell_bytes);
	return 0;
}

static bool in_memory(const struct sp__areastream *s, uint64_t n)
{
	return n >= s->first && n < s->end;
}

/* Makes cell n, and up to want cells from there on, those in memory. */
static int hold(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n, uint64_t want,
		struct sp_errinfo *err)
{
	uint64_t first;
	int rc;

	if (in_memory(s, n))
		return 0;
	if (n == s->end && n >= s->written &&
	    n - s->first < sp__areastream_max(f->layout.cell_bytes))
		return add_empty(f, s, err);
	rc = sp__areastream_flush(f, s, err);
	if (rc)
		return rc;
	if (n >= s->written) {
		s->first = s->end = n;
		return add_empty(f, s, err);
	}
	want = sp__min(want, sp__min(s->written - n, sp__areastream_max(f->layout.cell_bytes)));
	return load(f, s, n, sp__map_run(&f->map, s->area, n, want, &first), err);
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

		if (n >= s->written && !in_memory(s, n)) {
			memset(out, 0, part);
		} else {
			rc = hold(f, s, n, (from + bytes - 1) / s->usable + 1, err);
			if (!rc)
				memcpy(out, cell_at(f, s, n) + from, part);
		}
		at += part;
		out += part;
		bytes -= part;
	}
	return rc;
}

/* Makes cell n one that is to be written. */
static int change(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n,
		  struct sp_errinfo *err)
{
	int rc;

	if (n >= s->changed && n < s->to)
		return 0;
	rc = n == s->to ? 0 : sp__areastream_flush(f, s, err);
	if (!rc)
		rc = hold(f, s, n, 1, err);
	if (rc)
		return rc;
	if (n < s->old && (!f->redo.open || n < s->passed))
		return sp__errf(err, SP_ESTATE, "write", f->path, -1,
				"a change would write a cell of the %s %s",
				sp__cell_kind_name(s->kind),
				f->redo.open ? "twice by one journal" : "without a journal");
	if (s->changed == s->to)
		s->changed = n;
	s->to = n + 1;
	return 0;
}

/* Makes cells empty that are to be written before cell n. */
static int fill(struct sp__tablefile *f, struct sp__areastream *s, uint64_t n,
		struct sp_errinfo *err)
{
	int rc = 0;

	for (uint64_t i = sp__max(s->written, s->to); !rc && i < n; i++)
		rc = change(f, s, i, err);
	return rc;
}

int sp__areastream_write(struct sp__tablefile *f, struct sp__areastream *s, uint64_t at,
			 size_t bytes, const void *from, struct sp_errinfo *err)
{
	const uint8_t *in = from;
	int rc = bytes ? sp__areastream_reserve(f, s, (at + bytes - 1) / s->usable + 1, err) : 0;

	while (!rc && bytes) {
		const uint64_t n = at / s->usable;
		uint32_t to = (uint32_t)(at % s->usable);
		size_t part = sp__min(bytes, s->usable - to);

		rc = fill(f, s, n, err);
		if (!rc)
			rc = change(f, s, n, err);
		if (rc)
			break;
		memcpy(cell_at(f, s, n) + to, in, part);
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

int sp__stream_write(struct sp__tablefile *f, enum sp__cell_kind kind,
		     const struct sp__table_stream *s, const uint8_t *bytes, struct sp_errinfo *err)
{
	const uint32_t payload = sp__cell_payload(f->layout.cell_bytes);
	const bool hollow = f->cells.first.volume->hollow;
	uint8_t *cell = malloc(f->layout.cell_bytes);
	int rc = cell ? 0 : sp__err(err, -ENOMEM, "write", f->path, -1);

	f->cells.first.volume->hollow = false;
	for (uint64_t i = 0; !rc && i < s->cells; i++) {
		uint64_t at = sp__min(i * payload, s->bytes);
		size_t part = (size_t)sp__min(s->bytes - at, payload);

		memcpy(cell, bytes + at, part);
		memset(cell + part, 0, f->layout.cell_bytes - part);
		sp__cell_seal(cell, f->layout.cell_bytes, 0, kind, f->superblock.id, s->first + i);
		rc = sp__tablefile_write(f, s->first + i, 1, cell, err);
	}
	f->cells.first.volume->hollow = hollow;
	free(cell);
	return rc;
}

/* True if the file has all cells: no memory is allocated for a damaged number. */
static bool in_file(const struct sp__tablefile *f, const struct sp__table_stream *s)
{
	off_t end = lseek(f->cells.first.fd, 0, SEEK_END);

	return end >= 0 && s->first + s->cells <= (uint64_t)end / f->layout.cell_bytes;
}

int sp__stream_read(struct sp__tablefile *f, enum sp__cell_kind kind,
		    const struct sp__table_stream *s, uint8_t **bytes, struct sp_errinfo *err)
{
	const uint32_t cell_bytes = f->layout.cell_bytes, payload = sp__cell_payload(cell_bytes);
	uint8_t *cell;
	int rc = 0;

	*bytes = NULL;
	if (!in_file(f, s))
		return sp__errf(err, SP_ECORRUPT, "read", f->path, -1,
				"it was truncated: the %s is missing", sp__cell_kind_name(kind));
	cell = malloc(cell_bytes);
	*bytes = malloc(s->bytes);
	if (!cell || !*bytes)
		rc = sp__err(err, -ENOMEM, "read", f->path, -1);
	for (uint64_t i = 0; !rc && i * payload < s->bytes; i++) {
		rc = sp__tablefile_read(f, s->first + i, 1, cell, err);
		if (!rc)
			rc = sp__tablefile_check_cell(f, s->first + i, 0, kind, cell, err);
		if (!rc)
			memcpy(*bytes + i * payload, cell,
			       sp__min(s->bytes - i * payload, payload));
	}
	free(cell);
	if (rc) {
		free(*bytes);
		*bytes = NULL;
	}
	return rc;
}
