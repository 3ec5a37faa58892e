/* SPDX-License-Identifier: MIT */
/*
 * Writes texts.
 *
 * Algorithm: the texts of a directory row are kept in memory, column by column, until it ends.
 * Then they get consecutive cells, and are copied into a buffer of cells.  Texts of one row after
 * the other are consecutive, too, so buffers become full.
 *
 * If the memory is exhausted before the row ends, the column with the most texts in memory gets
 * cells for all its texts of the row, as estimated from those so far, and its complete cells are
 * written there.  If that is too little, it gets twice as many other ones, and the cells written
 * are copied.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/few.h"
#include "base/minmax.h"
#include "table/file/cell.h"
#include "table/write/writer.h"

int sp__texts_open(struct sp__texts *t, struct sp__slabs *slabs, struct sp__tablefile *file,
		   uint32_t n, uint64_t max_pending, struct sp_errinfo *err)
{
	*t = (struct sp__texts){ .slabs = slabs,
				 .file = file,
				 .err = err,
				 .n = n,
				 .max_pending = max_pending,
				 .columns = calloc(n + 1, sizeof(*t->columns)) };
	return t->columns ? 0 : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

void sp__texts_close(struct sp__texts *t)
{
	for (uint32_t k = 0; t->columns && k < t->n; k++)
		sp__bytes_release(&t->columns[k].pending, &t->file->env.budget);
	free(t->columns);
	*t = (struct sp__texts){ 0 };
}

static uint32_t payload(const struct sp__texts *t)
{
	return sp__cell_payload(t->slabs->cell_bytes);
}

int sp__texts_flush(struct sp__texts *t)
{
	struct sp__slab *out = t->out;

	t->out = NULL;
	return out ? sp__slab_write(out, t->first_out, t->cells_out, SP__CELL_TEXT) : 0;
}

/* Completes the cell of this number, with n bytes; n is at most a payload. */
static int put_cell(struct sp__texts *t, uint64_t number, const char *text, uint32_t n)
{
	const uint32_t cell_bytes = t->slabs->cell_bytes;
	uint8_t *cell;
	int rc = 0;

	if (t->out && (t->cells_out == t->slabs->cells || number != t->first_out + t->cells_out))
		rc = sp__texts_flush(t);
	if (!rc && !t->out) {
		rc = sp__slabs_get(t->slabs, &t->out);
		t->first_out = number;
		t->cells_out = 0;
	}
	if (rc)
		return rc;
	cell = t->out->data + (size_t)t->cells_out++ * cell_bytes;
	memcpy(cell, text, n);
	memset(cell + n, 0, payload(t) - n);
	return 0;
}

static int no_space(const struct sp__texts *t, int rc)
{
	return sp__tablefile_no_place(t->file, rc, "the texts", t->err);
}

/* Gives back cells that no outstanding request writes. */
static int release(struct sp__texts *t, uint64_t first, uint64_t cells)
{
	int rc = cells ? sp__map_release(&t->file->map, first, cells) : 0;

	if (!rc && t->fresh)
		rc = sp__map_settle(&t->file->map);
	return rc ? no_space(t, rc) : 0;
}

/* Copies n cells that were written, whose checksums depend on their numbers. */
static int copy_cells(struct sp__texts *t, uint64_t from, uint64_t to, uint64_t n)
{
	int rc = sp__texts_flush(t);

	for (uint32_t cells; !rc && n; from += cells, to += cells, n -= cells) {
		struct sp__slab *slab;

		cells = (uint32_t)sp__min(n, t->slabs->cells);
		rc = sp__slabs_get(t->slabs, &slab);
		if (!rc)
			rc = sp__slab_read(slab, from, cells);
		if (rc)
			break;
		slab->copied = true;
		rc = sp__slab_write(slab, to, cells, SP__CELL_TEXT);
	}
	return rc;
}

/* Reserves at least `cells` cells for a column, and moves those that were written. */
static int reserve(struct sp__texts *t, struct sp__text_column *c, uint64_t cells)
{
	uint64_t first;
	int rc;

	if (cells <= c->reserved)
		return 0;
	rc = sp__map_take(&t->file->map, cells, &first);
	if (rc)
		return no_space(t, rc);
	if (c->written)
		rc = copy_cells(t, c->first, first, c->written);
	if (!rc)
		rc = release(t, c->first, c->reserved);
	c->first = first;
	c->reserved = cells;
	return rc;
}

/* Writes the complete cells of a column; with `all` the last one, too. */
static int write_cells(struct sp__texts *t, struct sp__text_column *c, bool all)
{
	size_t at = 0, n = c->pending.bytes;
	int rc = 0;

	for (; !rc && n - at >= payload(t); at += payload(t))
		rc = put_cell(t, c->first + c->written++, c->pending.data + at, payload(t));
	if (!rc && all && at < n) {
		rc = put_cell(t, c->first + c->written++, c->pending.data + at, (uint32_t)(n - at));
		at = n;
	}
	if (rc)
		return rc;
	t->pending -= at;
	c->pending.bytes = n - at;
	if (at < n)
		memmove(c->pending.data, c->pending.data + at, n - at);
	return 0;
}

/* Writes the complete cells of a column. */
static int make_space(struct sp__texts *t, struct sp__text_column *c, double done)
{
	uint64_t all, cells = c->written + c->pending.bytes / payload(t);
	int rc = 0;

	if (cells > c->reserved) {
		all = (uint64_t)((double)c->bytes / done) / payload(t);
		rc = reserve(t, c, sp__max(sp__max(2 * c->reserved, cells), all + all / 16 + 1));
	}
	return rc ? rc : write_cells(t, c, false);
}

int sp__texts_limit(struct sp__texts *t, double done)
{
	int rc = 0;

	while (!rc && t->pending > t->max_pending) {
		struct sp__text_column *c = t->columns;

		for (uint32_t k = 1; k < t->n; k++)
			if (t->columns[k].pending.bytes > c->pending.bytes)
				c = &t->columns[k];
		if (c->pending.bytes < payload(t))
			break;
		rc = make_space(t, c, done);
	}
	return rc;
}

/* Adds the texts of n cells of a buffer, of which `bytes` bytes are left. */
static int add_cells(struct sp__texts *t, struct sp__text_column *c, struct sp__tablefile *file,
		     const uint8_t *cells, uint64_t first, uint32_t n, uint64_t bytes)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++, bytes -= sp__min(bytes, payload(t))) {
		const uint8_t *cell = cells + (size_t)i * t->slabs->cell_bytes;
		size_t part = (size_t)sp__min(bytes, payload(t));

		rc = sp__tablefile_check_cell(file, first + i, 0, SP__CELL_TEXT, cell, t->err);
		if (!rc && sp__bytes_reserve(&c->pending, c->pending.bytes + part + SP__COPY_SHORT,
					     &t->file->env.budget))
			rc = sp__err(t->err, -ENOMEM, "allocate", NULL, -1);
		if (rc)
			break;
		memcpy(c->pending.data + c->pending.bytes, cell, part);
		c->pending.bytes += part;
		c->bytes += part;
		t->pending += part;
	}
	return rc;
}

int sp__texts_continue(struct sp__texts *t, uint32_t k, struct sp__tablefile *file,
		       const struct sp__text_place *place, double done)
{
	struct sp__text_column *c = &t->columns[k];
	struct sp__slab *slab;
	int rc = 0;

	for (uint32_t at = 0, n; !rc && at < place->cells; at += n) {
		n = sp__min(place->cells - at, t->slabs->cells);
		rc = sp__slabs_get(t->slabs, &slab);
		if (!rc)
			rc = sp__slab_read(slab, place->first + at, n);
		if (rc)
			break;
		rc = add_cells(t, c, file, slab->data, place->first + at, n,
			       place->bytes - (uint64_t)at * payload(t));
		sp__slab_give(slab);
		if (!rc)
			rc = sp__texts_limit(t, done);
	}
	c->old = *place;
	return rc;
}

uint64_t sp__texts_room(const struct sp__texts *t)
{
	return 2 * t->max_pending - sp__min(2 * t->max_pending, t->pending);
}

uint64_t sp__text_refs_bytes(const struct sp__text_ref *refs, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += refs[i].bytes == SP__TEXT_REF_NULL ? 1 : refs[i].bytes;
	return bytes;
}

int sp__texts_add(struct sp__texts *t, uint32_t k, const char *base, struct sp__text_ref *refs,
		  size_t n)
{
	struct sp__text_column *c = &t->columns[k];
	const uint64_t bytes = sp__text_refs_bytes(refs, n), end = c->bytes + bytes;
	char *begin, *to;

	if (end > UINT32_MAX)
		return sp__errf(t->err, -EFBIG, "write", t->file->path, -1,
				"the texts of a column in one page exceed 4 GiB: choose fewer "
				"records per page");
	if (sp__bytes_reserve(&c->pending, c->pending.bytes + bytes + SP__COPY_SHORT,
			      &t->file->env.budget))
		return sp__err(t->err, -ENOMEM, "allocate", NULL, -1);
	begin = to = c->pending.data + c->pending.bytes;
	for (size_t i = 0; i < n; i++) {
		if (refs[i].bytes == SP__TEXT_REF_NULL) {
			*to++ = (char)SP__TEXT_NULL;
		} else {
			sp__copy_record(to, base + refs[i].at, refs[i].bytes);
			to += refs[i].bytes;
		}
		refs[i].at = (uint32_t)(c->bytes + (uint64_t)(to - begin));
	}
	c->bytes = end;
	c->pending.bytes += bytes;
	t->pending += bytes;
	return 0;
}

static int end_column(struct sp__texts *t, struct sp__text_column *c, struct sp__text_place *place)
{
	uint64_t cells = (c->bytes + payload(t) - 1) / payload(t), unused;
	int rc = reserve(t, c, cells);

	if (!rc)
		rc = write_cells(t, c, true);
	if (rc)
		return rc;
	unused = c->reserved - cells;
	*place = (struct sp__text_place){ cells ? c->first : 0, (uint32_t)cells,
					  (uint32_t)c->bytes };
	if (cells)
		rc = sp__map_add(&t->file->map, SP__AREA_TEXT, c->first, cells);
	if (!rc && unused)
		rc = sp__map_release(&t->file->map, c->first + cells, unused);
	if (!rc)
		rc = sp__map_release_text(&t->file->map, c->old.first, c->old.cells);
	c->old = (struct sp__text_place){ 0 };
	c->bytes = c->first = c->reserved = c->written = 0;
	sp__bytes_empty(&c->pending, &t->file->env.budget);
	return rc ? no_space(t, rc) : 0;
}

int sp__texts_end_row(struct sp__texts *t, struct sp__text_place *places)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < t->n; k++)
		rc = end_column(t, &t->columns[k], &places[k]);
	return rc;
}
