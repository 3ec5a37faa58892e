/* SPDX-License-Identifier: MIT */
/*
 * Writes the next state of a table.
 *
 * Order: cells of new space and the journal; sync of all volumes; the superblock; the cells of the
 * journal in place; the headers of further volumes; sync; a superblock without the journal; then
 * that state once more, since either of the two superblocks must be enough.  Space that the state
 * before uses is not overwritten until the new state counts.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "cells/volumes.h"
#include "columns/schema.h"
#include "table/file/commit.h"
#include "table/file/redo.h"
#include "table/file/volumes.h"

/* Writes the superblock, with layout and columns of the open file; repeat: only once more. */
static int write_superblock(struct sp__tablefile *f, bool repeat, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	int rc = 0;

	for (uint32_t i = 0; i < s->ncolumns; i++)
		s->changed[i] = f->schema.columns[i].changed;
	s->layout = f->layout;
	if (repeat)
		sp__table_superblock_repeat(s, f->cells.first.fd);
	else
		rc = sp__table_superblock_write(s, f->cells.first.fd, f->path, err);
	s->layout = (struct sp__table_layout){ .cell_bytes = f->layout.cell_bytes };
	return rc ? rc : sp__tablefile_spend(f, 0, 0, f->layout.cell_bytes, err);
}

/* Takes cells for so many bytes, instead of those of the state before. */
static int move(struct sp__tablefile *f, struct sp__table_stream *s, uint64_t bytes)
{
	const uint32_t payload = sp__cell_payload(f->layout.cell_bytes);
	int rc = s->cells ? sp__map_release(&f->map, s->first, s->cells) : 0;

	s->bytes = bytes;
	s->cells = (bytes + payload - 1) / payload;
	return rc ? rc : sp__map_take(&f->map, s->cells, &s->first);
}

static int write_schema(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__coder c = { 0 };
	int rc;

	sp__schema_code(&c, &f->schema);
	rc = sp__coder_end(&c);
	if (!rc && !f->superblock.slots.number)
		f->superblock.contents += sp__checksum(c.data, c.at);
	if (!rc)
		rc = move(f, &f->superblock.schema, c.at);
	rc = rc ? sp__tablefile_no_place(f, rc, "the schema", err)
		: sp__stream_write(f, SP__CELL_SCHEMA, &f->superblock.schema, c.data, err);
	free(c.data);
	if (!rc)
		f->schema_changed = false;
	return rc;
}

/* The map has space for 2 more extents, since taking its own cells changes it. */
static int write_map(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__table_stream *s = &f->superblock.map;
	struct sp__coder c = { 0 };
	int rc;

	/* The first state has none before it: all that was released is free. */
	rc = f->superblock.slots.number ? 0 : sp__map_settle(&f->map);
	if (!rc)
		rc = move(f, s, sp__map_bytes(&f->map, 2));
	sp__map_code(&c, &f->map);
	if (!rc)
		rc = sp__coder_end(&c);
	s->bytes = c.at;
	rc = rc ? sp__tablefile_no_place(f, rc, "the map", err)
		: sp__stream_write(f, SP__CELL_MAP, s, c.data, err);
	free(c.data);
	if (!rc)
		f->map.changed = false;
	return rc;
}

/* Checks that devices have the cells, and gives plain files their length. */
static int set_lengths(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	const uint64_t need = sp__tablefile_length(f, f->map.end);
	int rc = sp__tablefile_check_space(f, err);

	for (unsigned i = 0; !rc && i < f->cells.n; i++)
		rc = sp__cellvolume_lengthen(&f->cells.volumes[i], need, NULL, err);
	return rc;
}

static int write_cells(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__areastream_flush(f, &f->directory, err);

	if (!rc)
		rc = sp__areastream_flush(f, &f->tombstones, err);
	sp__map_trim(&f->map, f->superblock.end);
	if (!rc && f->redo.open)
		rc = sp__redo_end(f, err);
	if (!rc && f->schema_changed)
		rc = write_schema(f, err);
	if (!rc && f->map.changed)
		rc = write_map(f, err);
	return rc ? rc : set_lengths(f, err);
}

int sp__tablefile_finish(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = 0;

	if (!sp__table_unfinished(&f->superblock))
		return 0;
	f->unfinished = true;
	if (f->superblock.journal.bytes)
		rc = sp__redo_apply(f, err);
	f->superblock.journal = (struct sp__table_journal){ 0 };
	if (!rc)
		rc = sp__tablevolumes_mark(f, err);
	f->superblock.marking = 0;
	if (!rc)
		rc = write_superblock(f, false, err);
	f->unfinished = rc;
	return rc ? rc : write_superblock(f, true, err);
}

void sp__tablefile_cut(const struct sp__tablefile *f)
{
	const uint64_t end = sp__tablefile_length(f, f->superblock.end);

	for (unsigned i = 0; f->settled && i < f->cells.n; i++)
		sp__cellvolume_shorten(&f->cells.volumes[i], end);
}

/* What the state before used is free now. */
static int settle(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__map_settle(&f->map);

	sp__areastream_settle(&f->directory);
	sp__areastream_settle(&f->tombstones);
	f->settled = true;
	sp__tablefile_cut(f);
	return rc ? sp__err(err, rc, "write", f->path, -1) : 0;
}

/* Writes the superblock of a new table, after the headers of its further volumes. */
static int write_first(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__tablevolumes_mark(f, err);

	f->superblock.first_records = f->superblock.records;
	return rc ? rc : write_superblock(f, false, err);
}

/* Draws the number of the next state, which columns that were changed have, too. */
static int draw_state(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	int rc;

	s->layout = f->layout;
	rc = sp__table_superblock_draw(s, s->records != f->committed);
	s->layout = (struct sp__table_layout){ .cell_bytes = f->layout.cell_bytes };
	if (rc == -ENOSPC)
		return sp__errf(err, rc, "write", f->path, -1,
				"its superblock, of an old version, has no space for changes: make "
				"another table of it with: xtable convert");
	for (uint32_t i = 0; i < f->schema.n; i++) {
		if (f->schema.columns[i].changing)
			f->schema.columns[i].changed = s->state;
		f->schema.columns[i].changing = false;
	}
	return rc ? sp__err(err, rc, "write", f->path, -1) : 0;
}

/* Writes the superblock of a change; the headers of further volumes get its state later. */
static int write_change(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	const uint64_t before = s->state;
	int rc = sp__cellfile_sync(&f->cells, 1, err);

	if (!rc)
		rc = draw_state(f, err);
	s->marking = f->cells.n > 1 ? sp__volume_marking(before) : 0;
	if (!rc)
		rc = write_superblock(f, false, err);
	if (rc) {
		s->state = before;
		s->marking = 0;
	}
	return rc;
}

int sp__tablefile_commit(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = write_cells(f, err);

	if (rc)
		return rc;
	f->settled = false;
	f->superblock.end = f->map.end;
	f->superblock.tombstone_cells = f->tombstones.written;
	rc = f->superblock.slots.number ? write_change(f, err) : write_first(f, err);
	if (!rc)
		rc = sp__table_unfinished(&f->superblock) ? sp__tablefile_finish(f, err)
							  : write_superblock(f, true, err);
	if (rc)
		return rc;
	f->committed = f->superblock.records;
	return settle(f, err);
}
