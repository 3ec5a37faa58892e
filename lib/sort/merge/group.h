/* SPDX-License-Identifier: MIT */
/*
 * Declares the group of equal keys that is returned next under --count, and the format of its
 * number.
 */
#pragma once

#include <spindle/rec.h>
#include "base/mem.h"
#include "sort/shared.h"

struct sp__group {
	struct sp__bytes held; /* first record, with free space for the number before it */
	uint64_t number;       /* 0: no group is held */
};

/*
 * Returns the length of a 1 in the result: in the format of uniq -c or, in CSV, with a separator.
 */
static inline size_t sp__counted_bytes(const struct sp_recfmt *f)
{
	return f->kind == SP_REC_CSV ? 2 : 8;
}

/* Returns the record after its number; valid until another one is held.  Adds it to b. */
void sp__group_give(struct sp__group *g, const struct sp_recfmt *f, struct sp__balance *b,
		    const char **data, size_t *bytes);
/* Returns the record after a number of the result. */
const char *sp__uncounted(const struct sp_recfmt *f, const char *rec);
