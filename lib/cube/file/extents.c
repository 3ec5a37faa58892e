/* SPDX-License-Identifier: MIT */
/*
 * Reads, computes and writes checksums of extents.
 *
 * A table has the entries of a fragment in rows, dimension 0 first, so entries of a box are moved
 * row by row.  The entry of an interrupted put comes from the log of puts instead.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "base/whole.h"
#include "cube/file/extents.h"

uint32_t sp__extent_cells(uint64_t cell_bytes)
{
	return (uint32_t)sp__max(4096 / cell_bytes, 1);
}

/* Returns the extents of a row of cells along dimension 0. */
static uint64_t row_extents(const struct sp__cube_superblock *h, uint64_t cells)
{
	return (cells - 1) / h->extent_cells + 1;
}

/* Returns the size of the table of a fragment; cells: its cells along each dimension. */
static uint64_t table_bytes(const struct sp__cube_superblock *h, const uint64_t *cells)
{
	uint64_t rows = 1;

	for (unsigned i = 1; i < h->shape.ndims; i++)
		rows *= cells[i];
	return rows * row_extents(h, cells[0]) * sizeof(uint32_t);
}

uint64_t sp__extents_table_end(const struct sp__cube_superblock *h,
			       const struct sp__fragment *fragment)
{
	uint64_t bytes = table_bytes(h, fragment->placed);

	return fragment->table_block + (bytes + h->block_bytes - 1) / h->block_bytes;
}

void sp__extents_whole(const struct sp__cubefile *c, struct sp_cube_box *cells)
{
	uint64_t per = c->superblock.extent_cells;
	uint64_t along = (c->superblock.shape.dims[0] - 1) / c->superblock.shape.tile[0] + 1;

	cells->lo[0] = cells->lo[0] / per * per;
	cells->hi[0] = sp__min((cells->hi[0] / per + 1) * per, along) - 1;
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++)
		cells->stride[i] = i ? cells->stride[i] : 1;
}

uint64_t sp__extents_memory(const struct sp__cubefile *c, const struct sp_cube_box *cells)
{
	uint64_t per = c->superblock.extent_cells, n = cells->hi[0] / per - cells->lo[0] / per + 1;

	for (unsigned i = 1; i < c->superblock.shape.ndims; i++)
		n *= sp__box_count(cells, i);
	return n * SP__EXTENT_MEMORY;
}

int sp__extents_open(struct sp__extents *e, struct sp__cubefile *c, const struct sp_cube_box *cells,
		     struct sp_errinfo *err)
{
	*e = (struct sp__extents){ .file = c, .box = *cells };
	e->box.lo[0] /= c->superblock.extent_cells;
	e->box.hi[0] /= c->superblock.extent_cells;
	e->n = sp__extents_memory(c, cells) / SP__EXTENT_MEMORY;
	e->known = calloc(e->n, sizeof(*e->known));
	e->sums = calloc(e->n, sizeof(*e->sums));
	if (!e->known || !e->sums) {
		e->n = 0;
		sp__extents_close(e);
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	}
	sp__budget_charge(&c->env.budget, e->n * SP__EXTENT_MEMORY);
	return 0;
}

void sp__extents_close(struct sp__extents *e)
{
	if (e->n)
		sp__budget_credit(&e->file->env.budget, e->n * SP__EXTENT_MEMORY);
	free(e->known);
	free(e->sums);
	*e = (struct sp__extents){ 0 };
}

int sp__extents_move(int fd, bool write, void *data, uint64_t bytes, uint64_t at)
{
	ssize_t n =
		write ? sp__write_whole(fd, data, bytes, at) : sp__read_whole(fd, data, bytes, at);

	return n < 0 ? (int)n : write || (uint64_t)n == bytes ? 0 : SP_ECORRUPT;
}

static uint64_t entry(const struct sp__extents *e, const uint64_t *x)
{
	uint64_t at = 0;

	for (unsigned i = e->file->superblock.shape.ndims; i-- > 1;)
		at = (at + (x[i] - e->box.lo[i]) / e->box.stride[i]) *
		     sp__box_count(&e->box, i - 1);
	return at + x[0] / e->file->superblock.extent_cells - e->box.lo[0];
}

/* Returns the offset, in the file, of the entry of a cell in the table of its fragment. */
static uint64_t entry_offset(const struct sp__cube_superblock *h, const struct sp__fragment *p,
			     const uint64_t *x)
{
	uint64_t row = 0, inside[SP_CUBE_DIMS_MAX];

	memcpy(inside, x, h->shape.ndims * sizeof(*x));
	inside[p->dim] -= p->first;
	for (unsigned i = h->shape.ndims; i-- > 1;)
		row = row * p->placed[i] + inside[i];
	return p->table_block * h->block_bytes +
	       (row * row_extents(h, p->placed[0]) + inside[0] / h->extent_cells) *
		       sizeof(uint32_t);
}

/* Reads or writes the entries of cells of one fragment, a row at a time. */
static int move_rows(struct sp__extents *e, const struct sp__fragment *p,
		     const struct sp_cube_box *cells, bool write, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &e->file->superblock;
	uint64_t width = row_extents(h, sp__box_count(cells, 0)), x[SP_CUBE_DIMS_MAX];
	int rc;

	memcpy(x, cells->lo, sizeof(x));
	do {
		uint64_t offset = entry_offset(h, p, x);

		rc = sp__extents_move(e->file->cells.first.fd, write, &e->known[entry(e, x)],
				      width * sizeof(*e->known), offset);
		if (rc)
			return sp__err(err, rc, write ? "write" : "read", e->file->path,
				       (long long)offset);
	} while (sp__box_next(cells, 1, h->shape.ndims, x));
	return 0;
}

/* Reads or writes the entries of the box, fragment by fragment. */
static int move_entries(struct sp__extents *e, bool write, struct sp_errinfo *err)
{
	const struct sp__fragments *fragments = &e->file->superblock.fragments;
	struct sp_cube_box cells = e->box, shared;
	int rc = 0;

	cells.lo[0] *= e->file->superblock.extent_cells;
	cells.hi[0] = (cells.hi[0] + 1) * e->file->superblock.extent_cells - 1;
	for (size_t i = 0; !rc && i < fragments->n; i++)
		if (sp__fragment_clip(fragments->list[i], &cells, &shared))
			rc = move_rows(e, fragments->list[i], &shared, write, err);
	return rc;
}

/* True if the extent in the log of puts is one of these. */
static bool has_pending(const struct sp__extents *e)
{
	const struct sp__cubefile *c = e->file;
	const uint64_t *x = c->pending.x;
	uint64_t extent = x[0] / c->superblock.extent_cells;
	bool has = c->pending.extent && extent >= e->box.lo[0] && extent <= e->box.hi[0];

	for (unsigned i = 1; has && i < c->superblock.shape.ndims; i++)
		has = x[i] >= e->box.lo[i] && x[i] <= e->box.hi[i] &&
		      (x[i] - e->box.lo[i]) % e->box.stride[i] == 0;
	return has;
}

int sp__extents_read(struct sp__extents *e, struct sp_errinfo *err)
{
	int rc = move_entries(e, false, err);

	if (!rc && has_pending(e))
		e->known[entry(e, e->file->pending.x)] = e->file->pending.sum;
	return rc;
}

/* The entry of an extent whose cells are being written: neither the old data nor the new. */
#define CHANGING UINT32_MAX

/* Returns the entry for a sum: 32 bits, neither 0 nor CHANGING. */
static uint32_t folded(uint64_t sum)
{
	uint32_t word = (uint32_t)(sum ^ sum >> 32);

	return !word ? 1 : word == CHANGING ? CHANGING - 1 : word;
}

uint32_t sp__extents_sum(const struct sp__extents *e)
{
	return folded(e->sums[0]);
}

int sp__extents_write(struct sp__extents *e, struct sp_errinfo *err)
{
	for (uint64_t i = 0; i < e->n; i++)
		e->known[i] = folded(e->sums[i]);
	return move_entries(e, true, err);
}

int sp__extents_mark(struct sp__extents *e, struct sp_errinfo *err)
{
	for (uint64_t i = 0; i < e->n; i++)
		e->known[i] = e->known[i] ? CHANGING : 0;
	return move_entries(e, true, err);
}

bool sp__extents_changing(const struct sp__extents *e)
{
	return e->n && e->known[0] == CHANGING;
}

bool sp__extents_absent(const struct sp__extents *e, const uint64_t *x)
{
	return !e->known[entry(e, x)];
}

void sp__extents_add(struct sp__extents *e, const uint64_t *x, const uint8_t *cell)
{
	uint64_t cell_number = x[0] % e->file->superblock.extent_cells;

	e->sums[entry(e, x)] += sp__mix64(sp__checksum(cell, e->file->cell_bytes) + cell_number);
}

uint64_t sp__extents_absent_count(const struct sp__extents *e)
{
	uint64_t absent = 0;

	for (uint64_t i = 0; i < e->n; i++)
		absent += !e->known[i];
	return absent;
}

uint64_t sp__extents_damaged(const struct sp__extents *e, uint64_t *first)
{
	bool interrupted = e->file->superblock.loading == SP__LOADING_POINTS;
	uint64_t damaged = 0;

	for (uint64_t i = 0; i < e->n; i++) {
		uint64_t rest = i;

		if (!e->known[i] || (interrupted && e->known[i] == CHANGING) ||
		    e->known[i] == folded(e->sums[i]) || damaged++)
			continue;
		for (unsigned d = 0; d < e->file->superblock.shape.ndims; d++) {
			first[d] =
				e->box.lo[d] + rest % sp__box_count(&e->box, d) * e->box.stride[d];
			rest /= sp__box_count(&e->box, d);
		}
		first[0] *= e->file->superblock.extent_cells;
	}
	return damaged;
}
