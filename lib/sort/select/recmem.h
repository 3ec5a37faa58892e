/* SPDX-License-Identifier: MIT */
/*
 * Declares the memory for spans of records: contiguous blocks of any size.
 *
 *	| tag block | tag free | tag block | ... | end tag |
 *
 * A tag of eight bytes has the size of its block and of the preceding one, so that a released block
 * is immediately merged with free neighbours.  Free blocks are in lists by size, four for each
 * power of two, with a bitmap of the lists that are not empty.
 *
 * The caller names the minimum and the maximum size, fills the block that it gets, and releases the
 * rest (sp__recmem_trim()).  Spans of small records can have any size, so no hole stays too small
 * for long, and fragmentation costs tags and rounding: 16 bytes per span.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SP__RECMEM_UNIT 16u
#define SP__RECMEM_BINS 128
#define SP__RECMEM_MAX ((UINT64_C(1) << 35) - SP__RECMEM_UNIT)

struct sp__recmem {
	char *base;
	size_t units;		       /* without the end tag */
	size_t free_bytes;	       /* with the tags of free blocks */
	uint32_t bin[SP__RECMEM_BINS]; /* first free block, in units + 1; 0: none */
	uint64_t map[SP__RECMEM_BINS / 64];
};

/* mem is aligned to 16 bytes; memory beyond SP__RECMEM_MAX is not used. */
void sp__recmem_init(struct sp__recmem *rm, void *mem, size_t bytes);

/*
 * Allocates a block of min to about max bytes, max >= min: of max if there is one, otherwise the
 * largest that is found quickly.  *got: its size.  Returns NULL if no block has min bytes.
 */
void *sp__recmem_take(struct sp__recmem *rm, size_t min, size_t max, size_t *got);
/* Keeps the first bytes of a block and releases the rest. */
void sp__recmem_trim(struct sp__recmem *rm, void *p, size_t bytes);
void sp__recmem_release(struct sp__recmem *rm, void *p);

/* Returns the number of a block, never 0. */
static inline uint32_t sp__recmem_name(const struct sp__recmem *rm, const void *p)
{
	return (uint32_t)((size_t)((const char *)p - rm->base) / SP__RECMEM_UNIT + 1);
}

static inline void *sp__recmem_block(const struct sp__recmem *rm, uint32_t name)
{
	return rm->base + (size_t)(name - 1) * SP__RECMEM_UNIT + 8;
}
