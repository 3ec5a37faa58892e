/* SPDX-License-Identifier: MIT */
/*
 * The properties that a merge relies on, over random triples of keys.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "sort/records/ovc.h"
#include "tap.h"

struct key {
	unsigned char data[40];
	size_t bytes;
};

static void make(struct key *k, struct sp__rng *rng)
{
	k->bytes = sp__rng_below(rng, 22);
	for (size_t i = 0; i < k->bytes; i++)
		k->data[i] = (unsigned char)"\0\0\0aab\xff"[sp__rng_below(rng, 7)];
}

static int order(const struct key *a, const struct key *b)
{
	size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
	int c = memcmp(a->data, b->data, n);

	return c ? c : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_order(const void *a, const void *b)
{
	return order(a, b);
}

static int by_descent(const void *a, const void *b)
{
	return order(b, a);
}

/* Codes a key relative to the previous one, as a merge does. */
static uint64_t code(const struct key *base, const struct key *k, bool down)
{
	size_t at = sp__mismatch(base->data, base->bytes, k->data, k->bytes, 0);

	if (!sp__order_at(base->data, base->bytes, k->data, k->bytes, at))
		return 0;
	return sp__ovc_make(k->data, k->bytes, at / SP__OVC_UNIT_BYTES, down);
}

static bool triple(struct key k[3], bool down)
{
	uint64_t b, c;
	size_t from;

	qsort(k, 3, sizeof(k[0]), down ? by_descent : by_order);
	b = code(&k[0], &k[1], down);
	c = code(&k[0], &k[2], down);
	if ((b == 0) != (order(&k[0], &k[1]) == 0))
		return false;
	if (b > c)
		return false;
	if (b < c)
		return code(&k[1], &k[2], down) == c;
	from = b ? sp__ovc_offset(b) : k[1].bytes;
	return k[1].bytes >= from && k[2].bytes >= from && !memcmp(k[1].data, k[2].data, from);
}

static void properties(bool down)
{
	struct sp__rng rng = { 5 };
	struct key k[3];
	unsigned bad = 0;

	for (int i = 0; i < 300000; i++) {
		for (int j = 0; j < 3; j++)
			make(&k[j], &rng);
		if (sp__rng_below(&rng, 4) == 0)
			k[1] = k[2];
		bad += !triple(k, down);
	}
	ok(bad == 0,
	   "%s: codes order as keys do, the larger holds after the smaller key, equal ones agree "
	   "up to their offset",
	   down ? "descending" : "ascending");
}

static void far_units(void)
{
	size_t n = (SP__OVC_UNIT_MAX + 10) * SP__OVC_UNIT_BYTES;
	unsigned char *a = calloc(1, n), *b = calloc(1, n);
	uint64_t x, y;

	if (!a || !b)
		abort();
	a[n - 1] = 1;
	b[n - 1] = 2;
	x = sp__ovc_make(a, n, (n - 1) / SP__OVC_UNIT_BYTES, false);
	y = sp__ovc_make(b, n, (n - 1) / SP__OVC_UNIT_BYTES, false);
	ok(x == y && x > 0 && sp__ovc_offset(x) < n,
	   "very far differences share a code and are tied");
	b[0] = 1;
	ok(sp__ovc_make(b, n, 0, false) > x, "and are before any that differ earlier");
	free(a);
	free(b);
}

static void mismatches(void)
{
	struct sp__rng rng = { 6 };
	struct key a, b;
	bool good = true;

	for (int i = 0; i < 100000; i++) {
		size_t want = 0, n;

		make(&a, &rng);
		make(&b, &rng);
		n = a.bytes < b.bytes ? a.bytes : b.bytes;
		while (want < n && a.data[want] == b.data[want])
			want++;
		good &= sp__mismatch(a.data, a.bytes, b.data, b.bytes, 0) == want;
		good &= sp__order_at(a.data, a.bytes, b.data, b.bytes, want) ==
			(order(&a, &b) > 0) - (order(&a, &b) < 0);
	}
	ok(good, "the first difference is found, eight bytes at a time or one");
}

int main(void)
{
	properties(false);
	properties(true);
	far_units();
	mismatches();
	ok(sp__ovc_make((const unsigned char *)"\xff\xff\xff\xff\xff\xff", 6, 0, false) <
		   SP__OVC_ENDED,
	   "no key sorts after the end");
	return done();
}
