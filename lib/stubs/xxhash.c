/* SPDX-License-Identifier: MIT */
/*
 * Defines the functions of xxHash: compiled here from its header, except of the one that selects
 * the widest vectors of the processor.  That function is in the library; without it, checksums are
 * the same and slower.
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <stdatomic.h>
#include <xxhash.h>
#include "stubs/stubs.h"

typedef XXH64_hash_t hash_fn(const void *data, size_t bytes);

static void *functions[1];
static hash_fn *_Atomic fastest;

const struct sp__stubs sp__xxhash_stubs = {
	.soname = SP__SONAME_xxhash,
	.packages = "libxxhash0 (Debian) or xxhash-libs (Fedora)",
	.names = "XXH3_64bits_dispatch",
	.functions = functions,
	.n = 1,
};

static hash_fn *choose(void)
{
	hash_fn *f = sp__library_load(SP__LIB_XXHASH, NULL) ? XXH3_64bits : (hash_fn *)functions[0];

	atomic_store_explicit(&fastest, f, memory_order_release);
	return f;
}

hash_fn XXH3_64bits_dispatch;

XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes)
{
	hash_fn *f = atomic_load_explicit(&fastest, memory_order_acquire);

	return (f ? f : choose())(data, bytes);
}
