/* SPDX-License-Identifier: MIT */
/*
 * Merges sorted elements into groups of extents.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/elements/change.h"
#include "cube/elements/elements.h"
#include "cube/file/putlog.h"
#include "cube/mapping/tiles.h"
#include "rec/value.h"

/*
 * Changes one element so that after an interruption it is the old one or the new one.
 *
 * The log of the cube keeps the extent (cube/file/putlog.h).  A cube of an old version has no log;
 * there only signals are blocked.  With several volumes the further ones are marked first: the
 * number of the superblock, which the log repeats, is then final until the put has ended.
 */

/* Ends a put whose extent and checksum are at their locations: erases the log. */
static int end_put(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc = sp__cube_sync(c, err);

	if (!rc && c->superblock.marking)
		rc = sp__cube_end_change(c, err);
	return rc ? rc : sp__putlog_erase(c, err);
}

static int open_change(struct sp__change *ch, struct sp__transfer *transfer,
		       struct sp_cube_stats *stats)
{
	int rc = sp__change_open(ch, 0);

	ch->transfer = transfer;
	return rc ? rc : sp__transfer_open(transfer, ch->file, stats, ch->err);
}

static void close_change(struct sp__change *ch)
{
	if (ch->transfer && ch->transfer->file)
		sp__transfer_close(ch->transfer);
	sp__change_close(ch);
}

int sp__element_put(struct sp__cubefile *c, const uint64_t *x, const void *element,
		    struct sp_errinfo *err)
{
	struct sp__change ch = { .file = c, .err = err, .logged = c->superblock.log_bytes > 0 };
	struct sp_cube_stats stats = { 0 };
	struct sp__point point = { 0 };
	struct sp__transfer transfer = { 0 };
	int rc = sp__put_settle(c, err);

	sp__cube_hollow(c, false);
	sp__point_locate(c, x, &point);
	if (!rc)
		rc = sp__cube_begin_change(c, err);
	if (!rc)
		rc = open_change(&ch, &transfer, &stats);
	if (!rc) {
		sp__change_begin(&ch, &point, 1, element);
		(void)sp__change_next(&ch);
		rc = sp__change_logged(&ch);
	}
	close_change(&ch);
	return rc || !ch.logged ? rc : end_put(c, err);
}

int sp__put_settle(struct sp__cubefile *c, struct sp_errinfo *err)
{
	struct sp__change ch = { .file = c, .err = err };
	struct sp_cube_stats stats = { 0 };
	struct sp__transfer transfer = { 0 };
	int rc = sp__putlog_read(c, err);

	if (rc || !c->pending.extent)
		return rc;
	sp__cube_hollow(c, false);
	rc = open_change(&ch, &transfer, &stats);
	if (!rc)
		rc = sp__change_restore(&ch, c->pending.block, c->pending.extent);
	close_change(&ch);
	sp__putlog_forget(c);
	return rc ? rc : end_put(c, err);
}

/* Finds the first block of the extent of a cell. */
static uint64_t extent_block(const struct sp__cubefile *c, const uint64_t *cell)
{
	uint64_t first[SP_CUBE_DIMS_MAX];

	memcpy(first, cell, sizeof(first));
	first[0] -= first[0] % c->superblock.extent_cells;
	return sp__fragments_block(&c->superblock.fragments, first);
}

void sp__point_locate(const struct sp__cubefile *c, const uint64_t *x, struct sp__point *p)
{
	const struct sp_cube_shape *s = &c->superblock.shape;
	uint64_t cell[SP_CUBE_DIMS_MAX] = { 0 }, row = s->element_bytes;

	p->offset = 0;
	for (unsigned i = 0; i < s->ndims; row *= s->tile[i++]) {
		cell[i] = x[i] / s->tile[i];
		p->offset += x[i] % s->tile[i] * row;
	}
	p->offset += cell[0] % c->superblock.extent_cells * c->cell_bytes;
	p->block = extent_block(c, cell);
	p->count = 1;
}

/* Sets x to the coordinates of the element of a point. */
static void element_of(const struct sp__cubefile *c, const struct sp__point *p, uint64_t *x)
{
	const struct sp_cube_shape *s = &c->superblock.shape;
	uint64_t rest = p->offset % c->cell_bytes / s->element_bytes;

	(void)sp__fragments_cell(&c->superblock.fragments, p->block, x);
	x[0] += p->offset / c->cell_bytes;
	for (unsigned i = 0; i < s->ndims; rest /= s->tile[i++])
		x[i] = x[i] * s->tile[i] + rest % s->tile[i];
}

static int by_position(const void *a, const void *b)
{
	const struct sp__point *p = a, *q = b;

	return SP__ORDER(p->block, q->block)
		       ?: SP__ORDER(p->offset, q->offset)
		       ?: SP__ORDER(p->index, q->index);
}

static int by_block(const void *a, const void *b)
{
	const struct sp__pointextent *d = a, *e = b;

	return SP__ORDER(d->block, e->block);
}

static void close_sums(struct sp__change *ch)
{
	for (size_t i = 0; i < ch->n; i++)
		sp__extents_close(&ch->extents[i].sums);
	ch->n = 0;
}

void sp__change_close(struct sp__change *ch)
{
	close_sums(ch);
	free(ch->extents);
	free(ch->data);
	sp__budget_credit(&ch->file->env.budget, ch->charged);
}

/* Allocates as many extents as fit, at least one. */
int sp__change_open(struct sp__change *ch, uint64_t bytes)
{
	uint64_t each;

	ch->extent_bytes = ch->file->cell_bytes * ch->file->superblock.extent_cells;
	each = ch->extent_bytes + sizeof(*ch->extents);
	ch->capacity = sp__max(bytes / (each + SP__EXTENT_MEMORY), 1);
	ch->extents = calloc(ch->capacity, sizeof(*ch->extents));
	ch->data = calloc(ch->capacity, ch->extent_bytes); /* rows may end within an extent */
	if (!ch->extents || !ch->data)
		return sp__err(ch->err, -ENOMEM, "malloc", NULL, -1);
	ch->charged = ch->capacity * each;
	sp__budget_charge(&ch->file->env.budget, ch->charged);
	return 0;
}

static struct sp__pointextent *extent_of(const struct sp__change *ch, const uint64_t *cell)
{
	struct sp__pointextent key = { .block = extent_block(ch->file, cell) };

	return bsearch(&key, ch->extents, ch->n, sizeof(key), by_block);
}

static void move_cell(const struct sp__change *ch, const uint64_t *x, uint8_t *cell, bool in)
{
	struct sp__pointextent *e = extent_of(ch, x);
	uint64_t bytes = ch->file->cell_bytes;
	uint8_t *kept = e->data + x[0] % ch->file->superblock.extent_cells * bytes;

	memcpy(in ? kept : cell, in ? cell : kept, bytes);
	sp__extents_add(&e->sums, x, cell);
}

static void keep_cell(void *ch, const uint64_t *x, uint8_t *cell)
{
	move_cell(ch, x, cell, true);
}

static void give_cell(void *ch, const uint64_t *x, uint8_t *cell)
{
	move_cell(ch, x, cell, false);
}

static void cells_of(const struct sp__cubefile *c, const struct sp__pointextent *e,
		     struct sp_cube_box *cells)
{
	uint64_t x[SP_CUBE_DIMS_MAX];

	(void)sp__fragments_cell(&c->superblock.fragments, e->block, x);
	*cells = sp__box_of(x, c->superblock.shape.ndims);
	sp__extents_whole(c, cells);
}

/* Reads the extents that are not absent, or writes all. */
static int move_extents(struct sp__change *ch, enum sp__op op)
{
	struct sp_cube_box cells;
	int rc = 0;

	sp__transfer_begin(ch->transfer, op, op == SP__OP_READ ? keep_cell : give_cell, ch);
	for (size_t i = 0; !rc && i < ch->n; i++) {
		if (op == SP__OP_READ && ch->extents[i].absent)
			continue;
		cells_of(ch->file, &ch->extents[i], &cells);
		rc = sp__transfer_cells(ch->transfer, &cells);
	}
	return rc ? rc : sp__transfer_end(ch->transfer);
}

/* Reads the entries of extents, unless that was done. */
static int open_sums(struct sp__change *ch)
{
	struct sp_cube_box cells;
	int rc = 0;

	for (size_t i = 0; !rc && i < ch->n; i++) {
		struct sp__pointextent *e = &ch->extents[i];

		if (e->sums.n)
			continue;
		cells_of(ch->file, e, &cells);
		rc = sp__extents_open(&e->sums, ch->file, &cells, ch->err);
		if (!rc)
			rc = sp__extents_read(&e->sums, ch->err);
		e->absent = !rc && sp__extents_absent_count(&e->sums);
	}
	return rc;
}

/* Prepares extents that were read: compares checksums, fills absent ones, resets sums. */
static int prepare_extents(struct sp__change *ch)
{
	const struct sp__cube_superblock *h = &ch->file->superblock;
	uint64_t at[SP_CUBE_DIMS_MAX];

	for (size_t i = 0; i < ch->n; i++) {
		struct sp__pointextent *e = &ch->extents[i];

		for (uint32_t k = 0; e->absent && k < h->extent_cells; k++)
			sp__tile_fill(&h->shape, e->data + k * ch->file->cell_bytes, h->fill);
		if (!e->absent && !(ch->again && sp__extents_changing(&e->sums)) &&
		    sp__extents_damaged(&e->sums, at))
			return sp__cube_damaged(ch->file, e->block, ch->err);
		e->sums.sums[0] = 0;
	}
	return 0;
}

static int sum_error(const struct sp__change *ch, const struct sp__point *p)
{
	const struct sp_cube_shape *s = &ch->file->superblock.shape;
	uint64_t x[SP_CUBE_DIMS_MAX];
	char text[SP_CUBE_DIMS_MAX * 21];
	int n = 0;

	element_of(ch->file, p, x);
	for (unsigned i = 0; i < s->ndims; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%" PRIu64, i ? "," : "", x[i]);
	return sp__errf(ch->err, -ERANGE, "load", ch->file->path, -1,
			"the sum of element %s does not fit %s", text, sp_cube_type_name(s->type));
}

/* Applies the points to the elements of the group. */
static int apply_points(struct sp__change *ch)
{
	const struct sp_cube_shape *s = &ch->file->superblock.shape;

	for (size_t i = 0; i < ch->n; i++)
		for (; ch->npoints && ch->points->block == ch->extents[i].block;
		     ch->points++, ch->npoints--) {
			const uint8_t *value = ch->values + ch->points->index * s->element_bytes;
			uint8_t *to = ch->extents[i].data + ch->points->offset;

			if (!ch->sum)
				memcpy(to, value, ch->points->count * s->element_bytes);
			else if (!sp__value_add(&sp__value_types[s->type], to, value))
				return sum_error(ch, ch->points);
		}
	return 0;
}

/* Marks the extents of the group that hold elements, before any of their cells is written. */
static int mark_extents(struct sp__change *ch)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < ch->n; i++)
		rc = sp__extents_mark(&ch->extents[i].sums, ch->err);
	return rc;
}

/* Writes an extent to the log before it is written to its location; a new one needs no log. */
static int log_extent(struct sp__change *ch)
{
	struct sp__pointextent *e = &ch->extents[0];
	struct sp_cube_box cells;
	uint64_t x[SP_CUBE_DIMS_MAX];
	uint32_t sum;

	if (e->absent)
		return 0;
	cells_of(ch->file, e, &cells);
	memcpy(x, cells.lo, sizeof(x));
	for (uint64_t k = 0; k < sp__box_count(&cells, 0); k++, x[0]++)
		sp__extents_add(&e->sums, x, e->data + k * ch->file->cell_bytes);
	sum = sp__extents_sum(&e->sums);
	e->sums.sums[0] = 0;
	return sp__putlog_write(ch->file, e->block, sum, e->data, ch->err);
}

int sp__change_read(struct sp__change *ch)
{
	int rc = open_sums(ch);

	if (!rc)
		rc = move_extents(ch, SP__OP_READ);
	if (!rc)
		rc = prepare_extents(ch);
	if (!rc)
		rc = apply_points(ch);
	return rc || !ch->repeatable ? rc : mark_extents(ch);
}

int sp__change_write(struct sp__change *ch)
{
	return move_extents(ch, SP__OP_WRITE);
}

int sp__change_end(struct sp__change *ch)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < ch->n; i++)
		rc = sp__extents_write(&ch->extents[i].sums, ch->err);
	close_sums(ch);
	return rc;
}

static void add_extent(struct sp__change *ch, uint64_t block)
{
	ch->extents[ch->n] =
		(struct sp__pointextent){ .block = block,
					  .data = ch->data + ch->n * ch->extent_bytes };
	ch->n++;
}

void sp__change_begin(struct sp__change *ch, struct sp__point *points, size_t n,
		      const uint8_t *values)
{
	if (n)
		qsort(points, n, sizeof(*points), by_position);
	ch->points = points;
	ch->npoints = n;
	ch->values = values;
}

bool sp__change_next(struct sp__change *ch)
{
	for (size_t i = 0; i < ch->npoints; i++) {
		if (ch->n && ch->extents[ch->n - 1].block == ch->points[i].block)
			continue;
		if (ch->n == ch->capacity)
			break;
		add_extent(ch, ch->points[i].block);
	}
	return ch->n;
}

int sp__change_logged(struct sp__change *ch)
{
	int rc = sp__change_read(ch);

	if (!rc && ch->logged)
		rc = log_extent(ch);
	if (!rc)
		rc = sp__change_write(ch);
	if (!rc && ch->logged)
		rc = sp__cube_sync(ch->file, ch->err);
	return rc ? rc : sp__change_end(ch);
}

/* Checks that this load has changed all extents that an interrupted one was changing. */
static int check_changed(const struct sp__change *ch)
{
	for (size_t i = 0; ch->again && i < ch->n; i++)
		if (sp__extents_changing(&ch->extents[i].sums))
			return sp__errf(ch->err, SP_ESTATE, "load", ch->file->path, -1,
					"the interrupted load from CSV was changing elements that "
					"this input does not name: load that input again");
	return 0;
}

/* Keeps the extents of the group that are absent. */
static int keep_absent(struct sp__change *ch)
{
	size_t absent = 0;
	int rc;

	qsort(ch->extents, ch->n, sizeof(*ch->extents), by_block);
	rc = open_sums(ch);
	if (!rc)
		rc = check_changed(ch);
	for (size_t i = 0; !rc && i < ch->n; i++) {
		struct sp__pointextent *e = &ch->extents[i];

		if (e->absent)
			ch->extents[absent++] = *e;
		else
			sp__extents_close(&e->sums);
	}
	if (!rc)
		ch->n = absent;
	return rc;
}

int sp__change_absent(struct sp__change *ch, const struct sp_cube_box *box, uint64_t *x)
{
	const struct sp__cube_superblock *h = &ch->file->superblock;
	bool more = true;
	int rc = 0;

	while (!rc && !ch->n && more) {
		while (more && ch->n < ch->capacity) {
			add_extent(ch, sp__fragments_block(&h->fragments, x));
			more = sp__box_next(box, 0, h->shape.ndims, x);
		}
		rc = keep_absent(ch);
	}
	return rc ? rc : more;
}

int sp__change_restore(struct sp__change *ch, uint64_t block, const uint8_t *extent)
{
	int rc;

	add_extent(ch, block);
	memcpy(ch->extents[0].data, extent, ch->extent_bytes);
	rc = open_sums(ch);
	if (!rc) {
		ch->extents[0].sums.sums[0] = 0;
		rc = move_extents(ch, SP__OP_WRITE);
	}
	if (!rc)
		rc = sp__cube_sync(ch->file, ch->err);
	if (!rc)
		rc = sp__extents_write(&ch->extents[0].sums, ch->err);
	close_sums(ch);
	return rc;
}
