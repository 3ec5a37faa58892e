/* SPDX-License-Identifier: MIT */
/*
 * Reads cells of a table's file into frames (attach.h).
 *
 * A request reads cells that are consecutive in the file.  Cells are copied into the frame if they
 * are smaller than the unit of the volume, since requests are then wider than their cells; or if
 * they begin within a track and continue at its beginning, since one request reads both parts.
 *
 * Memory: copied cells need at most the bytes of the frames that are being read.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/clotho/attach.h"
#include "table/layout/layout.h"

#define DEPTH 128   /* requests outstanding */
#define TOGETHER 16 /* requests of a batch */

struct fetch {
	struct sp__io_owner owner;
	struct sp__request request;
	struct sp__clotho_frame *frame;
	const char *at; /* the cells */
	uint8_t *to;	/* where they belong, */
	size_t last;	/* bytes of the first ones, which are the last ones there */
	size_t bytes, buffer_bytes;
	struct sp__budget *budget; /* of the buffer */
	uint8_t buffer[];
};

static void end(struct fetch *q)
{
	sp__budget_credit(q->budget, q->buffer_bytes);
	free(q);
}

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	struct fetch *q = (struct fetch *)(void *)owner;
	const int rc = sp__request_result(r, q->at, q->bytes);

	if (!rc && q->buffer_bytes) {
		memcpy(q->to, q->at + q->last, q->bytes - q->last);
		memcpy(q->to + q->bytes - q->last, q->at, q->last);
	}
	sp__clotho_completed(q->frame, rc);
	end(q);
}

/* Begins to read consecutive cells of the file, the first `last` of which are the last ones. */
static int read_cells(struct sp__clotho_file *c, struct sp__clotho_frame *frame, uint64_t cell,
		      uint64_t cells, uint64_t last, uint8_t *to)
{
	struct sp__tablefile *f = c->file;
	const size_t bytes = (size_t)(cells * f->layout.cell_bytes);
	const size_t align = f->cells.first.volume->align_bytes;
	const bool copied = last || f->layout.cell_bytes % align;
	const size_t buffer =
		copied ? sp__request_capacity(f->cells.first.volume, bytes) + align : 0;
	struct fetch *q = malloc(sizeof(*q) + buffer);
	int rc;

	if (!q)
		return -ENOMEM;
	*q = (struct fetch){ .owner = { completed },
			     .frame = frame,
			     .to = to,
			     .last = (size_t)(last * f->layout.cell_bytes),
			     .bytes = bytes,
			     .buffer_bytes = buffer,
			     .budget = &f->env.budget };
	sp__budget_charge(q->budget, buffer);
	if (copied)
		to = (uint8_t *)(((uintptr_t)q->buffer + align - 1) / align * align);
	q->at = (const char *)sp__tablefile_aim(f, &q->request, &q->owner, cell, cells, to);
	rc = sp__requests_add(c->user.requests, &q->request);
	if (rc) {
		end(q);
		return rc;
	}
	frame->outstanding++;
	c->cells_read += cells;
	return c->user.requests->nadded < TOGETHER ? 0 : sp__requests_flush(c->user.requests);
}

/* Begins to read a run, each part of it that a track has by one request. */
static int read_run(struct sp__clotho_file *c, struct sp__clotho_frame *frame,
		    struct sp__layout_run run, uint8_t *memory)
{
	const struct sp__tablefile *f = c->file;
	const uint32_t cell_bytes = f->layout.cell_bytes;
	const uint64_t max = SP__TABLE_REQUEST_BYTES / cell_bytes;
	int rc = 0;

	while (!rc && run.cells) {
		uint64_t first, next, last = 0;
		uint64_t n = sp__map_run(&f->map, SP__AREA_DATA, run.cell, run.cells, &first);

		n = sp__min(n, max);
		if (f->layout.lanes && n < run.cells)
			last = sp__map_run(&f->map, SP__AREA_DATA, run.cell + n, run.cells - n,
					   &next);
		if (last && next + last == first && n + last <= max) {
			first = next;
			n += last;
		} else {
			last = 0;
		}
		rc = read_cells(c, frame, first, n, last, memory);
		run.cell += n;
		run.cells -= n;
		memory += n * cell_bytes;
	}
	return rc;
}

static int fetch(struct sp__clotho_user *u, struct sp__clotho_frame *frame, uint32_t group,
		 uint64_t page, uint64_t pages, uint8_t *memory)
{
	const struct sp__table_layout *l = u->layout;
	const uint64_t end = sp__min((page + pages) * l->page_records, *u->records);
	int rc = 0;

	for (uint32_t k = 0; !rc && k < sp__layout_lines_of(l, group); k++)
		rc = read_run((struct sp__clotho_file *)(void *)u, frame,
			      sp__layout_run(l, group, k, page * l->page_records, end - 1),
			      memory + k * pages * l->cell_bytes);
	return rc;
}

/*
 * Removes the A-page of a cell that was written in place.  A change of A-pages writes all of their
 * cells, and leaves them in a frame that has all column groups.
 */
static void written(struct sp__tablefile *f, uint64_t cell, const uint8_t *data)
{
	struct sp__groupset changed = { 0 };
	struct sp__layout_position at;
	struct sp__clotho_frame *frame;
	enum sp__table_area area;
	uint64_t n;

	if (!sp__map_find(&f->map, cell, &area, &n) || area != SP__AREA_DATA)
		return;
	at = sp__layout_position(&f->layout, n);
	if (data && sp__clotho_whole_pages(f)) {
		frame = sp__clotho_publish(&f->pool->user, at.page);
		if (frame)
			memcpy(sp__clotho_cell(&f->pool->user, frame, &at), data,
			       f->layout.cell_bytes);
		return;
	}
	if (sp__clotho_whole_pages(f))
		changed = sp__clotho_all(&f->layout);
	else
		sp__bits_add(changed.bits, at.group);
	sp__clotho_invalidate(&f->pool->user, at.page, &changed);
}

int sp__clotho_attach_file(struct sp__clotho_file *c, struct sp__tablefile *file,
			   struct sp_pool *pool, struct sp_errinfo *err)
{
	const struct sp__queue_opts q =
		sp__tablefile_queue(file, file->depth ? file->depth : DEPTH);
	struct sp__clotho_key key = { .id = file->superblock.id,
				      .number = file->superblock.slots.number,
				      .state = file->superblock.state };
	struct stat st;
	int rc;

	*c = (struct sp__clotho_file){ .user = { .pool = pool,
						 .layout = &file->layout,
						 .records = &file->superblock.records,
						 .fetch = fetch,
						 .requests = &c->requests },
				       .file = file,
				       .err = SP_ERRINFO_INIT,
				       .records = file->superblock.records };
	if (fstat(file->cells.first.fd, &st))
		return sp__err(err, -errno, "open", file->path, -1);
	key.device = st.st_dev;
	key.inode = st.st_ino;
	rc = sp__requests_open(&c->requests, &q, &c->err);
	if (rc && c->err.text[0])
		return sp__errf(err, rc, "open", file->path, -1, "%s", c->err.text);
	if (rc)
		return sp__err(err, rc, "open", file->path, -1);
	rc = sp__clotho_attach(&c->user, &key, file->path, err);
	if (rc)
		return rc;
	file->pool = c;
	file->written = written;
	return 0;
}

void sp__clotho_detach_file(struct sp__clotho_file *c)
{
	struct sp__queue *q = c->requests.queue;

	if (q && !sp__requests_flush(&c->requests))
		while (sp__queue_outstanding(q) && sp__queue_complete(q, 1, -1) >= 0)
			;
	sp__clotho_detach(&c->user);
	sp__requests_close(&c->requests);
	if (c->file)
		c->file->pool = NULL;
}

void sp__clotho_commit(struct sp__clotho_file *c)
{
	const struct sp__tablefile *f = c->file;
	const struct sp__groupset all = sp__clotho_all(&f->layout);

	/* Records were appended: the A-page that was the last one has more cells. */
	if (c->records && c->records != f->superblock.records)
		sp__clotho_invalidate(&c->user, (c->records - 1) / f->layout.page_records, &all);
	c->records = f->superblock.records;
	c->user.table->key.number = f->superblock.slots.number;
	c->user.table->key.state = f->superblock.state;
}

void sp__clotho_note(struct sp__clotho_file *c, struct sp_table_stats *stats)
{
	const struct sp__io_counters now = *sp__queue_counters(c->requests.queue);
	const struct sp__io_counters since = {
		.read_requests = now.read_requests - c->noted.read_requests,
		.read_bytes = now.read_bytes - c->noted.read_bytes,
	};

	sp__env_note_io(&stats->run, &since);
	sp_pool_counters(c->user.pool, &stats->pool);
	stats->cells_read += c->cells_read;
	c->noted = now;
	c->cells_read = 0;
}
