/* SPDX-License-Identifier: MIT */
/*
 * --count: the group of equal keys that is given out next, and how its number is written.
 */
#pragma once

#include <spindle/rec.h>
#include "base/mem.h"
#include "sort/shared.h"

struct sp__group {
	struct sp__bytes held; /* its first record, with free bytes for the number before it */
	uint64_t number;       /* 0: there is none */
};

/* Of a 1 as it is given out: as uniq -c writes it, or, in CSV, with a separator. */
static inline size_t sp__counted_bytes(const struct sp_recfmt *f)
{
	return f->kind == SP_REC_CSV ? 2 : 8;
}

/* Holds a copy of the first record of a group.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__group_hold(struct sp__group *g, const char *rec, size_t bytes,
				 uint64_t number, struct sp__budget *budget);
/* The record after its number; valid until another is held.  Adds to b. */
void sp__group_give(struct sp__group *g, const struct sp_recfmt *f, struct sp__balance *b,
		    const char **data, size_t *bytes);
/* The record after a number that was given out. */
const char *sp__uncounted(const struct sp_recfmt *f, const char *rec);
