/* SPDX-License-Identifier: MIT */
/*
 * Draws keys as numbers.
 *
 * A key is a point x of [0, 2^64) and 64 further random bits that refine it.  The generators
 * convert both to text by a map that keeps the order of x.  Equal keys have equal points and equal
 * further bits.
 */
#pragma once

#include "gen/gen.h"

#define SP__ZIPF_STEPS 1024

struct sp__zipf {
	uint64_t distinct;
	unsigned int octaves;
	uint64_t upto[64];		     /* cumulative envelope masses */
	uint32_t accept[SP__ZIPF_STEPS + 2]; /* m^-theta over m in [1, 2], in 2^-31 */
};

struct sp__keys {
	enum sp_gen_order order;
	uint64_t seed;
	uint64_t total; /* positions 0 .. total-1 of a sorted sequence */
	uint64_t step;	/* points between two positions */
	uint64_t distinct;
	uint64_t displaced; /* NEARLY: share, in 2^-32 */
	struct sp__zipf zipf;
};

struct sp__key {
	uint64_t x, more;
};

/* Unordered kinds of keys ignore total. */
void sp__keys_init(struct sp__keys *k, const struct sp_gen_opts *opts, uint64_t seed,
		   uint64_t total);

/* Prepares the drawing of a rank in [1, distinct]. */
void sp__zipf_init(struct sp__zipf *z, double theta, uint64_t distinct);
uint64_t sp__zipf_rank(const struct sp__zipf *z, struct sp__rng *r);

/* Returns the key of record number row, at a position of the sorted sequence. */
struct sp__key sp__key_ordered(const struct sp__keys *k, uint64_t row, uint64_t at);
uint64_t sp__key_rank(const struct sp__keys *k, uint64_t row);

static inline struct sp__key sp__key_named(uint64_t seed, uint64_t name)
{
	uint64_t s = seed + 2 * (name + 1) * SP__GOLDEN;

	return (struct sp__key){ sp__mix64(s), sp__mix64(s + SP__GOLDEN) };
}

static inline struct sp__key sp__key_at(const struct sp__keys *k, uint64_t row, uint64_t at)
{
	if (k->order == SP_GEN_UNIFORM)
		return sp__key_named(k->seed, row);
	if (k->order >= SP_GEN_SORTED)
		return sp__key_ordered(k, row, at);
	return sp__key_named(k->seed, sp__key_rank(k, row));
}
