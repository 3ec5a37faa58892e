/* SPDX-License-Identifier: MIT */
/*
 * Defines the functions of xxHash: compiled here from its header, except of those that select
 * the widest vectors of the processor.  These are in the library; without it, hashes are the same
 * and slower.
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <stdatomic.h>
#include <xxhash.h>
#include "stubs/stubs.h"

typedef XXH64_hash_t hash_fn(const void *data, size_t bytes);
typedef XXH64_hash_t secret_fn(const void *data, size_t bytes, const void *secret,
			       size_t secret_bytes);

static void *functions[2];
static hash_fn *_Atomic fastest;
static secret_fn *_Atomic fastest_secret;

const struct sp__stubs sp__xxhash_stubs = {
	.soname = SP__SONAME_xxhash,
	.packages = "libxxhash0 (Debian) or xxhash-libs (Fedora)",
	.names = "XXH3_64bits_dispatch\0XXH3_64bits_withSecret_dispatch",
	.functions = functions,
	.n = 2,
};

static void choose(void)
{
	const bool loaded = !sp__library_load(SP__LIB_XXHASH, NULL);

	atomic_store_explicit(&fastest_secret,
			      loaded ? (secret_fn *)functions[1] : XXH3_64bits_withSecret,
			      memory_order_release);
	atomic_store_explicit(&fastest, loaded ? (hash_fn *)functions[0] : XXH3_64bits,
			      memory_order_release);
}

hash_fn XXH3_64bits_dispatch;
secret_fn XXH3_64bits_withSecret_dispatch;

XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes)
{
	hash_fn *f = atomic_load_explicit(&fastest, memory_order_acquire);

	if (__builtin_expect(!f, 0)) {
		choose();
		f = atomic_load_explicit(&fastest, memory_order_acquire);
	}
	return f(data, bytes);
}

XXH64_hash_t XXH3_64bits_withSecret_dispatch(const void *data, size_t bytes, const void *secret,
					     size_t secret_bytes)
{
	secret_fn *f = atomic_load_explicit(&fastest_secret, memory_order_acquire);

	if (__builtin_expect(!f, 0)) {
		choose();
		f = atomic_load_explicit(&fastest_secret, memory_order_acquire);
	}
	return f(data, bytes, secret, secret_bytes);
}
