/* SPDX-License-Identifier: MIT */
/*
 * Key specifications, and what is done with them.  The input is lines: a key
 * specification, and two records that hold the rest between them.  Whatever
 * is accepted must give one order, directly and by encoded keys.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "rec/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign(int d)
{
	return (d > 0) - (d < 0);
}

static void check(bool good)
{
	if (!good)
		abort();
}

static int by_bytes(const struct sp_keyset *ks, const char *a, size_t an, const char *b, size_t bn)
{
	struct sp__keybuf ka = { 0 }, kb = { 0 };
	int d;

	check(!sp__key_encode(ks, a, an, &ka) && !sp__key_encode(ks, b, bn, &kb));
	d = memcmp(ka.data, kb.data, ka.bytes < kb.bytes ? ka.bytes : kb.bytes);
	if (!d)
		d = (ka.bytes > kb.bytes) - (ka.bytes < kb.bytes);
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
	return sign(d);
}

static void orders(const struct sp_key *key, int separator, const char *a, size_t an, const char *b,
		   size_t bn)
{
	const struct sp_key twice[2] = { *key, *key };
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .keys = twice,
				    .nkeys = 2,
				    .separator = separator };
	struct sp_keyset *ks;
	size_t begin, end;
	int d;

	if (sp_keyset_new(&ks, &o, NULL))
		return;
	d = sp__key_compare(ks, a, an, b, bn);
	check(sign(d) == by_bytes(ks, a, an, b, bn));
	check(sign(d) == -sign(sp__key_compare(ks, b, bn, a, an)));
	sp_keyset_extent(ks, 0, a, an, &begin, &end);
	check(begin <= end && end <= an);
	sp_keyset_free(ks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *rest = size ? memchr(data, '\n', size) : NULL;
	size_t bytes = rest ? (size_t)(rest - text) : size, left = size - bytes - (rest != NULL);
	char *spec = malloc(bytes + 1);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key key;

	if (!spec)
		return 0;
	if (bytes)
		memcpy(spec, text, bytes);
	spec[bytes] = '\0';
	if (!sp_key_parse(spec, &key, &err)) {
		if (rest && left > 1) {
			const char *a = rest + 2;
			size_t an = (left - 1) / 2, bn = left - 1 - an;

			orders(&key, (unsigned char)rest[1], a, an, a + an, bn);
			orders(&key, -1, a, an, a + an, bn);
		}
	} else {
		check(err.where >= spec && err.where <= spec + bytes);
	}
	free(spec);
	return 0;
}
