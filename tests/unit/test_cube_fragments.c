/* SPDX-License-Identifier: MIT */
/*
 * Cubes of several fragments: random grids that grow along random dimensions, where the first cells
 * of a fragment may take over the last ones of older fragments.  What a fragment has is kept cell
 * by cell. And plans of appends to random cubes: no block is taken twice, or while an old fragment
 * has it.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "cube/elements/growth.h"
#include "cube/choose/plan.h"
#include "below.h"
#include "tap.h"
#include "cubewalk.h"

#define CELLS_MAX 20000
#define GROWTHS 5

struct grown {
	struct sp__mapping like;
	struct sp__fragments fragments;
	unsigned n;
	uint64_t size[SP_CUBE_DIMS_MAX], cells;
	const struct sp__fragment **owner; /* of each cell */
	uint64_t used;			   /* blocks */
};

static uint64_t number_of(const struct grown *g, const uint64_t *x)
{
	uint64_t number = 0;

	for (unsigned i = g->n; i-- > 0;)
		number = number * g->size[i] + x[i];
	return number;
}

static struct sp_cube_box whole(const struct grown *g)
{
	struct sp_cube_box all = { 0 };

	for (unsigned i = 0; i < g->n; i++) {
		all.hi[i] = g->size[i] - 1;
		all.stride[i] = 1;
	}
	return all;
}

/*
 * The cells of a grid one larger along dim, with their owners; the new fragment has all from first.
 */
static void grow_owners(struct grown *g, const struct sp__fragment *fragment, const uint64_t *size)
{
	struct grown old = *g;
	struct sp_cube_box all;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 };

	memcpy(g->size, size, sizeof(g->size));
	g->cells = 1;
	for (unsigned i = 0; i < g->n; i++)
		g->cells *= size[i];
	g->owner = calloc(g->cells, sizeof(*g->owner));
	all = whole(g);
	do {
		g->owner[number_of(g, x)] = x[fragment->dim] >= fragment->first
						    ? fragment
						    : old.owner[number_of(&old, x)];
	} while (sp__box_next(&all, 0, g->n, x));
	free(old.owner);
}

/* Adds a fragment, after some blocks for a table; false: it cannot be mapped. */
static bool add(struct grown *g, unsigned dim, uint64_t first, const uint64_t *size)
{
	struct sp__fragment *fragment = sp__fragments_add(&g->fragments);
	int rc;

	memcpy(fragment->placed, size, sizeof(fragment->placed));
	fragment->dim = dim;
	fragment->first = first;
	fragment->placed[dim] -= first;
	fragment->table_block = g->used;
	fragment->mapping.first_block = g->used + 1 + below(9);
	rc = sp__mapping_place(&fragment->mapping, &g->like, g->n, fragment->placed);
	if (rc) {
		g->fragments.n--;
		sp__fragment_free(fragment);
		return false;
	}
	g->used = sp__fragment_end(fragment);
	grow_owners(g, fragment, size);
	return sp__fragments_settle(&g->fragments, g->n, size);
}

static bool grow(struct grown *g)
{
	uint64_t size[SP_CUBE_DIMS_MAX], back;
	unsigned dim = (unsigned)below(g->n);

	memcpy(size, g->size, sizeof(size));
	back = below(3) ? 0 : 1 + below(2);
	size[dim] += !back + below(4);
	if (g->cells / g->size[dim] * size[dim] > CELLS_MAX || back >= g->size[dim])
		return true;
	return add(g, dim, g->size[dim] - back, size);
}

static bool begin(struct grown *g, enum sp_cube_mapping kind, const struct sp_geometry *geometry)
{
	uint64_t size[SP_CUBE_DIMS_MAX] = { 0 };

	*g = (struct grown){ .n = 1 + (unsigned)below(4), .used = below(100) };
	g->like.kind = kind;
	g->like.cell_blocks = 1 + (uint32_t)below(3);
	shuffle(g->like.order, g->n);
	for (unsigned i = 0; i < g->n; i++)
		size[i] = 1 + below(g->n < 3 ? 30 : 6);
	if (kind == SP_CUBE_MULTIMAP &&
	    sp__multimap_zones(&g->like.multimap, geometry, 0, SP__AIM_PLATEAU, 0))
		return false;
	return add(g, 0, 0, size);
}

static void end(struct grown *g)
{
	sp__fragments_free(&g->fragments);
	sp__multimap_free(&g->like.multimap);
	free(g->owner);
}

/*
 * Each cell has blocks of its own, in its fragment, which give it back; no other block has a cell.
 */
static bool is_bijection(const struct grown *g)
{
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 }, back[SP_CUBE_DIMS_MAX];
	struct sp_cube_box all = whole(g);
	uint8_t *taken = calloc(g->used, 1);
	bool right = true;

	do {
		const struct sp__fragment *fragment = g->owner[number_of(g, x)];
		uint64_t block = sp__fragments_block(&g->fragments, x);

		right = block >= fragment->mapping.first_block &&
			block + g->like.cell_blocks <= sp__fragment_end(fragment);
		for (uint32_t b = 0; right && b < g->like.cell_blocks; b++)
			right = !taken[block + b]++ &&
				sp__fragments_cell(&g->fragments, block + b, back) &&
				!memcmp(back, x, g->n * sizeof(*x));
	} while (right && sp__box_next(&all, 0, g->n, x));
	for (uint64_t b = 0; right && b < g->used; b++)
		right = taken[b] || !sp__fragments_cell(&g->fragments, b, back);
	free(taken);
	return right && sp__fragments_end(&g->fragments) <= g->used;
}

struct seen {
	const struct grown *g;
	const struct sp_cube_box *box;
	uint8_t *at;
	uint64_t given, wrong;
};

static int see(void *arg, uint64_t block, uint64_t cells)
{
	struct seen *s = arg;
	uint64_t x[SP_CUBE_DIMS_MAX];

	for (uint64_t i = 0; i < cells; i++) {
		bool in =
			sp__fragments_cell(&s->g->fragments, block + i * s->g->like.cell_blocks, x);

		for (unsigned d = 0; in && d < s->g->n; d++)
			in = x[d] >= s->box->lo[d] && x[d] <= s->box->hi[d] &&
			     (x[d] - s->box->lo[d]) % s->box->stride[d] == 0;
		s->wrong += !in || s->at[number_of(s->g, x)]++;
	}
	s->given += cells;
	return 0;
}

/* A walk gives each cell of a random box once, and no other. */
static bool walk_is_right(const struct grown *g)
{
	struct sp_cube_box box = { 0 };
	struct seen s = { .g = g, .box = &box, .at = calloc(g->cells, 1) };
	uint64_t cells = 1;
	int rc;

	for (unsigned i = 0; i < g->n; i++) {
		box.lo[i] = below(g->size[i]);
		box.hi[i] = box.lo[i] + below(g->size[i] - box.lo[i]);
		box.stride[i] = below(3) ? 1 : 1 + below(4);
		cells *= sp__box_count(&box, i);
	}
	rc = walk_all(&g->fragments, &box, see, &s);
	free(s.at);
	return !rc && s.given == cells && !s.wrong;
}

static void test_random(enum sp_cube_mapping kind, const char *model)
{
	unsigned wrong = 0, wrong_walks = 0, tried = 0, grown = 0;
	struct sp_geometry *geometry = NULL;

	if (model && sp_geometry_model(&geometry, model, NULL))
		ok(false, "%s has a geometry", model);
	for (unsigned round = 0; round < 200; round++) {
		struct grown g;

		rng = (struct sp__rng){ sp__mix64(round) };
		if (begin(&g, kind, geometry)) {
			for (unsigned i = 0; i < GROWTHS && grow(&g); i++)
				;
			tried++;
			grown += g.fragments.n > 2;
			wrong += !is_bijection(&g);
			for (unsigned w = 0; w < 5; w++)
				wrong_walks += !walk_is_right(&g);
		}
		end(&g);
	}
	ok(tried > 100 && grown > 50 && !wrong,
	   "%s: the cells of %u grids, %u of several fragments", sp_cube_mapping_name((int)kind),
	   tried, grown);
	ok(!wrong_walks, "%s: walks over fragments give each cell once",
	   sp_cube_mapping_name((int)kind));
	sp_geometry_free(geometry);
}

/* Parts that cannot be. */
static void test_refusals(void)
{
	struct grown g = { .n = 2,
			   .like = { .kind = SP_CUBE_NAIVE, .cell_blocks = 1, .order = { 0, 1 } } };
	const struct sp__fragment *second;

	ok(add(&g, 0, 0, (uint64_t[SP_CUBE_DIMS_MAX]){ 4, 4 }) &&
		   add(&g, 1, 3, (uint64_t[SP_CUBE_DIMS_MAX]){ 4, 6 }),
	   "a fragment takes over the last layer of the one before");
	second = g.fragments.list[1];
	ok(g.fragments.list[0]->size[1] == 3 &&
		   sp__fragments_within(&g.fragments, second->table_block,
					second->table_block + 1) == second,
	   "which has less then");
	g.fragments.list[1]->first = 5;
	ok(!sp__fragments_settle(&g.fragments, 2, g.size),
	   "a fragment beyond the end of those before is none");
	g.fragments.list[1]->first = 3;
	g.fragments.list[1]->placed[0] = 3;
	ok(!sp__fragments_settle(&g.fragments, 2, g.size), "a narrower one does not fit");
	g.fragments.list[1]->placed[0] = 4;
	ok(sp__fragments_settle(&g.fragments, 2, g.size), "as it was, it is one");
	g.size[1]++;
	ok(!sp__fragments_settle(&g.fragments, 2, g.size),
	   "together they have the cells of the dataset");
	end(&g);
}

/* A superblock as creation plans it; false: it is impossible. */
static bool plan_head(struct sp__cube_plan *p, struct sp_cube_create_opts *o, const char *volume)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*o = (struct sp_cube_create_opts)SP_CUBE_CREATE_OPTS_INIT;
	o->mapping = (enum sp_cube_mapping)(SP_CUBE_MULTIMAP + below(5));
	o->run.volume = volume;
	o->shape = (struct sp_cube_shape){ .ndims = 1 + (unsigned)below(4), .type = SP_CUBE_BYTES };
	o->shape.element_bytes = 512;
	for (unsigned i = 0; i < o->shape.ndims; i++) {
		o->shape.dims[i] = 1 + below(o->shape.ndims < 3 ? 40 : 8);
		o->shape.tile[i] = 1 + (uint32_t)below(3);
	}
	o->ordered = true;
	shuffle(o->order, o->shape.ndims);
	return sp__cube_plan(p, o, "cube", &err) == 0 &&
	       sp__cube_superblock_settle(&p->superblock) == 0;
}

/* Parts of a list, and the blocks of each, are apart from those of another one. */
static bool apart(const struct sp__fragments *fragments, const struct sp__fragment *fragment)
{
	for (size_t i = 0; i < fragments->n; i++)
		if (fragments->list[i] != fragment &&
		    fragments->list[i]->table_block < sp__fragment_end(fragment) &&
		    fragment->table_block < sp__fragment_end(fragments->list[i]))
			return false;
	return true;
}

/* Each cell of the superblock has a block that gives it back. */
static bool goes_both_ways(const struct sp__cube_superblock *h)
{
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 }, back[SP_CUBE_DIMS_MAX], cells[SP_CUBE_DIMS_MAX];
	struct sp_cube_box all = { 0 };
	bool right = true;

	sp__cube_superblock_cells(h, cells);
	for (unsigned i = 0; i < h->shape.ndims; i++) {
		all.hi[i] = cells[i] - 1;
		all.stride[i] = 1;
	}
	do {
		right = sp__fragments_cell(&h->fragments, sp__fragments_block(&h->fragments, x),
					   back) &&
			!memcmp(x, back, h->shape.ndims * sizeof(*x));
	} while (right && sp__box_next(&all, 0, h->shape.ndims, x));
	return right;
}

/* True if the superblock is the same after encoding and decoding. */
static bool is_kept(const struct sp__cube_superblock *h)
{
	struct sp__cube_superblock again;
	const char *reason;
	size_t bytes;
	uint8_t *data = sp__cube_superblock_encode(h, &bytes);
	bool same = data && sp__cube_superblock_decode(&again, data, bytes, &reason) == 0;

	if (same) {
		same = sp__cube_superblock_settle(&again) == 0 &&
		       again.fragments.n == h->fragments.n &&
		       sp__fragments_end(&again.fragments) == sp__fragments_end(&h->fragments) &&
		       goes_both_ways(&again);
		sp__cube_superblock_free(&again);
	}
	free(data);
	return same;
}

static void exchange(struct sp__growth *g, struct sp__cube_superblock *h)
{
	struct sp__cubefile c = { .superblock = *h };

	sp__growth_exchange(g, &c);
	*h = c.superblock;
}

static bool grow_head(struct sp__cube_superblock *h, unsigned *grown)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned dim = (unsigned)below(h->shape.ndims);
	struct sp__growth g;
	bool right = true;

	if (sp__growth_plan(&g, h, dim, 1 + below(9), "cube", &err) == 0) {
		right = apart(&h->fragments, g.fragment);
		exchange(&g, h);
		right = right && apart(&h->fragments, h->fragments.list[h->fragments.n - 1]) &&
			goes_both_ways(h) && is_kept(h);
		++*grown;
	}
	sp__growth_free(&g);
	return right;
}

static void test_growth(void)
{
	static const char *const volumes[] = { NULL, "sim:atlas10k3-like", "sim:nearline6t-like",
					       "sim:serpentine" };
	unsigned wrong = 0, grown = 0;

	for (unsigned round = 0; round < 150; round++) {
		struct sp_cube_create_opts o;
		struct sp__cube_plan p;

		rng = (struct sp__rng){ sp__mix64(round) };
		if (plan_head(&p, &o, volumes[below(4)]))
			for (unsigned i = 0; i < 6; i++)
				wrong += !grow_head(&p.superblock, &grown);
		sp__cube_plan_free(&p);
	}
	ok(grown > 400 && !wrong, "%u appends are planned on blocks that no fragment has", grown);
}

/* A cube of one cell on a drive. */
static struct sp__cube_superblock *plan_small(struct sp__cube_plan *p,
					      struct sp_cube_create_opts *o, const char *volume)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*o = (struct sp_cube_create_opts)SP_CUBE_CREATE_OPTS_INIT;
	o->mapping = SP_CUBE_MULTIMAP;
	o->run.volume = volume;
	o->shape = (struct sp_cube_shape){ .ndims = 1, .dims = { 1 }, .element_bytes = 4096 };
	return sp__cube_plan(p, o, "cube", &err) || sp__cube_superblock_settle(&p->superblock)
		       ? NULL
		       : &p->superblock;
}

/* 0: a superblock is written in an unknown version, or cannot be read again. */
static unsigned version_of(const struct sp__cube_superblock *h)
{
	unsigned version = 0;
	struct sp__cube_superblock again;
	const char *reason;
	size_t bytes;
	uint8_t *data = sp__cube_superblock_encode(h, &bytes);

	if (data && !sp__cube_superblock_decode(&again, data, bytes, &reason)) {
		version = data[8];
		sp__cube_superblock_free(&again);
	}
	/* In another version the members are too few, or too many. */
	for (uint8_t other = 2; data && version && other <= 5; other++) {
		data[8] = other;
		if (other != version &&
		    sp__cube_superblock_decode(&again, data, bytes, &reason) != SP_ECORRUPT)
			version = 0;
	}
	free(data);
	return version;
}

/* The log of puts overlaps no superblock and no fragment. */
static void test_log(void)
{
	struct sp_cube_create_opts o;
	struct sp__cube_plan p;
	struct sp__cube_superblock *h = plan_small(&p, &o, "sim:tiny");
	uint64_t offset;

	if (!ok(h && version_of(h) == 4, "a cube has a log of puts"))
		return;
	offset = h->log_offset;
	h->log_offset = h->slots.slot_bytes;
	ok(!version_of(h), "a log in the place of a superblock is refused");
	h->log_offset = offset + 2 * (uint64_t)h->slots.slot_bytes;
	ok(!version_of(h), "and one among the cells");
	h->log_offset = offset;
	h->log_bytes -= 4096;
	ok(!version_of(h), "and one that an extent does not fit");
	h->log_bytes = h->log_offset = 0;
	ok(version_of(h) == 2, "a cube without one has version 2");
	sp__cube_plan_free(&p);
}

static void test_rounds(void)
{
	static const char *const drives[] = { "sim:atlas10k3-like", "sim:cheetah36es-like",
					      "sim:ultrastar36lzx-like", "sim:tiny" };
	struct sp_cube_create_opts o;
	struct sp__cube_plan p;
	struct sp__cube_superblock *h;
	struct sp__cubezone *z, was;
	unsigned right = 0;

	for (unsigned i = 0; i < 4; i++) {
		h = plan_small(&p, &o, drives[i]);
		right += h && version_of(h) == 4;
		sp__cube_plan_free(&p);
	}
	ok(right == 4, "heads of drives that are not serpentines have version 4");
	h = plan_small(&p, &o, "sim:serpentine");
	if (!ok(h && version_of(h) == 5 && is_kept(h), "superblocks of serpentines have version 5"))
		return;
	z = &h->mapping.multimap.zones[0];
	was = *z;
	z->round_offset = z->round;
	ok(!version_of(h), "a zone that begins behind its round is refused");
	*z = was;
	z->shift_blocks = z->track_blocks;
	ok(!version_of(h), "and one whose shifts are a revolution");
	*z = was;
	z->round = UINT64_MAX;
	ok(!version_of(h), "and a round of more tracks than there can be");
	*z = was;
	z->round = 0;
	z->round_offset = 0;
	ok(!version_of(h), "and shifts without rounds");
	z->shift_blocks = 0;
	ok(version_of(h) == 5, "a zone without rounds may be among others");
	h->log_bytes = h->log_offset = 0;
	ok(version_of(h) == 3, "without a log of puts they have version 3");
	sp__cube_plan_free(&p);
	test_log();
}

/* The maximum number of fragments is accepted, one more is not. */
static void test_most(void)
{
	struct sp_cube_create_opts o = SP_CUBE_CREATE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__cube_plan p;
	struct sp__growth g;
	size_t bytes;
	int rc;

	o.mapping = SP_CUBE_NAIVE;
	o.shape = (struct sp_cube_shape){
		.ndims = 2, .dims = { 2, 2 }, .tile = { 1, 1 }, .element_bytes = 512
	};
	rc = sp__cube_plan(&p, &o, "cube", &err);
	rc = rc ? rc : sp__cube_superblock_settle(&p.superblock);
	while (!rc) {
		rc = sp__growth_plan(&g, &p.superblock, 1, 1, "cube", &err);
		if (!rc)
			exchange(&g, &p.superblock);
		sp__growth_free(&g);
	}
	ok(rc == SP_EUNSUP && p.superblock.fragments.n == SP__FRAGMENTS_MAX,
	   "a cube has at most %d fragments", SP__FRAGMENTS_MAX);
	free(sp__cube_superblock_encode(&p.superblock, &bytes));
	ok(bytes <= p.superblock.slots.slot_bytes, "for which the superblock has space: %zu bytes",
	   bytes);
	sp__cube_plan_free(&p);
}

int main(void)
{
	test_growth();
	test_rounds();
	test_most();
	test_random(SP_CUBE_NAIVE, NULL);
	test_random(SP_CUBE_ZORDER, NULL);
	test_random(SP_CUBE_GRAY, NULL);
	test_random(SP_CUBE_HILBERT, NULL);
	test_random(SP_CUBE_MULTIMAP, "tiny");
	test_random(SP_CUBE_MULTIMAP, "atlas10k3-like");
	test_random(SP_CUBE_MULTIMAP, "nearline6t-like");
	test_random(SP_CUBE_MULTIMAP, "serpentine");
	test_refusals();
	return done();
}
