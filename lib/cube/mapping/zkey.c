/* SPDX-License-Identifier: MIT */
/*
 * Makes keys of coordinates and coordinates of keys.
 */
#include <string.h>
#include "base/minmax.h"
#include "cube/mapping/zkey.h"

static unsigned bits_of(uint64_t size)
{
	return size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;
}

int sp__zspace_init(struct sp__zspace *z, unsigned n, const uint64_t *dims)
{
	unsigned bits = 0;

	*z = (struct sp__zspace){ .n = n };
	for (unsigned i = 0; i < n; i++) {
		z->size[i] = (uint8_t)bits_of(dims[i]);
		z->bits += z->size[i];
		z->levels = sp__max(z->levels, (unsigned)z->size[i]);
	}
	if (z->bits > SP__ZKEY_BITS)
		return SP_EUNSUP;
	z->bytes = sp__max((z->bits + 7) / 8, 1u);
	for (unsigned level = 0; level < z->levels; level++) {
		for (unsigned i = n; i-- > 0;)
			if (level < z->size[i]) {
				z->dim[bits] = (uint8_t)i;
				z->shift[bits++] = (uint8_t)(z->size[i] - level - 1);
			}
		z->level_bits[level + 1] = (uint8_t)bits;
	}
	for (unsigned level = 0; level <= z->levels; level++)
		memset(z->level_of + z->level_bits[level], (int)level,
		       z->bits + 1 - z->level_bits[level]);
	return 0;
}

sp__zkey sp__zkey_of(const struct sp__zspace *z, const uint64_t *x)
{
	sp__zkey key = 0;

	for (unsigned b = 0; b < z->bits; b++)
		key = key << 1 | (x[z->dim[b]] >> z->shift[b] & 1);
	return key;
}

void sp__zkey_coordinates(const struct sp__zspace *z, sp__zkey key, uint64_t *x)
{
	memset(x, 0, z->n * sizeof(*x));
	for (unsigned b = z->bits; b-- > 0; key >>= 1)
		x[z->dim[b]] |= (uint64_t)(key & 1) << z->shift[b];
}

void sp__zkey_store(const struct sp__zspace *z, sp__zkey key, uint8_t *to)
{
	for (unsigned i = z->bytes; i-- > 0; key >>= 8)
		to[i] = (uint8_t)key;
}

sp__zkey sp__zkey_load(const struct sp__zspace *z, const uint8_t *from)
{
	sp__zkey key = 0;

	for (unsigned i = 0; i < z->bytes; i++)
		key = key << 8 | from[i];
	return key;
}

unsigned sp__zkey_common(const struct sp__zspace *z, sp__zkey a, sp__zkey b)
{
	sp__zkey other = a ^ b;
	uint64_t high = (uint64_t)(other >> 64), low = (uint64_t)other;
	unsigned differing = high  ? 128 - (unsigned)__builtin_clzll(high)
			     : low ? 64 - (unsigned)__builtin_clzll(low)
				   : 0;

	return z->level_of[z->bits - differing];
}

void sp__znode_box(const struct sp__zspace *z, sp__zkey first, unsigned level,
		   struct sp_cube_box *box)
{
	sp__zkey_coordinates(z, first, box->lo);
	sp__zkey_coordinates(z, sp__zkey_last(z, first, level), box->hi);
	for (unsigned i = 0; i < z->n; i++)
		box->stride[i] = 1;
}
