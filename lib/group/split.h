/* SPDX-License-Identifier: MIT */
/*
 * Files of whole records, one for each group.
 *
 * Groups come one after the other, so one file is open at a time.  Each appears when it is
 * complete.
 *
 * Thread rule: one thread.
 */
#pragma once

#include <spindle/batch.h>
#include <spindle/error.h>

struct sp__group_split;

/*
 * form: the names of the files, as in spindle/group.h; inputs, none of which may be a file: both
 * are borrowed.  Returns 0; -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_split_new(struct sp__group_split **split, const char *form,
				      size_t nkeys, const char *const *inputs, size_t ninputs,
				      struct sp_errinfo *err);
/* Discards the open file. */
void sp__group_split_free(struct sp__group_split *s);

/* Takes the next key of the next group.  Returns 0 or an error. */
SP_MUST_CHECK int sp__group_split_key(struct sp__group_split *s, const char *p, size_t n);
/* Opens the file of the group whose keys were taken. */
SP_MUST_CHECK int sp__group_split_begin(struct sp__group_split *s);
SP_MUST_CHECK int sp__group_split_put(struct sp__group_split *s, const struct sp_batch *records);
/* Gives the file its name. */
SP_MUST_CHECK int sp__group_split_end(struct sp__group_split *s);
/* Returns the number of files that have their names. */
uint64_t sp__group_split_files(const struct sp__group_split *s);
