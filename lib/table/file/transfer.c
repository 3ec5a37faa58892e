/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes single cells and short runs of them, and describes damaged ones.
 *
 * On a simulated volume each transfer is a request of its queue, so it takes virtual time.
 */
#include <stdio.h>
#include "base/err.h"
#include "base/whole.h"
#include "table/file/file.h"

/* Submits one request to a simulated volume, and waits. */
static int request(struct sp__tablefile *f, enum sp__op op, struct sp__volume *volume,
		   uint64_t offset, size_t bytes, uint8_t *data)
{
	struct sp__request r = {
		.op = op, .volume = volume, .offset = offset, .bytes = (uint32_t)bytes, .data = data
	};
	struct sp__request *all[] = { &r }, *done;
	const struct sp__queue_opts o = { .depth = 1,
					  .trace = f->env.trace,
					  .device = f->env.device };
	int rc = f->queue ? 0 : sp__queue_open(&f->queue, &o, NULL);

	if (!rc)
		rc = sp__queue_submit(f->queue, all, 1);
	if (!rc)
		rc = sp__queue_reap(f->queue, &done, 1, 1, -1);
	return rc < 0 ? rc : r.result < 0 ? r.result : (size_t)r.result == bytes ? 0 : SP_ECORRUPT;
}

/* While a table is opened, it has no volume yet. */
static bool timed(const struct sp__tablefile *f)
{
	return f->cells.first.volume && f->cells.first.volume->machine;
}

static int failed(const struct sp__tablefile *f, int rc, const char *op,
		  const struct sp__cell_location *at, struct sp_errinfo *err)
{
	return timed(f) ? sp__volume_err(err, at->volume, rc, op, (long long)at->offset)
			: sp__err(err, rc, op, at->name, (long long)at->offset);
}

int sp__tablefile_read(struct sp__tablefile *f, uint64_t cell, uint64_t cells, uint8_t *data,
		       struct sp_errinfo *err)
{
	const struct sp__cell_location at = sp__tablefile_locate(f, cell);
	size_t bytes = (size_t)(cells * f->layout.cell_bytes);
	ssize_t n = 0;
	int rc = 0;

	if (timed(f)) {
		if (f->cells.first.volume->hollow)
			memset(data, 0, bytes);
		rc = request(f, SP__OP_READ, at.volume, at.offset, bytes, data);
	} else {
		n = sp__read_whole(at.fd, data, bytes, at.offset);
		rc = n < 0 ? (int)n : (size_t)n < bytes ? SP_ECORRUPT : 0;
	}
	f->cells_read += rc ? 0 : cells;
	f->io.read_requests++;
	f->io.read_bytes += rc ? 0 : bytes;
	if (rc == SP_ECORRUPT)
		return sp__errf(err, rc, "read", at.name, (long long)at.offset,
				"the file ends before cell %llu",
				(unsigned long long)(cell + cells));
	return rc ? failed(f, rc, "read", &at, err) : 0;
}

int sp__tablefile_write(struct sp__tablefile *f, uint64_t cell, uint64_t cells, const uint8_t *data,
			struct sp_errinfo *err)
{
	const struct sp__cell_location at = sp__tablefile_locate(f, cell);
	size_t bytes = (size_t)(cells * f->layout.cell_bytes);
	int rc = sp__tablefile_check_end(at.volume, at.name, at.offset + bytes, err);

	if (rc)
		return rc;
	rc = timed(f) ? request(f, SP__OP_WRITE, at.volume, at.offset, bytes,
				(uint8_t *)(uintptr_t)data)
		      : sp__write_whole(at.fd, data, bytes, at.offset);
	f->cells_written += rc ? 0 : cells;
	f->io.write_requests++;
	f->io.write_bytes += rc ? 0 : bytes;
	return rc ? failed(f, rc, "write", &at, err) : 0;
}

int sp__tablefile_spend(struct sp__tablefile *f, uint64_t cell, uint64_t at, size_t bytes,
			struct sp_errinfo *err)
{
	const struct sp__cell_location to = sp__tablefile_locate(f, cell);
	struct sp__volume hollow;
	int rc;

	f->io.write_requests += bytes != 0;
	f->io.write_bytes += bytes;
	if (!timed(f) || !bytes)
		return 0;
	hollow = *to.volume;
	hollow.hollow = true;
	rc = request(f, SP__OP_WRITE, &hollow, to.offset + at, bytes, NULL);
	return rc ? failed(f, rc, "write", &to, err) : 0;
}

/* Says which records and columns a cell of values has. */
static void add_contents(const struct sp__tablefile *f, uint64_t cell, char *text, size_t capacity)
{
	const struct sp__table_layout *l = &f->layout;
	const struct sp__column_group *g;
	struct sp__layout_position at;
	enum sp__table_area area;
	uint64_t n, first;
	uint32_t records;

	if (!sp__map_find(&f->map, cell, &area, &n) || area != SP__AREA_DATA)
		return;
	at = sp__layout_position(l, n);
	g = &l->groups[at.group];
	records = sp__layout_cell_records(l, f->superblock.records, &at);
	if (!records)
		return;
	first = at.page * l->page_records + (uint64_t)at.j * g->cell_records;
	snprintf(text, capacity, " (records %llu to %llu of column %.40s%s)",
		 (unsigned long long)first, (unsigned long long)(first + records - 1),
		 f->schema.columns[g->columns[0]].name,
		 g->ncolumns > 1 ? " and those stored with it" : "");
}

void sp__tablefile_describe(const struct sp__tablefile *f, uint64_t cell, uint32_t records,
			    enum sp__cell_kind kind, const uint8_t *data, char *text,
			    size_t capacity)
{
	const uint32_t bytes = f->layout.cell_bytes;
	char contents[128] = "", reason[80] = "";
	uint64_t other;

	add_contents(f, cell, contents, sizeof(contents));
	switch (sp__cell_check(data, bytes, records, kind, f->superblock.id, cell)) {
	case SP__CELL_SOUND:
		snprintf(reason, sizeof(reason), "its contents contradict those of other cells");
		break;
	case SP__CELL_UNWRITTEN:
		snprintf(reason, sizeof(reason), "it was never written");
		break;
	case SP__CELL_KIND:
		snprintf(reason, sizeof(reason), "it is a cell of another kind");
		break;
	case SP__CELL_RECORDS:
		snprintf(reason, sizeof(reason), "it has %u records, not %u",
			 sp__cell_records(data, bytes), records);
		break;
	case SP__CELL_DAMAGED:
		if (sp__cell_find(data, bytes, f->superblock.id, f->map.end, &other))
			snprintf(reason, sizeof(reason),
				 "it is at the wrong place: it is cell %llu",
				 (unsigned long long)other);
		else
			snprintf(reason, sizeof(reason),
				 "its content is damaged, or it is of another table");
		break;
	}
	snprintf(text, capacity, "cell %llu of the %s%s: %s", (unsigned long long)cell,
		 sp__cell_kind_name(kind), contents, reason);
}

int sp__tablefile_damaged(const struct sp__tablefile *f, uint64_t cell, uint32_t records,
			  enum sp__cell_kind kind, const uint8_t *data, struct sp_errinfo *err)
{
	const struct sp__cell_location at = sp__tablefile_locate(f, cell);
	char text[SP_ERRINFO_TEXT_MAX];

	sp__tablefile_describe(f, cell, records, kind, data, text, sizeof(text));
	return sp__errf(err, SP_ECORRUPT, "read", at.name, (long long)at.offset, "%s", text);
}

int sp__tablefile_check_cell(const struct sp__tablefile *f, uint64_t cell, uint32_t records,
			     enum sp__cell_kind kind, const uint8_t *data, struct sp_errinfo *err)
{
	return (f->cells.first.volume && f->cells.first.volume->hollow) ||
			       sp__cell_check(data, f->layout.cell_bytes, records, kind,
					      f->superblock.id, cell) == SP__CELL_SOUND
		       ? 0
		       : sp__tablefile_damaged(f, cell, records, kind, data, err);
}

void sp__tablefile_note(const struct sp__tablefile *f, struct sp_run_stats *stats)
{
	sp__env_note_io(stats, &f->io);
	sp__env_note(&f->env, stats, true);
	if (f->run.direct > 0 && !f->cells.first.volume->direct)
		sp__env_note_cached(&f->env, stats, f->path);
}
