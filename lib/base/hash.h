/* SPDX-License-Identifier: MIT */
/*
 * The checksum of spilled pages: XXH3, 64 bits.
 */
#ifndef SP__BASE_HASH_H
#define SP__BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

static inline uint64_t sp__checksum(const void *data, size_t bytes)
{
	return XXH3_64bits(data, bytes);
}

#endif
