/* SPDX-License-Identifier: MIT */
/* Percentiles from counts in buckets of logarithmic width (sketch.h). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/floats.h"
#include "group/sketch.h"

#define BUCKET_SHIFT 45	       /* bits of an f64 that a bucket does not have */
#define FIRST_NORMAL (1 << 7)  /* bucket of the smallest normal f64 */
#define DIGITS_MAX 8	       /* powers of ten that are tried; 5 suffice */
#define DIGITS_PER_BIT 0.30103 /* log10(2) */
#define FEW_UNITS 100000       /* rounded to units, a number would lose digits */
#define EXACT_END 1e18	       /* exact numbers are below it */

int32_t sp__sketch_bucket(const struct sp__amount *x)
{
	const double number = sp__amount_f64(x), magnitude = fabs(number);
	uint64_t bits;
	int32_t bucket;

	memcpy(&bits, &magnitude, sizeof(bits));
	bucket = (int32_t)(bits >> BUCKET_SHIFT);
	bucket = bucket < FIRST_NORMAL ? 0 : bucket;
	return number < 0 ? -bucket : bucket;
}

static double begin_of(int32_t bucket, unsigned joins)
{
	const uint64_t bits = (uint64_t)bucket << (BUCKET_SHIFT + joins);
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static double power_of_ten(int e)
{
	char text[16];
	double x;

	return sp__read_f64(text, (size_t)sprintf(text, "1e%d", e), &x) ? INFINITY : x;
}

/* Returns digits * 10^e, rounded once; *x: the same, exact if it can be. */
static double number_of(double digits, int e, struct sp__amount *x)
{
	char text[48];

	*x = (struct sp__amount){ .places = e < 0 ? (unsigned)-e : 0 };
	if (sp__read_f64(text, (size_t)sprintf(text, "%llde%d", (long long)digits, e), &x->real))
		return INFINITY;
	x->is_real = e < -SP__DECIMAL_PLACES || x->real >= EXACT_END;
	x->places = x->is_real ? 0 : x->places;
	x->units = x->is_real ? 0 : (sp__int128)digits;
	for (int i = -SP__DECIMAL_PLACES; !x->is_real && i < e; i++)
		x->units *= 10;
	return x->real;
}

/* Returns the number with the fewest digits from begin to below end, both above 0. */
static struct sp__amount shortest(double begin, double end)
{
	const double middle = begin + (end - begin) / 2;
	struct sp__amount x;
	int bits, first;

	(void)frexp(end, &bits);
	first = (int)(DIGITS_PER_BIT * (bits - 1)) + 1;
	for (int e = first; e > first - DIGITS_MAX; e--) {
		const double power = power_of_ten(e), tried[] = { middle, begin };

		for (unsigned i = 0; i < 2; i++) {
			const double number = number_of(rint(tried[i] / power), e, &x);

			if (begin <= number && number < end)
				return x;
		}
	}
	return (struct sp__amount){ .is_real = true, .real = middle };
}

struct sp__amount sp__sketch_value(int32_t bucket, unsigned joins)
{
	const double begin = begin_of(abs(bucket), joins), end = begin_of(abs(bucket) + 1, joins);
	struct sp__amount x = { .is_real = isinf(begin), .real = begin };

	if (bucket && !x.is_real)
		x = shortest(begin, fmin(end, DBL_MAX));
	return bucket < 0 ? sp__amount_negate(x) : x;
}

/* Returns a number between two, with the fewest digits. */
static struct sp__amount between(struct sp__amount low, struct sp__amount high, uint64_t part,
				 uint32_t whole)
{
	struct sp__amount x;

	low.places = high.places = SP__DECIMAL_PLACES;
	x = sp__amount_between(&low, &high, part, whole);
	if (!x.is_real && x.units < FEW_UNITS && x.units > -FEW_UNITS) {
		low = (struct sp__amount){ .is_real = true, .real = sp__amount_f64(&low) };
		x = sp__amount_between(&low, &high, part, whole);
	}
	x.places = x.is_real ? 0 : sp__amount_places(&x);
	return x;
}

struct sp__amount sp__sketch_percentile(const struct sp__group_counts *c, const uint64_t *entries,
					uint64_t n, uint32_t part, uint32_t whole)
{
	const unsigned __int128 at = (unsigned __int128)(n - 1) * part;
	const uint64_t rank = (uint64_t)(at / whole), rest = (uint64_t)(at % whole);
	struct sp__amount low, high;
	uint64_t passed = 0;
	uint32_t i = 0;

	while (i + 1 < c->used && passed + sp__entry_times(entries[i]) <= rank)
		passed += sp__entry_times(entries[i++]);
	low = sp__sketch_value(sp__entry_bucket(entries[i]), c->joins);
	if (!rest)
		return low;
	if (i + 1 < c->used && passed + sp__entry_times(entries[i]) == rank + 1)
		i++;
	high = sp__sketch_value(sp__entry_bucket(entries[i]), c->joins);
	return between(low, high, rest, whole);
}
