/* SPDX-License-Identifier: MIT */
/*
 * Run buffers that collapse repeated keys: whatever the keys, they keep what sorting all records
 * and dropping repetitions keeps, and they give way where there are none.
 */
#include <stdio.h>
#include "keysets.h"
#include "sort/records/runbuf.h"
#include "tap.h"

#define SMALL (64u << 10)
#define LARGE (4u << 20)
#define TEXT (300u << 10)
#define RECORDS 30000

static char small[2 * SMALL] __attribute__((aligned(64)));
static char large[LARGE] __attribute__((aligned(64)));
static char text[TEXT + 2000];

/* Lines of at most `most` different kinds; returns their bytes. */
static size_t make_text(enum line_shape shape, struct sp__rng *rng, unsigned max)
{
	static char kinds[3000][1500];
	static size_t lengths[3000];
	size_t bytes = 0;

	for (unsigned i = 0; i < max; i++)
		lengths[i] = line_make(kinds[i], shape, rng, i);
	for (unsigned n = 0; n < RECORDS && bytes < TEXT; n++) {
		uint64_t i = sp__rng_below(rng, max);

		memcpy(text + bytes, kinds[i], lengths[i]);
		bytes += lengths[i];
	}
	return bytes;
}

/* Adds the text in batches of whole lines until the buffer is full; returns what it took. */
static size_t fill(struct sp__runbuf *rb, size_t bytes, struct sp__rng *rng, bool extends)
{
	size_t at = 0;

	while (at < bytes) {
		size_t part = 1 + sp__rng_below(rng, 20000), taken;

		part = part < bytes - at ? part : bytes - at;
		while (text[at + part - 1] != '\n')
			part++;
		if (sp__runbuf_add(rb, text + at, part, &taken))
			abort();
		at += taken;
		if (taken < part && !(extends && sp__runbuf_extend(rb, SMALL)))
			break;
		extends &= taken == part;
	}
	return at;
}

static bool same_records(const struct sp__runbuf *a, const struct sp__runbuf *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++) {
		size_t an, bn;
		const char *x = sp__runbuf_record(a, &a->entries[i], &an),
			   *y = sp__runbuf_record(b, &b->entries[i], &bn);

		same = an == bn && !memcmp(x, y, an);
	}
	return same;
}

static bool same_tally(struct sp__tally a, struct sp__tally b)
{
	return a.records == b.records && a.bytes == b.bytes && a.sum == b.sum;
}

/* One buffer that collapses, one that takes all; then both keep the first of equals. */
static bool agrees(const struct sp_keyset *ks, size_t bytes, struct sp__rng *rng, bool extends)
{
	struct sp__runbuf rb, all;
	size_t took, taken;
	bool good;

	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, small, SMALL);
	sp__runbuf_collapse(&rb);
	took = fill(&rb, bytes, rng, extends);
	sp__runbuf_init(&all, ks);
	sp__runbuf_use(&all, large, LARGE);
	good = sp__runbuf_add(&all, text, took, &taken) == 0 && taken == took;
	good &= same_tally(rb.added, all.added) && rb.added.bytes == took;
	good &= rb.n + rb.distinct.collapsed == all.n;
	sp__runbuf_sort(&rb);
	sp__runbuf_unique(&rb);
	sp__runbuf_sort(&all);
	sp__runbuf_unique(&all);
	good &= same_records(&rb, &all) && same_tally(rb.dropped, all.dropped);
	sp__runbuf_release(&rb);
	sp__runbuf_release(&all);
	return good;
}

static void as_sorting(struct order o)
{
	struct sp__rng rng = { 7 };
	struct sp_keyset *ks;
	bool good = true;

	o.letters = strchr(o.letters, 'r') ? "ru" : "u";
	ks = order_open(&o);
	if (!ks) {
		skip(o.name, "needs its locale in build/locale");
		return;
	}
	for (enum line_shape s = 0; s < LINE_SHAPES; s++)
		for (unsigned max = 1; max <= 3000; max = max * 50 + 1)
			for (unsigned extends = 0; extends < 2; extends++)
				good &= agrees(ks, make_text(s, &rng, max), &rng, extends);
	ok(good, "%s: the first of equal keys stays, and all others are accounted for", o.name);
	sp_keyset_free(ks);
}

/* Adds random numbers below a limit; returns how many were taken. */
static uint64_t numbers(struct sp__runbuf *rb, uint64_t different)
{
	struct sp__rng rng = { 3 };
	size_t bytes = 0;

	while (bytes < TEXT)
		bytes += (size_t)sprintf(text + bytes, "%012llu\n",
					 (unsigned long long)sp__rng_below(&rng, different));
	sp__runbuf_use(rb, small, SMALL);
	sp__runbuf_collapse(rb);
	(void)fill(rb, bytes, &rng, false);
	return rb->added.records;
}

static void gives_way(void)
{
	static const struct order o = { "", { NULL }, "u", NULL };
	struct sp_keyset *ks = order_open(&o);
	struct sp__runbuf rb;
	uint64_t before;

	sp__runbuf_init(&rb, ks);
	numbers(&rb, 100);
	ok(sp__runbuf_collapses(&rb) && rb.n == 100, "of many repetitions one each is kept");
	before = rb.added.records;
	numbers(&rb, 2000);
	ok(sp__runbuf_collapses(&rb) && rb.added.records - before > 4 * rb.n / 3,
	   "a buffer for 1000 groups of 2000 collapses them");
	before = rb.distinct.collapsed;
	numbers(&rb, UINT64_C(100000000000));
	ok(!sp__runbuf_collapses(&rb) && rb.distinct.collapsed == before,
	   "where no key is repeated the table gives way");
	ok(!sp__runbuf_extend(&rb, SMALL), "and the buffer gets no more memory");
	ok(rb.n > SMALL / 48, "it then holds as many records as without a table");
	sp__runbuf_release(&rb);
	sp_keyset_free(ks);
}

/* A buffer without room for a table. */
static void tiny(void)
{
	static const struct order o = { "", { NULL }, "u", NULL };
	struct sp_keyset *ks = order_open(&o);
	struct sp__runbuf rb;
	size_t taken;

	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, small, 1024);
	sp__runbuf_collapse(&rb);
	if (sp__runbuf_add(&rb, "a\na\n", 4, &taken))
		abort();
	ok(taken == 4 && rb.n == 2 && !sp__runbuf_collapses(&rb),
	   "a buffer too small for a table takes all");
	sp__runbuf_release(&rb);
	sp_keyset_free(ks);
}

int main(void)
{
	locales_here();
	for (size_t i = 0; i < ORDERS; i++)
		as_sorting(orders[i]);
	gives_way();
	tiny();
	return done();
}
