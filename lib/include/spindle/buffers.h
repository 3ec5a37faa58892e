/* SPDX-License-Identifier: MIT */
/*
 * Sorts, splits and merges data in memory, for machines that sort one input together.  It does not
 * move data between machines.
 *
 * Each machine sorts its share of the input (sp_sort_buffer) and splits it at splitters that all
 * machines share (sp_split_buffer).  One machine merges the parts between two splitters
 * (sp_merge_next).  Each step returns tallies of the records that it read and returned.  Equal
 * tallies prove that no record was lost or duplicated.
 *
 * Sizes are bytes.  Buffers, options and their keys belong to the caller and are borrowed during
 * the call, by a merge until sp_merge_close(). err may be NULL; on an error it receives a
 * description.
 *
 * Thread rule: different calls and different merges are independent.  One thread at a time uses a
 * merge.
 */
#ifndef SPINDLE_BUFFERS_H
#define SPINDLE_BUFFERS_H

#include <spindle/batch.h>
#include <spindle/sort.h>
#include <spindle/split.h>

/*
 * A count of records: their number, their bytes with terminators, and the sum of their hashes.
 * The sum does not depend on the order of the records.  Equal tallies stand for the same records.
 */
struct sp_tally {
	uint64_t records, bytes, sum;
};

/*
 * Counts the records of a buffer.
 * tally: written on success only.
 * Returns 0, or SP_EFORMAT if the last record is not whole.
 */
SP_API SP_MUST_CHECK int sp_tally_buffer(struct sp_tally *tally, const struct sp_recfmt *format,
					 const struct sp_batch *buffer, struct sp_errinfo *err);

/*
 * Returns the length in bytes of the first `records` records of a buffer, or the length of the
 * buffer if it has fewer.
 */
SP_API size_t sp_head_buffer(const struct sp_recfmt *format, const struct sp_batch *buffer,
			     uint64_t records);

/*
 * Sorts the records of n buffers, one after the other, into out.  The last record of each buffer
 * may lack its terminator and then gets one, so the result has at most n bytes more than the
 * buffers.  Records that exceed the memory of opts are spilled.
 * out: memory of the caller, `capacity` bytes.
 * read: tally of the records read; may be NULL.
 * given: tally of the records in out, fewer than were read if opts->unique is set; may be NULL.
 * Returns 0 or an error; read and given are written on success only:
 *   SP_EBUDGET: capacity or the memory limit is too small
 *   SP_EFORMAT: a buffer of fixed-length records ends inside a record
 *   SP_EUNSUP: opts->count is set, or see sp_sort_new()
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library
 *   -errno: temporary data could not be written or read
 */
SP_API SP_MUST_CHECK int sp_sort_buffer(const struct sp_sort_opts *opts,
					const struct sp_batch *buffers, size_t n, char *out,
					size_t capacity, struct sp_tally *read,
					struct sp_tally *given, struct sp_errinfo *err);

/*
 * Makes splitters of the records of a buffer. opts has their format and keys, which are borrowed
 * while the splitters live.  Release them with sp_splitters_free().
 * Returns 0 or an error, with *splitters NULL:
 *   SP_EFORMAT: the splitters are out of order, or the last one is not whole
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_splitters_read(struct sp_splitters **splitters,
					   const struct sp_sort_opts *opts,
					   const struct sp_batch *buffer, struct sp_errinfo *err);

/*
 * Finds the positions at which splitters divide a buffer of sorted, whole records.
 * offsets: array of the caller, with one element for each splitter. offsets[i] becomes the offset
 * in bytes at which part i + 1 starts.
 * Returns 0; SP_EFORMAT if the last record is not whole; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_split_buffer(const struct sp_splitters *splitters,
					 const struct sp_batch *sorted, size_t *offsets,
					 struct sp_errinfo *err);

struct sp_merge;

/*
 * Opens a merge of n buffers of sorted, whole records.  Equal records come in the order of their
 * buffers.  Only format, keys, unique and run.memory_bytes of opts are used.  Release the merge
 * with sp_merge_close().
 * err: also receives the errors of later calls, so it must outlive the merge; may be NULL.
 * Returns 0 or an error, with *merge NULL:
 *   SP_EUNSUP: opts->count is set
 *   SP_EFORMAT: the last record of a buffer is not whole
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_merge_open(struct sp_merge **merge, const struct sp_sort_opts *opts,
				       const struct sp_batch *buffers, size_t n,
				       struct sp_errinfo *err);

/*
 * Fills block with the next records of the result, about 1 MiB.  The merge owns the records, which
 * are valid until the next call.
 * Returns SP_READY, SP_END or an error, which every further call returns:
 *   SP_EFORMAT: a buffer is out of order (found at the latest at the end)
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_merge_next(struct sp_merge *merge, struct sp_batch *block);

/*
 * Writes a header and the rest of the result to a file (spindle/outfile.h), while the merge
 * continues.  The header may be empty.  If the call fails, no file holds the records that it took.
 * Returns 0 or an error of sp_merge_next(), sp_outfile_open() or write(2), which every further call
 * returns.
 */
SP_API SP_MUST_CHECK int sp_merge_write(struct sp_merge *merge, const char *path,
					const struct sp_batch *header);

/*
 * Reports the tallies of the records read and returned so far.  At the end they are equal, except
 * with opts->unique.
 */
SP_API void sp_merge_tally(const struct sp_merge *merge, struct sp_tally *read,
			   struct sp_tally *given);

/* Frees a merge; NULL is accepted. */
SP_API void sp_merge_close(struct sp_merge *merge);

#endif
