/* SPDX-License-Identifier: MIT */
/*
 * Records of the build side in memory: lists, giants, slots and chains.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "join/hash/table.h"
#include "tap.h"

#define PAGE 4096

static struct sp__budget budget;
static bool in_order = true; /* chains: records get longer */

static int add(struct sp__table *t, struct sp__reclist *l, const char *key, size_t pad)
{
	size_t n = strlen(key);
	char *line = malloc(n + pad + 2);
	struct sp__slice k = { line, n };
	int rc;

	memcpy(line, key, n);
	memset(line + n, ' ', pad);
	line[n + pad] = '\n';
	rc = sp__table_add(t, l, line, n + pad, &k, false);
	free(line);
	return rc;
}

static size_t chain(const struct sp__table *t, const char *key, uint64_t seed)
{
	struct sp__slice k = { key, strlen(key) };
	struct sp__rec *last = sp__table_find(t, sp__key_hash(k.p, k.n, seed), &k), *r;
	uint32_t before = 0;
	size_t n = 0;

	for (r = last ? sp__chain_first(t, last) : NULL; r; r = sp__chain_next(t, r, last), n++) {
		in_order &= r->bytes >= before;
		before = r->bytes;
	}
	return n;
}

static void test_find(void)
{
	struct sp__reclist a, b, *lists[] = { &a, &b };
	struct sp__table t;
	char key[32];
	bool all = true, none = true;

	ok(sp__table_init(&t, 1 << 20, PAGE, 1, &budget) == 0, "a table can be made");
	sp__reclist_init(&a);
	sp__reclist_init(&b);
	for (int i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "key %d", i % 1000);
		all &= add(&t, i % 1000 & 1 ? &a : &b, key, (size_t)i / 100) == 0;
	}
	all &= add(&t, &a, "", 0) == 0 && add(&t, &b, "giant", 3 * PAGE) == 0;
	ok(all, "records with their fields, one without, one larger than a page");
	ok(sp__table_make(&t, lists, 2, 5) == 0, "slots are made");
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key %d", i);
		all &= chain(&t, key, 5) == 3;
		snprintf(key, sizeof(key), "kez %d", i);
		none &= chain(&t, key, 5) == 0;
	}
	ok(all && none, "each key finds its three records, others none");
	ok(in_order, "in the order in which they came");
	ok(chain(&t, "", 5) == 1 && chain(&t, "giant", 5) == 1, "so do the empty and the giant");
	sp__table_release(&t);
	ok(atomic_load(&budget.used_bytes) == 0, "the giant's memory is given back");
}

static void test_room(void)
{
	struct sp__reclist a, b;
	struct sp__recwalk w = { 0 };
	struct sp__table t;
	size_t taken = 0, again = 0, walked = 0;

	if (sp__table_init(&t, 64 * PAGE, PAGE, 1, &budget))
		return;
	sp__reclist_init(&a);
	sp__reclist_init(&b);
	while (add(&t, taken & 1 ? &a : &b, "k", 100) == 0)
		taken++;
	ok(taken * 128 <= 64 * PAGE && taken * 150 > 50 * PAGE, "pages and slots share the limit");
	while (sp__table_walk(&t, &a, &w))
		walked++;
	ok(walked == a.records, "a walk sees each record of its list");
	sp__table_drop(&t, &a);
	while (add(&t, &b, "k", 100) == 0)
		again++;
	ok(again + 40 > taken / 2 && again < taken, "dropped pages are used again");
	ok(add(&t, &b, "k", 60 * PAGE) == 1, "a giant that does not fit is refused");
	sp__table_release(&t);
}

static uint64_t resident_bytes(void *mem, uint64_t bytes)
{
	size_t pages = (size_t)(bytes + PAGE - 1) / PAGE, n = 0;
	unsigned char *in = calloc(pages, 1);

	if (in && mincore(mem, (size_t)bytes, in) != 0)
		pages = 0;
	for (size_t i = 0; in && i < pages; i++)
		n += in[i] & 1;
	free(in);
	return (uint64_t)n * PAGE;
}

/* Long records, of which few fill the pages; then short ones, whose slots take more. */
static void test_resident(void)
{
	const uint64_t limit = 4096 * PAGE, huge = 512 * PAGE;
	struct sp__reclist l, *lists[] = { &l };
	struct sp__table t;
	uint64_t before, with_slots;

	if (sp__table_init(&t, limit, PAGE, 1, &budget))
		return;
	sp__reclist_init(&l);
	while (add(&t, &l, "k", 1000) == 0)
		;
	before = resident_bytes(t.mem, t.mem_bytes);
	sp__table_empty(&t);
	sp__reclist_init(&l);
	while (add(&t, &l, "k", 1) == 0)
		;
	ok(sp__table_make(&t, lists, 1, 5) == 0, "slots of short records are made");
	with_slots = resident_bytes(t.mem, t.mem_bytes) + t.slots_bytes;
	ok(before > limit / 4 * 3 && with_slots <= limit + huge,
	   "pages that were full of long ones make room for them (%llu, %llu)",
	   (unsigned long long)before, (unsigned long long)with_slots);
	sp__table_release(&t);
}

/* Partitions given up leave nothing that grows with what has come. */
static void test_giants_gone(void)
{
	struct sp__reclist l;
	struct sp__recwalk w = { 0 };
	struct sp__table t;
	size_t max = 0, walked = 0;

	if (sp__table_init(&t, 64 * PAGE, PAGE, 1, &budget))
		return;
	sp__reclist_init(&l);
	for (int i = 0; i < 1000; i++) {
		if (add(&t, &l, "giant", 2 * PAGE) == 1)
			sp__table_drop(&t, &l);
		max = t.ngiants > max ? t.ngiants : max;
	}
	ok(max < 64, "giants that went make room for others (%zu)", max);
	while (sp__table_walk(&t, &l, &w))
		walked++;
	ok(walked == l.records && walked > 0, "a walk sees those that are there (%zu)", walked);
	sp__table_release(&t);
	ok(atomic_load(&budget.used_bytes) == 0, "all memory of giants is given back");
}

/* More keys whose hashes are in one band than it has slots. */
static void test_full_band(void)
{
	const unsigned keys = 1 << 16, chosen = 7000;
	struct sp__reclist l, *lists[] = { &l };
	unsigned found = 0, taken = 0, number = 0;
	struct sp__table t;
	char key[32];

	if (sp__table_init(&t, 64 << 20, PAGE, 1, &budget))
		return;
	sp__reclist_init(&l);
	for (; taken < keys; number++) {
		snprintf(key, sizeof(key), "key %u", number);
		if (taken < chosen && sp__key_hash(key, strlen(key), 5) >> 60)
			continue;
		taken += add(&t, &l, key, 0) == 0;
	}
	ok(sp__table_make(&t, lists, 1, 5) == 0 && t.made.records == keys, "slots are made");
	for (unsigned i = 0; i < number; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		found += (unsigned)chain(&t, key, 5);
	}
	ok(found == keys, "each key is found if a band has too many (%u)", found);
	sp__table_release(&t);
}

/* The searches that reach the end of a band go on at its beginning. */
static void test_bands(void)
{
	const unsigned keys = 70000;
	struct sp__reclist l, *lists[] = { &l };
	struct sp__table t;
	unsigned wrapped = 0, found = 0, others = 0;
	char key[32];

	sp__table_init(&t, 16 << 20, PAGE, 1, &budget);
	sp__reclist_init(&l);
	for (unsigned i = 0; i < keys; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		add(&t, &l, key, 0);
	}
	ok(sp__table_make(&t, lists, 1, 5) == 0 && t.nbands == SP__TABLE_BANDS &&
		   sp__table_keys(&t) == keys,
	   "slots in bands are made");
	for (uint64_t b = 1; b <= t.nbands; b++)
		wrapped += t.slots[b * t.band_slots - 1] && t.slots[(b - 1) * t.band_slots];
	for (unsigned i = 0; i < keys; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		found += chain(&t, key, 5) == 1;
		snprintf(key, sizeof(key), "kez %u", i);
		others += chain(&t, key, 5) != 0;
	}
	ok(wrapped && found == keys && !others, "each key is found, %u bands are full at the end",
	   wrapped);
	sp__table_release(&t);
}

int main(void)
{
	sp__budget_init(&budget, UINT64_MAX);
	test_find();
	test_bands();
	test_room();
	test_resident();
	test_giants_gone();
	test_full_band();
	return done();
}
