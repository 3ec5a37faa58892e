/* SPDX-License-Identifier: MIT */
/*
 * Finds the keys that occur more than once in records that can be read again (repeated.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "base/bloom.h"
#include "flow/parts.h"
#include "rec/key.h"
#include "sort/numbering.h"
#include "sort/sort.h"

struct sp__hasher;

struct sp__repeated {
	const struct sp_sort_opts *opts; /* borrowed */
	struct sp__budget *budget;
	struct sp_errinfo *err;
	uint64_t max;			     /* keys that may be repeated */
	const struct sp__key_secret *secret; /* of their hashes */
	struct sp__bloom bloom;		     /* of their hashes */
	struct sp__sorter by_hash;
	struct sp__hasher *hashers; /* of each thread */
	unsigned nhashers;
	struct sp__parts *parts; /* that are being read, for tell() */
	sp__tell_fn *tell;
	void *arg;
	/* Of the first reading, and of the second one: */
	uint64_t records, records_again, sum, sum_again; /* sum: of the hashes */
	struct sp_sort_stats stats;			 /* of by_hash */
};

/*
 * share: bytes for the sort and for the filter, which has 8 bytes per key of max and is charged to
 * budget.  max: keys that may be repeated.  Returns 0 or an error, recorded in err.  close() is for
 * both.
 */
SP_MUST_CHECK int sp__repeated_open(struct sp__repeated *r, const struct sp_sort_opts *opts,
				    size_t share, uint64_t max, struct sp__budget *budget,
				    struct sp_errinfo *err);
void sp__repeated_close(struct sp__repeated *r); /* accepts a struct that is all zero */

/* Hashes the keys of a batch. */
SP_MUST_CHECK int sp__repeated_put(struct sp__repeated *r, const struct sp_batch *batch);
/* Hashes all keys of parts, by the threads of the sort.  tell: as of struct sp__numberers. */
SP_MUST_CHECK int sp__repeated_put_parts(struct sp__repeated *r, struct sp__parts *parts,
					 uint64_t input_bytes, sp__tell_fn *tell, void *arg);
/* Returns the bytes of the records that were put. */
uint64_t sp__repeated_bytes(const struct sp__repeated *r);
/* Ends the input.  Returns 0; SP_EUNSUP: more keys than max are repeated; or an error. */
SP_MUST_CHECK int sp__repeated_finish(struct sp__repeated *r);
/*
 * Called after finish(), for each record of a second reading: returns 0 if its key is the key of no
 * other record; 1: that is not certain; or -ENOMEM.
 */
int sp__repeated_has(struct sp__repeated *r, const char *rec, size_t bytes);
/* Called after the second reading: true if it had the same keys as the first one. */
bool sp__repeated_agrees(const struct sp__repeated *r);
