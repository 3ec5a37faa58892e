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

static bool bit(const struct sp__exactsum *s, int i)
{
	return s->limbs[i / 32] >> i % 32 & 1;
}

/* Divides the magnitude of a sum after a carry.  Returns true if there is a remainder. */
static bool divide(struct sp__exactsum *s, uint64_t n)
{
	wide rest = 0;

	for (unsigned k = SP__EXACTSUM_LIMBS; k--;) {
		rest = rest << 32 | (uint64_t)s->limbs[k];
		s->limbs[k] = (int64_t)(rest / n);
		rest %= n;
	}
	return rest != 0;
}

/* Rounds a magnitude; more: it is larger than the limbs say. */
static double round_limbs(const struct sp__exactsum *s, bool more)
{
	int high = 32 * SP__EXACTSUM_LIMBS - 1, low;
	uint64_t m = 0;

	while (high && !bit(s, high))
		high--;
	low = high - 52 > 1 ? high - 52 : 1; /* bit 1 is the smallest f64 */
	for (int i = high; i >= low; i--)
		m = m << 1 | bit(s, i);
	for (int i = 0; i < low - 1 && !more; i++)
		more = bit(s, i);
	if (bit(s, low - 1) && (more || m & 1))
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
