/* SPDX-License-Identifier: MIT */
/*
 * Distributes records of one file of a join, in memory, by a hash of their keys.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/buffers.h>
#include "base/array.h"
#include "base/err.h"
#include "base/tally.h"
#include "join/keys/keying.h"
#include "join/plan/plan.h"

struct partitioning {
	struct sp_join_opts opts;
	struct sp_recfmt format;
	struct sp__cut cut;
	struct sp__keying keying;
	struct sp__keymem mem;
	int side;
	uint64_t seed;
	uint32_t *partition; /* by record */
	size_t capacity, partitions;
	size_t *bytes; /* by partition; then the offset of its next record */
	struct sp__tally tally;
};

static int set_up(struct partitioning *p, struct sp_errinfo *err)
{
	static const size_t first = 0;
	struct sp_join_opts *o = &p->opts;
	int rc = o->fixed_bytes[0] ? sp__binary_check(o, err) : 0;

	if (o->json)
		return sp__errf(err, -EINVAL, "key", NULL, -1, "JSON lines cannot be distributed");
	if (!o->nkeys) {
		o->nkeys = 1;
		o->keys[0] = o->keys[1] = &first;
	}
	p->format = sp__join_format(o, p->side);
	/* Differs from the seed of the hash by which the partitions will be joined. */
	p->seed = sp__mix64(o->run.seed + 2);
	sp__join_cut(&p->cut, o);
	p->bytes = calloc(p->partitions, sizeof(*p->bytes));
	if (!rc && !p->bytes)
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	return rc ? rc : sp__keying_init(&p->keying, &p->cut, o, err);
}

static void release(struct partitioning *p)
{
	sp__keying_release(&p->keying);
	sp__keymem_release(&p->mem);
	free(p->partition);
	free(p->bytes);
}

/* Finds the partition of a record. */
static int assign(struct partitioning *p, const char *rec, size_t bytes)
{
	size_t n = p->tally.records, partition;
	struct sp__slice key;

	if (sp__key_find(&p->keying, p->side, rec, bytes - sp__rec_term(&p->format), &p->mem,
			 &key) < 0 ||
	    !SP__ARRAY_GROW(p->partition, p->capacity, n + 1))
		return -ENOMEM;
	partition = sp__key_hash(key.p, key.n, p->seed) % p->partitions;
	p->partition[n] = (uint32_t)partition;
	p->bytes[partition] += bytes;
	sp__tally_add(&p->tally, rec, bytes);
	return 0;
}

static int assign_all(struct partitioning *p, const struct sp_batch *b, struct sp_errinfo *err)
{
	const char *at = b->data, *end = at + b->bytes, *next;

	for (; at < end; at = next) {
		next = sp__rec_end(&p->format, at, (size_t)(end - at));
		if (!next)
			return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
					"the last record is not whole");
		if (assign(p, at, (size_t)(next - at)) < 0)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	return 0;
}

/* Copies each record to the next offset of its partition. */
static void scatter(struct partitioning *p, const struct sp_batch *b, char *out)
{
	const char *at = b->data, *end = at + b->bytes, *next;

	for (const uint32_t *partition = p->partition; at < end; at = next, partition++) {
		next = sp__rec_end(&p->format, at, (size_t)(end - at));
		memcpy(out + p->bytes[*partition], at, (size_t)(next - at));
		p->bytes[*partition] += (size_t)(next - at);
	}
}

/* Sets the first offset of each partition; in offsets, of all but the first. */
static void begin_parts(struct partitioning *p, size_t *offsets)
{
	size_t at = 0;

	for (size_t i = 0; i < p->partitions; i++) {
		size_t bytes = p->bytes[i];

		if (i)
			offsets[i - 1] = at;
		p->bytes[i] = at;
		at += bytes;
	}
}

int sp_join_partition(const struct sp_join_opts *opts, int side, const struct sp_batch *buffer,
		      size_t partitions, char *out, size_t *offsets, struct sp_tally *tally,
		      struct sp_errinfo *err)
{
	struct partitioning p = { .opts = *opts, .side = side, .partitions = partitions };
	int rc = partitions && side >= 0 && side < 2 ? set_up(&p, err)
						     : sp__err(err, -EINVAL, "partition", NULL, -1);

	if (!rc)
		rc = assign_all(&p, buffer, err);
	if (!rc) {
		begin_parts(&p, offsets);
		scatter(&p, buffer, out);
		*tally = (struct sp_tally){ p.tally.records, p.tally.bytes, p.tally.sum };
	}
	release(&p);
	return rc;
}
