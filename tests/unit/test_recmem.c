/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sort/select/replace.h"
#include "tap.h"

#define MEMORY (256u << 10)
#define BLOCKS 4096

struct block {
	unsigned char *p;
	size_t bytes;
	unsigned char mark;
};

static char memory[MEMORY] __attribute__((aligned(16)));
static struct block block[BLOCKS];
static size_t nblocks, live_bytes;

static bool intact(const struct block *b)
{
	for (size_t i = 0; i < b->bytes; i++)
		if (b->p[i] != b->mark)
			return false;
	return true;
}

static bool take(struct sp__recmem *rm, size_t min, size_t max, size_t keep, unsigned char mark)
{
	size_t got = 0;
	struct block b = { sp__recmem_take(rm, min, max, &got), keep, mark };

	if (!b.p)
		return false;
	if (keep > got)
		b.bytes = got;
	sp__recmem_trim(rm, b.p, b.bytes);
	memset(b.p, mark, b.bytes);
	live_bytes += b.bytes;
	block[nblocks++] = b;
	return got >= min;
}

/* Releases block i; false if another block's text was written into it. */
static bool give(struct sp__recmem *rm, size_t i)
{
	bool good = intact(&block[i]);

	live_bytes -= block[i].bytes;
	sp__recmem_release(rm, block[i].p);
	block[i] = block[--nblocks];
	return good;
}

static void random_blocks_stay_apart(void)
{
	struct sp__rng rng = { 7 };
	struct sp__recmem rm;
	size_t whole, refused = 0;
	bool good = true;

	sp__recmem_init(&rm, memory, sizeof(memory));
	whole = rm.free_bytes;
	for (int i = 0; i < 60000; i++) {
		size_t min = 1 + sp__rng_below(&rng, 600), max = min + sp__rng_below(&rng, 4000);
		size_t keep = min + sp__rng_below(&rng, max - min + 1);

		if (nblocks < BLOCKS && sp__rng_below(&rng, 100) < 55) {
			if (!take(&rm, min, max, keep, (unsigned char)i))
				refused++;
		} else if (nblocks) {
			good &= give(&rm, sp__rng_below(&rng, nblocks));
		}
	}
	ok(good && refused > 100, "blocks keep their bytes while others come and go");
	while (nblocks)
		good &= give(&rm, sp__rng_below(&rng, nblocks));
	ok(good && rm.free_bytes == whole, "released blocks are free again");
	size_t got;

	ok(sp__recmem_take(&rm, whole - 8, whole - 8, &got) && got == whole - 8,
	   "and it has grown together into one block");
}

/* The oldest go first, spans are flexible: as replacement selection does it. */
static void little_is_lost(void)
{
	struct sp__rng rng = { 8 };
	struct sp__recmem rm;
	double used = 0;
	int samples = 0;

	sp__recmem_init(&rm, memory, sizeof(memory));
	for (int i = 0; i < 40000; i++) {
		size_t record = 1 + sp__rng_below(&rng, sp__rng_below(&rng, 20) ? 150 : 3000);
		size_t want = record > 512 ? record : 512;

		while (!take(&rm, record, want, want, 1)) {
			if (i > 5000) {
				used += (double)live_bytes / MEMORY;
				samples++;
			}
			for (int k = 0; k < 8 && nblocks; k++)
				give(&rm, sp__rng_below(&rng, nblocks));
		}
	}
	diag("%.1f %% of the memory hold data when a record finds no room", 100 * used / samples);
	ok(used / samples > 0.85, "memory is well used by records of mixed lengths");
	while (nblocks)
		give(&rm, 0);
}

static void edges(void)
{
	struct sp__recmem rm;
	size_t got;

	sp__recmem_init(&rm, memory, 4096);
	ok(!sp__recmem_take(&rm, SIZE_MAX / 2, SIZE_MAX / 2, &got), "a monstrous block is refused");
	sp__recmem_init(&rm, memory, 16);
	ok(!sp__recmem_take(&rm, 1, 1, &got), "too little memory is refused");
}

int main(void)
{
	random_blocks_stay_apart();
	little_is_lost();
	edges();
	return done();
}
