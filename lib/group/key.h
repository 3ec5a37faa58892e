/* SPDX-License-Identifier: MIT */
/*
 * Makes the bytes of the keys of a record, whose order is that of the keys.
 *
 * Thread rule: that of the worker.
 */
#pragma once

#include "group/worker.h"

/* Replaces *to by the bytes of keys of the record in w->columns.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__group_make_key(struct sp__group_worker *w, struct sp__bytes *to,
				     const struct sp__group_key *keys, uint32_t n);
