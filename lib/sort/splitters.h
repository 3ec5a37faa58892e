/* SPDX-License-Identifier: MIT */
/*
 * Declares splitters, which cut a sorted stream (splitters.c).
 */
#pragma once

#include <spindle/split.h>
#include "base/mem.h"

struct sp_splitters {
	const struct sp_keyset *keys; /* borrowed */
	struct sp_recfmt format;
	struct sp__budget budget;
	struct sp__bytes text; /* the records, concatenated */
	size_t *ends;	       /* offsets in text */
	size_t n, ends_cap;
};

SP_MUST_CHECK int sp__splitters_new(struct sp_splitters **splitters,
				    const struct sp_sort_opts *opts, struct sp_errinfo *err);
/* Frees the splitters after an error rc.  Returns rc. */
SP_MUST_CHECK int sp__splitters_keep(struct sp_splitters **splitters, int rc);
/* Appends a record, with its terminator.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__splitters_add(struct sp_splitters *s, const char *rec, size_t bytes);
/* Appends the records of a batch.  path: of their file, or NULL. */
SP_MUST_CHECK int sp__splitters_load_batch(struct sp_splitters *s, const struct sp_batch *batch,
					   const char *path, struct sp_errinfo *err);

/*
 * Returns how many bytes of a batch belong to a part; all of the batch is in this part or later
 * ones. counted: each record has its number before it (--count).
 */
size_t sp__splitters_cut(const struct sp_splitters *s, size_t part, const struct sp_batch *batch,
			 bool counted);
/* Returns where part + 1 starts in a buffer of any length that is completely in memory. */
size_t sp__splitters_search(const struct sp_splitters *s, size_t part,
			    const struct sp_batch *sorted);
