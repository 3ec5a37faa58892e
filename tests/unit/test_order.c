/* SPDX-License-Identifier: MIT */
/*
 * The sort of a run buffer against full comparison: neighbours are in order,
 * equal ones in that of the input, nothing is lost, and prefixes are as before.
 */
#include <stdio.h>
#include "keysets.h"
#include "sort/records/runbuf.h"
#include "tap.h"

#define MEMORY (1u << 20)

static char memory[MEMORY] __attribute__((aligned(64)));

/* A sum over offsets that no exchange of two entries keeps by accident. */
static uint64_t fingerprint(const struct sp__runbuf *rb)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rb->n; i++)
		sum += sp__mix64(rb->entries[i].ref + 1);
	return sum;
}

static void fill(struct sp__runbuf *rb, enum line_shape shape, unsigned lines, struct sp__rng *rng)
{
	char line[1500];
	size_t bytes, taken;

	for (unsigned i = 0; i < lines; i++) {
		bytes = line_make(line, shape, rng, i);
		if (sp__runbuf_add(rb, line, bytes, &taken))
			abort();
		if (!taken)
			return;
	}
}

static uint64_t prefix_of(const struct sp__runbuf *rb, const struct sp__entry *e)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	size_t bytes;
	const unsigned char *key = sp__runbuf_key(rb, e, &bytes);
	uint64_t flip = ks->form == SP__KEY_INPLACE && ks->descending ? ~UINT64_C(0) : 0;

	return key ? sp__key_prefix(key, bytes) ^ flip : 0;
}

static bool in_order(const struct sp__runbuf *rb)
{
	size_t an, bn;

	for (size_t i = 1; i < rb->n; i++) {
		const char *a = sp__runbuf_record(rb, &rb->entries[i - 1], &an);
		const char *b = sp__runbuf_record(rb, &rb->entries[i], &bn);
		int c = sp_keyset_compare(rb->keys, a, an - 1, b, bn - 1);

		if (c > 0 || (c == 0 && a > b)) {
			diag("entries %zu and %zu: %.60s | %.60s", i - 1, i, a, b);
			return false;
		}
	}
	return true;
}

static bool sorts(const struct sp_keyset *ks, enum line_shape shape, unsigned lines,
		  struct sp__rng *rng)
{
	struct sp__runbuf rb;
	uint64_t before;
	bool good;

	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, memory, MEMORY);
	fill(&rb, shape, lines, rng);
	before = fingerprint(&rb);
	sp__runbuf_sort(&rb);
	good = fingerprint(&rb) == before && in_order(&rb);
	for (size_t i = 0; i < rb.n; i++)
		good &= rb.entries[i].prefix == prefix_of(&rb, &rb.entries[i]);
	sp__runbuf_release(&rb);
	return good;
}

/* Keys that are cut, and equal as far as that: groups of a few lines, and of more. */
static bool sorts_cut(const struct sp_keyset *ks)
{
	static const char tails[] = "32164573";
	const size_t bytes = SP__KEY_MAX * 2 + 100, capacity = 16 * bytes;
	char *line = malloc(bytes), *arena = aligned_alloc(64, (capacity + 63) & ~(size_t)63);
	struct sp__runbuf rb;
	size_t taken;
	bool good = line && arena;

	for (unsigned n = 2; good && n < sizeof(tails); n += 5) {
		sp__runbuf_init(&rb, ks);
		sp__runbuf_use(&rb, arena, capacity);
		for (unsigned i = 0; i < n; i++) {
			memset(line, '1', bytes);
			line[bytes - 2] = tails[i];
			line[bytes - 1] = '\n';
			good &= !sp__runbuf_add(&rb, line, bytes, &taken) && taken == bytes;
		}
		sp__runbuf_sort(&rb);
		good &= in_order(&rb);
		sp__runbuf_release(&rb);
	}
	free(line);
	free(arena);
	return good;
}

int main(void)
{
	struct sp__rng rng = { 1 };

	locales_here();
	for (size_t o = 0; o < ORDERS; o++) {
		struct sp_keyset *ks = order_open(&orders[o]);

		if (!ks) {
			skip(orders[o].name, "needs its locale in build/locale");
			continue;
		}
		for (enum line_shape s = 0; s < LINE_SHAPES; s++) {
			bool good = true;

			for (unsigned n = 0; n < 40 && good; n++)
				good = sorts(ks, s, n, &rng);
			good = good && sorts(ks, s, 3000, &rng);
			ok(good, "%s: %s are sorted, equal ones stay as they came", orders[o].name,
			   line_shapes[s]);
		}
		ok(sorts_cut(ks), "%s: so are lines whose keys are too long to be kept whole",
		   orders[o].name);
		sp_keyset_free(ks);
	}
	return done();
}
