/* SPDX-License-Identifier: MIT */
/*
 * Which part has a cell: the newest one that begins at or before it along its dimension, since
 * a part has all that the dataset had along the other dimensions when it was appended, and
 * whatever came later begins further on.
 *
 * Parts are few, and each holds much; they are looked through one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "cube/parts.h"

struct sp__cubepart *sp__parts_add(struct sp__parts *p)
{
	struct sp__cubepart *part;

	if (!SP__ARRAY_ROOM_NEXT(p->list, p->n))
		return NULL;
	part = calloc(1, sizeof(*part));
	if (part)
		p->list[p->n++] = part;
	return part;
}

void sp__cubepart_free(struct sp__cubepart *part)
{
	if (part)
		free(part->mapping.multimap.zones);
	free(part);
}

void sp__parts_free(struct sp__parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		sp__cubepart_free(p->list[i]);
	free(p->list);
	*p = (struct sp__parts){ 0 };
}

int sp__cubepart_place(struct sp__cubepart *part, const struct sp__mapping *like, unsigned n)
{
	struct sp__mapping *m = &part->mapping;
	uint64_t k[SP_CUBE_DIMS_MAX], first_block = m->first_block;
	int rc = 0;

	memcpy(k, m->basic.k, sizeof(k));
	free(m->multimap.zones);
	*m = *like;
	m->first_block = first_block;
	m->multimap.zones = NULL;
	m->multimap.nzones = 0;
	memcpy(m->basic.k, k, sizeof(k));
	if (m->kind == SP_CUBE_MULTIMAP)
		rc = sp__multimap_zones_from(&m->multimap, &like->multimap, first_block);
	if (!rc)
		rc = sp__mapping_init(m, n, part->placed);
	if (!rc && m->kind == SP_CUBE_MULTIMAP)
		sp__multimap_shrink(&m->multimap);
	return rc;
}

/* Newer parts take over the last cells of older ones. */
static void take_over(struct sp__parts *p, unsigned n, const uint64_t *cells)
{
	uint64_t end[SP_CUBE_DIMS_MAX];

	memcpy(end, cells, n * sizeof(*cells));
	for (size_t i = p->n; i-- > 0;) {
		struct sp__cubepart *part = p->list[i];

		for (unsigned d = 0; d < n; d++) {
			uint64_t lo = d == part->dim ? part->first : 0;

			part->size[d] = end[d] > lo ? sp__min(part->placed[d], end[d] - lo) : 0;
		}
		end[part->dim] = sp__min(end[part->dim], part->first);
	}
}

bool sp__parts_settle(struct sp__parts *p, unsigned n, const uint64_t *cells)
{
	uint64_t have[SP_CUBE_DIMS_MAX];

	if (!p->n || p->list[0]->first)
		return false;
	memcpy(have, p->list[0]->placed, n * sizeof(*have));
	for (size_t i = 1; i < p->n; i++) {
		const struct sp__cubepart *part = p->list[i];
		uint64_t end = part->first + part->placed[part->dim];

		if (!part->first || part->first > have[part->dim] || end < have[part->dim])
			return false;
		have[part->dim] = end;
		for (unsigned d = 0; d < n; d++)
			if (d != part->dim && part->placed[d] != have[d])
				return false;
	}
	take_over(p, n, cells);
	return !memcmp(have, cells, n * sizeof(*have));
}

uint64_t sp__cubepart_end(const struct sp__cubepart *part)
{
	return sp__mapping_end(&part->mapping);
}

const struct sp__cubepart *sp__parts_within(const struct sp__parts *p, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->table_block < end && begin < sp__cubepart_end(p->list[i]))
			return p->list[i];
	return NULL;
}

const struct sp__cubepart *sp__parts_of(const struct sp__parts *p, uint64_t block)
{
	(void)sp__basicgrid_volume(&p->list[0]->mapping.basic, &block);
	return sp__parts_within(p, block, block + 1);
}

bool sp__cubepart_clip(const struct sp__cubepart *part, const struct sp_cube_box *box,
		       struct sp_cube_box *shared)
{
	*shared = *box;
	for (unsigned i = 0; i < part->mapping.grid.n; i++) {
		uint64_t begin = i == part->dim ? part->first : 0, end = begin + part->size[i];

		if (!part->size[i] || !sp__box_clip(box, i, begin, end, shared))
			return false;
	}
	return true;
}

bool sp__cubepart_cell(const struct sp__cubepart *part, uint64_t block, uint64_t *x)
{
	if (!sp__mapping_cell(&part->mapping, block, x))
		return false;
	for (unsigned i = 0; i < part->mapping.grid.n; i++)
		if (x[i] >= part->size[i])
			return false;
	x[part->dim] += part->first;
	return true;
}

static const struct sp__cubepart *part_of(const struct sp__parts *p, const uint64_t *x)
{
	size_t i = p->n - 1;

	while (i && x[p->list[i]->dim] < p->list[i]->first)
		i--;
	return p->list[i];
}

uint64_t sp__parts_block(const struct sp__parts *p, const uint64_t *x)
{
	const struct sp__cubepart *part = part_of(p, x);
	uint64_t inside[SP_CUBE_DIMS_MAX];

	if (!part->first)
		return sp__mapping_block(&part->mapping, x);
	memcpy(inside, x, part->mapping.grid.n * sizeof(*x));
	inside[part->dim] -= part->first;
	return sp__mapping_block(&part->mapping, inside);
}

bool sp__parts_cell(const struct sp__parts *p, uint64_t block, uint64_t *x)
{
	const struct sp__cubepart *part = sp__parts_of(p, block);

	return part && sp__cubepart_cell(part, block, x);
}

void sp__partswalk_begin(struct sp__partswalk *w, const struct sp__parts *p,
			 const struct sp_cube_box *box, unsigned volume)
{
	w->parts = p;
	w->next = 0;
	w->box = *box;
	w->volume = volume;
	w->inside = false;
}

static bool next_part(struct sp__partswalk *w)
{
	struct sp_cube_box inside;

	while (!w->inside && w->next < w->parts->n) {
		const struct sp__cubepart *part = w->parts->list[w->next++];

		w->inside = sp__cubepart_clip(part, &w->box, &inside);
		if (!w->inside)
			continue;
		inside.lo[part->dim] -= part->first;
		inside.hi[part->dim] -= part->first;
		sp__cubewalk_begin(&w->walk, &part->mapping, &inside, w->volume);
	}
	return w->inside;
}

int sp__partswalk_runs(struct sp__partswalk *w, sp__cells_fn fn, void *arg)
{
	int rc = 0;

	while (!rc && next_part(w)) {
		rc = sp__cubewalk_runs(&w->walk, fn, arg);
		w->inside = rc;
	}
	return rc;
}

unsigned sp__parts_volumes(const struct sp__parts *p)
{
	return p->n ? p->list[0]->mapping.basic.volumes : 1;
}

int sp__parts_walk(const struct sp__parts *p, const struct sp_cube_box *box, sp__cells_fn fn,
		   void *arg)
{
	struct sp__partswalk w;
	int rc = 0;

	for (unsigned v = 0; !rc && v < sp__parts_volumes(p); v++) {
		sp__partswalk_begin(&w, p, box, v);
		rc = sp__partswalk_runs(&w, fn, arg);
	}
	return rc;
}

uint64_t sp__parts_begin(const struct sp__parts *p)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < p->n; i++)
		begin = sp__min(begin, sp__mapping_begin(&p->list[i]->mapping));
	return begin;
}

uint64_t sp__parts_end(const struct sp__parts *p)
{
	uint64_t end = 0;

	for (size_t i = 0; i < p->n; i++)
		end = sp__max(end, sp__cubepart_end(p->list[i]));
	return end;
}
