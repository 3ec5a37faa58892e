/* SPDX-License-Identifier: MIT */
/*
 * Finds the keys that occur more than once, without their records.
 *
 * Algorithm: the 64-bit hashes of all keys are sorted.  A hash that occurs once belongs to a key
 * that occurs once.  The others go into a Bloom filter, which a second reading of the records asks.
 * Different keys with equal hashes, and keys that the filter mistakes for others, only count as
 * repeated.
 *
 * Memory: a word of the filter for each key that may be repeated; with one key per word it mistakes
 * about 2 of 10,000.  The sort has the rest.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/keyhash.h"
#include "run/memory.h"
#include "sort/firsts.h"
#include "sort/state.h"

#define HASH_BYTES sizeof(uint64_t)
#define TOGETHER ((size_t)8 << 10) /* hashes put at once */

/* What one thread has hashed, in cache lines of its own. */
struct sp__hasher {
	_Alignas(64) struct sp__bytes hashes;
	struct sp__keybuf key;
	uint64_t bytes; /* bytes of the records */
};

static size_t bloom_bytes(const struct sp__repeated *r)
{
	return r->bloom.nwords * sizeof(*r->bloom.words);
}

static int open_hashers(struct sp__repeated *r)
{
	const unsigned n = sp__threads(r->opts->run.parallel);

	r->hashers = aligned_alloc(_Alignof(struct sp__hasher), n * sizeof(*r->hashers));
	if (!r->hashers)
		return -ENOMEM;
	memset(r->hashers, 0, n * sizeof(*r->hashers));
	r->nhashers = n;
	return 0;
}

static int open_sort(struct sp__repeated *r, size_t share)
{
	struct sp_key all = { .type = SP_KEY_BYTES, .length = HASH_BYTES };
	struct sp_keyset_opts order = {
		.format = { .kind = SP_REC_FIXED, .fixed_bytes = HASH_BYTES },
		.keys = &all,
		.nkeys = 1,
		.separator = -1,
		.stable = true,
		.bytes = true,
	};
	struct sp_sort_opts o = *r->opts;

	o.run.memory_bytes = share;
	o.run.decompress = SP_PACKED_NONE;
	o.run.compress_output = SP_PACKED_NONE;
	o.unique = false;
	o.top = 0;
	/* Sizes that were set by hand are for the records. */
	o.formation = SP_FORM_AUTO;
	o.policy = SP_MERGE_AUTO;
	o.readahead = SP_READ_AUTO;
	o.fan_in = 0;
	o.run_bytes = o.merge_bytes = 0;
	o.run.page_bytes = 0;
	if (o.record_bytes)
		o.input_bytes = o.input_bytes / o.record_bytes * HASH_BYTES;
	o.record_bytes = HASH_BYTES;
	return sp__sorter_open(&r->by_hash, &order, &o, NULL, r->err);
}

int sp__repeated_open(struct sp__repeated *r, const struct sp_sort_opts *opts, size_t share,
		      uint64_t max, struct sp__budget *budget, struct sp_errinfo *err)
{
	int rc;

	*r = (struct sp__repeated){
		.opts = opts, .budget = budget, .err = err, .max = max, .secret = sp__key_secret()
	};
	r->bloom.nwords = max;
	r->bloom.words = sp__pages_alloc(bloom_bytes(r), false);
	if (r->bloom.words)
		sp__budget_charge(budget, bloom_bytes(r));
	rc = r->bloom.words ? open_hashers(r) : -ENOMEM;
	if (rc)
		return sp__err(err, rc, "allocate", NULL, -1);
	return open_sort(r, share - bloom_bytes(r));
}

static void close_sort(struct sp__repeated *r)
{
	if (r->by_hash.sort)
		sp__sort_stats(r->by_hash.sort, &r->stats, false);
	(void)sp__sorter_close(&r->by_hash);
}

void sp__repeated_close(struct sp__repeated *r)
{
	close_sort(r);
	for (unsigned i = 0; i < r->nhashers; i++) {
		sp__bytes_release(&r->hashers[i].hashes, NULL);
		sp__keybuf_release(&r->hashers[i].key);
	}
	free(r->hashers);
	r->hashers = NULL;
	r->nhashers = 0;
	if (r->bloom.words)
		sp__budget_credit(r->budget, bloom_bytes(r));
	sp__pages_free(r->bloom.words, bloom_bytes(r));
	r->bloom.words = NULL;
}

static int hash_key(const struct sp__repeated *r, struct sp__keybuf *buf, const char *rec,
		    size_t bytes, uint64_t *hash)
{
	const struct sp__keyset *ks = sp__ks(r->opts->keys);
	const char *key = rec;
	int rc = 0;

	bytes -= sp__rec_term(&ks->format);
	if (ks->form == SP__KEY_ENCODED) {
		rc = sp__key_encode(r->opts->keys, rec, bytes, buf);
		*hash = rc ? 0
			   : sp__key_hash_secret((const char *)buf->data, buf->bytes, r->secret);
		return rc;
	}
	if (!ks->whole)
		sp__key_slice(r->opts->keys, rec, bytes, &key, &bytes);
	*hash = sp__key_hash_secret(key, bytes, r->secret);
	return 0;
}

/* Makes hashes of the first records of `from`, and removes these. */
static int hash_some(const struct sp__repeated *r, struct sp__hasher *w, struct sp_batch *from,
		     struct sp_batch *hashes)
{
	const char *at = from->data, *end = at + from->bytes, *next;
	int rc = sp__bytes_reserve(&w->hashes, TOGETHER * HASH_BYTES, NULL);
	char *to = w->hashes.data, *full = to + TOGETHER * HASH_BYTES;

	for (; !rc && at < end && to < full; at = next, to += HASH_BYTES) {
		uint64_t hash;

		next = sp__rec_end(&r->opts->format, at, (size_t)(end - at));
		rc = hash_key(r, &w->key, at, (size_t)(next - at), &hash);
		memcpy(to, &hash, sizeof(hash));
	}
	w->bytes += (uint64_t)(at - from->data);
	*from = (struct sp_batch){ at, (size_t)(end - at) };
	*hashes = (struct sp_batch){ w->hashes.data, (size_t)(to - w->hashes.data) };
	return rc;
}

/* Is a function sp__sort_encode_fn. */
static int hash_part(void *repeated, unsigned worker, struct sp__part *part, struct sp_batch *from,
		     struct sp_batch *hashes)
{
	struct sp__repeated *r = repeated;
	int rc;

	if (!worker && !sp__part_at(part, from))
		r->tell(r->arg, sp__parts_bytes(r->parts));
	rc = hash_some(r, &r->hashers[worker], from, hashes);
	return rc ? sp__err(&part->err, rc, "allocate", NULL, -1) : 0;
}

int sp__repeated_put_parts(struct sp__repeated *r, struct sp__parts *parts, uint64_t input_bytes,
			   sp__tell_fn *tell, void *arg)
{
	r->parts = parts;
	r->tell = tell;
	r->arg = arg;
	return sp__sort_put_parts(r->by_hash.sort, parts, input_bytes, hash_part, r);
}

uint64_t sp__repeated_bytes(const struct sp__repeated *r)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < r->nhashers; i++)
		bytes += r->hashers[i].bytes;
	return bytes;
}

int sp__repeated_put(struct sp__repeated *r, const struct sp_batch *batch)
{
	struct sp_batch from = *batch, hashes;
	int rc = 0;

	while (rc >= 0 && from.bytes) {
		rc = hash_some(r, &r->hashers[0], &from, &hashes);
		if (rc)
			return sp__err(r->err, rc, "allocate", NULL, -1);
		rc = sp__sort_put_all(r->by_hash.sort, &hashes);
	}
	return rc < 0 ? rc : 0;
}

/* Adds the hashes of a sorted batch that occur more than once; *last: the hash before it. */
static int add_repeated(struct sp__repeated *r, const struct sp_batch *batch, uint64_t *last,
			uint64_t *found)
{
	for (size_t i = 0; i < batch->bytes; i += HASH_BYTES) {
		uint64_t hash;

		memcpy(&hash, batch->data + i, sizeof(hash));
		r->sum += hash;
		if (r->records++ && hash == *last && !sp__bloom_has(&r->bloom, hash)) {
			if (++*found > r->max)
				return SP_EUNSUP;
			sp__bloom_add(&r->bloom, hash);
		}
		*last = hash;
	}
	return 0;
}

int sp__repeated_finish(struct sp__repeated *r)
{
	uint64_t last = 0, found = 0;
	struct sp_batch hashes;
	int rc = sp__sorter_finish(&r->by_hash);

	while (!rc && (rc = sp__sort_get_next(r->by_hash.sort, &hashes)) == SP_READY)
		rc = add_repeated(r, &hashes, &last, &found);
	close_sort(r);
	return rc == SP_END ? 0 : rc;
}

int sp__repeated_has(struct sp__repeated *r, const char *rec, size_t bytes)
{
	uint64_t hash;
	int rc = hash_key(r, &r->hashers[0].key, rec, bytes, &hash);

	if (rc)
		return rc;
	r->records_again++;
	r->sum_again += hash;
	return sp__bloom_has(&r->bloom, hash);
}

bool sp__repeated_agrees(const struct sp__repeated *r)
{
	return r->records == r->records_again && r->sum == r->sum_again;
}
