/* SPDX-License-Identifier: MIT */
/*
 * A record while it is being sorted: the first eight bytes of its key as a number, and
 * a reference to its place.  Sixteen bytes: two fit half a cache line, and most
 * comparisons need nothing else.
 */
#ifndef SP__SORT_ENTRY_H
#define SP__SORT_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#define SP__REF_LEN_BITS 24
#define SP__REF_LEN_LONG ((UINT64_C(1) << SP__REF_LEN_BITS) - 1)
#define SP__REF_OFFSET_MAX (UINT64_C(1) << (64 - SP__REF_LEN_BITS))

struct sp__entry {
	uint64_t prefix; /* has the order of the key's first bytes */
	uint64_t ref;	 /* offset of the record << 24 | length, see below */
};

/* Records of 16 MB and more carry LEN_LONG; their end is searched for. */
static inline uint64_t sp__ref(uint64_t offset, size_t bytes)
{
	return offset << SP__REF_LEN_BITS | (bytes < SP__REF_LEN_LONG ? bytes : SP__REF_LEN_LONG);
}

static inline uint64_t sp__ref_offset(uint64_t ref)
{
	return ref >> SP__REF_LEN_BITS;
}

static inline uint64_t sp__ref_len(uint64_t ref)
{
	return ref & SP__REF_LEN_LONG;
}

#endif
