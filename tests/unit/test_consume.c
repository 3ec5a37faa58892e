/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sort/plan/readplan.h"
#include "tap.h"

#define MAX_RUNS 12
#define MAX_PAGES 9

static int keys[MAX_RUNS][MAX_PAGES];

static int by_key(void *ctx, unsigned a, uint64_t pa, unsigned b, uint64_t pb)
{
	++*(unsigned *)ctx;
	return (keys[a][pa] > keys[b][pb]) - (keys[a][pa] < keys[b][pb]);
}

static void figure_1(void)
{
	static const int last[3][3] = { { 10, 30, 50 }, { 15, 20, 40 }, { 18, 42, 60 } };
	static const int want[9] = { 1, 4, 7, 2, 5, 8, 6, 3, 9 };
	uint64_t pages[3] = { 3, 3, 3 };
	uint32_t seq[9];
	unsigned calls = 0, seen[3] = { 0 };
	bool same = true;

	for (int r = 0; r < 3; r++)
		memcpy(keys[r], last[r], sizeof(last[r]));
	ok(sp__consumption_build(3, pages, by_key, &calls, seq) == 0, "a sequence is built");
	for (int i = 0; i < 9; i++)
		same &= want[i] == (int)(3 * seq[i] + ++seen[seq[i]]);
	ok(same, "figure 1 of Zhang & Larson: 1 4 7 2 5 8 6 3 9");
}

/* Every page with the position at which it is needed: the page that it follows. */
struct need {
	bool first;
	int key;
	unsigned run;
	uint64_t page;
};

static int by_need(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	if (x->first != y->first)
		return x->first ? -1 : 1;
	if (!x->first && x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->page < y->page ? -1 : x->page > y->page;
}

/* Sorting all pages by the last key of the page before, as the paper has it. */
static bool agrees_with_sorting(struct sp__rng *rng)
{
	unsigned runs = 1 + (unsigned)sp__rng_below(rng, MAX_RUNS), calls = 0;
	struct need all[MAX_RUNS * MAX_PAGES];
	uint32_t seq[MAX_RUNS * MAX_PAGES];
	uint64_t pages[MAX_RUNS];
	size_t n = 0;

	for (unsigned r = 0; r < runs; r++) {
		int key = (int)sp__rng_below(rng, 20);

		pages[r] = sp__rng_below(rng, MAX_PAGES + 1);
		for (uint64_t k = 0; k < pages[r]; k++) {
			keys[r][k] = key;
			all[n++] = (struct need){ k == 0, k ? keys[r][k - 1] : 0, r, k };
			key += (int)sp__rng_below(rng, 6);
		}
	}
	qsort(all, n, sizeof(all[0]), by_need);
	if (sp__consumption_build(runs, pages, by_key, &calls, seq))
		return false;
	for (size_t i = 0; i < n; i++)
		if (seq[i] != all[i].run)
			return false;
	return true;
}

int main(void)
{
	struct sp__rng rng = { 1998 };
	uint64_t none[2] = { 0, 0 };
	uint32_t untouched = 77;
	unsigned calls = 0;
	bool same = true;

	figure_1();
	for (int i = 0; i < 5000; i++)
		same &= agrees_with_sorting(&rng);
	ok(same, "random runs with ties and empty runs: the same as sorting the pages by need");
	ok(sp__consumption_build(2, none, by_key, &calls, &untouched) == 0 && untouched == 77 &&
		   calls == 0,
	   "runs without pages give an empty sequence");
	return done();
}
