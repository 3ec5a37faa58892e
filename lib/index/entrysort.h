/* SPDX-License-Identifier: MIT */
/*
 * Sorts entries of an index (key, offset, length) by key and offset, with the library's own sort.
 *
 * Thread rule: one thread at a time, except sp__entry_append().
 */
#pragma once

#include "base/mem.h"
#include "index/lookup.h"
#include "sort/sort.h"

struct sp__entrysort {
	struct sp__sorter sorter;
	struct sp_batch batch; /* sorted entries that have not been returned */
	struct sp__bytes key;  /* key of the entry returned last */
};

/* run: the options of the sort.  plan: as in sp__sort_new(). */
SP_MUST_CHECK int sp__entrysort_open(struct sp__entrysort *s, const struct sp_run_opts *run,
				     const struct sp__env *plan, struct sp_errinfo *err);
/* Returns 0, or the error of the trace.  Accepts a struct that is all zero. */
int sp__entrysort_close(struct sp__entrysort *s);

SP_MUST_CHECK int sp__entrysort_put(struct sp__entrysort *s, const uint8_t *key, size_t bytes,
				    const struct sp__keymatch *match);
/* Appends the line of an entry, for sp__sort_put_parts(). */
SP_MUST_CHECK int sp__entry_append(struct sp__bytes *lines, const uint8_t *key, size_t bytes,
				   const struct sp__keymatch *match);
/* Returns the next entry, its key in s->key: SP_READY, SP_END or an error. */
SP_MUST_CHECK int sp__entrysort_get(struct sp__entrysort *s, struct sp__keymatch *match);
/*
 * Takes the lines of the next entries: up to the first one that ends at or after this number of
 * bytes.  Returns SP_READY, SP_END or an error.
 */
SP_MUST_CHECK int sp__entrysort_lines(struct sp__entrysort *s, struct sp__bytes *lines,
				      size_t bytes);
/* Decodes the line at *at, and moves *at behind it.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__entry_decode(const char **at, struct sp__bytes *key,
				   struct sp__keymatch *match);
