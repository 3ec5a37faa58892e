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
 * A key of one field, used unchanged, is that field in its line.  Any other key (several fields,
 * folded to upper case, or a quoted CSV field) is assembled in separate memory.
 */
#pragma once

#include <spindle/join.h>
#include "base/keyhash.h"
#include "base/rng.h"
#include "rec/fields.h"
#include "rec/key.h"

struct sp__keying {
	const struct sp_join_opts *opts;
	const struct sp__cut *cut;
	const bool *collated;	 /* by field; NULL: none */
	struct sp_keyset **sets; /* by field: encodes its key; NULL: a text */
	bool plain;
};

/* Memory for assembled keys, as many as fit; zero to begin. */
struct sp__keymem {
	char *data;
	size_t bytes, capacity;
	struct sp__keybuf value; /* of one field with a type, or its text to be collated */
};

/* Sets how the records of both files are cut into fields; borrows opts->fields. */
void sp__join_cut(struct sp__cut *cut, const struct sp_join_opts *opts);

/* 0, or -EINVAL with err: fields outside their binary records, keys that cannot be equal. */
SP_MUST_CHECK int sp__binary_check(const struct sp_join_opts *opts, struct sp_errinfo *err);

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
