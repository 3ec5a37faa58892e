/* SPDX-License-Identifier: MIT */
/*
 * Finds the fragment of a cell: the newest one that begins at the cell or before it along its
 * dimension.  A fragment has all cells that the dataset had along the other dimensions when it was
 * appended, and later fragments begin further on.
 *
 * A cube has few fragments, so the search is linear.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "cube/mapping/fragments.h"

struct sp__fragment *sp__fragments_add(struct sp__fragments *p)
{
	struct sp__fragment *fragment;

	if (!SP__ARRAY_GROW_BY_ONE(p->list, p->n))
		return NULL;
	fragment = calloc(1, sizeof(*fragment));
	if (fragment)
		p->list[p->n++] = fragment;
	return fragment;
}

void sp__fragment_free(struct sp__fragment *fragment)
{
	if (fragment)
		free(fragment->mapping.multimap.zones);
	free(fragment);
}

void sp__fragments_free(struct sp__fragments *p)
{
	for (size_t i = 0; i < p->n; i++)
		sp__fragment_free(p->list[i]);
	free(p->list);
	*p = (struct sp__fragments){ 0 };
}

/* Lets newer fragments replace the last cells of older ones. */
static void replace_old(struct sp__fragments *p, unsigned n, const uint64_t *cells)
{
	uint64_t end[SP_CUBE_DIMS_MAX];

	memcpy(end, cells, n * sizeof(*cells));
	for (size_t i = p->n; i-- > 0;) {
		struct sp__fragment *fragment = p->list[i];

		for (unsigned d = 0; d < n; d++) {
			uint64_t lo = d == fragment->dim ? fragment->first : 0;

			fragment->size[d] =
				end[d] > lo ? sp__min(fragment->placed[d], end[d] - lo) : 0;
		}
		end[fragment->dim] = sp__min(end[fragment->dim], fragment->first);
	}
}

bool sp__fragments_settle(struct sp__fragments *p, unsigned n, const uint64_t *cells)
{
	uint64_t have[SP_CUBE_DIMS_MAX];

	if (!p->n || p->list[0]->first)
		return false;
	memcpy(have, p->list[0]->placed, n * sizeof(*have));
	for (size_t i = 1; i < p->n; i++) {
		const struct sp__fragment *fragment = p->list[i];
		uint64_t end = fragment->first + fragment->placed[fragment->dim];

		if (!fragment->first || fragment->first > have[fragment->dim] ||
		    end < have[fragment->dim])
			return false;
		have[fragment->dim] = end;
		for (unsigned d = 0; d < n; d++)
			if (d != fragment->dim && fragment->placed[d] != have[d])
				return false;
	}
	replace_old(p, n, cells);
	return !memcmp(have, cells, n * sizeof(*have));
}

uint64_t sp__fragment_end(const struct sp__fragment *fragment)
{
	return sp__mapping_end(&fragment->mapping);
}

const struct sp__fragment *sp__fragments_within(const struct sp__fragments *p, uint64_t begin,
						uint64_t end)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->table_block < end && begin < sp__fragment_end(p->list[i]))
			return p->list[i];
	return NULL;
}

const struct sp__fragment *sp__fragments_of(const struct sp__fragments *p, uint64_t block)
{
	(void)sp__basicgrid_volume(&p->list[0]->mapping.basic, &block);
	return sp__fragments_within(p, block, block + 1);
}

bool sp__fragment_clip(const struct sp__fragment *fragment, const struct sp_cube_box *box,
		       struct sp_cube_box *shared)
{
	*shared = *box;
	for (unsigned i = 0; i < fragment->mapping.grid.n; i++) {
		uint64_t begin = i == fragment->dim ? fragment->first : 0,
			 end = begin + fragment->size[i];

		if (!fragment->size[i] || !sp__box_clip(box, i, begin, end, shared))
			return false;
	}
	return true;
}

bool sp__fragment_cell(const struct sp__fragment *fragment, uint64_t block, uint64_t *x)
{
	if (!sp__mapping_cell(&fragment->mapping, block, x))
		return false;
	for (unsigned i = 0; i < fragment->mapping.grid.n; i++)
		if (x[i] >= fragment->size[i])
			return false;
	x[fragment->dim] += fragment->first;
	return true;
}

static const struct sp__fragment *fragment_of(const struct sp__fragments *p, const uint64_t *x)
{
	size_t i = p->n - 1;

	while (i && x[p->list[i]->dim] < p->list[i]->first)
		i--;
	return p->list[i];
}

uint64_t sp__fragments_block(const struct sp__fragments *p, const uint64_t *x)
{
	const struct sp__fragment *fragment = fragment_of(p, x);
	uint64_t inside[SP_CUBE_DIMS_MAX];

	if (!fragment->first)
		return sp__mapping_block(&fragment->mapping, x);
	memcpy(inside, x, fragment->mapping.grid.n * sizeof(*x));
	inside[fragment->dim] -= fragment->first;
	return sp__mapping_block(&fragment->mapping, inside);
}

bool sp__fragments_cell(const struct sp__fragments *p, uint64_t block, uint64_t *x)
{
	const struct sp__fragment *fragment = sp__fragments_of(p, block);

	return fragment && sp__fragment_cell(fragment, block, x);
}

void sp__fragwalk_begin(struct sp__fragwalk *w, const struct sp__fragments *p,
			const struct sp_cube_box *box, unsigned volume)
{
	w->fragments = p;
	w->next = 0;
	w->box = *box;
	w->volume = volume;
	w->inside = false;
}

static bool next_fragment(struct sp__fragwalk *w)
{
	struct sp_cube_box inside;

	while (!w->inside && w->next < w->fragments->n) {
		const struct sp__fragment *fragment = w->fragments->list[w->next++];

		w->inside = sp__fragment_clip(fragment, &w->box, &inside);
		if (!w->inside)
			continue;
		inside.lo[fragment->dim] -= fragment->first;
		inside.hi[fragment->dim] -= fragment->first;
		sp__cubewalk_begin(&w->walk, &fragment->mapping, &inside, w->volume);
	}
	return w->inside;
}

int sp__fragwalk_runs(struct sp__fragwalk *w, sp__cells_fn fn, void *arg)
{
	int rc = 0;

	while (!rc && next_fragment(w)) {
		rc = sp__cubewalk_runs(&w->walk, fn, arg);
		w->inside = rc;
	}
	return rc;
}

uint64_t sp__fragments_begin(const struct sp__fragments *p)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < p->n; i++)
		begin = sp__min(begin, sp__mapping_begin(&p->list[i]->mapping));
	return begin;
}

uint64_t sp__fragments_end(const struct sp__fragments *p)
{
	uint64_t end = 0;

	for (size_t i = 0; i < p->n; i++)
		end = sp__max(end, sp__fragment_end(p->list[i]));
	return end;
}
