/* SPDX-License-Identifier: MIT */
/*
 * Computes the checksum of spilled pages: XXH3, 64 bits.  A digest computes it of bytes that arrive
 * in chunks.
 *
 * On x86, libxxhash can have one variant per vector width and a function that selects one by
 * processor, with the same result.  Builds without this function leave the weak symbol undefined.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes) __attribute__((weak));

static inline uint64_t sp__checksum(const void *data, size_t bytes)
{
	return XXH3_64bits_dispatch ? XXH3_64bits_dispatch(data, bytes) : XXH3_64bits(data, bytes);
}

/* Returns a digest, to be freed by sp__digest_free(), or NULL: no memory. */
static inline XXH3_state_t *sp__digest_new(void)
{
	XXH3_state_t *d = XXH3_createState();

	if (d)
		XXH3_64bits_reset(d);
	return d;
}

static inline void sp__digest_free(XXH3_state_t *d)
{
	XXH3_freeState(d);
}

static inline void sp__digest_add(XXH3_state_t *d, const void *data, size_t bytes)
{
	XXH3_64bits_update(d, data, bytes);
}

/* Returns the checksum of all bytes added since creation or the last call. */
static inline uint64_t sp__digest_take(XXH3_state_t *d)
{
	uint64_t sum = XXH3_64bits_digest(d);

	XXH3_64bits_reset(d);
	return sum;
}
