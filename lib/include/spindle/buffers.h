/* SPDX-License-Identifier: MIT */
/*
 * Sorting, cutting and merging data that is in memory: what machines that sort one input together
 * do to its pieces.
 *
 * A piece is sorted (sp_sort_buffer), cut at splitters that all machines share (sp_split_buffer),
 * and the parts of all pieces between the same two splitters are merged (sp_merge_next).  What
 * every step took in and gave out is told by a tally, so that the whole can be proved to have lost
 * and doubled nothing.
 *
 * Errors: 0 or a negative code, with the reason in err, which may be NULL.  Sizes are bytes.
 * Ownership: buffers, options and their keys are the caller's, and borrowed.
 * Thread rule: different calls, and different merges, are independent; a merge belongs to one
 * thread at a time.
 */
#ifndef SPINDLE_BUFFERS_H
#define SPINDLE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/batch.h>
#include <spindle/error.h>
#include <spindle/sort.h>
#include <spindle/split.h>

/*
 * Records, counted: how many, their bytes with terminators, and the sum of their hashes, which
 * does not depend on their order.  Equal tallies are of the same records.
 */
struct sp_tally {
	uint64_t records, bytes, sum;
};

/* The tally of a buffer, each of whose records is whole; SP_EFORMAT: the last one is not. */
SP_API SP_MUST_CHECK int sp_tally_buffer(struct sp_tally *tally, const struct sp_recfmt *format,
					 const struct sp_batch *buffer, struct sp_errinfo *err);

/* Bytes of the first records of a buffer; all of it if it has fewer. */
SP_API size_t sp_head_buffer(const struct sp_recfmt *format, const struct sp_batch *buffer,
			     uint64_t records);

/*
 * Sorts the records of n buffers, one after the other, into out.  The last record of each may lack
 * its terminator and gets one, so the result has at most n bytes more than the buffers.  room: of
 * out; SP_EBUDGET if that is not enough.  *read and *given, which may be NULL, are what was taken
 * in, and what is in out: less under opts->unique.  What does not fit into the memory of opts is
 * spilled.  SP_EUNSUP: opts->count.
 */
SP_API SP_MUST_CHECK int sp_sort_buffer(const struct sp_sort_opts *opts,
					const struct sp_batch *buffers, size_t n, char *out,
					size_t room, struct sp_tally *read, struct sp_tally *given,
					struct sp_errinfo *err);

/* The records of a buffer as splitters: as sp_splitters_load(). */
SP_API SP_MUST_CHECK int sp_splitters_read(struct sp_splitters **splitters,
					   const struct sp_sort_opts *opts,
					   const struct sp_batch *buffer, struct sp_errinfo *err);
/*
 * Where the splitters cut a buffer of sorted, whole records: offsets[i], for i from 0 to the number
 * of splitters less one, is where part i + 1 begins.  SP_EFORMAT: the last record is not whole.
 */
SP_API SP_MUST_CHECK int sp_split_buffer(const struct sp_splitters *splitters,
					 const struct sp_batch *sorted, size_t *offsets,
					 struct sp_errinfo *err);
struct sp_merge;

/*
 * Opens a merge of n buffers of sorted, whole records; of equal ones those of the first buffer come
 * first.  Of opts only format, keys, unique and run.memory_bytes count.  err must outlive the
 * merge.  SP_EUNSUP: opts->count.
 */
SP_API SP_MUST_CHECK int sp_merge_open(struct sp_merge **merge, const struct sp_sort_opts *opts,
				       const struct sp_batch *buffers, size_t n,
				       struct sp_errinfo *err);
/*
 * Fills block with the next records of the result, about a megabyte, valid until the next call:
 * SP_READY or SP_END.  SP_EFORMAT: the buffers prove to be out of order, at the latest with the
 * end, or to end within a record; SP_EBALANCE: records were lost.
 */
SP_API SP_MUST_CHECK int sp_merge_next(struct sp_merge *merge, struct sp_batch *block);
/*
 * Writes the header, which may be empty, and what the merge has left to a file
 * (spindle/outfile.h), while it goes on merging.  0 or an error, as above or of writing, which
 * every further call returns.
 */
SP_API SP_MUST_CHECK int sp_merge_write(struct sp_merge *merge, const char *path,
					const struct sp_batch *header);
/* What has been taken in, and given out; equal at the end, but for opts->unique. */
SP_API void sp_merge_tally(const struct sp_merge *merge, struct sp_tally *read,
			   struct sp_tally *given);
SP_API void sp_merge_close(struct sp_merge *merge); /* accepts NULL */

#endif
