/* SPDX-License-Identifier: MIT */
/*
 * Estimates percentiles from the counts of numbers in buckets of logarithmic width.
 *
 * The bucket of a number is its sign, its exponent of two and the first 7 bits behind the point: a
 * bucket's end is at most 1 / 128 above its begin.  Each join of buckets doubles that.  Numbers
 * closer to 0 than the smallest normal f64 are in the bucket of 0.
 *
 * A bucket stands for the number in it that has the fewest digits, and of several for the one
 * nearest to its middle; so integers below 256 stand for themselves.
 *
 * Thread rule: any thread.
 */
#pragma once

#include "expr/amount.h"
#include "group/counts.h"

int32_t sp__sketch_bucket(const struct sp__amount *x);
/* Returns the number that a bucket stands for after this many joins. */
struct sp__amount sp__sketch_value(int32_t bucket, unsigned joins);
/*
 * Returns the number at part / whole of n numbers whose sorted entries these are, n > 0; between
 * two numbers it is interpolated.
 */
struct sp__amount sp__sketch_percentile(const struct sp__group_counts *c, const uint64_t *entries,
					uint64_t n, uint32_t part, uint32_t whole);
