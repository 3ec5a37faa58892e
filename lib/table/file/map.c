/* SPDX-License-Identifier: MIT */
/*
 * Keeps lists of extents: in the order of an area's cells, or in the order of the file.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/minmax.h"
#include "table/file/map.h"
#include "table/layout/layout.h"

#define EXTENT_BYTES 16 /* in the file */

void sp__map_free(struct sp__table_map *m)
{
	for (unsigned a = 0; a < SP__AREA_LISTS; a++)
		free(m->lists[a].extents);
	*m = (struct sp__table_map){ 0 };
}

static bool in_file_order(enum sp__table_area area)
{
	return area == SP__AREA_TEXT || area >= SP__AREA_FREE;
}

/* Counts the cells before each extent from extent i on. */
static void count(struct sp__table_area_list *l, size_t i)
{
	uint64_t before = i ? l->extents[i - 1].before + l->extents[i - 1].cells : 0;

	for (; i < l->n; i++) {
		l->extents[i].before = before;
		before += l->extents[i].cells;
	}
	l->cells = before;
}

/* Inserts an extent at i, joined with its neighbours if they adjoin.  Returns 0 or -ENOMEM. */
static int insert(struct sp__table_area_list *l, size_t i, uint64_t first, uint64_t cells)
{
	struct sp__table_extent *e;

	if (!SP__ARRAY_GROW(l->extents, l->capacity, l->n + 1))
		return -ENOMEM;
	e = l->extents + i;
	if (i && e[-1].first + e[-1].cells == first) {
		e[-1].cells += cells;
		if (i < l->n && e[-1].first + e[-1].cells == e->first) {
			e[-1].cells += e->cells;
			memmove(e, e + 1, (--l->n - i) * sizeof(*e));
		}
		count(l, i - 1);
		return 0;
	}
	if (i < l->n && first + cells == e->first) {
		e->first = first;
		e->cells += cells;
	} else {
		memmove(e + 1, e, (l->n++ - i) * sizeof(*e));
		*e = (struct sp__table_extent){ .first = first, .cells = cells };
	}
	count(l, i);
	return 0;
}

/* Returns the first extent that begins after a cell of the file; extents in its order. */
static size_t after(const struct sp__table_area_list *l, uint64_t cell)
{
	return SP__BISECT(l->n, i, l->extents[i].first <= cell);
}

static int add(struct sp__table_area_list *l, bool ordered, uint64_t first, uint64_t cells)
{
	return cells ? insert(l, ordered ? after(l, first) : l->n, first, cells) : 0;
}

int sp__map_add(struct sp__table_map *m, enum sp__table_area area, uint64_t first, uint64_t cells)
{
	m->changed = true;
	return add(&m->lists[area], in_file_order(area), first, cells);
}

/* Removes cells from the inside of extent i.  Returns 0 or -ENOMEM. */
static int cut(struct sp__table_area_list *l, size_t i, uint64_t first, uint64_t cells)
{
	struct sp__table_extent *e = &l->extents[i];
	uint64_t before = first - e->first, rest = e->cells - before - cells;

	if (before && rest) {
		if (!SP__ARRAY_GROW(l->extents, l->capacity, l->n + 1))
			return -ENOMEM;
		e = &l->extents[i];
		memmove(e + 1, e, (l->n++ - i) * sizeof(*e));
		e->cells = before;
		e[1].first = first + cells;
		e[1].cells = rest;
	} else if (before || rest) {
		e->first = before ? e->first : first + cells;
		e->cells = before + rest;
	} else {
		memmove(e, e + 1, (--l->n - i) * sizeof(*e));
	}
	count(l, i);
	return 0;
}

/* Takes cells at the end of the file. */
static int take_end(struct sp__table_map *m, uint64_t cells, uint64_t *first)
{
	const uint64_t max = m->lanemap ? m->lanemap->volume_cells : SP__TABLE_CELLS_MAX;

	if (m->end > max || cells > max - m->end)
		return m->lanemap ? -ENOSPC : -EFBIG;
	m->changed = true;
	*first = m->end;
	m->end += cells;
	return 0;
}

int sp__map_take(struct sp__table_map *m, uint64_t cells, uint64_t *first)
{
	struct sp__table_area_list *l = &m->lists[SP__AREA_FREE];

	for (size_t i = 0; i < l->n; i++)
		if (l->extents[i].cells >= cells) {
			m->changed = true;
			*first = l->extents[i].first;
			return cut(l, i, *first, cells);
		}
	return take_end(m, cells, first);
}

int sp__map_add_pages(struct sp__table_map *m, uint64_t pages)
{
	const uint64_t end = m->end;
	const struct sp__lanepart *p;
	uint64_t first;
	int rc = sp__lanemap_extend(m->lanemap, pages, sp__max(end, m->lanemap->skip_cells));

	if (rc)
		return rc;
	p = &m->lanemap->parts[m->lanemap->n - 1];
	rc = take_end(m, p->first_cell + p->cells - end, &first);
	if (!rc)
		rc = sp__map_release(m, end, p->first_cell - end);
	return rc ? rc : sp__map_add(m, SP__AREA_DATA, p->first_cell, p->cells);
}

int sp__map_shorten_pages(struct sp__table_map *m, uint64_t pages)
{
	uint64_t cells = 0;
	int rc = sp__lanemap_shorten(m->lanemap, pages);

	for (size_t i = 0; i < m->lanemap->n; i++)
		cells += m->lanemap->parts[i].cells;
	return rc ? rc : sp__map_shorten(m, SP__AREA_DATA, cells);
}

int sp__map_release(struct sp__table_map *m, uint64_t first, uint64_t cells)
{
	return sp__map_add(m, SP__AREA_RELEASED, first, cells);
}

bool sp__map_has_text(const struct sp__table_map *m, uint64_t first, uint64_t cells)
{
	const struct sp__table_area_list *l = &m->lists[SP__AREA_TEXT];
	size_t i = after(l, first);
	const struct sp__table_extent *e = i ? &l->extents[i - 1] : NULL;

	return e && cells <= e->cells && first - e->first <= e->cells - cells;
}

int sp__map_release_text(struct sp__table_map *m, uint64_t first, uint64_t cells)
{
	struct sp__table_area_list *l = &m->lists[SP__AREA_TEXT];
	size_t i = after(l, first);
	int rc;

	if (!cells)
		return 0;
	if (!sp__map_has_text(m, first, cells))
		return SP_ECORRUPT;
	rc = cut(l, i - 1, first, cells);
	return rc ? rc : sp__map_release(m, first, cells);
}

int sp__map_shorten(struct sp__table_map *m, enum sp__table_area area, uint64_t cells)
{
	struct sp__table_area_list *l = &m->lists[area];
	int rc = 0;

	while (!rc && l->cells > cells) {
		struct sp__table_extent *e = &l->extents[l->n - 1];
		uint64_t rest = sp__min(e->cells, l->cells - cells);

		rc = sp__map_release(m, e->first + e->cells - rest, rest);
		if (rc)
			break;
		e->cells -= rest;
		l->cells -= rest;
		l->n -= !e->cells;
	}
	return rc;
}

int sp__map_settle(struct sp__table_map *m)
{
	struct sp__table_area_list *l = &m->lists[SP__AREA_RELEASED];
	int rc = 0;

	while (!rc && l->n) {
		const struct sp__table_extent *e = &l->extents[l->n - 1];

		rc = add(&m->lists[SP__AREA_FREE], true, e->first, e->cells);
		if (!rc) {
			l->n--;
			l->cells -= e->cells;
		}
	}
	return rc;
}

/* Takes the end of the last extent out of the file, if it is at its end and from old_end on. */
static bool trim(struct sp__table_map *m, enum sp__table_area area, uint64_t old_end)
{
	struct sp__table_area_list *l = &m->lists[area];
	struct sp__table_extent *e = l->n ? &l->extents[l->n - 1] : NULL;
	uint64_t cells;

	if (!e || e->first + e->cells != m->end || m->end <= old_end)
		return false;
	cells = m->end - sp__max(e->first, old_end);
	e->cells -= cells;
	m->end -= cells;
	l->cells -= cells;
	l->n -= !e->cells;
	m->changed = true;
	return true;
}

void sp__map_trim(struct sp__table_map *m, uint64_t old_end)
{
	while (trim(m, SP__AREA_FREE, 0) || trim(m, SP__AREA_RELEASED, old_end))
		;
}

static uint64_t run(const struct sp__table_area_list *l, uint64_t n, uint64_t cells,
		    uint64_t *first)
{
	const struct sp__table_extent *e =
		&l->extents[SP__BISECT(l->n, i, l->extents[i].before <= n) - 1];

	*first = e->first + (n - e->before);
	return sp__min(cells, e->cells - (n - e->before));
}

uint64_t sp__map_run(const struct sp__table_map *m, enum sp__table_area area, uint64_t n,
		     uint64_t cells, uint64_t *first)
{
	if (area == SP__AREA_DATA && m->lanemap)
		return sp__lanemap_run(m->lanemap, n % SP__LANE_PAGES,
				       (uint32_t)(n / SP__LANE_PAGES), cells, first);
	return run(&m->lists[area], n, cells, first);
}

bool sp__map_find(const struct sp__table_map *m, uint64_t cell, enum sp__table_area *area,
		  uint64_t *n)
{
	uint64_t page;
	uint32_t lane;

	if (m->lanemap && sp__lanemap_find(m->lanemap, cell, &page, &lane)) {
		*area = SP__AREA_DATA;
		*n = lane * SP__LANE_PAGES + page;
		return true;
	}
	for (unsigned a = 0; a < SP__AREAS; a++)
		for (size_t i = 0; i < m->lists[a].n; i++) {
			const struct sp__table_extent *e = &m->lists[a].extents[i];

			if (cell >= e->first && cell - e->first < e->cells) {
				*area = (enum sp__table_area)a;
				*n = e->before + (cell - e->first);
				return true;
			}
		}
	return false;
}

uint64_t sp__map_bytes(const struct sp__table_map *m, size_t more)
{
	uint64_t extents = more;

	for (unsigned a = 0; a < SP__AREA_LISTS; a++)
		extents += m->lists[a].n;
	extents += m->lanemap ? m->lanemap->n + 1 : 0; /* and their number */
	return SP__AREAS * 8 + extents * EXTENT_BYTES;
}

static void code_list(struct sp__coder *c, struct sp__table_area_list *l)
{
	sp__code_length(c, &l->n, &l->extents, sizeof(*l->extents), EXTENT_BYTES);
	if (c->reading)
		l->capacity = l->n;
	for (size_t i = 0; !c->failed && i < l->n; i++) {
		sp__code_u64(c, &l->extents[i].first);
		sp__code_u64(c, &l->extents[i].cells);
	}
}

/* Makes a list of free and released extents, joined. */
static int unite(const struct sp__table_map *m, struct sp__table_area_list *all)
{
	int rc = 0;

	for (unsigned a = SP__AREA_FREE; a < SP__AREA_LISTS; a++)
		for (size_t i = 0; !rc && i < m->lists[a].n; i++)
			rc = add(all, true, m->lists[a].extents[i].first,
				 m->lists[a].extents[i].cells);
	return rc;
}

/* Lists that were read are counted; each extent must be in the file, and free ones ascend. */
static bool take_lists(struct sp__table_map *m)
{
	for (unsigned a = 0; a < SP__AREAS; a++) {
		struct sp__table_area_list *l = &m->lists[a];

		for (size_t i = 0; i < l->n; i++) {
			const struct sp__table_extent *e = &l->extents[i];

			if (!e->cells || e->cells > SP__TABLE_CELLS_MAX ||
			    e->first > SP__TABLE_CELLS_MAX - e->cells)
				return false;
			if (i && in_file_order((enum sp__table_area)a) &&
			    e->first <= e[-1].first + e[-1].cells)
				return false;
		}
		count(l, 0);
		if (l->cells > SP__TABLE_CELLS_MAX)
			return false;
	}
	return true;
}

/* True if the data area is the space of the parts. */
static bool parts_possible(const struct sp__table_map *m)
{
	const struct sp__table_area_list *l = &m->lists[SP__AREA_DATA];
	uint64_t cells = 0, first;

	for (size_t i = 0; i < m->lanemap->n; i++) {
		const struct sp__lanepart *p = &m->lanemap->parts[i];

		if (p->cells > l->cells - cells || run(l, cells, p->cells, &first) != p->cells ||
		    first != p->first_cell)
			return false;
		cells += p->cells;
	}
	return cells == l->cells;
}

void sp__map_code(struct sp__coder *c, struct sp__table_map *m)
{
	struct sp__table_area_list all = { 0 };

	for (unsigned a = 0; a < SP__AREA_FREE; a++)
		code_list(c, &m->lists[a]);
	if (c->reading) {
		code_list(c, &m->lists[SP__AREA_FREE]);
		c->failed |= !take_lists(m);
	} else {
		sp__coder_lack(c, unite(m, &all) != 0);
		code_list(c, &all);
		free(all.extents);
	}
	if (!m->lanemap)
		return;
	sp__lanemap_code_parts(c, m->lanemap);
	c->failed |= c->reading && !parts_possible(m);
}

static int by_first(const void *a, const void *b)
{
	const struct sp__table_extent *x = a, *y = b;

	return SP__ORDER(x->first, y->first);
}

int sp__map_possible(const struct sp__table_map *m, uint64_t front,
		     const struct sp__table_extent *others, size_t n)
{
	struct sp__table_extent *all;
	uint64_t at = front;
	size_t used = 0, i;

	for (unsigned a = 0; a < SP__AREAS; a++)
		used += m->lists[a].n;
	all = calloc(used + n + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	used = 0;
	for (unsigned a = 0; a < SP__AREAS; used += m->lists[a++].n)
		if (m->lists[a].n)
			memcpy(all + used, m->lists[a].extents, m->lists[a].n * sizeof(*all));
	for (i = 0; i < n; i++)
		if (others[i].cells)
			all[used++] = others[i];
	qsort(all, used, sizeof(*all), by_first);
	for (i = 0; i < used && all[i].first == at; i++)
		at += all[i].cells;
	free(all);
	return i == used && at == m->end;
}
