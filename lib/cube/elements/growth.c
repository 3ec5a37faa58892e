/* SPDX-License-Identifier: MIT */
/*
 * Plans where a new fragment goes: the first blocks that hold its table and its cells, between two
 * fragments if an older one was replaced, otherwise behind the last one.
 *
 * Fragments begin at whole tiles and extents.  The elements of the dataset in the last tile are
 * stored again, at the start of the new fragment.  Nothing present is changed, so the cube stays as
 * it is until its superblock is replaced.  A fragment with no other elements is then dropped.  So
 * appending layer by layer alternates between two locations until the tiles are full.
 */
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "cube/file/extents.h"
#include "cube/elements/growth.h"

/*
 * True if basic cubes are chosen again.  A linear mapping with a single basic cube gets one again.
 * If the basic cubes of the first fragment are limited by its length, those of a longer fragment
 * can be longer.
 */
static bool chosen_again(const struct sp__cube_superblock *h, const uint64_t *size)
{
	const struct sp__mapping *first = &h->fragments.list[0]->mapping;
	bool again = first->kind != SP_CUBE_MULTIMAP && first->basic.ncubes == 1;

	for (unsigned i = 0; i < h->shape.ndims; i++)
		again |= first->basic.k[i] == first->grid.size[i] && size[i] > first->grid.size[i];
	return again;
}

/* Chooses basic cubes like those of the first fragment, balanced. */
static void set_basic(const struct sp__cube_superblock *h, struct sp__fragment *p)
{
	const uint64_t *like = h->fragments.list[0]->mapping.basic.k;
	uint64_t *k = p->mapping.basic.k, size[SP_CUBE_DIMS_MAX];
	bool again, same = !p->first;

	for (unsigned i = 0; i < h->shape.ndims; i++) {
		size[i] = p->placed[h->mapping.order[i]];
		same &= size[i] == h->fragments.list[0]->mapping.grid.size[i];
	}
	if (same) {
		memcpy(k, like, h->shape.ndims * sizeof(*k));
		return;
	}
	again = chosen_again(h, size);
	for (unsigned i = 0; i < h->shape.ndims; i++)
		k[i] = again ? 0 : sp__balanced(size[i], sp__min(like[i], size[i]));
}

/* Places table and cells from a block on. */
static int place_at(const struct sp__cube_superblock *h, struct sp__fragment *p, uint64_t block)
{
	int rc;

	p->table_block = block;
	p->mapping.first_block = sp__cube_superblock_begin(h, sp__extents_table_end(h, p));
	set_basic(h, p);
	rc = sp__mapping_place(&p->mapping, &h->mapping, h->shape.ndims, p->placed);
	if (rc != -ENOSPC)
		return rc;
	/* Tracks further in are shorter. */
	memset(p->mapping.basic.k, 0, sizeof(p->mapping.basic.k));
	return sp__mapping_place(&p->mapping, &h->mapping, h->shape.ndims, p->placed);
}

static int find_space(const struct sp__cube_superblock *h, struct sp__fragment *p)
{
	uint64_t block = sp__cube_superblock_front(h);
	const struct sp__fragment *other;
	int rc;

	do {
		rc = place_at(h, p, block);
		other = rc ? NULL : sp__fragments_within(&h->fragments, block, sp__fragment_end(p));
		block = other ? sp__fragment_end(other) : 0;
	} while (other);
	return !rc && sp__fragment_end(p) > sp__cube_volume_blocks(h) ? -ENOSPC : rc;
}

static int copy_list(struct sp__growth *g, const struct sp__fragments *old)
{
	for (size_t i = 0; i < g->shared; i++) {
		if (!SP__ARRAY_GROW_BY_ONE(g->fragments.list, g->fragments.n))
			return -ENOMEM;
		g->fragments.list[g->fragments.n++] = old->list[i];
	}
	g->fragment = sp__fragments_add(&g->fragments);
	return g->fragment ? 0 : -ENOMEM;
}

/* Sets the cells of the new fragment, and which fragments stay. */
static int begin_fragment(struct sp__growth *g, const struct sp__cube_superblock *h)
{
	uint64_t have = h->shape.dims[g->dim], first, cells[SP_CUBE_DIMS_MAX];
	const struct sp__fragment *last = h->fragments.list[h->fragments.n - 1];
	struct sp__cube_superblock grown = *h;
	int rc;

	first = (have - have % sp__cube_superblock_unit(h, g->dim)) / h->shape.tile[g->dim];
	g->shared = h->fragments.n - (last->dim == g->dim && last->first == first);
	if (!first)
		g->shared = 0;
	rc = copy_list(g, &h->fragments);
	if (rc)
		return rc;
	grown.shape.dims[g->dim] = g->size;
	sp__cube_superblock_cells(&grown, cells);
	memcpy(g->fragment->placed, cells, sizeof(cells));
	g->fragment->dim = g->dim;
	g->fragment->first = first;
	g->fragment->placed[g->dim] -= first;
	return 0;
}

/* Checks the new superblock. */
static bool possible(const struct sp__growth *g, const struct sp__cube_superblock *h)
{
	struct sp__cube_superblock grown = *h;

	grown.shape.dims[g->dim] = g->size;
	grown.fragments = g->fragments;
	return sp__cube_superblock_possible(&grown);
}

static int refuse(const char *path, struct sp_errinfo *err, int code, const char *text)
{
	return sp__errf(err, code, "append", path, -1, "%s", text);
}

static int unplaceable(const char *path, struct sp_errinfo *err, int rc)
{
	if (rc == -ENOSPC)
		return refuse(path, err, rc,
			      "the volume is too small for the appended elements in the mapping of "
			      "the cube");
	if (rc == SP_EUNSUP)
		return refuse(path, err, rc,
			      "a curve over more than 4 dimensions needs sizes in cells that are "
			      "powers of two, also of what is appended");
	return rc == -ERANGE ? refuse(path, err, SP_ESYNTAX,
				      "the dataset would have more than 2^62 bytes")
			     : sp__err(err, rc, "append", path, -1);
}

int sp__growth_plan(struct sp__growth *g, const struct sp__cube_superblock *h, unsigned dim,
		    uint64_t count, const char *path, struct sp_errinfo *err)
{
	struct sp__cube_superblock grown = *h;
	int rc;

	*g = (struct sp__growth){ .dim = dim, .shared = h->fragments.n };
	if (!count)
		return refuse(path, err, SP_ESYNTAX, "there are no elements to append");
	if (__builtin_add_overflow(h->shape.dims[dim], count, &g->size))
		return unplaceable(path, err, -ERANGE);
	grown.shape.dims[dim] = g->size;
	if (!sp__cube_shape_possible(&grown))
		return unplaceable(path, err, -ERANGE);
	rc = begin_fragment(g, h);
	if (!rc && g->fragments.n > SP__FRAGMENTS_MAX)
		return refuse(path, err, SP_EUNSUP,
			      "the cube has 1000 fragments, and cannot have more: export it, and "
			      "create it again");
	if (!rc)
		rc = find_space(h, g->fragment);
	if (!rc && !possible(g, h))
		rc = -ERANGE;
	return rc ? unplaceable(path, err, rc) : 0;
}

int sp__growth_replace(struct sp__growth *g, const struct sp__cube_superblock *h)
{
	int rc;

	*g = (struct sp__growth){ .size = h->shape.dims[0] };
	rc = copy_list(g, &h->fragments);
	if (rc)
		return rc;
	sp__cube_superblock_cells(h, g->fragment->placed);
	rc = find_space(h, g->fragment);
	return rc ? rc : possible(g, h) ? 0 : -ERANGE;
}

void sp__growth_exchange(struct sp__growth *g, struct sp__cubefile *c)
{
	struct sp__cube_superblock *h = &c->superblock;
	struct sp__fragments fragments = h->fragments;
	uint64_t size = h->shape.dims[g->dim], cells[SP_CUBE_DIMS_MAX];

	h->fragments = g->fragments;
	g->fragments = fragments;
	h->shape.dims[g->dim] = g->size;
	g->size = size;
	sp__cube_superblock_cells(h, cells);
	(void)sp__fragments_settle(&h->fragments, h->shape.ndims, cells);
}

void sp__growth_free(struct sp__growth *g)
{
	for (size_t i = g->shared; i < g->fragments.n; i++)
		sp__fragment_free(g->fragments.list[i]);
	free(g->fragments.list);
}
