/* SPDX-License-Identifier: MIT */
/*
 * Splits sorted data into parts at exact keys.  It does not sort.
 *
 * Splitters are records in order. n splitters, counted from 1, make n + 1 parts.  Part i (from 0 to
 * n) has the records with splitter i <= key < splitter i + 1.  Keys alone decide, so equal keys are
 * always in one part, and the concatenated parts are the sorted whole.  Machines that sort shares
 * of the data by the same splitters can exchange parts and merge part by part.
 *
 * Thread rule: splitters do not change after they are made; any number of threads may use them.
 */
#ifndef SPINDLE_SPLIT_H
#define SPINDLE_SPLIT_H

#include <spindle/sort.h>

struct sp_splitters;

/*
 * Reads all records of a file as splitters.  Free them with sp_splitters_free().
 * opts: format and keys of the records; the keys are borrowed while the splitters live.
 * path: "-": standard input.
 * Returns 0 or an error, with *splitters NULL:
 *   SP_EFORMAT: the splitters are out of order, or the file is not in the stated format
 *   -errno: the file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_splitters_load(struct sp_splitters **splitters,
					   const struct sp_sort_opts *opts, const char *path,
					   struct sp_errinfo *err);

/*
 * Chooses parts - 1 splitters, so that parts of the inputs of io have about equal numbers of bytes.
 * Free them with sp_splitters_free().
 *
 * The inputs are not read as a whole, but sampled at 1000 random offsets per part, drawn by
 * opts->run.seed.  With different keys, a part has its share of the bytes within 10 % (three
 * standard deviations), except for a record or a group of equal keys that is larger.  After
 * such a group, the other parts share the rest equally.  If there are fewer keys than parts, the
 * last splitters are equal.  The samples are sorted in the memory of opts->run.
 * io: inputs and their header; other members are ignored.
 * Returns 0 or an error, with *splitters NULL:
 *   SP_EUNSUP: an input is not a regular file, or inputs are compressed
 *   SP_EFORMAT: the inputs have no records, or are not in the stated format
 *   -EINVAL: parts is 0 or exceeds 2^32 - 1
 *   -EISDIR: an input is a directory
 *   -errno: an input could not be opened or read
 * Or an error of sp_sort_new().
 */
SP_API SP_MUST_CHECK int sp_splitters_sample(struct sp_splitters **splitters,
					     const struct sp_sort_opts *opts,
					     const struct sp_sort_io *io, size_t parts,
					     struct sp_errinfo *err);

/* Returns the number of splitters. */
SP_API size_t sp_splitters_count(const struct sp_splitters *splitters);

/*
 * Returns splitter i, here counted from 0, with its terminator.  It is valid while the splitters
 * live.
 */
SP_API struct sp_batch sp_splitters_get(const struct sp_splitters *splitters, size_t i);

/* Frees splitters; NULL is accepted. */
SP_API void sp_splitters_free(struct sp_splitters *splitters);

#endif
