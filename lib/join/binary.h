/* SPDX-License-Identifier: MIT */
/*
 * Keys of binary records, for equality.
 *
 * Numbers are equal if their values are, whatever their widths and byte orders:
 * signed and unsigned integers, floats of 4 and 8 bytes.  -0 equals 0; a NaN equals
 * only those of the same sign and payload, as when binary records are sorted
 * (rec/bkey.c).
 */
#ifndef SP__JOIN_BINARY_H
#define SP__JOIN_BINARY_H

#include <spindle/join.h>

/* The most bytes of a number's value. */
#define SP__BINARY_VALUE 9

/* 0, or -EINVAL with err: fields outside their records, keys that cannot be equal. */
SP_MUST_CHECK int sp__binary_check(const struct sp_join_opts *opts, struct sp_errinfo *err);

/* Is the key one field whose values are equal exactly if its bytes are? */
bool sp__binary_plain(const struct sp_join_opts *opts);

/* Writes the value of a number as bytes that are equal if values are; returns how many. */
size_t sp__binary_value(const struct sp_key *field, const char *number, char *to);

#endif
