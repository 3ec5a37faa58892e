/* SPDX-License-Identifier: MIT */
/*
 * Computes random order: the MD5 of a salt and the key, so that equal keys stay together.  In
 * locales with a collation of their own the collation keys are hashed, each part between NULs
 * followed by a NUL, so that texts that collate as equal hash as equal.
 *
 * Not modelled: GNU sort compares the texts when two digests are equal, which needs a collision.
 * Here the digest alone is the key; carrying every text along would multiply the size of the keys.
 */
#include <string.h>
#include "rec/keyset.h"

/* Hashes the NUL-terminated part at offset in scratch; its collation key is appended there. */
static int hash_part(MD5_CTX *ctx, struct sp__keybuf *scratch, size_t offset)
{
	size_t room = scratch->capacity - scratch->bytes;
	size_t need = strxfrm((char *)scratch->data + scratch->bytes,
			      (char *)scratch->data + offset, room);

	if (need >= room) {
		if (sp__keybuf_reserve(scratch, need + 1))
			return -ENOMEM;
		strxfrm((char *)scratch->data + scratch->bytes, (char *)scratch->data + offset,
			need + 1);
	}
	MD5Update(ctx, scratch->data + scratch->bytes, need + 1);
	return 0;
}

int sp__random_digest(const struct sp_keyset *ks, const char *s, size_t n,
		      struct sp__keybuf *scratch, unsigned char digest[16])
{
	MD5_CTX ctx = ks->salted;

	if (!ks->hard) {
		MD5Update(&ctx, (const unsigned char *)s, n);
		MD5Final(digest, &ctx);
		return 0;
	}
	scratch->bytes = 0;
	if (sp__keybuf_reserve(scratch, 4 * n + 2))
		return -ENOMEM;
	memcpy(scratch->data, s, n);
	scratch->data[n] = '\0';
	scratch->bytes = n + 1;
	for (size_t at = 0; at < n; at += strlen((char *)scratch->data + at) + 1)
		if (hash_part(&ctx, scratch, at))
			return -ENOMEM;
	MD5Final(digest, &ctx);
	return 0;
}
