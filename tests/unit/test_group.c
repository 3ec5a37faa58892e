/* SPDX-License-Identifier: MIT */
/*
 * Parts of groups that no small input reaches: codes of numbers against their values, moments of
 * large numbers, sums beyond 128 bits, keys with equal hashes, and damaged partial groups.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "base/keyhash.h"
#include "group/table.h"
#include "tap.h"

#define PAIRS 200000
#define EQUAL 300 /* keys with one hash */

static const char *const texts[] = {
	"0",
	"-0",
	"1",
	"1.0",
	"-1",
	"0.000000001",
	"-0.000000001",
	"1e-10",
	"-1e-10",
	"1e-300",
	"1e300",
	"-1e300",
	"1e17",
	"123456789012345678",
	"1e20",
	"-1e20",
	"999999999",
	"0.999999999",
	"1000000000",
	"1.5",
	"1.500000001",
	"1.5000000005",
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

static struct sp__amount random_amount(struct sp__rng *rng)
{
	const char *text = texts[sp__rng_next(rng) % TEXTS];
	struct sp__amount x;
	char made[64];

	if (sp__rng_next(rng) % 2)
		text = (snprintf(made, sizeof(made), "%.*f", (int)(sp__rng_next(rng) % 10),
				 ldexp((double)(int64_t)sp__rng_next(rng),
				       -(int)(sp__rng_next(rng) % 64) - 4)),
			made);
	if (!sp__amount_parse(text, strlen(text), &x))
		abort();
	return x;
}

/* Compares the values, of which at most one is not a multiple of 10^-9. */
static int order(const struct sp__amount *a, const struct sp__amount *b)
{
	const long double x = a->is_real ? (long double)a->real : (long double)a->units / SP__UNITS;
	const long double y = b->is_real ? (long double)b->real : (long double)b->units / SP__UNITS;

	if (!a->is_real && !b->is_real)
		return (a->units > b->units) - (a->units < b->units);
	return (x > y) - (x < y);
}

/* Sums of these have more digits than a long double. */
static bool is_close(const struct sp__amount *a, const struct sp__amount *b)
{
	const double x = sp__amount_f64(a), y = sp__amount_f64(b);

	return a->is_real != b->is_real && fabs(x - y) <= fabs(x) * 0x1p-50;
}

static void test_codes(void)
{
	struct sp__rng rng = { 1 };
	unsigned wrong = 0, different = 0;

	for (int i = 0; i < PAIRS; i++) {
		const struct sp__amount a = random_amount(&rng), b = random_amount(&rng);
		unsigned char code[2][SP__AMOUNT_CODE];
		const size_t n = sp__amount_encode(&a, code[0]), m = sp__amount_encode(&b, code[1]);
		const int want = order(&a, &b), got = sp__order_bytes(code[0], n, code[1], m);
		struct sp__amount back;

		if (!is_close(&a, &b))
			wrong += (got > 0) - (got < 0) != want;
		if (!sp__amount_decode(code[0], n, &back) || order(&a, &back))
			different++;
	}
	ok(!wrong, "codes have the order of the numbers");
	ok(!different, "codes give the numbers back");
}

/* Deviations of 10^8 + 1, + 2, ... + n, whose squares f64 rounds. */
static void test_moments(void)
{
	const uint64_t n = 1000;
	struct sp__group_moments m = { .pairs = true };
	struct sp__exactsum reals[SP__REALS] = { 0 };
	struct sp__deviations d;
	const double want = (double)(n * n * n - n) / 12;

	for (uint64_t i = 1; i <= n; i++) {
		const sp__int128 x = (100000000 + (sp__int128)i) * SP__UNITS;

		m.n++;
		m.x += x;
		m.y -= x;
		sp__wide_add_product(&m.xx, x, x);
		sp__wide_add_product(&m.yy, x, x);
		sp__wide_add_product(&m.xy, x, -x);
		sp__reals_add_pair(reals, 1e8 + (double)i, -1e8 - (double)i);
	}
	d = sp__moments_deviations(&m, NULL);
	ok(d.xx == want && d.yy == want && d.xy == -want, "deviations of exact numbers");
	/* The same numbers once more, as f64: as if each occurred twice. */
	m.n = 2 * n;
	d = sp__moments_deviations(&m, reals);
	ok(d.xx == 2 * want && d.yy == 2 * want && d.xy == -2 * want,
	   "deviations of exact numbers and of others together");
}

static void parse(struct sp__group_spec *s, const char *aggregates)
{
	const char *keys[] = { "1" };
	const struct sp__group_words words = { .keys = keys, .nkeys = 1, .aggregates = aggregates };
	const struct sp__column_names none = { 0 };

	if (sp__group_spec_parse(s, &words, &none, NULL))
		abort();
}

/* A sum that is nearly as large as 128 bits can be goes on exactly. */
static void test_large_sums(void)
{
	struct sp__group_spec s;
	struct sp__group_table t;
	struct sp__group_value v = { .text = { "", 0 } };
	struct sp__group_sum *sum;
	uint32_t at;
	double total;

	parse(&s, "sum(2)");
	if (sp__group_table_open(&t, &s, SP__GROUP_TABLE_MIN) ||
	    !sp__group_table_fits(&t, 1, s.state_bytes + sp__group_reals_bytes(&s) + 64))
		abort();
	at = sp__group_table_find(&t, "k\1", 2, 0);
	sum = sp__group_part(&t.arena, at, s.arguments[0].sum);
	sum->units = ((sp__int128)1 << 126) / SP__UNITS * SP__UNITS;
	v.number.units = 7 * (sp__int128)SP__UNITS + 5;
	sp__group_add(&s, &t.arena, at, &v, &v, 0);
	total = sum->reals ? sp__exactsum_divide(sp__arena_at(&t.arena, sum->reals), 1) : 0;
	ok(sum->units == 5 && total == (double)(((sp__int128)1 << 126) / SP__UNITS + 7),
	   "a sum that is too large for 128 bits");
	sp__group_table_close(&t);
	sp__group_spec_free(&s);
}

/* Puts groups with the hash of a key into the slots where it is searched. */
static void test_equal_hashes(void)
{
	const char *wanted = "wanted";
	struct sp__group_spec s;
	struct sp__group_table t;
	uint64_t hash;
	unsigned lost = 0;
	uint32_t at;
	char key[16];

	parse(&s, "count()");
	if (sp__group_table_open(&t, &s, (size_t)1 << 20) ||
	    !sp__group_table_fits(&t, 450, (size_t)64 << 10))
		abort();
	hash = sp__hashtable_hash(&t.table, wanted, strlen(wanted));
	for (unsigned i = 0; i < EQUAL; i++) {
		const size_t n = (size_t)snprintf(key, sizeof(key), "%u", i);

		at = sp__group_new(&s, &t.arena, key, n, 0);
		((struct sp__grouped *)sp__arena_at(&t.arena, at))->before = t.last;
		t.last = at;
		sp__hashtable_put(&t.table, hash, at);
		t.groups++;
	}
	at = sp__group_table_find(&t, wanted, strlen(wanted), 0);
	ok(t.table.strong && t.groups == EQUAL + 1, "a long search hashes all keys again");
	ok(at == sp__group_table_find(&t, wanted, strlen(wanted), 0), "the key is found again");
	for (unsigned i = 0; i < EQUAL; i++) {
		const size_t n = (size_t)snprintf(key, sizeof(key), "%u", i);

		(void)sp__group_table_find(&t, key, n, 0);
		lost += t.groups != EQUAL + 1;
	}
	ok(!lost, "and so are all others");
	sp__group_table_close(&t);
	sp__group_spec_free(&s);
}

/* A partial group that is cut, or has another byte, is refused or combined, and nothing else. */
static void test_damage(void)
{
	struct sp__group_spec s;
	struct sp__group_arena a;
	struct sp__group_value v[8] = { 0 };
	static char written[1 << 16], damaged[1 << 16];
	unsigned accepted = 0, others = 0;
	int rc;
	uint32_t at;
	size_t n;

	parse(&s, "sum(2), min(2), last(2), var(2), corr(2, 3), median(4)");
	if (sp__arena_open(&a, (size_t)1 << 20))
		abort();
	for (uint32_t i = 0; i < s.narguments; i++) {
		v[i].text = (struct sp__slice){ "1e-20", 5 };
		if (!sp__amount_parse("1e-20", 5, &v[i].number))
			abort();
	}
	at = sp__group_new(&s, &a, "", 0, 0);
	sp__group_add(&s, &a, at, v, v, 3);
	if (sp__group_written(&s, &a, at) > sizeof(written))
		abort();
	n = (size_t)(sp__group_write(&s, &a, at, written) - written);
	for (size_t i = 0; i < n; i++) {
		struct sp__codes codes = { written, written + i, false };

		accepted += !sp__group_merge(&s, &a, at, &codes);
	}
	ok(!accepted, "a partial group that is cut is refused");
	for (size_t i = 0; i < n; i++) {
		for (unsigned byte = 0; byte < 256; byte += 5) {
			struct sp__codes codes = { damaged, damaged + n, false };

			memcpy(damaged, written, n);
			damaged[i] = (char)byte;
			rc = sp__group_merge(&s, &a, at, &codes);
			others += rc && rc != SP_ECORRUPT;
		}
	}
	ok(!others, "one with other bytes is combined or refused");
	sp__arena_close(&a);
	sp__group_spec_free(&s);
}

int main(void)
{
	test_codes();
	test_moments();
	test_large_sums();
	test_equal_hashes();
	test_damage();
	return done();
}
