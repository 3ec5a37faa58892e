/* SPDX-License-Identifier: MIT */
/*
 * Hashes keys for tables in memory.  Hashes that files contain are those of base/hash.h.
 *
 * Data can be made so that their keys have equal hashes, if the hash function is known.  So a table
 * uses random numbers that the process draws once.  If a search nevertheless passes too many slots,
 * the table is made again with sp__key_hash_strong(), or its records are sorted.
 *
 * No result depends on the random numbers.  An order of records that follows from hashes, as that
 * of partitions, follows from a known seed.
 *
 * Thread rule: any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Slots that a search passes at most.  With linear probing, a search among random hashes passes 256
 * slots of a table that is half full with a probability of e^-49, and 1024 slots of a table that is
 * two thirds full with e^-73.
 */
#define SP__PROBES_MAX 256u

/* Random numbers of the process. */
struct sp__key_secret {
	_Alignas(64) unsigned char secret[192]; /* secret of XXH3 */
	uint64_t seed, strong[2];
};

/* Returns the random numbers of the process, which stay the same. */
const struct sp__key_secret *sp__key_secret(void);

/* Hashes a key by XXH3; independent for different seeds. */
uint64_t sp__key_hash(const char *key, size_t bytes, uint64_t seed);

/* Hashes a key by XXH3 with random numbers. */
uint64_t sp__key_hash_secret(const char *key, size_t bytes, const struct sp__key_secret *secret);

/*
 * Hashes a key by SipHash-1-3 with random numbers of the process.  This is several times slower,
 * but without these numbers keys with equal hashes cannot be found.
 */
uint64_t sp__key_hash_strong(const char *key, size_t bytes);

/*
 * A Bloom filter that accesses one cache line per key: four bits of one 64-bit word, all from one
 * hash.  At 10 bits per key about 3 % of absent keys pass.
 */
struct sp__bloom {
	uint64_t *words; /* NULL: every key passes */
	uint64_t nwords;
};

static inline uint64_t sp__bloom_bits(uint64_t hash)
{
	return UINT64_C(1) << (hash >> 12 & 63) | UINT64_C(1) << (hash >> 18 & 63) |
	       UINT64_C(1) << (hash >> 24 & 63) | UINT64_C(1) << (hash >> 30 & 63);
}

static inline uint64_t *sp__bloom_word(const struct sp__bloom *b, uint64_t hash)
{
	return &b->words[(uint64_t)(((unsigned __int128)hash * b->nwords) >> 64)];
}

static inline void sp__bloom_add(struct sp__bloom *b, uint64_t hash)
{
	if (b->words)
		*sp__bloom_word(b, hash) |= sp__bloom_bits(hash);
}

/* False: the key is absent. */
static inline bool sp__bloom_has(const struct sp__bloom *b, uint64_t hash)
{
	uint64_t bits = sp__bloom_bits(hash);

	return !b->words || (*sp__bloom_word(b, hash) & bits) == bits;
}
