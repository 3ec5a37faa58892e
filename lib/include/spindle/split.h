/* SPDX-License-Identifier: MIT */
/*
 * Cutting sorted data into parts at exact keys.
 *
 * Splitters are records in order.  Of n of them, counted from 1, part i (from 0 to n) has the
 * records with splitter i <= key < splitter i + 1: keys alone decide, so equal keys are always in
 * one part, and the parts one after the other are the whole in order.  Machines that sort parts
 * of their data by the same splitters can exchange them and merge part by part.
 *
 * Thread rule: splitters do not change once they are made; any number of threads may use them.
 */
#ifndef SPINDLE_SPLIT_H
#define SPINDLE_SPLIT_H

#include <spindle/sort.h>

struct sp_splitters;

/*
 * Reads all records of a file ("-": standard input) as splitters.  format and keys of opts, which
 * are borrowed while the splitters live, say what its records are and how they are ordered.
 * Splitters out of order are SP_EFORMAT.
 */
SP_API SP_MUST_CHECK int sp_splitters_load(struct sp_splitters **splitters,
					   const struct sp_sort_opts *opts, const char *path,
					   struct sp_errinfo *err);
/*
 * Chooses parts - 1 splitters, so that parts of the inputs of io (and their header) will have about
 * equal numbers of bytes.  The inputs are not read as a whole, but sampled at 1000 random places
 * for each part, drawn by opts->run.seed; with different keys a part then has its share of the
 * bytes within 10 % (three standard deviations), apart from a record or a group of equal keys that
 * is larger.  Splitters are the same record where such a group has the share of several parts.
 * The samples are sorted in the memory of opts->run.
 *
 * Inputs that are no regular files are SP_EUNSUP, inputs without a record SP_EFORMAT, no parts
 * -EINVAL.
 */
SP_API SP_MUST_CHECK int sp_splitters_sample(struct sp_splitters **splitters,
					     const struct sp_sort_opts *opts,
					     const struct sp_sort_io *io, size_t parts,
					     struct sp_errinfo *err);
SP_API size_t sp_splitters_count(const struct sp_splitters *splitters);
/* Splitter i, counted from 0 here, with its terminator. */
SP_API struct sp_batch sp_splitters_get(const struct sp_splitters *splitters, size_t i);
SP_API void sp_splitters_free(struct sp_splitters *splitters); /* accepts NULL */

#endif
