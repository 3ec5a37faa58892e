/* SPDX-License-Identifier: MIT */
/*
 * Draws keys from distributions.
 *
 * Algorithm.  Sorted keys: position i of n gets a random point of the i-th of n equal intervals, so
 * a sequence needs neither memory nor history.
 *
 * Zipf: exact rejection over octaves.  Ranks 2^k .. 2^(k+1)-1 are below the envelope 2^(-k theta).
 * An octave is drawn by its mass 2^(k (1 - theta)), a rank uniformly within it, and accepted with
 * probability (r / 2^k)^-theta.  Acceptance is at least 2^-theta.  Powers are computed in fixed
 * point.
 *
 * Memory: one small table, for any number of ranks.
 *
 * Rejected: a cumulative table (memory, cache misses); rejection-inversion in floating point (libm
 * and contraction differ between machines).
 */
#include "gen/keys.h"

#define FRACTION 60 /* fraction bits of exponents */
#define ONE62 ((uint64_t)1 << 62)

static uint64_t isqrt128(unsigned __int128 v)
{
	uint64_t root = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t t = root | (uint64_t)1 << bit;

		if ((unsigned __int128)t * t <= v)
			root = t;
	}
	return root;
}

/* Returns 2^-(whole + frac / 2^60), in 2^-62. */
static uint64_t exp2_minus(uint64_t whole, uint64_t frac)
{
	uint64_t v = ONE62, root = ONE62 / 2;

	if (whole >= 62)
		return 0;
	for (int bit = FRACTION - 1; bit >= 0; bit--) {
		root = isqrt128((unsigned __int128)root << 62);
		if (frac >> bit & 1)
			v = (uint64_t)((unsigned __int128)v * root >> 62);
	}
	return v >> whole;
}

/* Returns log2 of m / 2^62 in [1, 2), in 2^-60: each squaring yields one bit. */
static uint64_t log2_of(uint64_t m)
{
	uint64_t v = 0;

	for (int bit = FRACTION - 1; bit >= 0; bit--) {
		unsigned __int128 square = (unsigned __int128)m * m >> 62;

		if (square >> 63) {
			v |= (uint64_t)1 << bit;
			square >>= 1;
		}
		m = (uint64_t)square;
	}
	return v;
}

static void octave_masses(struct sp__zipf *z, uint64_t theta32)
{
	const uint64_t one = (uint64_t)1 << 32;
	uint64_t slope = theta32 > one ? theta32 - one : one - theta32;
	uint64_t sum = 0;

	for (unsigned int k = 0; k < z->octaves; k++) {
		uint64_t e = slope * (theta32 > one ? k : z->octaves - 1 - k);

		sum += exp2_minus(e >> 32, (e & (one - 1)) << (FRACTION - 32)) >> 5;
		z->upto[k] = sum;
	}
}

void sp__zipf_init(struct sp__zipf *z, double theta, uint64_t distinct)
{
	uint64_t theta32 = (uint64_t)(theta * 4294967296.0); /* exact: a power of two */

	z->distinct = distinct;
	z->octaves = 64 - (unsigned int)__builtin_clzll(distinct);
	octave_masses(z, theta32);
	for (uint64_t i = 0; i < SP__ZIPF_STEPS; i++) {
		uint64_t log = log2_of(ONE62 + i * (ONE62 / SP__ZIPF_STEPS));
		unsigned __int128 e = (unsigned __int128)log * theta32 >> 32;

		z->accept[i] =
			(uint32_t)(exp2_minus((uint64_t)(e >> FRACTION),
					      (uint64_t)e & (((uint64_t)1 << FRACTION) - 1)) >>
				   31);
	}
	z->accept[SP__ZIPF_STEPS] =
		(uint32_t)(exp2_minus(theta32 >> 32, (theta32 & 0xFFFFFFFF) << (FRACTION - 32)) >>
			   31);
	z->accept[SP__ZIPF_STEPS + 1] = z->accept[SP__ZIPF_STEPS];
}

/* frac: position of r in its octave, in 2^-32. */
static bool accepted(const struct sp__zipf *z, uint32_t frac, uint32_t u31)
{
	const uint32_t bits = 22;
	uint32_t i = frac >> bits, rest = frac & ((1u << bits) - 1);
	uint64_t drop = z->accept[i] - z->accept[i + 1];

	return u31 < z->accept[i] - (drop * rest >> bits);
}

uint64_t sp__zipf_rank(const struct sp__zipf *z, struct sp__rng *r)
{
	for (;;) {
		uint64_t v = sp__rng_below(r, z->upto[z->octaves - 1]);
		uint64_t u = sp__rng_next(r), inside;
		unsigned int k = 0;

		while (v >= z->upto[k])
			k++;
		if (k == 0)
			return 1;
		inside = sp__rng_next(r) >> (64 - k);
		if ((((uint64_t)1 << k) | inside) > z->distinct)
			continue;
		if (accepted(z, (uint32_t)(k > 32 ? inside >> (k - 32) : inside << (32 - k)),
			     (uint32_t)(u >> 33)))
			return ((uint64_t)1 << k) | inside;
	}
}

void sp__keys_init(struct sp__keys *k, const struct sp_gen_opts *opts, uint64_t seed,
		   uint64_t total)
{
	k->order = opts->order;
	k->seed = seed;
	k->total = total ? total : 1;
	k->step = k->total > 1 ? (uint64_t)(((unsigned __int128)1 << 64) / k->total) : UINT64_MAX;
	k->distinct = opts->distinct;
	k->displaced = (uint64_t)(opts->nearly * 4294967296.0);
	if (!k->distinct)
		k->distinct = k->order == SP_GEN_ZIPF ? SP_GEN_ZIPF_DISTINCT : SP_GEN_FEW_DISTINCT;
	if (k->order == SP_GEN_ZIPF)
		sp__zipf_init(&k->zipf, opts->theta, k->distinct);
}

struct sp__key sp__key_ordered(const struct sp__keys *k, uint64_t row, uint64_t at)
{
	struct sp__key key = sp__key_named(k->seed, row);
	uint64_t base;

	if (k->order == SP_GEN_NEARLY && sp__mix64(key.more ^ k->seed) >> 32 < k->displaced)
		return key;
	if (k->order == SP_GEN_REVERSE)
		at = k->total - 1 - at;
	base = at * k->step;
	key.x = base + (uint64_t)(((unsigned __int128)key.x * k->step) >> 64);
	return key;
}

uint64_t sp__key_rank(const struct sp__keys *k, uint64_t row)
{
	struct sp__rng r = sp__gen_stream(k->seed ^ SP__GOLDEN, row);

	if (k->order == SP_GEN_ZIPF)
		return sp__zipf_rank(&k->zipf, &r);
	return sp__rng_below(&r, k->distinct);
}
