/* SPDX-License-Identifier: MIT */
/*
 * Memory for spans of records: blocks of any size, side by side.
 *
 *	| tag block | tag free | tag block | ... | end tag |
 *
 * A tag of eight bytes says how large its block is and how large the one
 * before, so that a block given back joins its free neighbours at once.  Free blocks
 * hang in lists by size, four to each power of two, with a bitmap over them.
 *
 * Who asks says the least that is useful and the most that is wanted, fills
 * what comes and gives the rest back (sp__recmem_trim).  Since spans of small
 * records can be of any size, no hole is too small for long, and what is lost to
 * fragmentation is tags and rounding: 16 bytes a span.
 */
#ifndef SP__SORT_RECMEM_H
#define SP__SORT_RECMEM_H

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
 * A block of at least least and about most bytes (most >= least): of most if
 * there is one, else the largest that is found quickly.  NULL: none holds least.
 * *got: its size.
 */
void *sp__recmem_take(struct sp__recmem *rm, size_t least, size_t most, size_t *got);
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

#endif
