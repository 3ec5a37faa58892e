/* SPDX-License-Identifier: MIT */
/*
 * Declares the sort for other capabilities, beyond <spindle/sort.h>.
 */
#pragma once

#include <spindle/sort.h>
#include "base/mem.h"

struct sp__env;
struct sp__part;
struct sp__condition;
struct sp__left_out;
struct sp__parts;
struct sp__rstream_opts;

/*
 * Does the work of sp_sort_new().  plan: run environment whose simulated device and trace are used,
 * or NULL.
 */
SP_MUST_CHECK int sp__sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts,
			       const struct sp__env *plan, struct sp_errinfo *err);
/* Does the work of sp_sort_run() without io->keep_order.  where: of the records, or NULL. */
SP_MUST_CHECK int sp__sort_files(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 const struct sp__condition *where, struct sp_sort_stats *stats,
				 struct sp_errinfo *err);
/* Notes the records that were left out, and names the first one that was skipped. */
void sp__sort_note_left_out(struct sp_sort_stats *stats, const struct sp__left_out *l,
			    const struct sp_sort_io *io, char eol);
/*
 * Does the work of sp_sort_free().  Returns 0, or the error if the trace could not be written.
 * Accepts NULL.
 */
int sp__sort_free(struct sp_sort *sort);
/* Do the work of sp_sort_put() and sp_sort_get(), and wait instead of returning SP_LATER. */
SP_MUST_CHECK int sp__sort_put_all(struct sp_sort *sort, const struct sp_batch *batch);
/*
 * Likewise puts records until one has no key: then it returns SP_EFORMAT, *valid: their bytes, and
 * more records can be put.
 */
SP_MUST_CHECK int sp__sort_put_valid(struct sp_sort *sort, const struct sp_batch *batch,
				     size_t *valid);
SP_MUST_CHECK int sp__sort_get_next(struct sp_sort *sort, struct sp_batch *batch);
/*
 * Makes records of a sort: from the first records of `from`, which are those of a part, and which
 * it removes there.  worker: number of the thread, less than the threads of the sort.  *records
 * is valid until the next call by this worker.  Returns 0 or an error, recorded in part->err.
 */
typedef int sp__sort_encode_fn(void *arg, unsigned worker, struct sp__part *part,
			       struct sp_batch *from, struct sp_batch *records);
/*
 * Sets the buffers of streams whose parts are for sp__sort_put_parts().  Returns false if such a
 * sort has one thread.
 */
bool sp__sort_reads_parts(const struct sp_sort *sort, struct sp__rstream_opts *reading);
/* Returns the length of parts, if equal records can differ. */
uint64_t sp__sort_part_bytes(const struct sp_sort *sort, uint64_t input_bytes);
/*
 * True if so many records, of so many bytes, that so many threads put fit into the memory for runs
 * of an empty sort.
 */
bool sp__sort_holds(const struct sp_sort *sort, uint64_t bytes, uint64_t records, unsigned threads);
/*
 * Puts the records that are made from all parts (flow/parts.h), by several threads.  Returns 0 or
 * the error of the first part that has one.
 */
SP_MUST_CHECK int sp__sort_put_parts(struct sp_sort *sort, struct sp__parts *parts,
				     uint64_t input_bytes, sp__sort_encode_fn *encode, void *arg);
/* Called when the result has been written: on a simulated machine, waits for its device. */
void sp__sort_sync(struct sp_sort *sort);
/* Returns the run environment of a sort; valid until the sort is freed. */
struct sp__env *sp__sort_env(struct sp_sort *sort);

/*
 * A sort whose caller has single records and waits for the sort.  One thread uses it.  A struct
 * that is all zero can be closed.
 */
struct sp__sorter {
	struct sp_keyset *keys; /* owned */
	struct sp_sort *sort;
	struct sp__bytes part; /* records that are not put yet */
};

/*
 * Creates the key set `order` and a sort of opts; sets format and keys of opts.  plan: as in
 * sp__sort_new().  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__sorter_open(struct sp__sorter *s, const struct sp_keyset_opts *order,
				  struct sp_sort_opts *opts, const struct sp__env *plan,
				  struct sp_errinfo *err);
/* Closes the sort.  Returns 0, or the error if its trace could not be written. */
int sp__sorter_close(struct sp__sorter *s);

/*
 * Returns space for a record of up to `bytes` bytes.  NULL: there is no memory, which is recorded.
 */
void *sp__sorter_space(struct sp__sorter *s, size_t bytes);
/* Accepts the record in this space; bytes: its length, with the terminator. */
SP_MUST_CHECK int sp__sorter_add(struct sp__sorter *s, size_t bytes);
/* Puts the records in part. */
SP_MUST_CHECK int sp__sorter_flush(struct sp__sorter *s);
/* Puts the records in part, and ends the input.  sp__sort_get_next() then returns the result. */
SP_MUST_CHECK int sp__sorter_finish(struct sp__sorter *s);
