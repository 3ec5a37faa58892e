/* SPDX-License-Identifier: MIT */
/*
 * Finds values in the records of JSON that a record of the result is made of: those that a
 * condition or the columns of the result need.
 *
 * Thread rule: paths are immutable once all are added; each emit has its own memory for values.
 */
#pragma once

#include <spindle/join.h>
#include "rec/fields.h"
#include "rec/jsonread.h"

struct sp__emit;
struct sp__line;

/* The paths of each file; NULL: none. */
struct sp__joinpaths {
	struct sp__json_paths *of[SP_JOIN_FILES_MAX];
};

/*
 * Adds the path that is all of a text.  *number: of the path among those of its file, from 0.
 * Returns 0; -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__joinpaths_add(struct sp__joinpaths *p, unsigned file, const char *path,
				    size_t *number, struct sp_errinfo *err);
void sp__joinpaths_release(struct sp__joinpaths *p);
/* Sets *same: true if two texts are one path.  Returns 0; -EINVAL; or -ENOMEM. */
SP_MUST_CHECK int sp__joinpaths_same(const char *a, const char *b, bool *same,
				     struct sp_errinfo *err);

/* The values of the paths of each file, by number; zero at first. */
struct sp__joinmembers {
	struct sp__json_value *values[SP_JOIN_FILES_MAX];
};

void sp__joinmembers_release(struct sp__joinmembers *m);
/*
 * Finds the values at the paths e->paths in a record of each file; NULL: no record.  Returns 0 or
 * an error, recorded in e->err.
 */
SP_MUST_CHECK int sp__joinmembers_find(struct sp__emit *e, const struct sp__line *const *of);
/* Returns the value that was found last; a file without a record has none. */
const struct sp__json_value *sp__joinmembers_value(const struct sp__emit *e,
						   const struct sp__line *const *of, unsigned file,
						   size_t number);
/*
 * Returns the first value of the key of a record as it is written, for a message; or an empty text.
 */
struct sp__slice sp__joinmembers_key(const struct sp__emit *e, const struct sp__line *const *of);
