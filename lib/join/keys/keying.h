/* SPDX-License-Identifier: MIT */
/*
 * Makes keys as bytes, for hashing: keys are equal exactly if their bytes are.
 *
 * Typed values are compared by their normalised keys (rec/key.h), collated texts by the result of
 * strxfrm().  A text without a value of its type, such as "N/A" as a number, equals only the same
 * text.
 *
 * Numbers in binary records are equal if their values are, whatever their widths and byte orders:
 * signed and unsigned integers, floats of 4 and 8 bytes.  -0 equals 0; a NaN equals only a NaN of
 * the same sign and payload, as when binary records are sorted (rec/bkey.c).
 *
 * Values of JSON are equal if their normalised keys are.  A key with a value that is missing or
 * null is one byte, which differs for the two files and is no other key.
 *
 * A key of one field, used unchanged, is that field in its line.  Any other key (several fields,
 * folded to upper case, or a quoted CSV field) is assembled in separate memory.
 */
#pragma once

#include <spindle/join.h>
#include "base/keyhash.h"
#include "base/rng.h"
#include "rec/collate.h"
#include "rec/fields.h"

struct sp__keying {
	const struct sp_join_opts *opts;
	const struct sp__cut *cut;
	const bool *collated;	   /* by field; NULL: none */
	struct sp_keyset **sets;   /* by field: encodes its key; NULL: a text */
	struct sp_keyset *json[2]; /* JSON: encodes the key of each file; NULL: other records */
	bool plain;
};

/* Memory for assembled keys, as many as fit; zero to begin. */
struct sp__keymem {
	char *data;
	size_t bytes, capacity;
	struct sp__keybuf value; /* value of one field with a type, or a text to be collated */
};

/* Sets how the records of both files are cut into fields; borrows opts->fields. */
void sp__join_cut(struct sp__cut *cut, const struct sp_join_opts *opts);

/* 0, or -EINVAL with err: fields outside their binary records, keys that cannot be equal. */
SP_MUST_CHECK int sp__binary_check(const struct sp_join_opts *opts, struct sp_errinfo *err);

/*
 * Makes the key set of the paths of file 0 or 1 in records of this format, JSON; sp_keyset_free()
 * frees it.
 */
SP_MUST_CHECK int sp__json_keyset(struct sp_keyset **set, const struct sp_join_opts *opts, int side,
				  const struct sp_recfmt *format, struct sp_errinfo *err);

int sp__keying_init(struct sp__keying *k, const struct sp__cut *cut,
		    const struct sp_join_opts *opts, struct sp_errinfo *err);
void sp__keying_release(struct sp__keying *k);
void sp__keymem_release(struct sp__keymem *mem);

/*
 * If keys are not plain: appends the key of a line of file 0 or 1 to mem, and returns its offset
 * there.  0 or -ENOMEM.
 */
int sp__key_make(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, size_t *begin);

/* Finds the key of a line: in the line, or alone in mem.  0 or -ENOMEM. */
int sp__key_find(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, struct sp__slice *key);

/*
 * The hash that a stage at that depth uses to partition: different for each depth, and derived from
 * the key's hash, which is the same at all depths.
 */
static inline uint64_t sp__key_rehash(uint64_t key_hash, unsigned depth)
{
	return depth ? sp__mix64(key_hash + depth * UINT64_C(0x9E3779B97F4A7C15)) : key_hash;
}

/*
 * Numbers records by suffixes.
 *
 * If the order of the inputs is needed later, a record passes the stages of a hash join with its
 * number in the input, its tag, appended before the terminator: seven bytes of seven bits, the
 * highest first, the top bit of each set.  So tags compare like the numbers, and contain no
 * terminator or quote.  The maximum is 2^49 records, over 5 * 10^14.
 */
#define SP__TAG_BYTES 7

static inline void sp__tag_set(char tag[SP__TAG_BYTES], uint64_t n)
{
	for (size_t i = SP__TAG_BYTES; i-- > 0; n >>= 7)
		tag[i] = (char)(0x80 | (n & 0x7f));
}

static inline int sp__tag_compare(const char *a, const char *b)
{
	return memcmp(a, b, SP__TAG_BYTES);
}

/*
 * Defines the orders in which sorted files can be merged.
 *
 * An order is suitable if keys are equal in it exactly if they are equal for the hash join.  There
 * are two: by bytes; and shorter keys first, which orders whole numbers by value.  A merge that is
 * requested also has the order of the locale.
 */
struct sp__keyorder {
	enum sp_join_sorted by;
	const unsigned char *upper; /* upper-case table of the cut; NULL: bytes unchanged */
	bool collate;		    /* by the locale; a merge as GNU join's */
};

static inline int sp__keyorder_compare(const struct sp__keyorder *o, const struct sp__slice *a,
				       const struct sp__slice *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int longer = (a->n > b->n) - (a->n < b->n), diff = 0;

	if (o->collate && n)
		return sp__collate_compare(a->p, a->n, b->p, b->n);
	if (longer && o->by == SP_JOIN_SORTED_LENGTH)
		return longer;
	if (!o->upper)
		return sp__order_bytes(a->p, a->n, b->p, b->n);
	for (size_t i = 0; i < n && !diff; i++)
		diff = o->upper[(unsigned char)a->p[i]] - o->upper[(unsigned char)b->p[i]];
	return diff ? diff : longer;
}
