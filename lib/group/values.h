/* SPDX-License-Identifier: MIT */
/*
 * Values of lists: numbers of percentiles, texts, whole records.
 *
 * A value is a group of the table that is only counted.  If the table would have most values once,
 * they become partial records at once, without it; the table is tried again from time to time.
 *
 * Thread rule: one thread at a time per worker.
 */
#pragma once

#include "group/worker.h"

/* Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__values_open(struct sp__group_worker *w);
/*
 * Adds the value of an argument to its lists; the first key_bytes of w->key are those of the group.
 * There must be space in the table.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__values_add(struct sp__group_worker *w, const struct sp__group_argument *a,
				 const struct sp__group_value *v, size_t key_bytes,
				 uint64_t position);
/*
 * Adds the record to those of its group, `at`: behind its keys, w->by, and its position.  If the
 * table has seen enough records of the group that precede it, it is left out.
 */
SP_MUST_CHECK int sp__values_add_record(struct sp__group_worker *w, uint32_t at, size_t key_bytes,
					const struct sp__slice *record, uint64_t position);
