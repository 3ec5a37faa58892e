/* SPDX-License-Identifier: MIT */
/*
 * Records sorted by partition on their way out: nothing is lost or exchanged, and as
 * much goes out in a row as formula (2) of Wang and Cherniack says.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "join/plan/plan.h"
#include "join/hash/sweep.h"
#include "tap.h"

#define PARTS 12
#define PAGE 4096

struct sink {
	char *text[PARTS];
	size_t bytes[PARTS], all;
	uint64_t records, groups;
	unsigned last;
	unsigned fail_at; /* calls until it fails; 0: never */
};

static int take(void *ctx, unsigned partition, const char *data, size_t bytes, unsigned records)
{
	struct sink *k = ctx;

	if (k->fail_at && !--k->fail_at)
		return -5;
	k->groups += partition != k->last;
	k->last = partition;
	k->records += records;
	memcpy(k->text[partition] + k->bytes[partition], data, bytes);
	k->bytes[partition] += bytes;
	k->all += bytes;
	return 0;
}

static void reset(struct sink *k, size_t bytes)
{
	for (int i = 0; i < PARTS; i++) {
		free(k->text[i]);
		k->text[i] = bytes ? malloc(bytes) : NULL;
		k->bytes[i] = 0;
	}
	k->all = k->records = k->groups = 0;
	k->last = PARTS;
	k->fail_at = 0;
}

/* Puts records of up to length bytes; how many, or an error. */
static int feed(struct sp__sweep *s, struct sink *want, size_t all, size_t length, uint64_t seed)
{
	static char rec[5000];
	struct sp__rng rng = { seed };
	int n = 0, rc;

	while (want->all < all) {
		size_t bytes = 1 + sp__rng_below(&rng, length);
		unsigned partition = (unsigned)sp__rng_below(&rng, PARTS);

		memset(rec, 'a' + n % 26, bytes);
		rc = sp__sweep_put(s, partition, rec, bytes);
		if (rc < 0)
			return rc;
		(void)take(want, partition, rec, bytes, 1);
		n++;
	}
	return n;
}

static bool same(const struct sink *a, const struct sink *b)
{
	for (int i = 0; i < PARTS; i++)
		if (a->bytes[i] != b->bytes[i] || memcmp(a->text[i], b->text[i], a->bytes[i]) != 0)
			return false;
	return true;
}

static void test_all_there(struct sink *want, struct sink *got)
{
	static const size_t memory[] = { PARTS * 512, 40 * 512, 1 << 20, 8 << 20 };
	static const size_t length[] = { 1, 60, 504, 5000 };
	bool all = true, counted = true;

	for (int m = 0; m < 4; m++) {
		for (int l = 0; l < 4; l++) {
			char *mem = malloc(memory[m]);
			struct sp__sweep s;
			int n;

			reset(want, 4 << 20);
			reset(got, 4 << 20);
			if (!mem || sp__sweep_open(&s, PARTS, mem, memory[m], take, got) < 0)
				exit(1);
			n = feed(&s, want, l ? 3 << 20 : 1 << 16, length[l], 7);
			all &= n > 0 && sp__sweep_finish(&s) == 0 && same(want, got);
			counted &= got->records == (uint64_t)n;
			sp__sweep_close(&s);
			free(mem);
		}
	}
	ok(all, "each partition's bytes come out in their order, in little memory and much");
	ok(counted, "records are counted once");
}

static void test_formula2(struct sink *want, struct sink *got)
{
	const uint64_t pages = 128;
	char *mem = malloc((pages - PARTS) * PAGE);
	struct sp__sweep s;
	double g = (double)sp__join_formula2(PARTS, pages), here;

	reset(want, 16 << 20);
	reset(got, 16 << 20);
	if (!mem || sp__sweep_open(&s, PARTS, mem, (pages - PARTS) * PAGE, take, got) < 0)
		exit(1);
	if (feed(&s, want, 15 << 20, 120, 3) < 0 || sp__sweep_finish(&s) < 0)
		exit(1);
	here = (double)got->all / PAGE / (double)got->groups;
	ok(here > 0.9 * g && here < 1.1 * g,
	   "%.1f pages of a partition in a row, formula (2): %.0f", here, g);
	sp__sweep_close(&s);
	free(mem);
}

static void test_failure(struct sink *want, struct sink *got)
{
	static char mem[40 * 512];
	struct sp__sweep s;

	reset(want, 4 << 20);
	reset(got, 4 << 20);
	got->fail_at = 100;
	if (sp__sweep_open(&s, PARTS, mem, sizeof(mem), take, got) < 0)
		exit(1);
	ok(feed(&s, want, 3 << 20, 60, 9) == -5, "an error of the receiver ends it");
	sp__sweep_close(&s);
	ok(!s.queues, "a closed one is all zero");
}

int main(void)
{
	struct sink want = { 0 }, got = { 0 };

	test_all_there(&want, &got);
	test_formula2(&want, &got);
	test_failure(&want, &got);
	reset(&want, 0);
	reset(&got, 0);
	return done();
}
