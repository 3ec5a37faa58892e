/* SPDX-License-Identifier: MIT */
/*
 * Counts in buckets and percentiles from them: the error of each number, joined buckets against
 * the order of the input, counts beyond an entry, and damaged partial groups.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "group/sketch.h"
#include "tap.h"

#define NUMBERS 200000
#define SPREAD 30000
#define ARENA ((size_t)1 << 20)
#define GROUP 1 /* where the counts are */

static double random_real(struct sp__rng *rng)
{
	for (;;) {
		const uint64_t bits = sp__rng_next(rng);
		double x;

		memcpy(&x, &bits, sizeof(x));
		if (isnormal(x))
			return x;
	}
}

static struct sp__amount real(double x)
{
	return (struct sp__amount){ .is_real = true, .real = x };
}

static void test_error(void)
{
	struct sp__rng rng = { 1 };
	bool ok[SP__JOINS_MAX + 1], ordered = true, integers = true;

	for (unsigned j = 0; j <= SP__JOINS_MAX; j++) {
		ok[j] = true;
		for (unsigned i = 0; i < NUMBERS / 10; i++) {
			const struct sp__amount x = real(random_real(&rng));
			const struct sp__amount got =
				sp__sketch_value(sp__sketch_bucket(&x) / (1 << j), j);
			const double error = fabs(sp__amount_f64(&got) - x.real);

			ok[j] &= error <= fabs(x.real) * (1 << j) / 128;
		}
	}
	for (unsigned i = 0; i < NUMBERS; i++) {
		const struct sp__amount x = real(random_real(&rng)), y = real(random_real(&rng));

		ordered &= x.real < y.real ? sp__sketch_bucket(&x) <= sp__sketch_bucket(&y)
					   : sp__sketch_bucket(&x) >= sp__sketch_bucket(&y);
	}
	for (int i = -255; i < 256; i++) {
		const struct sp__amount x = sp__amount_of(i),
					got = sp__sketch_value(sp__sketch_bucket(&x), 0);

		integers &= !got.is_real && got.units == x.units && !got.places;
	}
	ok(ok[0], "a number is at most 1 / 128 from what its bucket stands for");
	for (unsigned j = 1; j <= SP__JOINS_MAX; j++)
		ok(ok[j], "after %u joins at most %u / 128", j, 1u << j);
	ok(ordered, "buckets have the order of their numbers");
	ok(integers, "integers below 256 stand for themselves");
	ok(sp__sketch_bucket(&(struct sp__amount){ .is_real = true, .real = DBL_MIN / 2 }) == 0 &&
		   sp__sketch_bucket(&(struct sp__amount){ .is_real = true, .real = -0.0 }) == 0,
	   "numbers that are not normal, and -0, are in the bucket of 0");
	ok(isinf(sp__sketch_value(sp__sketch_bucket(&(struct sp__amount){ .is_real = true,
									  .real = INFINITY }),
				  0)
			 .real),
	   "infinity stands for itself");
}

static void open_arena(struct sp__group_arena *a)
{
	if (sp__arena_open(a, ARENA) || sp__arena_take(a, sizeof(struct sp__group_counts)) != GROUP)
		abort();
	memset(sp__arena_at(a, GROUP), 0, sizeof(struct sp__group_counts));
}

static struct sp__group_counts *counts(const struct sp__group_arena *a)
{
	return sp__arena_at(a, GROUP);
}

static void add(struct sp__group_arena *a, int32_t bucket)
{
	if (!sp__arena_has(a, sp__counts_growth(counts(a))))
		abort();
	sp__counts_add(a, counts(a), bucket);
}

/* Adds a partial group to another one.  False: it is damaged. */
static bool merge(struct sp__group_arena *to, const char *p, size_t n)
{
	struct sp__codes from = { p, p + n, false };

	if (sp__counts_take(to, GROUP, 0, &from))
		abort();
	return !from.bad && from.p == from.end;
}

static size_t put(const struct sp__group_arena *a, char **text)
{
	*text = malloc(sp__counts_written(counts(a)));
	if (!*text)
		abort();
	return (size_t)(sp__counts_put(a, counts(a), *text) - *text);
}

/* Adds the numbers in an order of their own, divided into partial groups. */
static size_t divided(const int32_t *buckets, unsigned partials, unsigned seed, char **text)
{
	struct sp__group_arena all, part;
	size_t n;

	open_arena(&all);
	for (unsigned p = 0; p < partials; p++) {
		char *written;

		open_arena(&part);
		for (unsigned i = 0; i < SPREAD; i++) {
			/* 7919 is prime: each number comes once. */
			const unsigned at = (unsigned)(i * UINT64_C(7919) + seed) % SPREAD;

			if (at % partials == p)
				add(&part, buckets[at]);
		}
		n = put(&part, &written);
		if (!merge(&all, written, n))
			abort();
		free(written);
		sp__arena_close(&part);
	}
	ok(counts(&all)->used <= SP__BUCKETS_MAX && counts(&all)->room <= 8192,
	   "%u partial groups: at most 64 KiB of entries", partials);
	n = put(&all, text);
	sp__arena_close(&all);
	return n;
}

static void test_order(double decades)
{
	static int32_t buckets[SPREAD];
	struct sp__rng rng = { 7 };
	char *want, *got;
	size_t n;

	for (unsigned i = 0; i < SPREAD; i++) {
		const double e = ((double)sp__rng_below(&rng, 2000001) / 1e6 - 1) * decades / 2;
		const struct sp__amount x = real((i % 2 ? -1 : 1) * pow(10, e));

		buckets[i] = sp__sketch_bucket(&x);
	}
	n = divided(buckets, 1, 0, &want);
	for (unsigned partials = 2; partials <= 128; partials *= 4) {
		const size_t bytes = divided(buckets, partials, partials, &got);

		ok(bytes == n && !memcmp(got, want, n),
		   "%g decades, %u partial groups in another order: the same counts", decades,
		   partials);
		free(got);
	}
	free(want);
}

/* Writes an entry. */
static char *put_entry(char *to, uint64_t distance, uint64_t times)
{
	return sp__code_put(sp__code_put(to, distance + 3), times + 2);
}

static void test_large(void)
{
	const uint64_t most = (UINT64_C(1) << SP__TIMES_BITS) - 1, code = SP__BUCKET_END + 5;
	char text[64], *end = sp__code_put(sp__code_put(text, 1), 0);
	struct sp__group_arena a;
	uint64_t times = 0;
	const uint64_t *e;

	end = put_entry(end, code, most);
	open_arena(&a);
	for (unsigned i = 0; i < 10; i++)
		if (!merge(&a, text, (size_t)(end - text)))
			abort();
	add(&a, 5);
	add(&a, 6);
	ok(sp__counts_of(&a, counts(&a), 5) == 10 * most + 1,
	   "a bucket counts more than one entry can");
	e = sp__counts_sort(&a, counts(&a));
	for (uint32_t i = 0; i < counts(&a)->used; i++)
		times += sp__entry_times(e[i]);
	ok(times == 10 * most + 2, "entries of the same bucket are kept when they are sorted");
	sp__arena_close(&a);
}

static void test_damage(void)
{
	char *text, head[64], *end;
	struct sp__group_arena a;
	struct sp__rng rng = { 3 };
	bool refused = true;
	size_t n;

	open_arena(&a);
	for (int32_t i = 0; i < 100; i++)
		add(&a, i * i - 50);
	n = put(&a, &text);
	sp__arena_close(&a);
	for (size_t i = 0; i < n; i++) {
		open_arena(&a);
		refused &= !merge(&a, text, i);
		sp__arena_close(&a);
	}
	ok(refused, "counts that end too early are refused");
	for (unsigned i = 0; i < 3000; i++) {
		char *copy = memcpy(malloc(n), text, n);

		copy[sp__rng_below(&rng, n)] = (char)sp__rng_next(&rng);
		open_arena(&a);
		(void)merge(&a, copy, n);
		sp__arena_close(&a);
		free(copy);
	}
	free(text);
	open_arena(&a);
	end = sp__code_put(sp__code_put(head, 0), SP__JOINS_MAX + 1);
	ok(!merge(&a, head, (size_t)(end - head)), "too many joins are refused");
	end = put_entry(sp__code_put(sp__code_put(head, 1), 0), 2 * SP__BUCKET_END, 1);
	ok(!merge(&a, head, (size_t)(end - head)), "a bucket outside of all is refused");
	end = put_entry(sp__code_put(sp__code_put(head, 1), 0), 0, 0);
	ok(!merge(&a, head, (size_t)(end - head)), "an entry without values is refused");
	end = put_entry(sp__code_put(sp__code_put(head, 1), 0), 0, UINT64_C(1) << SP__TIMES_BITS);
	ok(!merge(&a, head, (size_t)(end - head)), "a count that has too many bits is refused");
	sp__arena_close(&a);
}

int main(void)
{
	test_error();
	test_order(10);
	test_order(100);
	test_order(600);
	test_large();
	test_damage();
	return done();
}
