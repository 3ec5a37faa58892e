/* SPDX-License-Identifier: MIT */
/*
 * Computes ranks on space-filling curves, and walks the cells of a box along them.
 *
 * Algorithm.  A curve halves the grid in every dimension, visits the 2^n parts in some order, and
 * each part in the same way.  The label of a part has bit i if the part is the upper half in
 * dimension i; its position is the number of parts visited before it.  The curves differ in how a
 * label becomes a position, given a state that depends on the positions of the levels above:
 *
 *	Z order   position = label
 *	Gray      position = the number whose Gray code is the label, counted backwards in every
 *	          other part: the code of a whole coordinate is one long Gray code
 *	Hilbert   as Gray, after the part was reflected and rotated so that it begins next to
 *	          the end of the part before it
 *
 * The grid is the lower corner of the cube of 2^bits cells per side.  Ranks count cells of the grid
 * only.  If all sizes are powers of two, a level at which some dimensions have no bit left keeps
 * only the bits of the position that are free, because the others follow from the bits above them.
 * Otherwise siblings are counted one by one, until a part is inside the grid.
 *
 * A walk descends in the order of the curve, skips parts without a cell of the box, and passes
 * parts inside the box as a whole.
 *
 * Memory: one frame per level; nothing is sorted.
 */
#include <string.h>
#include "base/minmax.h"
#include "place/curve.h"

#define COUNTED_DIMS_MAX 4

struct state {
	uint32_t entry;	   /* Hilbert: label of the first part */
	unsigned rotation; /* Hilbert: the dimension along which it leaves, plus 1 */
	bool backwards;	   /* Gray */
};

static uint32_t rotate_left(uint32_t v, unsigned by, unsigned n)
{
	return by ? (v << by | v >> (n - by)) & ((1u << n) - 1) : v;
}

static uint32_t rotate_right(uint32_t v, unsigned by, unsigned n)
{
	return by ? rotate_left(v, n - by, n) : v;
}

static uint32_t gray(uint32_t v)
{
	return v ^ v >> 1;
}

static uint32_t gray_inverse(uint32_t code)
{
	for (unsigned by = 1; by < SP_CUBE_DIMS_MAX; by *= 2)
		code ^= code >> by;
	return code;
}

static struct state first_state(unsigned n)
{
	return (struct state){ .rotation = 1 % n };
}

static uint32_t position_of(const struct sp__curve *c, const struct state *s, uint32_t label)
{
	unsigned n = c->grid->n;

	switch (c->kind) {
	case SP_CUBE_HILBERT:
		return gray_inverse(rotate_right(label ^ s->entry, s->rotation, n));
	case SP_CUBE_GRAY:
		return gray_inverse(label) ^ (s->backwards ? (1u << n) - 1 : 0);
	default:
		return label;
	}
}

static uint32_t label_of(const struct sp__curve *c, const struct state *s, uint32_t position)
{
	unsigned n = c->grid->n;

	switch (c->kind) {
	case SP_CUBE_HILBERT:
		return rotate_left(gray(position), s->rotation, n) ^ s->entry;
	case SP_CUBE_GRAY:
		return gray(position ^ (s->backwards ? (1u << n) - 1 : 0));
	default:
		return position;
	}
}

/* Changes the state to the one inside the part at this position. */
static void enter(const struct sp__curve *c, struct state *s, uint32_t position)
{
	unsigned n = c->grid->n, along;

	if (c->kind == SP_CUBE_GRAY)
		s->backwards = position & 1;
	if (c->kind != SP_CUBE_HILBERT)
		return;
	if (position)
		s->entry ^= rotate_left(gray((position - 1) & ~1u), s->rotation, n);
	/* The part is left along the dimension in which the Gray code changes next. */
	along = position ? (unsigned)__builtin_ctz(~(position & 1 ? position : position - 1)) : 0;
	s->rotation = (s->rotation + along + 1) % n;
}

int sp__curve_init(struct sp__curve *c, enum sp_cube_mapping kind, const struct sp__grid *grid)
{
	*c = (struct sp__curve){ .kind = kind, .grid = grid, .binary = true };
	for (unsigned i = 0; i < grid->n; i++) {
		while (c->bits < 63 && UINT64_C(1) << c->bits < grid->size[i])
			c->bits++;
		c->binary &= !(grid->size[i] & (grid->size[i] - 1));
	}
	for (unsigned level = 0; level < c->bits; level++)
		for (unsigned i = 0; i < grid->n; i++)
			c->free[level] |= (uint32_t)(grid->size[i] >> level > 1) << i;
	return c->binary || grid->n <= COUNTED_DIMS_MAX ? 0 : SP_EUNSUP;
}

static uint32_t label_at(const struct sp__curve *c, const uint64_t *x, unsigned level)
{
	uint32_t label = 0;

	for (unsigned i = 0; i < c->grid->n; i++)
		label |= (uint32_t)(x[i] >> level & 1) << i;
	return label;
}

/* Returns the bits of a position that free dimensions decide. */
static uint32_t free_bits(const struct sp__curve *c, const struct state *s, unsigned level)
{
	return c->kind == SP_CUBE_HILBERT ? rotate_right(c->free[level], s->rotation, c->grid->n)
					  : c->free[level];
}

static uint32_t gather(uint32_t v, uint32_t mask)
{
	uint32_t out = 0;

	for (unsigned at = 0; mask; mask &= mask - 1, at++)
		out |= (v >> __builtin_ctz(mask) & 1) << at;
	return out;
}

static uint64_t binary_rank(const struct sp__curve *c, const uint64_t *x)
{
	struct state s = first_state(c->grid->n);
	uint32_t all = (1u << c->grid->n) - 1;
	uint64_t rank = 0;

	for (unsigned level = c->bits; level-- > 0;) {
		uint32_t position = position_of(c, &s, label_at(c, x, level)),
			 free = c->free[level];

		rank = rank << __builtin_popcount(free) |
		       (free == all ? position : gather(position, free_bits(c, &s, level)));
		enter(c, &s, position);
	}
	return rank;
}

/*
 * Returns the position with these free bits.  If a bit of the label must be 0, the bit of the
 * position follows from the one above it, since Gray codes are differences.
 */
static uint32_t spread(const struct sp__curve *c, const struct state *s, uint32_t free,
		       uint32_t bits)
{
	uint32_t fixed =
		c->kind == SP_CUBE_HILBERT ? rotate_right(s->entry, s->rotation, c->grid->n) : 0;
	uint32_t above = c->kind == SP_CUBE_GRAY && s->backwards, position = 0;
	unsigned left = (unsigned)__builtin_popcount(free);

	for (unsigned i = c->grid->n; i-- > 0;) {
		if (free >> i & 1)
			above = bits >> --left & 1;
		else
			above = c->kind == SP_CUBE_ZORDER ? 0 : above ^ (fixed >> i & 1);
		position |= above << i;
	}
	return position;
}

static void binary_cell(const struct sp__curve *c, uint64_t rank, uint64_t *x)
{
	struct state s = first_state(c->grid->n);
	unsigned left = (unsigned)__builtin_ctzll(c->grid->cells);

	for (unsigned level = c->bits; level-- > 0;) {
		unsigned width = (unsigned)__builtin_popcount(c->free[level]);
		uint32_t bits, position, label;

		left -= width;
		bits = (uint32_t)(rank >> left) & ((1u << width) - 1);
		position = spread(c, &s, free_bits(c, &s, level), bits);
		label = label_of(c, &s, position);
		for (unsigned i = 0; i < c->grid->n; i++)
			x[i] |= (uint64_t)(label >> i & 1) << level;
		enter(c, &s, position);
	}
}

/* Returns the cells of the grid in the part at x with 2^level cells per side. */
static uint64_t part_cells(const struct sp__curve *c, const uint64_t *x, unsigned level)
{
	uint64_t cells = 1;

	for (unsigned i = 0; i < c->grid->n && cells; i++)
		cells *= x[i] < c->grid->size[i]
				 ? sp__min(c->grid->size[i] - x[i], UINT64_C(1) << level)
				 : 0;
	return cells;
}

static void part_begin(const struct sp__curve *c, const uint64_t *whole, uint32_t label,
		       unsigned level, uint64_t *x)
{
	for (unsigned i = 0; i < c->grid->n; i++)
		x[i] = whole[i] | (uint64_t)(label >> i & 1) << level;
}

static bool is_whole(const struct sp__curve *c, const uint64_t *x, unsigned level)
{
	for (unsigned i = 0; i < c->grid->n; i++)
		if (x[i] + (UINT64_C(1) << level) > c->grid->size[i])
			return false;
	return true;
}

static uint64_t counted_rank(const struct sp__curve *c, const uint64_t *x)
{
	uint64_t whole[SP_CUBE_DIMS_MAX] = { 0 }, part[SP_CUBE_DIMS_MAX], rank = 0;
	struct state s = first_state(c->grid->n);
	bool inside = is_whole(c, whole, c->bits);

	for (unsigned level = c->bits; level-- > 0;) {
		uint32_t label = label_at(c, x, level), position = position_of(c, &s, label);

		if (inside)
			rank += (uint64_t)position << c->grid->n * level;
		for (uint32_t p = 0; !inside && p < position; p++) {
			part_begin(c, whole, label_of(c, &s, p), level, part);
			rank += part_cells(c, part, level);
		}
		part_begin(c, whole, label, level, whole);
		inside = inside || is_whole(c, whole, level);
		enter(c, &s, position);
	}
	return rank;
}

static void counted_cell(const struct sp__curve *c, uint64_t rank, uint64_t *x)
{
	struct state s = first_state(c->grid->n);
	uint64_t part[SP_CUBE_DIMS_MAX];
	bool inside = is_whole(c, x, c->bits);

	for (unsigned level = c->bits; level-- > 0;) {
		uint32_t position = 0, label;
		uint64_t cells;

		if (inside) {
			position = (uint32_t)(rank >> c->grid->n * level);
			rank -= (uint64_t)position << c->grid->n * level;
		}
		for (;; position++) {
			label = label_of(c, &s, position);
			part_begin(c, x, label, level, part);
			if (inside || rank < (cells = part_cells(c, part, level)))
				break;
			rank -= cells;
		}
		memcpy(x, part, c->grid->n * sizeof(*x));
		inside = inside || is_whole(c, x, level);
		enter(c, &s, position);
	}
}

uint64_t sp__curve_rank(const struct sp__curve *c, const uint64_t *x)
{
	return c->binary ? binary_rank(c, x) : counted_rank(c, x);
}

void sp__curve_cell(const struct sp__curve *c, uint64_t rank, uint64_t *x)
{
	memset(x, 0, c->grid->n * sizeof(*x));
	if (c->binary)
		binary_cell(c, rank, x);
	else
		counted_cell(c, rank, x);
}

struct walk {
	const struct sp__curve *curve;
	const struct sp_cube_box *box;
	sp__cells_fn fn;
	void *arg;
	uint64_t from;	       /* an earlier walk passed the ranks below */
	uint64_t rank;	       /* rank of the next cell of the curve */
	uint64_t first, cells; /* not passed to fn yet */
};

static int give(struct walk *w, uint64_t cells)
{
	int rc = 0;

	if (w->cells && w->first + w->cells == w->rank) {
		w->cells += cells;
		return 0;
	}
	if (w->cells)
		rc = w->fn(w->arg, w->first, w->cells);
	w->first = w->rank;
	w->cells = cells;
	return rc;
}

/* Returns 0 if the part has no cell of the box, 2 if all its cells are in the box, else 1. */
static int overlap(const struct walk *w, const uint64_t *x, unsigned level)
{
	const struct sp_cube_box *b = w->box;
	int found = 2;

	for (unsigned i = 0; i < w->curve->grid->n; i++) {
		uint64_t end = sp__min(x[i] + (UINT64_C(1) << level), w->curve->grid->size[i]) - 1;
		uint64_t lo = sp__max(x[i], b->lo[i]), hi = sp__min(end, b->hi[i]);

		if (b->stride[i] > 1 && lo <= hi) /* to the first coordinate of the box */
			lo += (b->stride[i] - (lo - b->lo[i]) % b->stride[i]) % b->stride[i];
		if (lo > hi)
			return 0;
		if (lo != x[i] || hi != end || (b->stride[i] > 1 && lo != hi))
			found = 1;
	}
	return found;
}

static int walk_part(struct walk *w, const uint64_t *x, unsigned level, struct state s)
{
	const struct sp__curve *c = w->curve;
	uint64_t cells = part_cells(c, x, level), part[SP_CUBE_DIMS_MAX];
	bool given = w->rank + cells <= w->from;
	int found = cells && !given ? overlap(w, x, level) : 0, rc = 0;

	if (found == 1) {
		for (uint32_t position = 0; !rc && position < 1u << c->grid->n; position++) {
			struct state inner = s;

			part_begin(c, x, label_of(c, &s, position), level - 1, part);
			enter(c, &inner, position);
			rc = walk_part(w, part, level - 1, inner);
		}
		return rc;
	}
	if (found)
		rc = give(w, cells);
	w->rank += cells;
	return rc;
}

int sp__curve_walk(const struct sp__curve *c, const struct sp_cube_box *box, uint64_t *from,
		   sp__cells_fn fn, void *arg)
{
	struct walk w = { .curve = c, .box = box, .fn = fn, .arg = arg, .from = *from };
	uint64_t origin[SP_CUBE_DIMS_MAX] = { 0 };
	int rc = walk_part(&w, origin, c->bits, first_state(c->grid->n));

	if (rc) {
		*from = w.first; /* the range that was not passed */
	} else if (w.cells) {
		*from = w.first + w.cells;
		rc = fn(arg, w.first, w.cells);
	}
	return rc;
}
