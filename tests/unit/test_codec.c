/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/rng.h"
#include "spill/codec.h"
#include "tap.h"

#define BOTH (SP__CODEC_PACKS | SP__CODEC_UNPACKS)

static void fill(unsigned char *page, size_t bytes, unsigned symbols, struct sp__rng *rng)
{
	for (size_t i = 0; i < bytes; i++)
		page[i] = (unsigned char)sp__rng_below(rng, symbols);
}

static void round_trips(enum sp_spill_compression kind, const char *name, size_t page)
{
	unsigned char *raw = malloc(page), *back = malloc(page);
	size_t capacity = 2 * page + 64, n;
	unsigned char *packed = malloc(capacity);
	struct sp__rng rng = { page + (size_t)kind };
	struct sp__codec *c;
	bool same = true, smaller = true;

	if (sp__codec_new(&c, kind, page, BOTH, NULL))
		abort();
	for (int i = 0; i < 60; i++) {
		size_t bytes = 1 + sp__rng_below(&rng, page);

		fill(raw, bytes, 1 + (unsigned)sp__rng_below(&rng, 30), &rng);
		n = sp__codec_pack(c, packed, capacity, raw, bytes);
		smaller &= n < bytes;
		if (n)
			same &= sp__codec_unpack(c, back, bytes, packed, n) == 0 &&
				memcmp(raw, back, bytes) == 0;
	}
	ok(same && smaller, "%s: pages of up to %zu bytes come back as they were", name, page);
	fill(raw, page, 256, &rng);
	ok(sp__codec_pack(c, packed, capacity, raw, page) == 0, "%s: noise is left raw", name);
	fill(raw, page, 4, &rng);
	n = sp__codec_pack(c, packed, capacity, raw, page);
	ok(n > 0 && n < page, "%s: four symbols are packed", name);
	ok(sp__codec_pack(c, packed, n / 2, raw, page) == 0,
	   "%s: a buffer that is too small is noticed", name);
	ok(sp__codec_pack(c, packed, 0, raw, page) == 0, "%s: so is none", name);
	ok(sp__codec_pack(c, packed, capacity, raw, 0) == 0, "%s: nothing packs to nothing", name);
	sp__codec_free(c);
	free(raw);
	free(back);
	free(packed);
}

static void corruption(enum sp_spill_compression kind, const char *name)
{
	enum { PAGE = 8192 };
	unsigned char raw[PAGE], packed[2 * PAGE], hurt[2 * PAGE], back[PAGE + 16];
	struct sp__rng rng = { 9 };
	struct sp__codec *c;
	bool inside = true;
	size_t n;

	if (sp__codec_new(&c, kind, PAGE, BOTH, NULL))
		abort();
	fill(raw, PAGE, 6, &rng);
	n = sp__codec_pack(c, packed, sizeof(packed), raw, PAGE);
	ok(sp__codec_unpack(c, back, PAGE - 1, packed, n) == SP_ECORRUPT &&
		   sp__codec_unpack(c, back, PAGE + 1, packed, n) == SP_ECORRUPT,
	   "%s: another length than expected is corruption", name);
	ok(sp__codec_unpack(c, back, PAGE, packed, n - 1) == SP_ECORRUPT,
	   "%s: a page cut short is corruption", name);
	for (int i = 0; i < 2000; i++) {
		int rc;

		memcpy(hurt, packed, n);
		for (uint64_t k = 0; k <= sp__rng_below(&rng, 4); k++)
			hurt[sp__rng_below(&rng, n)] = (unsigned char)sp__rng_next(&rng);
		memset(back + PAGE, 0xA5, 16);
		rc = sp__codec_unpack(c, back, PAGE, hurt, n);
		inside &= rc == 0 || rc == SP_ECORRUPT;
		for (int k = 0; k < 16; k++)
			inside &= back[PAGE + k] == 0xA5;
	}
	ok(inside, "%s: nothing is written outside the page, whatever comes in", name);
	ok(sp__codec_unpack(c, back, PAGE, packed, n) == 0 && !memcmp(raw, back, PAGE),
	   "%s: a codec works after corruption", name);
	sp__codec_free(c);
}

#ifndef __SANITIZE_ADDRESS__
static size_t allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* The memory of a new codec: at most its declared amount. */
static bool modest(enum sp_spill_compression kind, size_t page, unsigned use)
{
	size_t before = allocated(), with;
	struct sp__codec *c;

	if (sp__codec_new(&c, kind, page, use, NULL))
		abort();
	with = allocated() - before;
	sp__codec_free(c);
	return with <= sp__codec_memory(kind, page, use) + 512 && allocated() == before;
}

static void memory(enum sp_spill_compression kind, const char *name)
{
	bool within = true, constant = true;

	for (size_t page = 4096; page <= 4 << 20; page *= 4) {
		unsigned char *raw = malloc(page), *packed = malloc(2 * page + 1024);
		struct sp__codec *packs, *unpacks;
		struct sp__rng rng = { page };
		size_t with;

		fill(raw, page, 20, &rng);
		for (unsigned use = SP__CODEC_PACKS; use <= BOTH; use++)
			within &= modest(kind, page, use);
		if (sp__codec_new(&packs, kind, page, SP__CODEC_PACKS, NULL) ||
		    sp__codec_new(&unpacks, kind, page, SP__CODEC_UNPACKS, NULL))
			abort();
		with = allocated();
		for (size_t n = page; n > 0; n /= 3) {
			size_t got = sp__codec_pack(packs, packed, 2 * page, raw, n);

			constant &= !got || sp__codec_unpack(unpacks, raw, n, packed, got) == 0;
			constant &= allocated() == with;
		}
		sp__codec_free(packs);
		sp__codec_free(unpacks);
		free(raw);
		free(packed);
	}
	ok(within, "%s: a codec holds no more than it says, for either use", name);
	ok(constant, "%s: packing and unpacking allocate nothing", name);
}
#else
static void memory(enum sp_spill_compression kind, const char *name)
{
	(void)kind;
	skip(name, "the sanitizer's allocator does not count");
}
#endif

int main(void)
{
	struct sp__codec *c;

	for (size_t page = 4096; page <= 1 << 20; page *= 16) {
		round_trips(SP_SPILL_LZ4, "lz4", page);
		round_trips(SP_SPILL_ZSTD, "zstd", page);
	}
	corruption(SP_SPILL_LZ4, "lz4");
	corruption(SP_SPILL_ZSTD, "zstd");
	memory(SP_SPILL_LZ4, "lz4");
	memory(SP_SPILL_ZSTD, "zstd");
	ok(sp__codec_new(&c, SP_SPILL_RAW, 4096, BOTH, NULL) < 0 && !c,
	   "there is no codec for raw pages");
	sp__codec_free(NULL);
	ok(sp__codec_memory(SP_SPILL_RAW, 4096, BOTH) == 0, "raw pages need no codec memory");
	return done();
}
