/* SPDX-License-Identifier: MIT */
/*
 * Memory for spans of records: blocks of any size, side by side.
 *
 *	| tag block | tag free | tag block | ... | end tag |
 *
 * A tag of eight bytes has the size of its block and of the one before, so that a
 * block given back joins its free neighbours at once.  Free blocks are in lists by
 * size, four for each power of two, with a bitmap over them.
 *
 * A caller names the least useful and the largest wanted size, fills the block it
 * gets, and gives the rest back (sp__recmem_trim).  Since spans of small records can
 * have any size, no hole stays too small for long, and the loss by fragmentation is
 * tags and rounding: 16 bytes per span.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SP__RECMEM_UNIT 16u
#define SP__RECMEM_BINS 128
#define SP__RECMEM_MAX ((UINT64_C(1) << 35) - SP__RECMEM_UNIT)

struct sp__recmem {
	char *base;
	size_t units;		       /* end tag not counted */
	size_t free_bytes;	       /* tags of free blocks included */
	uint32_t bin[SP__RECMEM_BINS]; /* first free block, in units + 1; 0: none */
	uint64_t map[SP__RECMEM_BINS / 64];
};

/* mem: aligned to 16; beyond SP__RECMEM_MAX it is not used. */
void sp__recmem_init(struct sp__recmem *rm, void *mem, size_t bytes);

/*
 * Allocates a block of least to about most bytes (most >= least): of most if there is
 * one, otherwise the largest that is found quickly.  NULL: none has least.  *got: its
 * size.
 */
void *sp__recmem_take(struct sp__recmem *rm, size_t min, size_t max, size_t *got);
/* Keeps the first bytes of a block. */
void sp__recmem_trim(struct sp__recmem *rm, void *p, size_t bytes);
void sp__recmem_give(struct sp__recmem *rm, void *p);

/* Blocks as small numbers that are never 0. */
static inline uint32_t sp__recmem_name(const struct sp__recmem *rm, const void *p)
{
	return (uint32_t)((size_t)((const char *)p - rm->base) / SP__RECMEM_UNIT + 1);
}

static inline void *sp__recmem_block(const struct sp__recmem *rm, uint32_t name)
{
	return rm->base + (size_t)(name - 1) * SP__RECMEM_UNIT + 8;
}
