/* SPDX-License-Identifier: MIT */
/* Hashes of keys for tables in memory. */
#include <stdbool.h>
#include <string.h>
#include "base/keyhash.h"
#include "tap.h"

/* True if each bit of the hashes of keys that differ in their last byte is not always the same. */
static bool spreads(uint64_t (*hash)(const char *key, size_t bytes), size_t bytes)
{
	uint64_t any = 0, all = UINT64_MAX, h;
	char key[2048];

	memset(key, 'k', sizeof(key));
	for (int i = 0; i < 200; i++) {
		key[bytes - 1] = (char)i;
		h = hash(key, bytes);
		any |= h;
		all &= h;
	}
	return any == UINT64_MAX && !all;
}

static uint64_t seeded(const char *key, size_t bytes)
{
	return sp__key_hash(key, bytes, 5);
}

static uint64_t secret(const char *key, size_t bytes)
{
	return sp__key_hash_secret(key, bytes, sp__key_secret());
}

int main(void)
{
	static const size_t lengths[] = { 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 2048 };
	bool spread = true, other = true, again = true;
	char key[2048];

	memset(key, 'k', sizeof(key));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t n = lengths[i];

		spread &=
			spreads(seeded, n) && spreads(secret, n) && spreads(sp__key_hash_strong, n);
		other &= sp__key_hash(key, n, 1) != sp__key_hash(key, n, 2) &&
			 secret(key, n) != sp__key_hash(key, n, 0) &&
			 sp__key_hash_strong(key, n) != secret(key, n) &&
			 sp__key_hash_strong(key, n) != sp__key_hash_strong(key, n - 1);
		again &= sp__key_hash(key, n, 1) == sp__key_hash(key, n, 1) &&
			 secret(key, n) == secret(key, n) &&
			 sp__key_hash_strong(key, n) == sp__key_hash_strong(key, n);
	}
	ok(spread, "each bit of each hash depends on the last byte of a key of any length");
	ok(other, "seeds, random numbers and lengths make other hashes");
	ok(again, "a hash stays the same in a process");
	return done();
}
