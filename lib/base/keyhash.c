/* SPDX-License-Identifier: MIT */
/* Hashes keys for tables in memory (keyhash.h). */
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/clock.h"
#include "base/few.h"
#include "base/keyhash.h"
#include "base/rng.h"

/* Longer keys are hashed by vectors. */
#define SHORT_MAX 240
#define SECRET_BYTES sizeof(((struct sp__key_secret *)0)->secret)

/* Selects vectors by processor; not in each build (base/hash.h). */
XXH64_hash_t XXH3_64bits_withSecret_dispatch(const void *data, size_t bytes, const void *secret,
					     size_t secret_bytes) __attribute__((weak));

static pthread_once_t drawn = PTHREAD_ONCE_INIT;
static struct sp__key_secret numbers;

static void draw(void)
{
	struct sp__rng rng;
	uint64_t word;

	if (getrandom(&numbers, sizeof(numbers), 0) == (ssize_t)sizeof(numbers))
		return;
	rng.state = sp__mix64(sp__now_ns() ^ (uint64_t)getpid() << 40) ^ (uintptr_t)&rng;
	for (size_t i = 0; i < sizeof(numbers); i += sizeof(word)) {
		word = sp__rng_next(&rng);
		memcpy((char *)&numbers + i, &word, sizeof(word));
	}
}

const struct sp__key_secret *sp__key_secret(void)
{
	pthread_once(&drawn, draw);
	return &numbers;
}

static uint64_t __attribute__((noinline))
hash_long_seed(const char *key, size_t bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, bytes, seed);
}

/* Inlines the function for short keys, without its part for long ones. */
uint64_t __attribute__((flatten)) sp__key_hash(const char *key, size_t bytes, uint64_t seed)
{
	return bytes > SHORT_MAX ? hash_long_seed(key, bytes, seed)
				 : XXH3_64bits_withSeed(key, bytes, seed);
}

static uint64_t __attribute__((noinline))
hash_long(const char *key, size_t bytes, const unsigned char *secret)
{
	return XXH3_64bits_withSecret_dispatch
		       ? XXH3_64bits_withSecret_dispatch(key, bytes, secret, SECRET_BYTES)
		       : XXH3_64bits_withSecret(key, bytes, secret, SECRET_BYTES);
}

uint64_t __attribute__((flatten))
sp__key_hash_secret(const char *key, size_t bytes, const struct sp__key_secret *secret)
{
	return bytes > SHORT_MAX ? hash_long(key, bytes, secret->secret)
				 : XXH3_64bits_withSecret(key, bytes, secret->secret, SECRET_BYTES);
}

/* SipHash. */

static uint64_t rotated(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

static void mix_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] = rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] = rotated(v[2], 32);
}

static void mix_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix_round(v);
	v[0] ^= word;
}

uint64_t sp__key_hash_strong(const char *key, size_t bytes)
{
	uint64_t v[4], last = (uint64_t)bytes << 56, word;
	const uint64_t *strong = sp__key_secret()->strong;
	const char *end = key + bytes;

	v[0] = strong[0] ^ UINT64_C(0x736f6d6570736575);
	v[1] = strong[1] ^ UINT64_C(0x646f72616e646f6d);
	v[2] = strong[0] ^ UINT64_C(0x6c7967656e657261);
	v[3] = strong[1] ^ UINT64_C(0x7465646279746573);
	for (; end - key >= (ptrdiff_t)sizeof(word); key += sizeof(word)) {
		memcpy(&word, key, sizeof(word));
		mix_word(v, word);
	}
	for (unsigned shift = 0; key < end; shift += 8)
		last |= (uint64_t)(unsigned char)*key++ << shift;
	mix_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		mix_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
