/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of a result from records of JSON lines, which have been checked.
 *
 * Two objects are merged by their texts: the members of file 1 as they are, then those of file 2.
 * A member of file 2 that is a key of both files is left out.  If a name is in both objects, all
 * such names of file 2 get a suffix, which is repeated until no object has such a name.
 *
 * Thread rule: a form is immutable; each emit has its own memory to assemble records.
 */
#pragma once

#include <spindle/join.h>
#include "join/result/jsonmerge.h"
#include "rec/fields.h"
#include "rec/jsonread.h"

/* Constant data of the records of a result. */
struct sp__jsonform {
	bool nested;
	struct sp__slice before[2]; /* nested: bytes before the value of file 1 and 2 */
	char *own;		    /* memory of these */
	struct sp__json_paths *paths[2];
	struct sp__slice *keys; /* names of members of file 2 that are left out */
	size_t nkeys;
};

/* Returns 0; -EINVAL: a name of opts->nested or a path is wrong; or -ENOMEM. */
SP_MUST_CHECK int sp__jsonform_new(struct sp__jsonform **form, const struct sp_join_opts *opts,
				   struct sp_errinfo *err);
void sp__jsonform_free(struct sp__jsonform *form); /* accepts NULL */

/* What records are assembled by and written to. */
struct sp__jsonrow {
	const struct sp__jsonform *form;
	struct sp__jsonmerge *mem;
	void (*put)(void *arg, const char *data, size_t bytes);
	void *arg;
};

/*
 * Assembles a record from lines of file 1 and 2, without terminators; an address of NULL: no line.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__jsonrow_put(const struct sp__jsonrow *row, const struct sp__slice line[2]);
