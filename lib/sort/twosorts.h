/* SPDX-License-Identifier: MIT */
/*
 * Keeps the first record of each key by two sorts, in the order in which the records were put
 * (twosorts.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "flow/parts.h"
#include "sort/numbering.h"
#include "sort/sort.h"

struct sp__twosorts {
	const struct sp_sort_opts *opts; /* of the records without numbers; borrowed */
	size_t share;			 /* bytes of each sort */
	struct sp_errinfo *err;
	struct sp__numbering numbering;
	struct sp_recfmt format; /* of numbered records */
	struct sp_keyset *keys;	 /* behind the number */
	struct sp__sorter by_key, by_number;
	uint64_t next;		  /* number of the next record */
	struct sp__bytes records; /* of the result, without numbers */
};

/* Returns 0 or an error, recorded in err.  close() is for both. */
SP_MUST_CHECK int sp__twosorts_open(struct sp__twosorts *n, const struct sp_sort_opts *opts,
				    size_t share, struct sp_errinfo *err);
/* Closes the sorts; accepts a struct that is all zero. */
void sp__twosorts_close(struct sp__twosorts *n);
static inline bool sp__twosorts_is_open(const struct sp__twosorts *n)
{
	return n->by_key.sort != NULL;
}

/* Puts the records of a batch. */
SP_MUST_CHECK int sp__twosorts_put(struct sp__twosorts *n, const char *data, size_t bytes);
/* Puts all records of parts, by the threads of the sort.  tell: see struct sp__numberers. */
SP_MUST_CHECK int sp__twosorts_put_parts(struct sp__twosorts *n, struct sp__parts *parts,
					 uint64_t input_bytes, sp__tell_fn *tell, void *arg);
/* Returns the bytes of the records that were put, without numbers. */
uint64_t sp__twosorts_bytes(const struct sp__twosorts *n);
/* Ends the input. */
SP_MUST_CHECK int sp__twosorts_finish(struct sp__twosorts *n);
/* Returns SP_READY with the next first records, without their numbers; SP_END; or an error. */
SP_MUST_CHECK int sp__twosorts_get(struct sp__twosorts *n, struct sp_batch *batch,
				   uint64_t *records);
/* Returns the number of first records. */
uint64_t sp__twosorts_given(const struct sp__twosorts *n);
/* Sets the counters and the resources of both sorts. */
void sp__twosorts_stats(const struct sp__twosorts *n, struct sp_sort_stats *stats);
