/* SPDX-License-Identifier: MIT */
/*
 * Carries, merges and rounds exact sums.
 */
#include <math.h>
#include "base/exactsum.h"

__extension__ typedef unsigned __int128 wide;

#define LAST (SP__EXACTSUM_LIMBS - 1)
#define UNIT (-1075) /* exponent of bit 0 */

void sp__exactsum_carry(struct sp__exactsum *s)
{
	int64_t carry = 0;

	for (unsigned k = 0; k < LAST; k++) {
		const int64_t limb = s->limbs[k] + carry;

		s->limbs[k] = limb & UINT32_MAX;
		carry = limb >> 32;
	}
	s->limbs[LAST] += carry;
	s->pending = 0;
}

void sp__exactsum_add_special(struct sp__exactsum *s, double x)
{
	if (isnan(x))
		s->nan = true;
	else if (x > 0)
		s->plus_inf = true;
	else
		s->minus_inf = true;
}

void sp__exactsum_merge(struct sp__exactsum *s, const struct sp__exactsum *more)
{
	struct sp__exactsum copy = *more;

	sp__exactsum_carry(&copy);
	sp__exactsum_carry(s);
	for (unsigned k = 0; k < SP__EXACTSUM_LIMBS; k++)
		s->limbs[k] += copy.limbs[k];
	s->nan |= copy.nan;
	s->plus_inf |= copy.plus_inf;
	s->minus_inf |= copy.minus_inf;
	s->pending = 1;
}

/* Divides the magnitude of a sum after a carry.  Returns true if there is a remainder. */
static bool divide(struct sp__exactsum *s, uint64_t n)
{
	const bool small = n <= UINT32_MAX; /* then a remainder and a limb have 64 bits */
	uint64_t rest = 0;

	if (n == 1)
		return false;
	for (unsigned k = SP__EXACTSUM_LIMBS; k--;) {
		const wide part = (wide)rest << 32 | (uint64_t)s->limbs[k];

		if (!part)
			continue;
		s->limbs[k] = (int64_t)(small ? (uint64_t)part / n : (uint64_t)(part / n));
		rest = small ? (uint64_t)part % n : (uint64_t)(part % n);
	}
	return rest != 0;
}

/* The number of the highest bit of a magnitude that is 1, or 0. */
static int highest_bit(const struct sp__exactsum *s)
{
	int k = LAST;

	while (k && !s->limbs[k])
		k--;
	return s->limbs[k] ? 32 * k + 63 - __builtin_clzll((uint64_t)s->limbs[k]) : 0;
}

/* True if a magnitude has a 1 below bit end. */
static bool bits_below(const struct sp__exactsum *s, int end)
{
	for (int k = 0; k < end / 32; k++)
		if (s->limbs[k])
			return true;
	return s->limbs[end / 32] & ((INT64_C(1) << end % 32) - 1);
}

/* Rounds a magnitude; more: it is larger than the limbs say. */
static double round_limbs(const struct sp__exactsum *s, bool more)
{
	const int high = highest_bit(s);
	const int low = high - 52 > 1 ? high - 52 : 1; /* bit 1 is the smallest f64 */
	wide bits = 0; /* of the three limbs, or fewer, from low to high */
	uint64_t m;

	for (int k = high / 32; k >= low / 32; k--)
		bits = bits << 32 | (uint64_t)s->limbs[k];
	m = (uint64_t)(bits >> low % 32);
	if (s->limbs[(low - 1) / 32] >> (low - 1) % 32 & 1 &&
	    (more || m & 1 || bits_below(s, low - 1)))
		m++;
	return ldexp((double)m, low + UNIT);
}

double sp__exactsum_divide(const struct sp__exactsum *s, uint64_t n)
{
	struct sp__exactsum copy = *s;
	bool minus, more;
	double x;

	if (s->nan || (s->plus_inf && s->minus_inf))
		return (double)NAN;
	if (s->plus_inf || s->minus_inf)
		return s->plus_inf ? (double)INFINITY : -(double)INFINITY;
	sp__exactsum_carry(&copy);
	minus = copy.limbs[LAST] < 0;
	for (unsigned k = 0; minus && k < SP__EXACTSUM_LIMBS; k++)
		copy.limbs[k] = -copy.limbs[k];
	sp__exactsum_carry(&copy);
	more = divide(&copy, n);
	x = round_limbs(&copy, more);
	return minus && x != 0 ? -x : x;
}
