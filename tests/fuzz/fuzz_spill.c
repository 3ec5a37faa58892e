/* SPDX-License-Identifier: MIT */
/*
 * Spilled pages: arbitrary bytes are unpacked into exactly the length asked
 * for or refused, and what was packed comes back; with bytes changed, the
 * checksum tells or the page is the same.  The first bytes choose the packing,
 * the length, and what is changed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/hash.h"
#include "spill/codec.h"

#define PAGE 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static struct sp__codec *codec_of(enum sp_spill_compression kind)
{
	static struct sp__codec *codecs[3];

	if (!codecs[kind])
		require(sp__codec_new(&codecs[kind], kind, PAGE,
				      SP__CODEC_PACKS | SP__CODEC_UNPACKS, NULL) == 0);
	return codecs[kind];
}

/* In memory of their own, so that a sanitizer sees the ends. */
static int unpack(struct sp__codec *c, size_t raw_bytes, const uint8_t *data, size_t bytes,
		  uint64_t *sum)
{
	char *raw = malloc(raw_bytes + !raw_bytes), *copy = malloc(bytes + !bytes);
	int rc;

	require(raw && copy);
	memcpy(copy, data, bytes);
	rc = sp__codec_unpack(c, raw, raw_bytes, copy, bytes);
	require(rc == 0 || rc == SP_ECORRUPT);
	if (rc == 0)
		*sum = sp__checksum(raw, raw_bytes);
	free(raw);
	free(copy);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t packed[2 * PAGE];
	struct sp__codec *c;
	uint64_t want, sum = 0;
	size_t n, raw_bytes, at;

	if (bytes < 6 || bytes > PAGE)
		return 0;
	c = codec_of(data[0] & 1 ? SP_SPILL_LZ4 : SP_SPILL_ZSTD);
	raw_bytes = (size_t)data[1] << 8 | data[2];
	at = (size_t)data[3] << 8 | data[4];
	(void)unpack(c, raw_bytes, data + 5, bytes - 5, &sum);
	want = sp__checksum(data + 5, bytes - 5);
	n = sp__codec_pack(c, packed, sizeof(packed), data + 5, bytes - 5);
	if (!n)
		return 0;
	require(n < bytes - 5);
	require(unpack(c, bytes - 5, packed, n, &sum) == 0 && sum == want);
	packed[at % n] ^= data[0] | 1;
	if (unpack(c, bytes - 5, packed, n, &sum) == 0 && sum == want) {
		/* Bits that the format ignores. */
		char *raw = malloc(bytes - 5);

		require(raw && sp__codec_unpack(c, raw, bytes - 5, packed, n) == 0 &&
			!memcmp(raw, data + 5, bytes - 5));
		free(raw);
	}
	return 0;
}
