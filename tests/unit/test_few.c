/* SPDX-License-Identifier: MIT */
/*
 * Loads and copies of a few bytes, against those of single bytes.  Each buffer ends with
 * what may be touched, as AddressSanitizer sees.
 */
#include <stdlib.h>
#include "base/few.h"
#include "base/rng.h"
#include "tap.h"

#define MOST 40

static uint64_t naive(const unsigned char *p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes && i < 8; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

int main(void)
{
	struct sp__rng rng = { 1 };
	bool loads = true, copies = true, within = true;

	for (unsigned round = 0; round < 200; round++) {
		for (size_t n = 0; n <= MOST; n++) {
			unsigned char *from = malloc(n + 1), *to = calloc(1, n + 3);

			if (!from || !to)
				abort();
			for (size_t i = 0; i <= n; i++)
				from[i] = (unsigned char)sp__rng_below(&rng, 256);
			from = realloc(from, n ? n : 1);
			if (!from)
				abort();
			loads &= sp__load_few(from, n) == naive(from, n);
			sp__copy_record((char *)to + 1, (const char *)from, n);
			copies &= !memcmp(to + 1, from, n);
			within &= !to[0] && !to[n + 1] && !to[n + 2];
			free(from);
			free(to);
		}
	}
	ok(loads, "up to eight bytes are a little-endian number");
	ok(copies, "records of 0 to %u bytes are copied", (unsigned)MOST);
	ok(within, "and nothing else is written");
	return done();
}
